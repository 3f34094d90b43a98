//! Data for operators besides records: numbers about a team, the effects of closing it, the listings and vendors that the
//! retirement of an asset kind affects, and findings of a run.

use uuid::Uuid;

use super::{access::Platform, team_closures, teams};
use crate::{
    domain::assets::Kind,
    error::Result,
    market::Reader,
    store::{self, quality_checks::CheckRow, team_overviews::TeamOverview},
};

pub use store::opportunities::BlockingBid;

/// Returns numbers of what a team has and waits for.
pub fn team_overview(reader: &Reader, _: Platform, team: Uuid) -> Result<TeamOverview> {
    store::team_overviews::find(reader.rows, team, reader.now)
}

/// Returns why a team cannot be closed; `None` if it can.
pub fn closing_obstacle(reader: &Reader, _: Platform, team: Uuid) -> Result<Option<String>> {
    let team = teams::resolve(reader.rows, &team.to_string())?;
    team_closures::find_obstacle(reader.rows, &team)
}

/// Maximum number of bids that are named as reasons why a team cannot be closed.
const MAX_BIDS: u32 = 50;

/// Returns the oldest of the bids that prevent closing a team.
pub fn blocking_bids(reader: &Reader, _: Platform, team: Uuid) -> Result<Vec<BlockingBid>> {
    let team = teams::resolve(reader.rows, &team.to_string())?;
    store::opportunities::list_blocking_bids(reader.rows, team.row_id, MAX_BIDS)
}

/// What the retirement of an asset kind concerns.
#[derive(Clone, Copy, Debug)]
pub struct RetirementEffects {
    /// Listings with such assets.
    pub listings: u64,
    /// Those of them that are in the catalog.
    pub published: u64,
    /// Vendors who have such assets or listings, without closed teams.
    pub vendors: u64,
}

/// Returns what the retirement of an asset kind concerns.
pub fn retirement_effects(reader: &Reader, _: Platform, kind: Kind) -> Result<RetirementEffects> {
    let (listings, published) = store::taxonomy::count_listings(reader.rows, kind)?;
    let (vendors, _) = store::taxonomy::find_vendors(reader.rows, kind, 0)?;
    Ok(RetirementEffects { listings, published, vendors })
}

/// Returns the checks of the quality run with this ID, in order. There are none until it is completed.
pub fn checks_of_run(reader: &Reader, _: Platform, run: Uuid) -> Result<Vec<CheckRow>> {
    store::quality_checks::list_of_run(reader.rows, run)
}
