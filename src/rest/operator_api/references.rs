//! References in bodies: an unknown ID in a body is a problem of the body, not a missing resource.

use std::{
    collections::{BTreeSet, HashMap},
    hash::Hash,
};

use uuid::Uuid;

use crate::{
    domain::{
        listings::CatalogStatus,
        teams::{Team, TeamRowId},
    },
    error::{Error, LocSegment, Problem, Result},
    operations::{
        access::{Buyer, Member, Platform},
        exclusivity,
    },
    store::{self, Reader, groups::Group, listings::ListingRow, records::Records},
};

/// Returns the team that a field of a body identifies.
pub fn team(rows: &Reader, field: &str, id: Uuid) -> Result<Team> {
    store::teams::find(rows, id)?.ok_or_else(|| unknown(field, "team"))
}

/// Returns the listing that a field of a body identifies.
pub fn listing(rows: &Reader, field: &str, id: Uuid) -> Result<ListingRow> {
    store::listings::find(rows, id)?.ok_or_else(|| unknown(field, "listing"))
}

/// Returns the group of a team that a field of a body identifies.
pub fn group(rows: &Reader, team: TeamRowId, field: &str, id: Uuid) -> Result<Group> {
    let found = store::groups::find_all(rows, team, &BTreeSet::from([id]))?.pop();
    found.ok_or_else(|| unknown(field, "group of the team"))
}

/// Returns the values of a list in a body. Fails with every value that the list has more than once.
pub fn distinct<T: Copy + Eq + Hash>(field: &str, values: Vec<T>) -> Result<Vec<T>> {
    let (mut seen, mut problems) = (HashMap::new(), Vec::new());
    for (index, value) in values.iter().enumerate() {
        if let Some(first) = seen.insert(*value, index) {
            problems.push(duplicate(field, index, first));
        }
    }
    if problems.is_empty() { Ok(values) } else { Err(Error::Invalid(problems)) }
}

fn duplicate(field: &str, index: usize, first: usize) -> Problem {
    let mut problem =
        Problem::body(&[field], "duplicate", format!("The value is listed already, at index {first}."));
    problem.loc.push(LocSegment::Index(index));
    problem
}

/// Returns the slugs of a list in a body. Fails if the list has unknown or repeated slugs, and names all of them.
pub fn slugs(rows: &Reader, field: &str, slugs: Vec<String>, terms: &Records) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for (index, slug) in slugs.iter().enumerate() {
        if let Some(first) = slugs[..index].iter().position(|earlier| earlier == slug) {
            problems.push(duplicate(field, index, first));
        } else if !terms.contains(rows, slug)? {
            let message = format!("Nothing has the slug {slug:?}. The taxonomy lists the slugs.");
            let mut problem = Problem::body(&[field], "unknown_slug", message);
            problem.loc.push(LocSegment::Index(index));
            problems.push(problem);
        }
    }
    if problems.is_empty() { Ok(slugs) } else { Err(Error::Invalid(problems)) }
}

/// Returns the listing that a field of a body identifies. Fails if it is not in the catalog, or no longer available
/// because of an exclusive sale.
pub fn listing_on_sale(rows: &Reader, field: &str, id: Uuid) -> Result<ListingRow> {
    let listing = listing(rows, field, id)?;
    if listing.status.catalog == CatalogStatus::Published {
        return Ok(listing);
    }
    exclusivity::check_not_sold(rows, &listing)?;
    let message = "The listing is not in the catalog, so nobody can buy it or bid on it. Publish it first.";
    Err(Error::Conflict(message.to_owned()))
}

/// Returns what two fields identify, or the problems of both.
pub fn both<A, B>(first: Result<A>, second: Result<B>) -> Result<(A, B)> {
    match (first, second) {
        (Err(Error::Invalid(mut problems)), Err(Error::Invalid(more))) => {
            problems.extend(more);
            Err(Error::Invalid(problems))
        }
        // A problem of the body is reported before the state of a referenced record.
        (Err(error @ Error::Invalid(_)), _) | (_, Err(error @ Error::Invalid(_))) => Err(error),
        (first, second) => Ok((first?, second?)),
    }
}

/// Returns the proof to act in the name of a buyer.
pub fn buyer(platform: Platform, team: Team) -> Result<Buyer> {
    let id = team.id;
    platform.buyer(team).map_err(|error| of_team(id, error))
}

/// Returns the proof to act in the name of a member.
pub fn member(platform: Platform, team: Team) -> Result<Member> {
    let id = team.id;
    platform.member(team).map_err(|error| of_team(id, error))
}

/// Converts the error that a team lacks something. It is a state of the team, and the operator can change it; the
/// operator's own key permits the request.
fn of_team(id: Uuid, error: Error) -> Error {
    let message = match error {
        Error::RoleRequired(role) => format!(
            "The team does not have the marketplace role {role}. Grant it with `PATCH /operator/v1/teams/{id}`."
        ),
        Error::NdaRequired => format!(
            "The team has not accepted the mutual NDA. Record it with `POST /operator/v1/teams/{id}/accept-nda`."
        ),
        other => return other,
    };
    Error::Conflict(message)
}

/// Returns the error for a field of a body whose value identifies nothing.
pub fn unknown(field: &str, what: &str) -> Error {
    let message = format!("No {what} has this ID.");
    Error::invalid(Problem::body(&[field], "not_found", message))
}
