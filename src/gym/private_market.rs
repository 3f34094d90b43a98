//! The private copy of a market: its planted texts, and the teams that ask, with keys of their own.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use marketplace_text::equality_key;
use serde_json::Value;
use tokio::runtime::{Handle, Runtime};

use super::{error::GymError, planted::Planted, question::Side};
use crate::{
    clock::{Clock, Entropy},
    config::Settings,
    domain::{teams::Team, time::Timestamp},
    error::Error,
    fixtures::{self, FixtureSet},
    market::{self, Market, OpenMode, OpenOptions},
    operations,
    rest::{self, ServerBuilder},
    store::{self, Durability},
    string_enum::StringEnum,
    web::in_process::{Caller, InProcessRoutes},
};

/// Maximum number of teams of each side that are considered.
const MAX_CANDIDATES: usize = 100;

/// Name of the planted vendor. A number follows if a team has it already.
const VENDOR: &str = "Calder Harbor Records";

/// A team that asks questions.
pub struct AskingTeam {
    /// Name of the team.
    pub name: String,
    /// An API key for it.
    pub key: String,
    caller: Caller,
}

/// A copy of a market that only this process uses.
pub struct PrivateMarket {
    market: Market,
    planted: Planted,
    teams: BTreeMap<Side, AskingTeam>,
    routes: InProcessRoutes,
    handle: Handle,
}

impl PrivateMarket {
    /// Opens the copy in a directory, plants texts in it, and chooses the teams with the most records for the questions.
    pub fn open(
        runtime: &Runtime,
        app: &rest::App,
        directory: PathBuf,
        mut settings: Settings,
        (now, seed): (Timestamp, u64),
        base_url: &str,
    ) -> Result<PrivateMarket, GymError> {
        remove_limits(&mut settings);
        let market = Market::open(OpenOptions {
            data_dir: directory,
            settings,
            clock: Arc::new(Clock::stopped(now)),
            entropy: Entropy::System,
            durability: Durability::None,
            mode: OpenMode::Serve,
            renderer: rest::RENDERER,
            run_step: operations::due_steps::run_step,
            program: market::this_program(),
        })?;
        fixtures::seed_taxonomy(&market)?;
        let existing = market.read_blocking(|reader| store::teams::list(reader.rows))?;
        let planted = Planted::new(seed, unused_name(&existing));
        let text = planted.fixture_set().to_string();
        let set =
            FixtureSet::parse("gym", &[("gym.json".to_owned(), text)]).map_err(fixtures::SeedError::from)?;
        fixtures::seed(&market, &set)?;
        let routes = ServerBuilder::new(app, market.clone(), base_url).in_process_routes();
        let handle = runtime.handle().clone();
        let mut opened = PrivateMarket { market, planted, teams: BTreeMap::new(), routes, handle };
        opened.teams = opened.choose_teams()?;
        Ok(opened)
    }

    /// Returns the market.
    pub const fn market(&self) -> &Market {
        &self.market
    }

    /// Returns what was planted in it.
    pub const fn planted(&self) -> &Planted {
        &self.planted
    }

    /// Returns the sides of the market that have a team.
    pub fn sides(&self) -> impl Iterator<Item = Side> + '_ {
        self.teams.keys().copied()
    }

    /// Whether the market has a team of this side.
    pub fn has(&self, side: Side) -> bool {
        self.teams.contains_key(&side)
    }

    /// Returns the team that asks for a side, which the market must have.
    pub fn team(&self, side: Side) -> &AskingTeam {
        &self.teams[&side]
    }

    /// Returns the response of the HTTP API to a GET request of a team; `None` if it has no such record.
    pub fn find(&self, side: Side, path: &str) -> Result<Option<Value>, GymError> {
        self.get_as(&self.teams[&side].caller, path)
    }

    fn get_as(&self, caller: &Caller, path: &str) -> Result<Option<Value>, GymError> {
        let response = self.handle.block_on(self.routes.get(caller, path))?;
        match response.status {
            200 => Ok(Some(serde_json::from_slice(&response.bytes).map_err(Error::internal)?)),
            404 => Ok(None),
            status => Err(GymError::Response(status, path.to_owned())),
        }
    }

    fn choose_teams(&self) -> Result<BTreeMap<Side, AskingTeam>, GymError> {
        let teams = self.market.read_blocking(|reader| store::teams::list(reader.rows))?;
        let mut chosen = BTreeMap::new();
        for side in Side::ALL.iter().copied() {
            let can_ask = |team: &&Team| {
                let is_of_side = match side {
                    Side::Buyer => team.is_buyer && !team.is_vendor,
                    Side::Vendor => team.is_vendor && !team.is_buyer,
                    Side::Both => team.is_vendor && team.is_buyer,
                };
                is_of_side && team.nda_accepted_at.is_some() && team.closed_at.is_none()
            };
            let mut best: Option<(u64, AskingTeam)> = None;
            for team in teams.iter().filter(can_ask).take(MAX_CANDIDATES) {
                let asking = self.with_key(team)?;
                let records =
                    if team.name == self.planted.vendor { 0 } else { self.count_records(&asking, team)? };
                if best.as_ref().is_none_or(|(most, _)| records > *most) {
                    best = Some((records, asking));
                }
            }
            if let Some((_, team)) = best {
                chosen.insert(side, team);
            }
        }
        if chosen.is_empty() { Err(GymError::NoTeam) } else { Ok(chosen) }
    }

    fn with_key(&self, team: &Team) -> Result<AskingTeam, GymError> {
        let id = team.id.to_string();
        let (_, key) =
            self.market.write_blocking(|writer| operations::keys::create(writer, &id, "gym", None))?;
        let caller = self.handle.block_on(Caller::from_key(&self.market, &key))?;
        Ok(AskingTeam { name: team.name.clone(), key, caller })
    }

    /// Returns the number of a team's own records that questions can be about.
    fn count_records(&self, asking: &AskingTeam, team: &Team) -> Result<u64, GymError> {
        let mut lists = Vec::new();
        if team.is_buyer {
            lists.extend([
                ("/v2/listings/browse/purchases", "/purchases"),
                ("/v2/listings/browse/offers", "/offers"),
                ("/v2/buyer/opportunities", "/items"),
            ]);
        }
        if team.is_vendor {
            lists.extend([
                ("/v2/listings?limit=1", "/counts/all"),
                ("/v2/listings/sales", "/sales"),
                ("/v2/assets?limit=1", "/total"),
            ]);
        }
        let mut count = 0;
        for (path, field) in lists {
            let response = self.get_as(&asking.caller, path)?.unwrap_or_default();
            count += match response.pointer(field) {
                Some(Value::Array(items)) => items.len() as u64,
                Some(number) => number.as_u64().unwrap_or(0),
                None => 0,
            };
        }
        Ok(count)
    }
}

/// Removes the rate limits: the clock of the copy stands still, so no budget would ever be refilled.
const fn remove_limits(settings: &mut Settings) {
    let limits = &mut settings.limits;
    limits.catalog = 0;
    limits.history = 0;
    limits.sales = 0;
    limits.purchases = 0;
    limits.quality_checks = 0;
    limits.uploads = 0;
    limits.other = 0;
    limits.address = 0;
}

/// Returns a name for the planted vendor that no team has.
fn unused_name(teams: &[Team]) -> String {
    let keys: Vec<String> = teams.iter().map(|team| equality_key(&team.name)).collect();
    let is_used = |name: &str| keys.contains(&equality_key(name));
    if !is_used(VENDOR) {
        return VENDOR.to_owned();
    }
    // One of these names is unused, since there are more names than teams.
    let mut names = (2..teams.len() + 3).map(|number| format!("{VENDOR} {number}"));
    names.find(|name| !is_used(name)).unwrap_or_default()
}
