//! The findings of a scan in SARIF 2.1.0, the format in which code hosts take findings of tools.

use std::{
    collections::HashMap,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{
    artifacts::{
        git,
        quality_checks::places::{Place, Role},
    },
    operations::scans::{Check, Report, SourceKind, Verdict},
};

/// Address of the schema of the format.
const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Name of the fingerprint that results have.
const FINGERPRINT: &str = "marketplaceFinding/v1";

/// Name of the fingerprint by which GitHub recognizes results. It computes it itself for those that have a line.
const HOST_FINGERPRINT: &str = "primaryLocationLineHash";

/// Number of bytes of a digest that are its fingerprint.
const FINGERPRINT_BYTES: usize = 16;

/// Returns the findings of a scan of a path. A check that did not pass has a result for each place that is a cause, and one for
/// all of the data if there are other causes, or none is known.
pub(super) fn document(report: &Report, path: &Path) -> Value {
    let rules: Vec<Value> = report.checks.iter().map(rule).collect();
    let is_files = report.source_kind == Some(SourceKind::Files);
    let directory = if is_files { directory_in_repository(path) } else { None };
    let directory = directory.unwrap_or_default();
    let mut occurrences = HashMap::new();
    let failed = report.checks.iter().enumerate().filter(|(_, check)| check.has_failed());
    let results: Vec<Value> =
        failed.flat_map(|(index, check)| results(index, check, &directory, &mut occurrences)).collect();
    let notifications: Vec<Value> = report
        .problem
        .iter()
        .map(|problem| json!({"level": "error", "message": {"text": problem}}))
        .collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "marketplace",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "automationDetails": {"id": "marketplace-scan/"},
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": report.verdict != Verdict::Unreadable,
                "toolExecutionNotifications": notifications,
            }],
            "results": results,
            "properties": {"verdict": report.verdict, "commit_sha": report.commit_sha},
        }],
    })
}

fn rule(check: &Check) -> Value {
    json!({
        "id": check.key,
        "name": check.key,
        "shortDescription": {"text": check.label},
        "defaultConfiguration": {"level": level(check)},
    })
}

/// Returns how much a failed check matters.
const fn level(check: &Check) -> &'static str {
    match check {
        Check { is_mandatory: true, .. } => "error",
        Check { is_informational: true, .. } => "note",
        _ => "warning",
    }
}

/// Returns the results of a check that did not pass, of data in a directory of a repository. `occurrences` counts equal ones.
fn results<'r>(
    index: usize,
    check: &'r Check,
    directory: &Path,
    occurrences: &mut HashMap<[&'r str; 4], u64>,
) -> Vec<Value> {
    let causes: Vec<&Place> = check.places.iter().filter(|place| place.role == Role::Cause).collect();
    let mut result = |path: &'r str, line: Option<u64>, [kind, context]: [&'r str; 2], message: String| {
        let parts = [check.key, path, kind, context];
        let occurrence = occurrences.entry(parts).or_default();
        *occurrence += 1;
        let fingerprint = fingerprint(parts, *occurrence);
        let uri = uri(&directory.join(path.trim_start_matches('/')));
        let mut location = json!({"artifactLocation": {"uri": uri, "uriBaseId": "%SRCROOT%"}});
        let mut fingerprints = json!({FINGERPRINT: fingerprint});
        match line {
            Some(line) => location["region"] = json!({"startLine": line}),
            None => fingerprints[HOST_FINGERPRINT] = json!(fingerprint),
        }
        json!({
            "ruleId": check.key,
            "ruleIndex": index,
            "level": level(check),
            "message": {"text": message},
            "locations": [{"physicalLocation": location}],
            "partialFingerprints": fingerprints,
        })
    };
    let of_place = |place: &&'r Place| {
        let message = if place.text.is_empty() { &check.message } else { &place.text };
        let message = format!("{}: {message}", check.label);
        result(&place.path, place.line, [&place.kind, &place.context], message)
    };
    let mut results: Vec<Value> = causes.iter().map(of_place).collect();
    if results.is_empty() || check.further_places.cause > 0 || check.has_general_cause {
        results.push(result("", None, ["", ""], check.message.clone()));
    }
    results
}

/// Returns a fingerprint of the key of a check, a path, a kind, and a context. It stays the same when other lines and findings
/// are added; only equal findings are distinguished by their order.
fn fingerprint(parts: [&str; 4], occurrence: u64) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    digest.update(occurrence.to_le_bytes());
    let mut text = format!("{:x}", digest.finalize());
    text.truncate(2 * FINGERPRINT_BYTES);
    text
}

/// Returns the directory with the data at a path, relative to the root of the repository that it is in; `None` if it is in none.
/// Code hosts find files by their paths in the repository.
fn directory_in_repository(path: &Path) -> Option<PathBuf> {
    let path = path.canonicalize().ok()?;
    let directory = if path.is_dir() { path.as_path() } else { path.parent()? };
    let root = directory.ancestors().find(|ancestor| git::is_repository(ancestor))?;
    directory.strip_prefix(root).ok().map(Path::to_owned)
}

/// Returns the relative URI of a path; `.` for the root. Escapes all characters except the unreserved ones of RFC 3986.
fn uri(path: &Path) -> String {
    let is_unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let escaped = |segment: &[u8]| -> String {
        let byte = |byte: &u8| {
            if is_unreserved(*byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") }
        };
        segment.iter().map(byte).collect()
    };
    let segments = path.as_os_str().as_bytes().split(|byte| *byte == b'/');
    let segments = segments.filter(|segment| !matches!(*segment, b"" | b"." | b".."));
    let uri = segments.map(escaped).collect::<Vec<_>>().join("/");
    if uri.is_empty() { ".".to_owned() } else { uri }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;
    use crate::{artifacts::quality_checks::places::FurtherPlaces, domain::quality_checks::CheckStatus};

    #[test]
    fn paths_are_relative_uris() {
        for (path, expected) in [
            ("", "."),
            ("a/b.rs", "a/b.rs"),
            ("a b/é#?.csv", "a%20b/%C3%A9%23%3F.csv"),
            ("a[1]\t\n%.csv", "a%5B1%5D%09%0A%25.csv"),
            ("c:/x", "c%3A/x"),
            ("../../etc/passwd", "etc/passwd"),
        ] {
            assert_eq!(uri(Path::new(path)), expected, "{path}");
        }
        assert_eq!(uri(Path::new(OsStr::from_bytes(b"a\xff"))), "a%FF");
    }

    #[test]
    fn fingerprints_depend_on_what_is_where() {
        let one = fingerprint(["key", "a", "kind", "context"], 1);
        assert_eq!(one, fingerprint(["key", "a", "kind", "context"], 1));
        assert_eq!(one.len(), 2 * FINGERPRINT_BYTES);
        for other in [
            fingerprint(["key", "ak", "ind", "context"], 1),
            fingerprint(["other", "a", "kind", "context"], 1),
            fingerprint(["key", "a", "kind", "other"], 1),
            fingerprint(["key", "a", "kind", "context"], 2),
        ] {
            assert_ne!(one, other);
        }
    }

    #[test]
    fn causes_without_a_place_have_one_result() {
        let place = |role| Place {
            path: "a".to_owned(),
            line: None,
            text: "is damaged".to_owned(),
            role,
            kind: String::new(),
            context: String::new(),
        };
        for (role, has_general_cause, counted, expected) in [
            (Role::Cause, false, 0, 1),
            (Role::Cause, true, 0, 2),
            (Role::Cause, false, 3, 2),
            (Role::Note, false, 0, 1),
        ] {
            let check = Check {
                key: "archive_intact",
                label: "Archive opens",
                is_mandatory: true,
                is_informational: false,
                status: CheckStatus::Failed,
                message: "Two causes.".to_owned(),
                places: vec![place(role)],
                further_places: FurtherPlaces { cause: counted, ..FurtherPlaces::default() },
                has_general_cause,
            };
            let results = results(0, &check, Path::new(""), &mut HashMap::new());
            assert_eq!(results.len(), expected, "{check:?}");
        }
    }
}
