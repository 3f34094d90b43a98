//! Facts about the whole market and its health, for operators.

use std::collections::BTreeMap;

use super::access::Platform;
use crate::{
    domain::{
        listings::{CatalogStatus, LifecycleStage, ListingStatus, ReviewStatus},
        purchases::PurchaseStatus,
        time::Timestamp,
    },
    error::{Error, Result},
    market::Reader,
    store::{self, market_facts::JobCount},
    string_enum::StringEnum,
};

/// Facts about the market at one point in time.
#[derive(Clone, Debug)]
pub struct MarketFacts {
    /// Time of the market.
    pub now: Timestamp,
    /// Number of teams that were not closed.
    pub open_teams: u64,
    /// Number of teams that were closed.
    pub closed_teams: u64,
    /// Number of listings in each stage.
    pub listings: BTreeMap<LifecycleStage, u64>,
    /// Number of purchases in each status.
    pub purchases: BTreeMap<PurchaseStatus, u64>,
    /// Number of jobs in each state that some have.
    pub jobs: Vec<JobCount>,
    /// Number of the last event; 0 if there is none.
    pub last_event: i64,
    /// Number of the latest change in the database that concerns the index.
    pub database_change: u64,
    /// Number of the latest change in the index.
    pub index_change: u64,
    /// Size of the database in bytes.
    pub database_bytes: u64,
    /// Quotas that teams have used up, each with its limit and the number of these teams.
    pub used_up_quotas: Vec<(&'static str, u64, u64)>,
}

/// Returns the facts. Costs few statements, whatever the size of the market.
pub fn find(reader: &Reader, _: Platform) -> Result<MarketFacts> {
    let mut facts = MarketFacts {
        now: reader.now,
        open_teams: 0,
        closed_teams: 0,
        listings: LifecycleStage::ALL.iter().map(|stage| (*stage, 0)).collect(),
        purchases: PurchaseStatus::ALL.iter().map(|status| (*status, 0)).collect(),
        jobs: store::market_facts::count_jobs(reader.rows)?,
        last_event: store::market_facts::last_event(reader.rows)?,
        database_change: u64::try_from(store::index_queue::last_change(reader.rows)?).unwrap_or_default(),
        index_change: reader.index.change(),
        database_bytes: store::snapshots::size_bytes(reader.rows)?,
        used_up_quotas: store::market_facts::used_up_quotas(reader.rows, &reader.settings.quotas)?,
    };
    for counted in store::market_facts::count_records(reader.rows)? {
        let unknown =
            || Error::internal(format!("records are counted in the unknown state {:?}", counted.state));
        let count = match counted.kind.as_str() {
            "team" if counted.state == "closed" => &mut facts.closed_teams,
            "team" => &mut facts.open_teams,
            "listing" => {
                let stage = stage(&counted.state).ok_or_else(unknown)?;
                facts.listings.entry(stage).or_default()
            }
            _ => {
                let status = PurchaseStatus::parse(&counted.state).ok_or_else(unknown)?;
                facts.purchases.entry(status).or_default()
            }
        };
        *count += counted.count;
    }
    Ok(facts)
}

/// Returns the stage of listings with these statuses.
fn stage(state: &str) -> Option<LifecycleStage> {
    let (review, catalog) = state.split_once(' ')?;
    let status =
        ListingStatus { review: ReviewStatus::parse(review)?, catalog: CatalogStatus::parse(catalog)? };
    Some(status.stage())
}
