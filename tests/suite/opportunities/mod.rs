//! The operations on opportunities, project bids, and estimations, and the notifications and events that they
//! write. What teams can read of it is read through the API.

pub mod estimations;
mod lifecycle;
mod notifications;
pub mod project_bids;

use marketplace::{
    clock::fixture_record_id,
    domain::{
        events::{EventRowId, EventType},
        listings::Actor,
        opportunities::{Opportunity, OpportunityKind, OpportunityMetadata, VisibilityMode},
        opportunity_fields::OpportunityFields,
        time::Timestamp,
    },
    error::{Error, Result},
    market::Writer,
    operations::{access::Buyer, opportunities},
    store::{self, events::Event},
    string_enum::StringEnum,
};
use serde_json::Value;
use uuid::Uuid;

use crate::harness::{
    NOW, TestMarket, errors,
    teams::{buyer, vendor},
};

/// API keys of the teams of small markets: two vendors, of which `BOTH` is also a buyer, and two buyers.
const SELLER: &str = "mkt_seller";
const BOTH: &str = "mkt_both";
const BUYER: &str = "mkt_buyer";
const OTHER: &str = "mkt_other";

/// Microseconds per day.
const DAY: i64 = 86_400_000_000;

fn now() -> Timestamp {
    Timestamp::parse(NOW).unwrap()
}

pub fn fields(title: &str) -> OpportunityFields {
    OpportunityFields {
        title: title.to_owned(),
        description: "About it.".to_owned(),
        accepted_asset_types: Vec::new(),
        metadata: OpportunityMetadata::default(),
        visibility: VisibilityMode::AllVendors,
        excluded_team_ids: Vec::new(),
        deadline: Some(Timestamp(now().0 + 10 * DAY)),
        evaluation_date: None,
    }
}

/// Creates a draft of the team `buyer`.
pub fn create(
    market: &TestMarket,
    id: u128,
    kind: OpportunityKind,
    fields: &OpportunityFields,
) -> Result<Uuid> {
    let id = Uuid::from_u128(id);
    market.write(|writer| {
        let owner = buyer(writer.rows, "buyer");
        opportunities::create(writer, &owner, Actor::Team, (id, kind), fields).map(|created| created.id)
    })
}

pub type Transition = fn(&mut Writer, &Buyer, Actor, (Uuid, OpportunityKind)) -> Result<Opportunity>;

/// Performs a transition as the team `buyer`.
pub fn perform(
    market: &TestMarket,
    operation: Transition,
    id: Uuid,
    kind: OpportunityKind,
) -> Result<Opportunity> {
    market.write(|writer| {
        let owner = buyer(writer.rows, "buyer");
        operation(writer, &owner, Actor::Team, (id, kind))
    })
}

/// Creates a project opportunity of the team `buyer`, and publishes it.
fn publish_project(market: &TestMarket, id: u128) -> Uuid {
    let id = create(market, id, OpportunityKind::Project, &fields("Project")).unwrap();
    perform(market, opportunities::publish, id, OpportunityKind::Project).unwrap();
    id
}

/// Returns the notifications of the team of a key, oldest first.
async fn notifications_of(market: &TestMarket, key: &str) -> Vec<Value> {
    let page = market.get(key, "/v2/vendor/notifications?limit=100").await.ok();
    let mut all = page["notifications"].as_array().unwrap().clone();
    all.reverse();
    all
}

/// Returns the types of the notifications of the team of a key, oldest first.
async fn notification_types(market: &TestMarket, key: &str) -> Vec<String> {
    let all = notifications_of(market, key).await;
    all.iter().map(|notification| notification["type"].as_str().unwrap().to_owned()).collect()
}

/// Returns the events of the types of a resource, each as its type, the team whose view it is, and its data.
fn events_of(market: &TestMarket, resource: &str) -> Vec<(EventType, Option<Uuid>, Value)> {
    let all = all_events(market).into_iter().filter(|event| event.event_type.resource() == resource);
    all.map(|event| (event.event_type, event.team, serde_json::from_str(&event.data).unwrap())).collect()
}

fn all_events(market: &TestMarket) -> Vec<Event> {
    let list =
        |reader: &marketplace::market::Reader| store::events::list_after(reader.rows, EventRowId(0), 10_000);
    market.read(list).unwrap()
}

/// Returns the types of events with the key of the team whose view each is, `-` for none.
fn event_views(market: &TestMarket, resource: &str) -> Vec<String> {
    let key = |team: Option<Uuid>| {
        let keys = ["seller", "both", "buyer", "other"];
        let key = keys.into_iter().find(|key| Some(fixture_record_id("teams", key)) == team);
        key.unwrap_or("-")
    };
    events_of(market, resource)
        .iter()
        .map(|(kind, team, _)| format!("{} {}", kind.as_str(), key(*team)))
        .collect()
}

/// Returns the code of an error, or the locations and types of its problems.
fn refusal<T: std::fmt::Debug>(result: Result<T>) -> String {
    match result.unwrap_err() {
        Error::Invalid(problems) => errors::describe(&problems).join(", "),
        Error::InvalidTransition { from, allowed } => format!("from {from}: {}", allowed.join(", ")),
        other => other.code().unwrap().as_str().to_owned(),
    }
}
