//! What bodies refer to: an ID in a body that nothing has is a problem of the body, not an absent resource.

use std::collections::BTreeSet;

use uuid::Uuid;

use crate::{
    domain::teams::{Team, TeamRowId},
    error::{Error, LocSegment, Problem, Result},
    store::{self, Reader, groups::Group, listings::ListingRow},
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

/// Returns the distinct slugs of a list in a body. Fails with every slug that does not exist.
pub fn slugs(
    rows: &Reader,
    field: &str,
    slugs: Vec<String>,
    exists: impl Fn(&Reader, &str) -> Result<bool>,
) -> Result<Vec<String>> {
    let (mut distinct, mut problems) = (Vec::with_capacity(slugs.len()), Vec::new());
    for (index, slug) in slugs.into_iter().enumerate() {
        if distinct.contains(&slug) {
            continue;
        }
        if !exists(rows, &slug)? {
            let message = format!("Nothing has the slug {slug:?}. The taxonomy lists the slugs.");
            let mut problem = Problem::body(&[field], "unknown_slug", message);
            problem.loc.push(LocSegment::Index(index));
            problems.push(problem);
        }
        distinct.push(slug);
    }
    if problems.is_empty() { Ok(distinct) } else { Err(Error::Invalid(problems)) }
}

/// Returns the error for a field of a body whose value identifies nothing.
pub fn unknown(field: &str, what: &str) -> Error {
    let message = format!("No {what} has this ID.");
    Error::invalid(Problem::body(&[field], "not_found", message))
}
