//! Consistency checks of a market: the database, the ledger, the inventory, the uploads, the files of
//! bundles, and the index. They change nothing.

use super::{
    attestation_log,
    index_checks::{self, IndexCheck},
};
use crate::{
    error::{ErrorChain, Result},
    market::{Market, Reader},
    search::Progress,
    store,
    string_enum::{StringEnum, string_enum},
};

string_enum! {
    /// The part of a market that is inconsistent.
    Part {
        /// The file of the database, and references between its rows.
        Database = "database",
        /// Money.
        Ledger = "ledger",
        /// Data that is derived from other records: counts, usage, the inventory, exclusive sales, and the log of attestations.
        Records = "records",
        /// What time alone changes.
        DueSteps = "due_steps",
        /// The search index.
        Index = "index",
        /// Uploads, and the files of bundles.
        Files = "files",
    }
}

impl Part {
    /// Returns how an operator repairs this part.
    pub const fn repair(self) -> &'static str {
        match self {
            Part::Database => "restore a backup with `marketplace restore`",
            Part::Ledger | Part::Records => {
                "restore a backup with `marketplace restore`, or report the problem, since no operation should cause it"
            }
            Part::DueSteps => {
                "remove the cause that the problem names; the server repeats the step when it is started"
            }
            Part::Index => "run `marketplace reindex`, also while the server is running",
            Part::Files => "copy the file from a backup, or let its team upload it again",
        }
    }
}

/// Something in a market that contradicts the rest of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inconsistency {
    /// The part of the market.
    pub part: Part,
    /// What is wrong.
    pub message: String,
}

/// Returns a description of each inconsistency in the market. Empty if there is none.
pub fn find_inconsistencies(market: &Market) -> Result<Vec<String>> {
    let index = IndexCheck { is_deep: false, listings: &(), rebuilt: &() };
    Ok(check(market, index, &())?.into_iter().map(|found| found.message).collect())
}

/// Returns each inconsistency in the market. `upload_bytes` gets the progress in bytes of uploads.
pub fn check(market: &Market, index: IndexCheck, upload_bytes: &dyn Progress) -> Result<Vec<Inconsistency>> {
    let mut found = market.read_blocking(|reader| {
        let mut found = check_records(reader)?;
        add(&mut found, Part::Index, index_checks::find_inconsistencies(market, reader, index))?;
        Ok(found)
    })?;
    let files = super::uploads::find_damaged_with_progress(market, upload_bytes);
    add(&mut found, Part::Files, files)?;
    Ok(found)
}

/// Returns a description of each contradiction between rows of the database.
pub fn find_contradictions(reader: &Reader) -> Result<Vec<String>> {
    Ok(check_rows(reader)?.into_iter().map(|found| found.message).collect())
}

/// Checks what the database alone says.
fn check_records(reader: &Reader) -> Result<Vec<Inconsistency>> {
    let mut found = check_rows(reader)?;
    add(&mut found, Part::DueSteps, find_failed_steps(reader))?;
    Ok(found)
}

/// Checks that rows of the database agree with each other.
fn check_rows(reader: &Reader) -> Result<Vec<Inconsistency>> {
    let (rows, mut found) = (reader.rows, Vec::new());
    add(&mut found, Part::Database, store::verify::find_corruption(rows))?;
    add(&mut found, Part::Ledger, store::verify::find_ledger_inconsistencies(rows))?;
    add(&mut found, Part::Records, store::verify::find_miscounted_records(rows))?;
    add(&mut found, Part::Records, store::bulk_changes::find_inconsistencies(rows))?;
    add(&mut found, Part::Records, store::event_retention::find_inconsistencies(rows))?;
    add(&mut found, Part::Records, store::exclusive_sales::find_inconsistencies(rows))?;
    add(&mut found, Part::Records, store::inventory::find_inconsistencies(rows))?;
    add(&mut found, Part::Records, store::attestation_log::checks::find_inconsistencies(rows))?;
    add(&mut found, Part::Records, attestation_log::find_unsigned_heads(reader))?;
    add(&mut found, Part::Records, find_miscounted_usage(reader))?;
    Ok(found)
}

fn find_failed_steps(reader: &Reader) -> Result<Vec<String>> {
    let failed = store::due_steps::list_failed(reader.rows)?.into_iter().map(|(kind, subject, error)| {
        format!("the due step {} of row {} failed: {error}", kind.as_str(), subject.0)
    });
    Ok(failed.collect())
}

fn find_miscounted_usage(reader: &Reader) -> Result<Vec<String>> {
    let miscounted = store::usage::list_miscounted(reader.rows)?.into_iter().map(|principal| {
        let (kind, row_id) = (principal.kind().as_str(), principal.row_id());
        format!("the usage of {kind} {row_id} differs from its records")
    });
    Ok(miscounted.collect())
}

/// Adds what a check has found. An unreadable database is a finding, not a failure of the check.
fn add(found: &mut Vec<Inconsistency>, part: Part, checked: Result<Vec<String>>) -> Result<()> {
    match checked {
        Ok(messages) => {
            found.extend(messages.into_iter().map(|message| Inconsistency { part, message }));
        }
        Err(error) if store::has_failed(&error) || store::is_unreadable(&error) => {
            let message = format!("records cannot be read: {}", ErrorChain(&error));
            let unreadable = Inconsistency { part: Part::Database, message };
            if !found.contains(&unreadable) {
                found.push(unreadable);
            }
        }
        Err(error) => return Err(error),
    }
    Ok(())
}
