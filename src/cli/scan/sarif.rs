//! The findings of a scan in SARIF 2.1.0, the format in which code hosts take findings of tools.

use std::collections::HashMap;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{
    artifacts::quality_checks::places::{Place, Role},
    operations::scans::{Check, Report, Verdict},
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

/// Returns the findings of a scan. A check that did not pass has a result for each place that is a cause, and one for all of the
/// data if there are other causes, or none is known.
pub(super) fn document(report: &Report) -> Value {
    let rules: Vec<Value> = report.checks.iter().map(rule).collect();
    let mut occurrences = HashMap::new();
    let failed = report.checks.iter().enumerate().filter(|(_, check)| check.has_failed());
    let results: Vec<Value> =
        failed.flat_map(|(index, check)| results(index, check, &mut occurrences)).collect();
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

/// Returns the results of a check that did not pass. `occurrences` counts equal ones.
fn results<'r>(
    index: usize,
    check: &'r Check,
    occurrences: &mut HashMap<(&'r str, &'r str, &'r str), u64>,
) -> Vec<Value> {
    let causes: Vec<&Place> = check.places.iter().filter(|place| place.role == Role::Cause).collect();
    let mut result = |path: &'r str, line: Option<u64>, kind: &'r str, message: String| {
        let occurrence = occurrences.entry((check.key, path, kind)).or_default();
        *occurrence += 1;
        let fingerprint = fingerprint(check.key, path, kind, *occurrence);
        let mut location = json!({"artifactLocation": {"uri": uri(path), "uriBaseId": "%SRCROOT%"}});
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
        result(&place.path, place.line, &place.kind, format!("{}: {message}", check.label))
    };
    let mut results: Vec<Value> = causes.iter().map(of_place).collect();
    if results.is_empty() || check.further_places.cause > 0 || check.has_general_cause {
        results.push(result("", None, "", check.message.clone()));
    }
    results
}

/// Returns a fingerprint that stays the same when lines are added above the finding, and when the data has more of its kind.
fn fingerprint(key: &str, path: &str, kind: &str, occurrence: u64) -> String {
    let mut digest = Sha256::new();
    for part in [key, path, kind] {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    digest.update(occurrence.to_le_bytes());
    let mut text = format!("{:x}", digest.finalize());
    text.truncate(2 * FINGERPRINT_BYTES);
    text
}

/// Returns the relative URI of a path; `.` for the root.
fn uri(path: &str) -> String {
    let Ok(mut url) = url::Url::parse("file:///") else { return ".".to_owned() };
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(path.split('/').filter(|segment| !segment.is_empty()));
    }
    // A colon in the first segment would end a scheme.
    let uri = url.path().trim_start_matches('/').replace(':', "%3A");
    if uri.is_empty() { ".".to_owned() } else { uri }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{artifacts::quality_checks::places::FurtherPlaces, domain::quality_checks::CheckStatus};

    #[test]
    fn paths_are_relative_uris() {
        for (path, expected) in [
            ("", "."),
            ("a/b.rs", "a/b.rs"),
            ("a b/é#?.csv", "a%20b/%C3%A9%23%3F.csv"),
            ("c:/x", "c%3A/x"),
            ("../../etc/passwd", "etc/passwd"),
        ] {
            assert_eq!(uri(path), expected, "{path}");
        }
    }

    #[test]
    fn fingerprints_depend_on_what_is_where() {
        let one = fingerprint("key", "a", "kind", 1);
        assert_eq!(one, fingerprint("key", "a", "kind", 1));
        assert_eq!(one.len(), 2 * FINGERPRINT_BYTES);
        for other in [
            fingerprint("key", "ak", "ind", 1),
            fingerprint("other", "a", "kind", 1),
            fingerprint("key", "a", "kind", 2),
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
            let results = results(0, &check, &mut HashMap::new());
            assert_eq!(results.len(), expected, "{check:?}");
        }
    }
}
