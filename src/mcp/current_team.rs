//! The only tool without an operation: the team of the API key.

use serde_json::{Value, json};

use crate::{
    domain::teams::Team,
    error::Result,
    market::{Market, Reader},
    operations::{
        access::{BrowseGate, CatalogViewer, Member},
        team_facts::{self, TeamFacts},
    },
    web::in_process::Caller,
};

/// Returns the browse gate of the key's team; none if it lacks a role or the NDA, or while the search index is rebuilt.
pub fn catalog_gate(caller: &Caller, market: &Market) -> Option<BrowseGate> {
    let member = Member::authorize(caller.authenticated().clone()).ok()?;
    CatalogViewer::new(member, market).ok().map(|viewer| viewer.gate())
}

/// Describes the key's team: its roles, its browse access, facts, and the first steps for the agent.
pub async fn describe_team(caller: &Caller, market: &Market) -> Result<Value> {
    let team = caller.team();
    let proof = caller.authenticated().clone();
    let facts = market
        .read(caller.authenticated().requester(), move |reader: &Reader| team_facts::find(reader, &proof))
        .await?;
    let roles: Vec<&str> = [("vendor", team.is_vendor), ("buyer", team.is_buyer)]
        .into_iter()
        .filter_map(|(role, has)| has.then_some(role))
        .collect();
    let nda_accepted = team.nda_accepted_at.is_some();
    let gate = catalog_gate(caller, market);
    let next_step = if roles.is_empty() {
        "The team has no marketplace role, so only list_taxonomy is available. Tell the user to ask the \
         platform for a role."
    } else if !nda_accepted {
        "The team has not accepted the mutual NDA, so only list_taxonomy is available. Tell the user \
         that the market's operator must record it."
    } else if gate.is_some_and(|gate| !gate.is_open) {
        "The team only sells and has not passed the browse gate: it can read its own data, and the first \
         page of the catalog. More published listings open it; tell the user, since no tool publishes."
    } else {
        "Call browse_listings to find data, or read the resource marketplace://guide."
    };
    Ok(json!({
        "id": team.id,
        "name": team.name,
        "roles": roles,
        "now": market.clock().now().to_string(),
        "nda_accepted": nda_accepted,
        "browse_access": gate.map(|gate| json!({
            "published_count": gate.published_count,
            "required_count": gate.required_count,
            "unlocked": gate.is_open,
        })),
        "facts": facts.map(|facts| describe_facts(team, &facts)),
        "next_step": next_step,
    }))
}

/// Describes a member of the market. Amounts are in US dollars.
fn describe_facts(team: &Team, facts: &TeamFacts) -> Value {
    let mut described = json!({
        "member_since": team.created_at.to_string(),
        "credits": facts.balances.credits.dollars(),
    });
    let mut add = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            described[name] = value;
        }
    };
    add("vendor_tier", team.is_vendor.then(|| json!(team.tier)));
    add("available_earnings", team.is_vendor.then(|| json!(facts.balances.available.dollars())));
    add("pending_earnings", team.is_vendor.then(|| json!(facts.balances.pending.dollars())));
    add("published_listings", facts.listings.map(|(published, _)| json!(published)));
    add("listings", facts.listings.map(|(_, all)| json!(all)));
    add("assets", facts.assets.map(|count| json!(count)));
    add("purchases", facts.purchases.map(|count| json!(count)));
    add("open_offers", facts.open_offers.map(|count| json!(count)));
    described
}
