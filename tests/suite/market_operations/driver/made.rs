//! Records that random operations have made so far, so that later ones can refer to them.

use marketplace::{
    domain::{
        opportunities::OpportunityKind,
        row_ids::{EstimationRowId, GrantRowId},
    },
    market::Market,
};
use rusqlite::Connection;
use uuid::Uuid;

use super::keys::Secret;
use crate::harness::database::connect_to_copy;

/// A record of a vendor and a buyer.
#[derive(Clone, Copy, Debug)]
pub struct Deal {
    pub id: Uuid,
    pub vendor: Uuid,
    pub buyer: Uuid,
}

/// A record of a team.
#[derive(Clone, Copy, Debug)]
pub struct Owned {
    pub id: Uuid,
    pub team: Uuid,
}

/// What was made so far, by any thread.
#[derive(Debug, Default)]
pub struct Made {
    /// Teams that have the vendor role and are not closed.
    pub vendors: Vec<Uuid>,
    /// Teams that have the buyer role and are not closed.
    pub buyers: Vec<Uuid>,
    pub closed: Vec<Uuid>,
    /// Teams that have not accepted the NDA.
    pub unsigned: Vec<Uuid>,
    /// Listings of teams that are not closed.
    pub listings: Vec<Owned>,
    pub codebases: Vec<Owned>,
    pub tasksets: Vec<Owned>,
    pub offers: Vec<Deal>,
    pub purchases: Vec<Uuid>,
    pub withdrawals: Vec<Uuid>,
    /// Opportunities of both kinds with their owners.
    pub opportunities: Vec<(Owned, OpportunityKind)>,
    /// Project bids. The buyer is the owner of the opportunity.
    pub bids: Vec<Deal>,
    pub estimations: Vec<EstimationRowId>,
    pub keys: Vec<Secret>,
    pub grants: Vec<GrantRowId>,
}

impl Made {
    /// Returns what operations with money refer to in a market, and the tasksets.
    pub fn load(market: &Market) -> Made {
        let rows = connect_to_copy(market);
        let all = |rest: &str| -> Vec<Uuid> {
            let found = ids(&rows, &format!("SELECT uuid FROM {rest}"));
            found.into_iter().map(|[id]| id).collect()
        };
        let owned = |table: &str| -> Vec<Owned> {
            let sql = format!("SELECT r.uuid, t.uuid FROM {table} r JOIN teams t ON t.id = r.team");
            ids(&rows, &sql).into_iter().map(|[id, team]| Owned { id, team }).collect()
        };
        let offers = "SELECT o.uuid, v.uuid, b.uuid FROM offers o JOIN listings l ON l.id = o.listing
             JOIN teams v ON v.id = l.team JOIN teams b ON b.id = o.buyer";
        let offers = ids(&rows, offers).into_iter();
        Made {
            vendors: all("teams WHERE is_vendor"),
            buyers: all("teams WHERE is_buyer"),
            listings: owned("listings"),
            codebases: owned("(SELECT * FROM assets WHERE kind = 'codebase')"),
            tasksets: owned("tasksets"),
            offers: offers.map(|[id, vendor, buyer]| Deal { id, vendor, buyer }).collect(),
            purchases: all("purchases"),
            withdrawals: all("withdrawals"),
            ..Made::default()
        }
    }

    /// Removes what nobody can use any more, because its team was closed.
    pub fn remove_team(&mut self, id: Uuid) {
        self.closed.push(id);
        for teams in [&mut self.vendors, &mut self.buyers, &mut self.unsigned] {
            teams.retain(|team| *team != id);
        }
        for owned in [&mut self.listings, &mut self.codebases, &mut self.tasksets] {
            owned.retain(|record| record.team != id);
        }
        for key in self.keys.iter_mut().filter(|key| key.team == Some(id)) {
            key.is_revoked = true;
        }
    }
}

/// Returns the rows of a query for IDs.
fn ids<const COLUMNS: usize>(rows: &Connection, sql: &str) -> Vec<[Uuid; COLUMNS]> {
    let mut statement = rows.prepare(sql).unwrap();
    let read = |row: &rusqlite::Row| {
        let mut ids = [Uuid::nil(); COLUMNS];
        for (column, id) in ids.iter_mut().enumerate() {
            *id = Uuid::from_slice(row.get_ref(column)?.as_blob()?).expect("an ID has 16 bytes");
        }
        Ok(ids)
    };
    statement.query_map([], read).unwrap().map(Result::unwrap).collect()
}
