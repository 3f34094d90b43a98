//! Validation of the replies of child processes. The files that a child read may have compromised it, so its
//! reply is checked against the same limits that honest code keeps.

use super::confinement::SelfTest;
use crate::{
    analyses::{AnalysisByKind, ArchiveAnalysis, RepositoryAnalysis},
    archive::ArchiveSummary,
    codebases::CodebaseAnalysis,
    datasets::Dataset,
    git::{IndexedPack, RepackedRepository, bundle::is_id},
    packing::PackedFiles,
    quality_checks::{
        MAX_MESSAGE_CHARS, Outcome,
        places::{MAX_PLACES, Place},
    },
    structure::Structure,
};

/// Maximum number of findings of one pass.
const MAX_FINDINGS: usize = 100;

/// Maximum number of places of one finding: causes, notices, and omissions, from several samples each.
const MAX_PLACES_OF_FINDING: usize = 5 * MAX_PLACES;

/// Maximum number of languages and of file extensions.
const MAX_NAMES: usize = 2_000;

/// Maximum size in bytes of a name: of a language, an extension, or a directory.
const MAX_NAME_BYTES: usize = 255 * 4;

/// Maximum size in bytes of a text: a description, a message, or a cause.
const MAX_TEXT_BYTES: usize = 100_000;

/// Maximum number of tables, of columns of a table, and of sample rows.
const MAX_TABLES: usize = 100;
const MAX_COLUMNS: usize = 100_000;
const MAX_SAMPLES: usize = 100;

/// Maximum size in bytes of a sample row.
const MAX_SAMPLE_BYTES: usize = 4_096;

/// The largest number that the database can store.
const MAX_NUMBER: u64 = i64::MAX as u64;

/// Maximum size in bytes of a message for the vendor.
const MAX_REJECTION_BYTES: usize = 2_000;

/// A value whose limits can be checked.
pub trait Validate {
    /// Checks the value against its limits. The error says what is wrong.
    fn validate(&self) -> Result<(), String>;
}

/// Fails with `what` unless a condition holds.
pub(super) fn require(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("{what} is out of range")) }
}

fn require_number(number: u64, what: &str) -> Result<(), String> {
    require(number <= MAX_NUMBER, what)
}

pub(super) fn require_text(text: Option<&String>, what: &str) -> Result<(), String> {
    require(text.is_none_or(|text| text.len() <= MAX_TEXT_BYTES), what)
}

/// Fails unless a text can be shown to the vendor.
pub(super) fn require_rejection(text: &str) -> Result<(), String> {
    require(text.len() <= MAX_REJECTION_BYTES && !text.chars().any(char::is_control), "the message")
}

impl Validate for ArchiveAnalysis {
    fn validate(&self) -> Result<(), String> {
        let ArchiveSummary { files, bytes, extensions, structure, root, description } = &self.listing;
        require_number(*files, "the number of files")?;
        require_number(*bytes, "the number of bytes")?;
        require_names(extensions.iter(), "an extension")?;
        structure.validate()?;
        require(root.as_ref().is_none_or(|root| root.len() <= MAX_NAME_BYTES), "the root")?;
        require_text(description.as_ref(), "the description")?;
        match &self.own {
            AnalysisByKind::Codebase(code) => code.validate(),
            AnalysisByKind::RawData(dataset) => dataset.as_ref().map_or(Ok(()), Validate::validate),
        }
    }
}

impl Validate for RepositoryAnalysis {
    fn validate(&self) -> Result<(), String> {
        require(is_id(&self.commit_sha), "the commit")?;
        self.files.validate()?;
        let history = &self.history;
        require_number(history.commits, "the number of commits")?;
        require_number(history.contributors, "the number of contributors")?;
        require_number(history.merged_prs, "the number of pull requests")?;
        require(history.span.is_none_or(|(first, last)| 0 < first && first <= last), "the time span")
    }
}

impl Validate for CodebaseAnalysis {
    fn validate(&self) -> Result<(), String> {
        require_number(self.files, "the number of files")?;
        require_number(self.bytes, "the number of bytes")?;
        require_number(self.languages.lines, "the number of lines")?;
        require_names(self.languages.bytes.iter(), "a language")?;
        let total = self.languages.bytes.values().try_fold(0_u64, |total, bytes| total.checked_add(*bytes));
        require(total.is_some_and(|total| total <= MAX_NUMBER), "the number of bytes of all languages")?;
        self.structure.validate()?;
        require_text(self.readme.as_ref(), "the README")?;
        require_text(self.manifest.as_ref(), "the manifest")
    }
}

fn require_names<'a>(
    names: impl ExactSizeIterator<Item = (&'a String, &'a u64)>,
    what: &str,
) -> Result<(), String> {
    require(names.len() <= MAX_NAMES, what)?;
    let mut names = names;
    require(names.all(|(name, number)| name.len() <= MAX_NAME_BYTES && *number <= MAX_NUMBER), what)
}

impl Validate for Structure {
    fn validate(&self) -> Result<(), String> {
        require(self.is_within_limits(MAX_NAME_BYTES, MAX_NUMBER), "the directory tree")
    }
}

impl Validate for Dataset {
    fn validate(&self) -> Result<(), String> {
        require(self.tables.len() <= MAX_TABLES, "the number of tables")?;
        for table in &self.tables {
            require(table.path.len() <= MAX_TEXT_BYTES, "the path of a table")?;
            let columns = &table.columns;
            let are_short = columns
                .iter()
                .all(|column| column.name.len() <= MAX_NAME_BYTES && column.kind.len() <= MAX_NAME_BYTES);
            require(columns.len() <= MAX_COLUMNS && are_short, "a column")?;
            let are_short = table.sample.iter().all(|row| row.len() <= MAX_SAMPLE_BYTES);
            require(table.sample.len() <= MAX_SAMPLES && are_short, "a sample row")?;
            require_number(table.files.max(table.rows.unwrap_or(0)), "the size of a table")?;
        }
        require_number(self.rows.unwrap_or(0).max(self.further_tables), "the size of the dataset")?;
        let Some(robotics) = &self.robotics else { return Ok(()) };
        require_text(robotics.robot.as_ref(), "the robot")?;
        let numbers = robotics.episodes.unwrap_or(0).max(robotics.frames.unwrap_or(0));
        require_number(numbers, "the number of recordings")?;
        require(robotics.fps.is_none_or(f64::is_finite), "the frame rate")
    }
}

impl Validate for Outcome {
    fn validate(&self) -> Result<(), String> {
        require(self.findings.len() <= MAX_FINDINGS, "the number of findings")?;
        let is_short = |message: &str| message.chars().count() <= MAX_MESSAGE_CHARS;
        for finding in &self.findings {
            require(is_short(&finding.message), "a finding")?;
            let places = &finding.places;
            let is_valid = places.len() <= MAX_PLACES_OF_FINDING && places.iter().all(Place::is_short);
            let further = finding.further_places;
            let further = further.cause.max(further.note).max(further.left_out);
            require(is_valid && further <= MAX_NUMBER, "a place")?;
        }
        require(self.fingerprint.is_valid(), "the fingerprint")
    }
}

impl Validate for SelfTest {
    fn validate(&self) -> Result<(), String> {
        let is_short = self.succeeded.len() <= 10 && self.succeeded.iter().all(|text| text.len() <= 100);
        require(is_short, "the list of attempts")
    }
}

impl Validate for IndexedPack {
    fn validate(&self) -> Result<(), String> {
        require_number(self.objects, "the number of objects")
    }
}

impl Validate for RepackedRepository {
    fn validate(&self) -> Result<(), String> {
        require(is_id(&self.head), "the newest commit")
    }
}

impl Validate for PackedFiles {
    fn validate(&self) -> Result<(), String> {
        require_number(self.files, "the number of files")
    }
}
