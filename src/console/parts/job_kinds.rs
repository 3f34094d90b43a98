//! Kinds of background jobs in words.

use super::text;
use crate::{domain::jobs::JobKind, string_enum::StringEnum};

/// Returns what a job does.
pub const fn words(kind: JobKind) -> &'static str {
    match kind {
        JobKind::AnalyzeArchive => "Read a zip file",
        JobKind::CopyRepository => "Copy a repository",
        JobKind::AnalyzeRepository => "Read a repository",
        JobKind::RunChecks => "Run the checks of a quality run",
        JobKind::ImportTraces => "Import traces",
        JobKind::RefreshTaskQuality => "Refresh the quality of tasks",
        JobKind::ChangeAssets => "Change many assets",
        JobKind::Estimate => "Measure a repository for an estimation",
        JobKind::PrepareBundle => "Prepare a download",
        JobKind::ReportRevocation => "Tell buyers that a certification has ended",
        JobKind::SealLog => "Sign a head of the attestation log",
        JobKind::Cleanup => "Delete files that nothing needs",
    }
}

/// Returns the description of a job by the name of its kind on the wire. Any other name becomes words.
pub fn named(kind: &str) -> String {
    JobKind::parse(kind).map_or_else(|| text::words(kind), |kind| words(kind).to_owned())
}

/// Returns all kinds with their words, for a choice.
pub fn choices() -> Vec<(&'static str, String)> {
    text::choices(words)
}
