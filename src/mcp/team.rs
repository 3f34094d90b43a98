//! The one tool that calls no operation: what is known of the key's team.

use serde_json::{Value, json};

use crate::{
    market::Market,
    operations::access::{Browser, Member},
    rest::Caller,
};

/// Which team a key speaks for, what it may do, and what to do first.
pub fn describe(caller: &Caller, market: &Market) -> Value {
    let team = caller.team();
    let roles: Vec<&str> = [("vendor", team.is_vendor), ("buyer", team.is_buyer)]
        .into_iter()
        .filter_map(|(role, has)| has.then_some(role))
        .collect();
    let nda_accepted = team.nda_accepted_at.is_some();
    let gate = Member::of(caller.holder().clone()).ok().map(|member| Browser::of(member, market).gate());
    let next_step = if roles.is_empty() {
        "The team has no marketplace role, so beside this only list_taxonomy answers. Tell the user to ask the platform for one."
    } else if !nda_accepted {
        "The team has not accepted the mutual NDA, so beside this only list_taxonomy answers. Tell the user to accept it in the team's settings."
    } else if gate.is_some_and(|gate| !gate.is_open) {
        "The team sells only and is in front of the browse gate: its own data can be read, and of the catalog the first page. \
         Publish more listings to open it."
    } else {
        "Call browse_listings to find data, or read the resource marketplace://guide."
    };
    json!({
        "id": team.id,
        "name": team.name,
        "roles": roles,
        "nda_accepted": nda_accepted,
        "browse_access": gate.map(|gate| json!({
            "published_count": gate.published,
            "required_count": gate.required,
            "unlocked": gate.is_open,
        })),
        "next_step": next_step,
    })
}
