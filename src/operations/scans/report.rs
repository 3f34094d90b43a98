//! The report of a scan, as `marketplace scan --json` prints it.

use std::{
    collections::{BTreeMap, HashSet},
    path::Path,
};

use serde::Serialize;

use super::sources::SourceKind;
use crate::{
    artifacts::{
        analyses::{AnalysisByKind, ArchiveAnalysis, RepositoryAnalysis},
        datasets::{Column, Dataset, Format, Robotics},
        hosts::RepositoryMetadata,
        quality_checks::{
            Finding, Outcome,
            integrity::ARCHIVE_INTACT,
            places::{FurtherPlaces, Place, Role},
        },
    },
    config::Settings,
    domain::{
        assets::{Kind, RepositoryChannel},
        codebase_fields::CodebaseFields,
        inventory::Asset,
        quality_checks::{CheckOutcome, CheckStatus},
        quality_runs::{RunStatus, is_run_passed},
        stages::RequiredField,
        taxonomy::Language,
    },
    operations::{
        archive_analysis,
        child_processes::{EXCEEDS_LIMITS, EXCEEDS_SECONDS},
        data_analysis, repository_analysis,
    },
    string_enum::string_enum,
};

/// What was analyzed.
#[derive(Debug)]
pub(super) enum Analysis {
    Archive(ArchiveAnalysis),
    Repository(RepositoryAnalysis),
}

string_enum! {
    /// How a scan ended.
    Verdict {
        /// Every mandatory check passed.
        Passed = "passed",
        /// A mandatory check did not pass.
        Failed = "failed",
        /// The data cannot be read.
        Unreadable = "unreadable",
    }
}

/// What a market would read from data, and how its checks would end.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The path, as it was given.
    pub source: String,
    /// What is there; null if there is nothing that can be read.
    pub source_kind: Option<SourceKind>,
    /// Kind of the asset: `codebase` or `raw_data`. Null if it was not stated, and the data does not
    /// say it.
    pub kind: Option<Kind>,
    /// How the scan ended.
    pub verdict: Verdict,
    /// Why the data cannot be read; null if it can.
    pub problem: Option<String>,
    /// ID of the commit that was read, in hexadecimal. Only for repositories.
    pub commit_sha: Option<String>,
    /// What an asset gets from the data; null if the data cannot be read.
    pub figures: Option<Figures>,
    /// Description that an asset without one gets; null if the data has none.
    pub description: Option<String>,
    /// Required pieces that the data does not provide: what a vendor states to make the asset complete.
    pub missing: Vec<RequiredField>,
    /// Results of the checks.
    pub checks: Vec<Check>,
    /// Files that are not read, or that do not count: at most the first 200 for each reason that a check has.
    pub left_out: Vec<LeftOut>,
    /// Number of those that are only counted. A file that several checks leave out counts for each.
    pub further_left_out: u64,
    /// The limits of the settings that apply.
    pub limits: BTreeMap<&'static str, u64>,
}

/// What an asset gets from data.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Figures {
    /// Number of files.
    pub files: u64,
    /// Total size of the files in bytes.
    pub bytes: u64,
    /// Number of bytes by slug of the language. Only for codebases.
    pub languages: BTreeMap<String, u64>,
    /// The fields of a codebase that were measured, by name.
    #[serde(flatten)]
    pub fields: BTreeMap<&'static str, serde_json::Value>,
    /// Number of files by extension. Only for raw data.
    pub extensions: BTreeMap<String, u64>,
    /// Total number of rows, if those of all tables were counted. Only for raw data.
    pub rows: Option<u64>,
    /// The tables. Only for raw data.
    pub tables: Vec<TableFigures>,
    /// Number of tables that are not listed.
    pub further_tables: u64,
    /// The dataset of robot recordings, if it is one.
    pub robotics: Option<Robotics>,
}

/// A table.
#[derive(Clone, Debug, Serialize)]
pub struct TableFigures {
    /// Path of the file. For several files, `*` replaces each number in the name.
    pub path: String,
    /// Number of files.
    pub files: u64,
    /// File format.
    pub format: Format,
    /// Number of rows, if they were counted.
    pub rows: Option<u64>,
    /// The columns.
    pub columns: Vec<Column>,
}

/// Result of a check.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// Stable key, as in quality runs.
    pub key: &'static str,
    /// Human-readable label.
    pub label: &'static str,
    /// Whether the run fails if this check fails.
    pub is_mandatory: bool,
    /// Whether the check only informs.
    pub is_informational: bool,
    /// Whether the check passed.
    pub status: CheckStatus,
    /// What was found, and what to do about it.
    pub message: String,
    /// Where it was found.
    pub places: Vec<Place>,
    /// Number of places that are only counted, by role.
    pub further_places: FurtherPlaces,
    /// Whether a cause concerns the data as a whole, besides those that have places.
    pub has_general_cause: bool,
}

/// A file that is not read, or that does not count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Path of the file.
    pub path: String,
    /// Why, as a predicate that follows the path.
    pub reason: String,
}

impl Check {
    /// Whether the check did not pass.
    pub fn has_failed(&self) -> bool {
        self.status != CheckStatus::Passed
    }
}

impl Report {
    /// Creates the report of data at a path that was not read.
    pub(super) fn new(
        path: &Path,
        settings: &Settings,
        source_kind: Option<SourceKind>,
        kind: Option<Kind>,
    ) -> Report {
        Report {
            source: path.to_string_lossy().into_owned(),
            source_kind,
            kind,
            verdict: Verdict::Unreadable,
            problem: None,
            commit_sha: None,
            figures: None,
            description: None,
            missing: Vec::new(),
            checks: Vec::new(),
            left_out: Vec::new(),
            further_left_out: 0,
            limits: limits(settings, source_kind),
        }
    }

    /// Adds what was analyzed.
    pub(super) fn add_analysis(&mut self, analysis: Analysis, languages: &[Language]) {
        let mut asset = Asset::empty(self.kind.unwrap_or(Kind::RawData));
        let mut figures = match analysis {
            Analysis::Archive(found) => {
                archive_analysis::set_fields(&mut asset, &found);
                figures_of_archive(found, languages)
            }
            Analysis::Repository(found) => {
                // Which host makes no difference to the values.
                let metadata = RepositoryMetadata::default();
                repository_analysis::set_fields(&mut asset, RepositoryChannel::Github, &found, metadata);
                let RepositoryAnalysis { commit_sha, files, .. } = found;
                self.commit_sha = Some(commit_sha);
                let languages = data_analysis::languages_by_slug(languages, files.languages.bytes);
                Figures { files: files.files, bytes: files.bytes, languages, ..Figures::default() }
            }
        };
        if asset.kind == Kind::Codebase {
            let fields = CodebaseFields::measurable();
            figures.fields = fields.map(|field| (field, asset.codebase.get(field))).collect();
        }
        self.missing = asset.missing_fields();
        self.description = asset.description;
        self.figures = Some(figures);
    }

    /// Adds the results of the checks, and the verdict.
    pub(super) fn add_outcome(&mut self, outcome: Outcome) {
        let outcomes = outcome
            .findings
            .iter()
            .map(|finding| CheckOutcome { is_mandatory: finding.rule.is_mandatory, status: finding.status });
        let is_passed = is_run_passed(RunStatus::Completed, outcomes);
        self.verdict = if is_passed { Verdict::Passed } else { Verdict::Failed };
        for finding in outcome.findings {
            self.left_out.extend(left_out(&finding));
            self.further_left_out += further_left_out(&finding);
            let Finding { rule, status, message, places, further_places, has_general_cause } = finding;
            let (key, label) = (rule.key, rule.label);
            let (is_mandatory, is_informational) = (rule.is_mandatory, rule.is_informational);
            self.checks.push(Check {
                key,
                label,
                is_mandatory,
                is_informational,
                status,
                message,
                places,
                further_places,
                has_general_cause,
            });
        }
        // Several checks may not have been able to read a file. The first one, of integrity, says why.
        let mut seen = HashSet::new();
        self.left_out.retain(|entry| seen.insert(entry.path.clone()));
    }

    /// Returns the limits that prevented something from being read, with their values.
    pub fn reached_limits(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let reasons = self.left_out.iter().map(|entry| &entry.reason);
        let texts: HashSet<&String> = self.problem.iter().chain(reasons).collect();
        let is_reached = move |name: &str| texts.iter().any(|text| names_limit(text, name));
        self.limits.iter().map(|(name, value)| (*name, *value)).filter(move |(name, _)| is_reached(name))
    }
}

/// Whether a text says that the limit of a setting was reached. For limits of child processes and of time, the text may not say
/// which one.
fn names_limit(text: &str, setting: &str) -> bool {
    let (is_of_child, is_of_time) =
        (setting.starts_with("child_processes."), setting.ends_with(".max_seconds"));
    text.contains(&format!("`{setting}`"))
        || text.contains(EXCEEDS_LIMITS) && (is_of_child || is_of_time)
        || text.contains(EXCEEDS_SECONDS) && is_of_time
}

/// Whether the causes of a finding are files that are not read.
fn has_unread_causes(finding: &Finding) -> bool {
    finding.rule.key == ARCHIVE_INTACT.key
}

/// Returns the number of files that [`left_out`] would return if they were not only counted.
fn further_left_out(finding: &Finding) -> u64 {
    let further = finding.further_places;
    further.left_out + if has_unread_causes(finding) { further.cause } else { 0 }
}

/// Returns the files that a finding says are left out. What damages data is not read, either.
fn left_out(finding: &Finding) -> impl Iterator<Item = LeftOut> + '_ {
    let is_integrity = has_unread_causes(finding);
    finding.places.iter().filter_map(move |place| {
        let is_left_out = place.role == Role::LeftOut || is_integrity && place.role == Role::Cause;
        is_left_out.then(|| LeftOut { path: place.path.clone(), reason: place.text.clone() })
    })
}

fn figures_of_archive(found: ArchiveAnalysis, languages: &[Language]) -> Figures {
    let ArchiveAnalysis { listing, own } = found;
    let mut figures = Figures { files: listing.files, bytes: listing.bytes, ..Figures::default() };
    match own {
        AnalysisByKind::Codebase(code) => {
            figures.languages = data_analysis::languages_by_slug(languages, code.languages.bytes);
        }
        AnalysisByKind::RawData(dataset) => {
            figures.extensions = listing.extensions;
            if let Some(Dataset { tables, rows, further_tables, robotics }) = dataset {
                figures.tables = tables
                    .into_iter()
                    .map(|table| TableFigures {
                        path: table.path,
                        files: table.files,
                        format: table.format,
                        rows: table.rows,
                        columns: table.columns,
                    })
                    .collect();
                (figures.rows, figures.further_tables, figures.robotics) = (rows, further_tables, robotics);
            }
        }
    }
    figures
}

/// Returns the limits that apply to a kind of source, by setting.
fn limits(settings: &Settings, source_kind: Option<SourceKind>) -> BTreeMap<&'static str, u64> {
    let (archives, repositories) = (&settings.archives, &settings.repositories);
    let children = &settings.child_processes;
    let mut limits = BTreeMap::from([
        ("archives.max_seconds", archives.max_seconds.into()),
        ("child_processes.memory_mb", children.memory_mb),
        ("child_processes.cpu_seconds", children.cpu_seconds),
        ("child_processes.file_mb", children.file_mb),
        ("child_processes.reply_mb", children.reply_mb),
    ]);
    if source_kind == Some(SourceKind::Repository) {
        limits.extend([
            ("repositories.max_bytes", repositories.max_bytes),
            ("repositories.max_files", repositories.max_files),
            ("repositories.max_file_bytes", repositories.max_file_bytes),
            ("repositories.max_seconds", repositories.max_seconds.into()),
        ]);
    } else {
        limits.extend([
            ("archives.max_files", archives.max_files),
            ("archives.max_ratio", archives.max_ratio),
            ("blobs.max_upload_bytes", settings.blobs.max_upload_bytes),
        ]);
    }
    limits
}
