//! Imports of graded traces: the format of a line, and the records of an import.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    quality_runs::RunStatus,
    task_quality::QaResult,
    tasks::{QaAgent, QaVerdict},
    texts,
    time::Timestamp,
};
use crate::string_enum::string_enum;

/// Maximum number of bytes of a line, without its end.
pub const MAX_LINE_BYTES: usize = 1_000_000;

/// Maximum number of lines that are read for one transaction, and thus of traces that are in memory.
pub const MAX_BATCH_LINES: usize = 1_000;

/// Number of bytes after which a batch ends, even in the middle of a line that is too long.
pub const MAX_BATCH_BYTES: u64 = 8_000_000;

/// Maximum number of rejected lines that an import keeps with their messages. All are counted.
pub const MAX_KEPT_PROBLEMS: usize = 100;

/// Maximum number of traces of a task version. The preview of a taskset shows all of them.
pub const MAX_TRACES_PER_VERSION: u64 = 10_000;

/// Maximum number of bytes of a message that quotes a parser.
const MAX_MESSAGE: usize = 300;

string_enum! {
    /// The status of an import of traces.
    TraceImportStatus {
        /// Waiting to start.
        Queued = "queued",
        /// In progress.
        Running = "running",
        /// All lines were read. Some may have been rejected.
        Completed = "completed",
        /// The file could not be read completely. What was imported until then stays.
        Failed = "failed",
    }
}

/// What was imported so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportCounts {
    /// Number of lines, without blank ones.
    pub lines: u64,
    /// Number of traces that were added.
    pub inserted: u64,
    /// Number of traces that had been added before.
    pub existing: u64,
    /// Number of lines that were rejected.
    pub rejected: u64,
}

/// A line that was rejected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectedLine {
    /// Number of the line, from 1.
    pub line: u64,
    /// What was wrong.
    pub message: String,
}

/// Where the next line of a file begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinePosition {
    /// Number of bytes of text before it, in UTF-8 and without a byte order mark.
    pub offset: u64,
    /// Number of lines before it, with blank ones.
    pub lines_read: u64,
    /// Whether the position is in a line that is too long, whose rest is skipped.
    pub is_in_long_line: bool,
}

/// The task version that a line names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum VersionName {
    /// By its ID.
    Id(Uuid),
    /// By the vendor's identifier of the task, and the number of the version.
    External(String, u32),
}

/// A line of an import: a trace, and the task version that it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceLine {
    /// ID of the trace.
    pub id: Uuid,
    /// The task version.
    pub version: VersionName,
    /// Name of the model; `None` if the trace names no model of the catalog.
    pub model: Option<String>,
    /// Reward from 0 to 1 and time of grading; `None` if the run was not graded.
    pub graded: Option<(f64, Timestamp)>,
    /// Number of the build that was used, from 1.
    pub build: u32,
    /// Results of the platform's QA agents.
    pub qa: BTreeMap<QaAgent, QaResult>,
}

/// The JSON of a line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LineFields {
    trace_id: Uuid,
    task_version_id: Option<Uuid>,
    external_id: Option<String>,
    version: Option<u32>,
    model: Option<String>,
    reward: Option<f64>,
    graded_at: Option<Timestamp>,
    build_version: u32,
    #[serde(default)]
    qa: BTreeMap<QaAgent, QaFields>,
}

/// The JSON of the result of a QA agent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QaFields {
    status: RunStatus,
    verdict: Option<QaVerdict>,
    #[serde(default)]
    findings: u32,
}

impl TraceLine {
    /// Parses a line. Returns what is wrong with it otherwise.
    pub fn parse(line: &[u8]) -> Result<TraceLine, String> {
        // Parsing would take the elements of an array for the fields.
        if line.trim_ascii_start().first() != Some(&b'{') {
            return Err("This is not a trace: expected a JSON object.".to_owned());
        }
        let fields: LineFields = serde_json::from_slice(line).map_err(|cause| {
            let column = cause.column();
            let problem = cause.to_string();
            // The parser counts from this line, which is seldom the first one of the file.
            let mut message = match problem.strip_suffix(&format!(" at line 1 column {column}")) {
                Some(problem) => format!("This is not a trace: {problem} at column {column}."),
                None => format!("This is not a trace: {problem}."),
            };
            message.truncate(message.floor_char_boundary(MAX_MESSAGE));
            message
        })?;
        for (field, text) in [("external_id", &fields.external_id), ("model", &fields.model)] {
            let text = text.as_deref();
            if let Some(problem) = text.and_then(|text| texts::find_problem(&[field], text, texts::NAME)) {
                return Err(problem.msg);
            }
        }
        let version = match (fields.task_version_id, fields.external_id, fields.version) {
            (Some(id), None, None) => VersionName::Id(id),
            (None, Some(task), Some(version)) => VersionName::External(task, version),
            _ => return Err("State `task_version_id`, or else `external_id` and `version`.".to_owned()),
        };
        let graded = match (fields.reward, fields.graded_at) {
            (None, None) => None,
            (Some(reward), Some(at)) if (0.0..=1.0).contains(&reward) => Some((reward, at)),
            (Some(_), Some(_)) => return Err("`reward` must be from 0 to 1.".to_owned()),
            _ => return Err("State both `reward` and `graded_at`, or neither.".to_owned()),
        };
        let qa = fields.qa.into_iter().map(|(agent, QaFields { status, verdict, findings })| {
            (agent, QaResult { status, verdict, findings })
        });
        let (id, model, build) = (fields.trace_id, fields.model, fields.build_version);
        Ok(TraceLine { id, version, model, graded, build, qa: qa.collect() })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const ID: &str = "6d61726b-6574-506c-8163-650000000001";

    fn parse(change: &Value) -> Result<TraceLine, String> {
        let mut line = json!({"trace_id": ID, "task_version_id": ID, "reward": 0.5,
            "graded_at": "2026-01-01T00:00:00Z", "build_version": 1});
        for (name, value) in change.as_object().unwrap() {
            line[name] = value.clone();
        }
        TraceLine::parse(line.to_string().as_bytes())
    }

    #[test]
    fn line_names_its_version_in_one_of_two_ways() {
        assert_eq!(parse(&json!({})).unwrap().version, VersionName::Id(Uuid::parse_str(ID).unwrap()));
        let external = json!({"task_version_id": null, "external_id": "t-1", "version": 2});
        assert_eq!(parse(&external).unwrap().version, VersionName::External("t-1".to_owned(), 2));
        for change in [
            json!({"external_id": "t-1", "version": 2}),
            json!({"task_version_id": null}),
            json!({"task_version_id": null, "external_id": "t-1"}),
        ] {
            assert!(parse(&change).unwrap_err().contains("`task_version_id`"), "{change}");
        }
    }

    #[test]
    fn line_that_is_not_a_trace_is_refused_with_a_short_message() {
        for (change, expected) in [
            (json!({"reward": 1.5}), "from 0 to 1"),
            (json!({"reward": null}), "or neither"),
            (json!({"model": ""}), "must not be blank"),
            (json!({"model": "x".repeat(201)}), "at most 200"),
            (json!({"build_version": -1}), "not a trace"),
            (json!({"rewards": 1}), "unknown field `rewards`"),
            (json!({"x".repeat(2_000): 1}), "unknown field"),
            (json!({"qa": {"reward_hacking": {"status": "completed", "verdict": "bad"}}}), "unknown variant"),
        ] {
            let message = parse(&change).unwrap_err();
            assert!(message.contains(expected) && message.len() <= MAX_MESSAGE, "{message}");
        }
        let broken = TraceLine::parse(b"{\"reward\": NaN}").unwrap_err();
        assert_eq!(broken, "This is not a trace: expected value at column 12.");
        let array =
            format!("[\"{ID}\", \"{ID}\", null, null, \"m\", 1.0, \"2026-02-01T00:00:00Z\", 1, {{}}]");
        for line in [&b"{"[..], b"[]", b"\xff\xfe", b"null", &b"[".repeat(100_000), array.as_bytes()] {
            assert!(TraceLine::parse(line).unwrap_err().starts_with("This is not a trace: "));
        }
    }
}
