//! Performs random operations on a market, as its teams and as the platform.

mod keys;
mod listings;
mod made;
mod money;
mod projects;
mod taxonomy;
mod teams;
mod trades;

use std::sync::{Mutex, MutexGuard};

use marketplace::{
    domain::teams::Team,
    error::{Error, Result, StateCode},
    fixtures::{self, FixtureSet},
    market::{Market, Writer},
    operations::access::{Buyer, Platform, Vendor},
    store,
};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use uuid::Uuid;

pub use self::{keys::check_keys, made::Made};
use crate::harness::random::Random;

/// Names of all operations: the resource, and what is done with it.
#[rustfmt::skip]
pub const OPERATIONS: [&str; 69] = [
    "listing.submit", "listing.withdraw", "listing.approve", "listing.request_changes", "listing.publish",
    "listing.unpublish", "listing.archive", "listing.restore", "listing.certify", "listing.revoke",
    "listing.feature", "listing.unfeature", "listing.update_texts",
    "offer.submit", "offer.withdraw", "offer.decline", "offer.change", "offer.accept",
    "purchase.create", "purchase.cancel", "purchase.refund", "purchase.complete",
    "credits.buy", "credits.adjust", "earnings.convert", "withdrawal.create", "withdrawal.end",
    "opportunity.create", "opportunity.publish", "opportunity.update", "opportunity.exclude",
    "opportunity.close", "opportunity.cancel",
    "project_bid.submit", "project_bid.withdraw", "project_bid.decline", "project_bid.accept",
    "project_bid.deliver", "project_bid.complete",
    "estimation.request", "estimation.complete",
    "team.create", "team.accept_nda", "team.rename", "team.set_tier", "team.set_avatar",
    "team.set_payout_setup", "team.set_roles", "team.close", "team.refuse_close",
    "key.create", "key.create_for_operator", "key.rotate", "key.change_expiry", "key.revoke", "key.use",
    "key.refuse_use",
    "grant.create", "grant.revoke",
    "domain.create", "domain.update", "content_tag.create", "content_tag.update", "inventory_tag.create",
    "inventory_tag.update",
    "asset_type.deprecate", "asset_type.retire", "asset_type.enable", "asset_type.disable",
];

/// Teams that exist at the beginning: their keys, and whether they sell and buy.
pub const TEAMS: [(&str, bool, bool); 5] = [
    ("seller", true, false),
    ("both", true, true),
    ("third", true, false),
    ("buyer", false, true),
    ("other", false, true),
];

/// Codebases of each vendor at the beginning, which its listings share.
const CODEBASES: usize = 4;

/// Listings of each vendor at the beginning. The last one has raw data, too.
const LISTINGS: usize = 5;

/// Writes the teams, the assets, and the listings that operations start with.
pub fn prepare(market: &Market) {
    fixtures::seed_taxonomy(market).unwrap();
    let mut set = json!({"teams": [], "assets": [], "listings": [], "tasksets": []});
    for (team, is_vendor, is_buyer) in TEAMS {
        let roles = [(is_vendor, "vendor"), (is_buyer, "buyer")];
        let roles: Vec<&str> = roles.into_iter().filter_map(|(has, role)| has.then_some(role)).collect();
        set["teams"].as_array_mut().unwrap().push(json!({
            "key": team, "name": format!("House of {team}"), "roles": roles, "tier": 1, "nda_accepted_at": "-P99D",
            "created_at": "-P99D",
        }));
        if is_vendor {
            add_stock(&mut set, team);
        }
    }
    let set = FixtureSet::parse("operations", &[("set.json".to_owned(), set.to_string())]).unwrap();
    fixtures::seed(market, &set).unwrap();
}

/// Adds the records of a vendor to a fixture set.
fn add_stock(set: &mut Value, team: &str) {
    let mut add = |collection: &str, record| set[collection].as_array_mut().unwrap().push(record);
    for number in 0..CODEBASES {
        let record = json!({
            "key": format!("{team}-c{number}"), "team": team, "sku": "codebase", "title": "Code",
            "description": "D", "domain_tags": ["finance"], "price_usd": 40, "created_at": "-P95D",
            "codebase": {"exclusivity": "available", "lines_of_code": 9, "commits": 2, "contributors": 1,
                "merged_prs": 0, "history_start": "2020-01-01", "history_end": "2021-01-01",
                "ci_on_prs": false},
        });
        add("assets", record);
    }
    let data = format!("{team}-data");
    let record = json!({"key": data, "team": team, "sku": "raw_data", "title": "Data",
        "created_at": "-P95D", "raw_data": {}});
    add("assets", record);
    for number in 0..LISTINGS {
        let codebases = (0..2).map(|next| format!("{team}-c{}", (number + next) % CODEBASES));
        let assets: Vec<String> = codebases.chain((number == LISTINGS - 1).then(|| data.clone())).collect();
        let record = json!({
            "key": format!("{team}-l{number}"), "team": team, "title": "Listing", "description": "D",
            "domain_tags": ["finance"], "price_usd": 90, "sample_price_usd": number, "accepts_bids": true,
            "sample": [{"asset": assets[0]}], "assets": assets, "created_at": "-P90D", "history": [
                {"event": "submitted", "at": "-P80D"}, {"event": "approved", "at": "-P79D"}],
        });
        add("listings", record);
    }
    let taskset = format!("{team}-t");
    add("tasksets", json!({"key": taskset, "team": team, "name": "Tasks", "created_at": "-P90D"}));
}

/// What an operation that succeeded returns: its name, and the ID of its record.
pub type Done = (&'static str, Uuid);

/// Performs random operations. Operations that a rule refuses change nothing; any other error is a defect.
pub struct Driver<'a> {
    market: &'a Market,
    made: &'a Mutex<Made>,
    pub random: Random,
    /// For the authentication of keys.
    runtime: Runtime,
}

impl<'a> Driver<'a> {
    pub fn new(market: &'a Market, made: &'a Mutex<Made>, random: Random) -> Driver<'a> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        Driver { market, made, random, runtime }
    }

    /// Performs one operation.
    pub fn act(&mut self) -> Result<Done> {
        match self.random.below(100) {
            0..=19 => self.change_listing(),
            20..=32 => self.trade_by_offer(),
            33..=49 => self.trade(),
            50..=60 => self.move_money(),
            61..=67 => self.change_opportunity(),
            68..=83 => self.bid_on_project(),
            84 | 85 => self.estimate(),
            86..=89 => self.change_team(),
            90..=92 => self.use_keys(),
            93 | 94 => self.use_grants(),
            _ => self.change_taxonomy(),
        }
    }

    /// Runs an operation in a transaction.
    fn write<T>(&self, work: impl FnOnce(&mut Writer) -> Result<T>) -> Result<T> {
        self.market.write_blocking(work).inspect_err(|error| match error {
            Error::Internal(cause) => panic!("an operation failed: {cause:?}"),
            Error::InvalidState(StateCode::RunInProgress, _) => panic!("{error}"),
            _ => {}
        })
    }

    /// Returns what was made so far. No other thread adds to it until the guard is dropped.
    fn made(&self) -> MutexGuard<'a, Made> {
        self.made.lock().unwrap()
    }

    /// Returns one of the records that were made, if there is any.
    fn pick<T: Copy>(&mut self, records: impl FnOnce(&Made) -> &Vec<T>) -> Result<T> {
        let made = self.made();
        let records = records(&made);
        self.pick_index(records.len()).map(|index| records[index])
    }

    /// Returns the index of one of so many records: usually of a recent one, since the state of old ones seldom
    /// allows anything.
    fn pick_index(&mut self, count: usize) -> Result<usize> {
        let among = *self.random.pick(&[2, 10, 10, count]);
        let from = count.saturating_sub(among);
        self.random_of(&(from..count).collect::<Vec<_>>())
    }

    /// Returns one of the records, each as often as the others, if there is any.
    fn random_of<T: Copy>(&mut self, records: &[T]) -> Result<T> {
        if records.is_empty() { Err(Error::not_found("record")) } else { Ok(*self.random.pick(records)) }
    }

    /// Returns any vendor.
    fn any_vendor(&mut self) -> Result<Uuid> {
        let made = self.made();
        self.random_of(&made.vendors)
    }

    /// Returns any buyer.
    fn any_buyer(&mut self) -> Result<Uuid> {
        let made = self.made();
        self.random_of(&made.buyers)
    }

    /// Returns a vendor that may decide: usually the right one.
    fn vendor_or_other(&mut self, right: Uuid) -> Result<Uuid> {
        if self.random.percent(90) { Ok(right) } else { self.any_vendor() }
    }

    /// Returns a buyer that may decide: usually the right one.
    fn buyer_or_other(&mut self, right: Uuid) -> Result<Uuid> {
        if self.random.percent(90) { Ok(right) } else { self.any_buyer() }
    }
}

fn team(rows: &store::Reader, id: Uuid) -> Result<Team> {
    Ok(store::teams::find(rows, id)?.expect("no team is deleted"))
}

fn vendor(rows: &store::Reader, id: Uuid) -> Result<Vendor> {
    Platform::of_process().vendor(team(rows, id)?)
}

/// Proof to act in the name of a buyer, or of a team that was one. Operations that begin something refuse the
/// latter.
fn buyer(rows: &store::Reader, id: Uuid) -> Result<Buyer> {
    Platform::of_process().former_buyer(team(rows, id)?)
}
