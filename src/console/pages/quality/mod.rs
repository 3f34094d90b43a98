//! Quality runs of all assets and listings of a vendor, and their findings.

pub mod findings;
pub mod run;
pub mod runs;

use crate::{
    console::{
        address::Links,
        parts::tabs::{self, Tab},
        prelude::*,
    },
    store::records::team_lists::quality_runs::RunSubject,
};

/// Path of the page with the findings of the latest runs.
pub const FINDINGS: &str = "/quality/findings";

/// Returns the path of a run: that below its asset, if it can be opened.
fn run_path(run: Uuid, subject: &RunSubject) -> String {
    match subject {
        RunSubject::Asset { id, is_deleted: false, .. } => format!("{}/runs/{run}", paths::asset(*id)),
        RunSubject::Asset { .. } | RunSubject::Listing { .. } => format!("{}/runs/{run}", paths::QUALITY),
    }
}

/// Returns the name of what a run checks.
fn name(subject: &RunSubject) -> String {
    match subject {
        RunSubject::Listing { title, .. } | RunSubject::Asset { title, .. } if !is_blank(title) => {
            title.clone()
        }
        RunSubject::Listing { .. } => "Untitled listing".to_owned(),
        RunSubject::Asset { kind, .. } => format!("Untitled {}", kinds::words(*kind).0),
    }
}

/// Returns what a run checks, as a kind of thing.
fn kind(subject: &RunSubject) -> String {
    match subject {
        RunSubject::Listing { .. } => "Listing".to_owned(),
        RunSubject::Asset { kind, is_deleted: false, .. } => text::words(kinds::words(*kind).0),
        RunSubject::Asset { kind, .. } => format!("{}, deleted", text::words(kinds::words(*kind).0)),
    }
}

/// Returns the links between the runs and the findings.
fn tabs(links: &Links, current: &str) -> maud::Markup {
    let tab = |label, path: &str| Tab { label, address: links.to(path), is_current: path == current };
    tabs::tabs("Quality", &[tab("Runs", paths::QUALITY), tab("Findings", FINDINGS)])
}
