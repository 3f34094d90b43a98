//! The marketplace itself: its settings, and facts about it and its health.

use serde_json::Value;

use crate::{
    domain::{
        events::{EventId, EventRowId},
        jobs::JobState,
        listings::LifecycleStage,
        purchases::PurchaseStatus,
        time::Timestamp,
    },
    operations::market_facts,
    rest::operator_api::prelude::*,
};

/// Facts about the marketplace, and its health.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Market")]
pub struct MarketOut {
    /// Version of the server.
    pub version: String,
    /// Time of the market.
    pub now: UtcTime,
    /// Number of teams that are open.
    pub open_teams: u64,
    /// Number of teams that were closed.
    pub closed_teams: u64,
    /// Number of listings in each stage.
    pub listings: Vec<StageCount>,
    /// Number of purchases in each status.
    pub purchases: Vec<PurchaseCount>,
    /// Number of jobs in each state that some have.
    pub jobs: Vec<JobStateCount>,
    /// ID of the last event; null if there is none.
    pub last_event_id: Option<String>,
    /// Number of the latest change in the database that concerns the index of the catalog.
    pub database_change: u64,
    /// Number of the latest change that the index has.
    pub index_change: u64,
    /// Number of changes that the index lacks; 0 if it is up to date.
    pub index_lag: u64,
    /// Size of the database in bytes.
    pub database_bytes: u64,
    /// Bytes that are free on the disk, measured at most once per second. A constant in a world of the sandbox.
    pub disk_free_bytes: u64,
    /// Bytes of the disk that stay free for what frees space. With fewer, writes are refused. 0 in a world of the sandbox.
    pub disk_reserve_bytes: u64,
    /// Quotas that teams have used up.
    pub used_up_quotas: Vec<UsedUpQuota>,
}

/// A number of listings.
#[derive(Debug, Object, Serialize)]
pub struct StageCount {
    /// Stage of the listings.
    pub stage: EnumValue<LifecycleStage>,
    /// Number of listings.
    pub count: u64,
}

/// A number of purchases.
#[derive(Debug, Object, Serialize)]
pub struct PurchaseCount {
    /// Status of the purchases.
    pub status: EnumValue<PurchaseStatus>,
    /// Number of purchases.
    pub count: u64,
}

/// A number of background jobs.
#[derive(Debug, Object, Serialize)]
pub struct JobStateCount {
    /// State of the jobs.
    pub state: EnumValue<JobState>,
    /// Number of jobs.
    pub count: u64,
    /// Seconds since one of them could be started, or since one of them ended; 0 if none is due yet.
    pub oldest_seconds: u64,
}

/// A quota that teams have used up.
#[derive(Debug, Object, Serialize)]
pub struct UsedUpQuota {
    /// Name of the quota, as in errors.
    pub quota: String,
    /// What each team may use.
    pub limit: u64,
    /// Number of teams that have used it up.
    pub teams: u64,
}

/// The settings of the server.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Settings")]
pub struct SettingsOut {
    /// The settings, in the order of their keys.
    pub items: Vec<SettingOut>,
}

/// A setting.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Setting")]
pub struct SettingOut {
    /// Key of the setting, such as `server.listen`.
    pub key: String,
    /// Value that is used. A secret is `********` if it is set, and empty otherwise.
    pub value: Value,
    /// Value that is used if no other was set.
    pub default: Value,
    /// Whether a running server takes up a change when it reloads its settings (SIGHUP). Others change when it is started again.
    pub reloadable: bool,
}

#[routes(prefix = "/operator/v1", tag = Market)]
impl MarketApi {
    /// Get the market
    ///
    /// Returns facts about the marketplace and its health. It costs little, whatever the size of the market.
    #[get("/market", routes::read(Contract::new(Target::None)))]
    async fn get_market(call: Call<Operator>) -> JsonResult<MarketOut> {
        let (platform, market) = (call.access.platform(), call.served.market().clone());
        Json::read(&call.served, call.access.requester(), move |reader| {
            let facts = market_facts::find(reader, platform)?;
            let (disk_free_bytes, disk_reserve_bytes) = market.free_space()?;
            Ok(MarketOut::new(facts, disk_free_bytes, disk_reserve_bytes))
        })
        .await
    }

    /// Get the settings
    ///
    /// Returns all settings of the server. They are changed in the settings file, by environment variables, or by flags. In a world
    /// of the sandbox, returns the settings that each world can have for itself.
    #[get("/settings", routes::read(Contract::new(Target::None)))]
    async fn get_settings(call: Call<Operator>) -> JsonResult<SettingsOut> {
        let market = call.served.market().clone();
        Json::read(&call.served, call.access.requester(), move |_| {
            let items = market.listed_settings().into_iter();
            let items = items.map(|setting| SettingOut {
                key: setting.key,
                value: setting.value,
                default: setting.default,
                reloadable: setting.is_reloadable,
            });
            Ok(SettingsOut { items: items.collect() })
        })
        .await
    }
}

impl MarketOut {
    fn new(facts: market_facts::MarketFacts, disk_free_bytes: u64, disk_reserve_bytes: u64) -> MarketOut {
        let now = facts.now;
        let seconds_since =
            |at: Timestamp| u64::try_from(now.0.saturating_sub(at.0) / 1_000_000).unwrap_or_default();
        MarketOut {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            now: now.into(),
            open_teams: facts.open_teams,
            closed_teams: facts.closed_teams,
            listings: facts
                .listings
                .into_iter()
                .map(|(stage, count)| StageCount { stage: EnumValue(stage), count })
                .collect(),
            purchases: facts
                .purchases
                .into_iter()
                .map(|(status, count)| PurchaseCount { status: EnumValue(status), count })
                .collect(),
            jobs: facts
                .jobs
                .into_iter()
                .map(|jobs| JobStateCount {
                    state: EnumValue(jobs.state),
                    count: jobs.count,
                    oldest_seconds: seconds_since(jobs.oldest_at),
                })
                .collect(),
            last_event_id: (facts.last_event > 0).then(|| EventId(EventRowId(facts.last_event)).to_string()),
            database_change: facts.database_change,
            index_change: facts.index_change,
            index_lag: facts.database_change.saturating_sub(facts.index_change),
            database_bytes: facts.database_bytes,
            disk_free_bytes,
            disk_reserve_bytes,
            used_up_quotas: facts
                .used_up_quotas
                .into_iter()
                .map(|(quota, limit, teams)| UsedUpQuota { quota: quota.to_owned(), limit, teams })
                .collect(),
        }
    }
}
