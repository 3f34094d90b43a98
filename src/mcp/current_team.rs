//! The only tool without an operation: the team of the API key.

use serde_json::{Value, json};

use crate::{
    market::Market,
    operations::access::{BrowseGate, CatalogViewer, Member},
    rest::Caller,
};

/// Returns the browse gate of the key's team; none if it lacks a role or the NDA.
pub fn catalog_gate(caller: &Caller, market: &Market) -> Option<BrowseGate> {
    let member = Member::authorize(caller.authenticated().clone()).ok()?;
    Some(CatalogViewer::new(member, market).gate())
}

/// Describes the key's team: its roles, its browse access, and what the agent should do first.
pub fn describe_team(caller: &Caller, market: &Market) -> Value {
    let team = caller.team();
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
         page of the catalog. Publish more listings to open it."
    } else {
        "Call browse_listings to find data, or read the resource marketplace://guide."
    };
    json!({
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
        "next_step": next_step,
    })
}
