//! The `marketplace verify` command.

use std::collections::BTreeSet;

use clap::Args;
use serde_json::json;

use super::{
    CommandError, CommandResult, GlobalOptions, lists::print_json, print_line, progress::CliProgress,
    require_none_found,
};
use crate::{
    market::Market,
    operations::{
        index_checks::IndexCheck,
        verify::{self, Inconsistency, Part},
    },
    store,
    string_enum::StringEnum,
};

/// Check the database, the ledger, the uploads, and the search index for problems. Changes nothing.
///
/// Reads everything: the records, the files of uploads and bundles with their digests, the files of the index with their
/// checksums, and the documents in the index.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  marketplace verify --data ./market\n  marketplace verify --data ./market --deep --json\n\nPrints each problem and how to repair it, and exits with 1 if there is any. A server may use the market at the same time."
)]
pub struct Verify {
    /// Also build a second search index, in the directory for temporary files (TMPDIR), and compare both.
    #[arg(long)]
    deep: bool,
    /// Print the problems as JSON.
    #[arg(long = "json")]
    is_json: bool,
}

/// How a check is made, and how its result is printed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Report {
    is_deep: bool,
    is_json: bool,
}

impl Verify {
    pub(super) fn run(self, options: &GlobalOptions) -> CommandResult {
        let report = Report { is_deep: self.deep, is_json: self.is_json };
        match options.inspect_market() {
            Ok(market) => verify(&market, report),
            // Damage that keeps the database from being opened is a problem that is found.
            Err(error) if store::is_damage(&error) || store::is_unreadable(&error) => {
                print(&[Inconsistency { part: Part::Database, message: error.to_string() }], report)
            }
            Err(error) => Err(error),
        }
    }
}

/// Checks a market, and prints the problems. Fails if there is any.
pub(super) fn verify(market: &Market, report: Report) -> CommandResult {
    print(&find(market, report)?, report)
}

/// Prints the problems. Fails if there is any.
fn print(found: &[Inconsistency], report: Report) -> CommandResult {
    if report.is_json {
        print_as_json(found);
    } else {
        print_as_text(found);
    }
    require_none_found(found.len(), "problem", "problems")
}

/// Checks a market, and returns the problems.
pub(super) fn find(market: &Market, report: Report) -> Result<Vec<Inconsistency>, CommandError> {
    let (listings, rebuilt) = (CliProgress::new("listings"), CliProgress::new("building an index"));
    let uploads = CliProgress::bytes("uploads");
    let index = IndexCheck { is_deep: report.is_deep, listings: &listings, rebuilt: &rebuilt };
    Ok(verify::check(market, index, &uploads)?)
}

fn print_as_json(found: &[Inconsistency]) {
    let problems = found.iter().map(
        |Inconsistency { part, message }| json!({"part": part, "message": message, "repair": part.repair()}),
    );
    print_json(&json!({"problems": problems.collect::<Vec<_>>()}));
}

/// Prints the problems, and how to repair them.
pub(super) fn print_as_text(found: &[Inconsistency]) {
    for Inconsistency { part, message } in found {
        print_line(format_args!("{}: {message}", part.as_str()));
    }
    let parts: BTreeSet<Part> = found.iter().map(|found| found.part).collect();
    for part in parts {
        print_line(format_args!("to repair {}: {}", part.as_str(), part.repair()));
    }
    if found.is_empty() {
        print_line("no problems found");
    }
}
