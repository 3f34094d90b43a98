//! Rows of listings: the fields of the catalog's summary and detail, and the quality evidence.

use std::collections::BTreeMap;

use crate::{
    domain::{
        listings::ListingRowId, quality_checks::CheckStatus, quality_runs::RunOutcome, time::Timestamp,
    },
    error::Result,
    operations::listing_quality::{self, Certificate},
    rest::{
        prelude::*,
        shapes::{
            json_object::{ObjectWriter, RawObject},
            listings::{ListingDetailFields, ListingSummary},
        },
    },
    store::{quality_runs::RunSummary, renderings::Rendering},
};

/// Maximum number of checks of one status that a sentence names.
const MAX_NAMED_CHECKS: usize = 5;

/// The latest completed quality run of a listing, in brief.
#[derive(Debug, Object, Serialize)]
pub struct QualityBrief {
    /// ID of the run.
    pub run_id: Uuid,
    /// Time at which the run ended.
    pub completed_at: Option<UtcTime>,
    /// Number of checks that passed.
    pub checks_passed: u64,
    /// Number of checks.
    pub checks: u64,
    /// Keys of the checks that failed.
    pub failed_checks: Vec<String>,
    /// Keys of the checks that could not be performed.
    pub errored_checks: Vec<String>,
    /// Status of each check, by key; of several subjects, the worst.
    pub check_statuses: BTreeMap<String, EnumValue<CheckStatus>>,
}

impl From<&RunSummary> for QualityBrief {
    fn from(run: &RunSummary) -> QualityBrief {
        QualityBrief {
            run_id: run.id,
            completed_at: run.completed_at.map(UtcTime),
            checks_passed: run.passed,
            checks: run.checks,
            failed_checks: keys_with(run, CheckStatus::Failed),
            errored_checks: keys_with(run, CheckStatus::Error),
            check_statuses: check_statuses(run),
        }
    }
}

/// Returns the keys of the checks of a run that have this status for any subject.
pub fn keys_with(run: &RunSummary, status: CheckStatus) -> Vec<String> {
    run.keys_with(status).into_iter().map(str::to_owned).collect()
}

/// Returns the status of each check of a run, by key; of several subjects, the worst.
pub fn check_statuses(run: &RunSummary) -> BTreeMap<String, EnumValue<CheckStatus>> {
    let worst = |statuses: &[CheckStatus]| {
        let by_severity =
            [CheckStatus::Failed, CheckStatus::Error, CheckStatus::Running, CheckStatus::Queued];
        let worst = by_severity.into_iter().find(|status| statuses.contains(status));
        EnumValue(worst.unwrap_or(CheckStatus::Passed))
    };
    run.statuses.iter().map(|(key, statuses)| (key.clone(), worst(statuses))).collect()
}

/// A listing with all that agents can select.
#[derive(Debug, Object, Serialize)]
pub struct AgentListing {
    /// The fields of the summary.
    #[oai(flatten)]
    #[serde(flatten)]
    pub summary: ListingSummary,
    /// The fields of the detail.
    #[oai(flatten)]
    #[serde(flatten)]
    pub detail: ListingDetailFields,
    /// The latest completed quality run; null if there is none.
    pub quality: Option<QualityBrief>,
    /// The basis of what is said about quality, as a sentence to cite.
    pub evidence: String,
}

/// The names of the fields that a call selects; empty for all.
#[derive(Debug)]
pub struct SelectedFields(Vec<String>);

impl SelectedFields {
    /// Creates the selection from a parameter.
    pub const fn new(names: Vec<String>) -> SelectedFields {
        SelectedFields(names)
    }

    /// Whether a field is selected.
    pub fn has(&self, name: &str) -> bool {
        self.0.is_empty() || self.names(name)
    }

    /// Whether a field is selected by its name.
    pub fn names(&self, name: &str) -> bool {
        self.0.iter().any(|selected| selected == name)
    }
}

/// Returns the JSON of rows with the selected fields, separated by commas. Reads quality evidence only if it is selected: with one
/// statement, for all rows.
pub fn rows_json(reader: &Reader, renderings: &[Rendering], fields: &SelectedFields) -> Result<Vec<u8>> {
    let has_quality = fields.has("quality") || fields.has("evidence");
    let listings: Vec<ListingRowId> = renderings.iter().map(|rendering| rendering.listing).collect();
    let certificates =
        if has_quality { listing_quality::certificates(reader, &listings)? } else { BTreeMap::new() };
    let mut rows = Vec::with_capacity(2_048 * renderings.len());
    for rendering in renderings {
        if !rows.is_empty() {
            rows.push(b',');
        }
        let mut row = ObjectWriter::with_capacity(2_048);
        for part in [&rendering.summary, &rendering.detail_fields] {
            row.fields(&RawObject::parse(part)?.only(|name| fields.has(name)));
        }
        if has_quality {
            let certificate = certificates.get(&rendering.listing);
            let run = certificate.and_then(|certificate| certificate.latest_run.as_ref());
            row.field("quality", &run.map(QualityBrief::from));
            row.field(
                "evidence",
                &certificate.map(|certificate| listing_evidence(certificate, EvidenceForm::Brief)),
            );
        }
        rows.extend(row.finish());
    }
    Ok(rows)
}

/// Returns the JSON of rows for a viewer who may not read details, separated by commas: only the fields of the catalog's
/// summary.
pub fn summaries_json(renderings: &[Rendering]) -> Vec<u8> {
    let summaries: Vec<&[u8]> = renderings.iter().map(|rendering| rendering.summary.as_ref()).collect();
    summaries.join(&b',')
}

/// How much a sentence on evidence says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvidenceForm {
    /// The run, the day on which it ended, and its checks: for rows of lists.
    Brief,
    /// The same with the time, as a full sentence.
    Full,
}

/// Returns the basis of what is said about the quality of a listing, as sentences. An operator can certify a listing
/// without a passed run, and end the certification of a run that passed.
pub fn listing_evidence(certificate: &Certificate, form: EvidenceForm) -> String {
    let run = certificate.latest_run.as_ref();
    let has_passed = run.is_some_and(|run| run.outcome == RunOutcome::Passed);
    // A run certifies the listing in the transaction that completes it.
    let is_of_run = run.is_some_and(|run| run.completed_at == certificate.certified_at);
    let certification = match certificate.certified_at {
        // Rows have a field for it.
        Some(_) if is_of_run && form == EvidenceForm::Brief => String::new(),
        Some(_) if is_of_run => "Certified. ".to_owned(),
        Some(at) => format!("Certified {at} by the operator, not by a quality run. "),
        None if has_passed => "Not certified: changed since its quality run, or revoked. ".to_owned(),
        None => String::new(),
    };
    certification + &run_evidence(run, form)
}

/// Returns a sentence that names the quality run of a listing or an asset, and how it ended.
pub fn run_evidence(run: Option<&RunSummary>, form: EvidenceForm) -> String {
    let Some(run) = run else { return "No quality run has completed.".to_owned() };
    let (id, passed, checks) = (run.id, run.passed, run.checks);
    let is_brief = form == EvidenceForm::Brief;
    let ended = |at: Timestamp| if is_brief { format!(", {}", at.day()) } else { format!(", ended {at}") };
    let ended = run.completed_at.map(ended).unwrap_or_default();
    let name = if is_brief { format!("Run {id}") } else { format!("Quality run {id}") };
    let counts = if is_brief {
        format!("{passed}/{checks} passed")
    } else {
        format!("{passed} of {checks} checks passed")
    };
    let outcome = match run.outcome {
        RunOutcome::InProgress => return format!("{name} is in progress."),
        RunOutcome::Error => "the run itself failed, so there is no verdict".to_owned(),
        RunOutcome::Cancelled => return format!("{name}{ended}, was canceled."),
        RunOutcome::Passed if passed < checks && !is_brief => format!("{counts}, with all mandatory ones"),
        RunOutcome::Failed if !is_brief => format!("{counts}, not all mandatory ones"),
        RunOutcome::Passed | RunOutcome::Failed | RunOutcome::None => counts,
    };
    // For a run that passed, names the failed checks that are not mandatory.
    let optional = if is_brief && run.outcome == RunOutcome::Passed { "optional " } else { "" };
    let failed = named_keys(optional, "failed", &run.keys_with(CheckStatus::Failed));
    let errored = named_keys(optional, "not performed", &run.keys_with(CheckStatus::Error));
    format!("{name}{ended}: {outcome}{failed}{errored}.")
}

/// Returns the part of a sentence that names the first checks with a status; empty if there are none.
fn named_keys(optional: &str, status: &str, keys: &[&str]) -> String {
    if keys.is_empty() {
        return String::new();
    }
    let named = keys[..keys.len().min(MAX_NAMED_CHECKS)].join(", ");
    match keys.len().saturating_sub(MAX_NAMED_CHECKS) {
        0 => format!("; {optional}{status}: {named}"),
        more => format!("; {optional}{status}: {named}, and {more} more"),
    }
}
