//! Checks of an imported market after it was opened, which go beyond the schema and the rules of columns.

use super::{
    error::{WorldError, WorldResult, refused},
    market_file,
};
use crate::{
    blobs,
    clock::{ClockState, SimulatedClock},
    domain::collections::Collection,
    error::{Error, ErrorChain, Result},
    market::{Market, Reader},
    operations::{grants, keys, uploads, verify},
    store,
    string_enum::StringEnum,
};

/// Number of the next IDs of each collection, and of the next secrets, that must be unused.
const CHECKED_COUNTS: usize = 64;

/// Checks that the database is intact, that rows do not contradict each other, that the files of uploads and bundles exist, and
/// that the next IDs and secrets are unused.
pub(super) fn check(market: &Market, clock: &ClockState) -> WorldResult<()> {
    if let Some(problem) = market.read_blocking(verify::find_contradictions)?.first() {
        return Err(refused(&["tables"], format!("The rows contradict each other: {problem}.")).into());
    }
    if let Some(problem) = uploads::find_damaged(market)?.first() {
        return Err(refused(&[blobs::DIRECTORY], format!("The files contradict the rows: {problem}.")).into());
    }
    market.read_blocking(|reader| check_counts(reader, clock))?;
    Ok(())
}

fn check_counts(reader: &Reader, clock: &ClockState) -> Result<()> {
    let (existing, next) = (store::verify::list_ids(reader.rows)?, SimulatedClock::new(clock));
    let repeated = |path: &[&str]| {
        let path = [&[market_file::NAME, "clock"], path].concat();
        refused(&path, "The count is too small: what is created next would repeat what a row already has.")
    };
    for collection in Collection::ALL {
        if (0..CHECKED_COUNTS).any(|_| existing.contains(&next.new_id(*collection))) {
            return Err(repeated(&["ids", collection.as_str()]));
        }
    }
    let origin = store::secrets::find(reader.rows, store::secrets::ORIGIN)?;
    let entropy = next.entropy().with_origin(origin);
    for _ in 0..CHECKED_COUNTS {
        let secret = entropy.random_secret();
        if keys::is_taken(reader, &secret)? || grants::is_taken(reader, &secret)? {
            return Err(repeated(&["secrets"]));
        }
    }
    Ok(())
}

/// Returns the error of a market that cannot be opened or read because of its rows.
pub(super) fn of_rows(error: WorldError) -> WorldError {
    let is_unexpected = matches!(&error, WorldError::Open(_) | WorldError::Refused(Error::Internal(_)));
    if !is_unexpected || store::is_of_machine(&error) {
        return error;
    }
    refused(&["tables"], format!("The rows cannot be read: {}.", ErrorChain(&error))).into()
}
