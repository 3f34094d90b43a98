//! The result of a check: differences, grouped by rule, and the parts that were not checked.

use std::collections::{BTreeMap, BTreeSet};

use marketplace_domain::written::counted;
use serde_json::{Value, json};

use super::{
    client::{Caller, Exchange, Request},
    keys::Key,
    rules::{self, Rule},
};

/// Maximum number of characters of a text from the deployment in a report.
const MAX_TEXT: usize = 300;

/// Maximum number of differences that are kept for each rule and operation. All are counted.
const MAX_KEPT: usize = 20;

/// A difference between the deployment and the interface.
#[derive(Debug)]
struct Difference {
    operation: String,
    request: String,
    expected: String,
    got: String,
}

/// The differences from one rule.
#[derive(Debug, Default)]
struct Differences {
    count: usize,
    kept: Vec<Difference>,
}

impl Differences {
    /// Keeps a difference, unless one of the same operation differs at most by the position in a list, or there are
    /// enough of the operation.
    fn add(&mut self, difference: Difference) {
        self.count += 1;
        let mut of_operation = self.kept.iter().filter(|known| known.operation == difference.operation);
        let expected = without_positions(&difference.expected);
        let is_known = of_operation.clone().any(|known| without_positions(&known.expected) == expected);
        // The same is expected of different requests that no schema describes.
        let is_of_schema = expected.contains("/*");
        if !(is_known && is_of_schema) && of_operation.nth(MAX_KEPT - 1).is_none() {
            self.kept.push(difference);
        }
    }

    /// Returns the differences in an order in which the first ones belong to different operations.
    fn spread(&self) -> Vec<&Difference> {
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        let mut numbered: Vec<(usize, &Difference)> = Vec::new();
        for difference in &self.kept {
            let number = seen.entry(&difference.operation).or_default();
            *number += 1;
            numbered.push((*number, difference));
        }
        numbered.sort_by_key(|(number, _)| *number);
        numbered.into_iter().map(|(_, difference)| difference).collect()
    }
}

/// Replaces positions in lists by `*`: `/items/3/id` becomes `/items/*/id`.
fn without_positions(text: &str) -> String {
    let (pointer, rest) = text.split_once(": ").unwrap_or((text, ""));
    let is_position = |step: &str| !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit());
    let steps = pointer.split('/').map(|step| if is_position(step) { "*" } else { step });
    format!("{}: {rest}", steps.collect::<Vec<_>>().join("/"))
}

/// What a check found.
#[derive(Debug)]
pub struct Report {
    base_url: String,
    keys: Vec<Key>,
    /// By the position of the rule.
    differences: BTreeMap<usize, Differences>,
    /// How often each rule was checked.
    checked: BTreeMap<&'static str, usize>,
    /// What was not checked, with the reason.
    unchecked: BTreeMap<String, BTreeSet<String>>,
    operations: BTreeSet<String>,
}

impl Report {
    /// Creates a report about the deployment at a URL, with requests that used these keys.
    pub fn new(base_url: &str, keys: &[Key]) -> Report {
        Report {
            base_url: base_url.to_owned(),
            keys: keys.to_vec(),
            differences: BTreeMap::new(),
            checked: BTreeMap::new(),
            unchecked: BTreeMap::new(),
            operations: BTreeSet::new(),
        }
    }

    /// Records that a rule was checked.
    pub fn count(&mut self, rule: &'static Rule) {
        *self.checked.entry(rule.id).or_default() += 1;
    }

    /// Records that an operation succeeded at least once, so that its responses were checked.
    pub fn add_operation(&mut self, operation: &str) {
        self.operations.insert(operation.to_owned());
    }

    /// Records that something was not checked.
    pub fn add_unchecked(&mut self, what: &str, reason: impl Into<String>) {
        let reason = self.clean(&reason.into());
        self.unchecked.entry(reason).or_default().insert(what.to_owned());
    }

    /// Records a difference that an exchange shows.
    pub fn add(
        &mut self,
        rule: &'static Rule,
        operation: &str,
        exchange: &Exchange,
        expected: impl Into<String>,
        got: impl Into<String>,
    ) {
        self.add_request(rule, operation, &exchange.request, expected, got);
    }

    /// Records a difference that a request shows.
    pub fn add_request(
        &mut self,
        rule: &'static Rule,
        operation: &str,
        request: &Request,
        expected: impl Into<String>,
        got: impl Into<String>,
    ) {
        let position = rules::ALL.iter().position(|known| known.id == rule.id).unwrap_or_default();
        let difference = Difference {
            operation: operation.to_owned(),
            request: self.clean_long(&curl(&self.base_url, &self.keys, request)),
            expected: self.clean(&expected.into()),
            got: self.clean(&got.into()),
        };
        self.differences.entry(position).or_default().add(difference);
    }

    /// Returns the number of differences.
    pub fn difference_count(&self) -> usize {
        self.differences.values().map(|differences| differences.count).sum()
    }

    /// Returns a text without control characters and secrets, and not too long.
    pub fn clean(&self, text: &str) -> String {
        let text = self.clean_long(text);
        match text.char_indices().nth(MAX_TEXT) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        }
    }

    /// Like [`Report::clean`], of any length.
    fn clean_long(&self, text: &str) -> String {
        let hidden =
            self.keys.iter().fold(text.to_owned(), |text, key| text.replace(&key.secret, &shown(key)));
        mask_secrets(&hidden).chars().flat_map(escape).collect()
    }

    /// Returns the lines of the report for people, with at most `per_rule` differences of each rule.
    pub fn lines(&self, per_rule: usize, sent: u32) -> Vec<String> {
        let mut lines = Vec::new();
        for (position, differences) in &self.differences {
            let rule = rules::ALL[*position];
            lines.push(format!("{} ({}): {}", rule.id, rule.section, rule.text));
            let shown = differences.spread();
            for difference in shown.iter().take(per_rule) {
                lines.push(format!("  {}", difference.operation));
                lines.push(format!("    {}", difference.request));
                lines.push(format!("    expected: {}", difference.expected));
                lines.push(format!("    got:      {}", difference.got));
            }
            let count = differences.count - shown.len().min(per_rule);
            if count > 0 {
                lines.push(format!("  and {count} more"));
            }
            lines.push(String::new());
        }
        if !self.unchecked.is_empty() {
            lines.push("Not checked:".to_owned());
            for (reason, names) in &self.unchecked {
                let names = names.iter().cloned().collect::<Vec<_>>().join(", ");
                lines.push(format!("  {names}: {reason}"));
            }
            lines.push(String::new());
        }
        lines.push(format!(
            "{} and {} of {} rules checked with {}: {}",
            counted(self.operations.len() as u64, "operation", "operations"),
            self.checked.len(),
            rules::ALL.len(),
            counted(sent.into(), "request", "requests"),
            match self.difference_count() {
                0 => "no differences".to_owned(),
                count => counted(count as u64, "difference", "differences"),
            },
        ));
        lines
    }

    /// Returns the report as JSON.
    pub fn to_json(&self, sent: u32) -> Value {
        let differences = self.differences.iter().map(|(position, differences)| {
            let rule = rules::ALL[*position];
            let found = differences.spread().into_iter().map(|difference| {
                json!({
                    "operation": difference.operation,
                    "request": difference.request,
                    "expected": difference.expected,
                    "got": difference.got,
                })
            });
            json!({
                "rule": rule.id,
                "section": rule.section,
                "text": rule.text,
                "count": differences.count,
                "differences": found.collect::<Vec<_>>(),
            })
        });
        let unchecked = self.unchecked.iter().map(|(reason, names)| json!({"reason": reason, "what": names}));
        json!({
            "url": self.base_url,
            "requests": sent,
            "difference_count": self.difference_count(),
            "differences": differences.collect::<Vec<_>>(),
            "checked_operations": self.operations,
            "checked_rules": self.checked,
            "not_checked": unchecked.collect::<Vec<_>>(),
        })
    }
}

/// Returns how a report names a key: as a variable of the shell.
fn shown(key: &Key) -> String {
    format!("${}", key.name)
}

/// Hides texts that look like secrets of the market: a response can contain other secrets than the keys of the check.
fn mask_secrets(text: &str) -> String {
    let mut masked = text.to_owned();
    for prefix in ["mkt_", "whsec_"] {
        let mut parts = masked.split(prefix);
        let mut result = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let is_part = |character: char| character.is_ascii_alphanumeric() || "-_+/=".contains(character);
            result.push_str(prefix);
            result.push('…');
            result.push_str(part.trim_start_matches(is_part));
        }
        masked = result;
    }
    masked
}

/// Escapes a control character, and those that change the direction of text.
fn escape(character: char) -> Vec<char> {
    let changes_direction =
        matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if character.is_control() || changes_direction {
        character.escape_unicode().collect()
    } else {
        vec![character]
    }
}

/// Returns a request as a command for a shell.
fn curl(base_url: &str, keys: &[Key], request: &Request) -> String {
    let command = match request.method {
        "GET" => "curl -i".to_owned(),
        "HEAD" => "curl -I".to_owned(),
        method => format!("curl -i -X {method}"),
    };
    let mut words = vec![command];
    words.extend(match request.caller {
        Caller::Key(key) => Some(format!("-H \"Authorization: Bearer {}\"", shown(&keys[key]))),
        Caller::KeyIn(key, header) => Some(format!("-H \"{header}: {}\"", shown(&keys[key]))),
        Caller::Stranger => Some("-H 'Authorization: Bearer mkt_…'".to_owned()),
        Caller::Nobody => None,
    });
    let header = |(name, value): &(&str, String)| format!("-H {}", quote(&format!("{name}: {value}")));
    words.extend(request.headers.iter().map(header));
    if let Some(body) = &request.body {
        words.push(format!("-H 'Content-Type: application/json' -d {}", quote(body)));
    }
    words.push(quote(&format!("{base_url}{}", request.target)));
    words.join(" ")
}

/// Quotes a text for a shell.
fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let key = Key { name: "KEY_1".to_owned(), secret: "mkt_secret".to_owned() };
        Report::new("https://market.test", &[key])
    }

    #[test]
    fn requests_are_commands_that_name_keys() {
        let mut report = report();
        let request = Request::get("/v2/wallet?a=it's".to_owned(), Caller::Key(0)).with_header("accept", "x");
        report.add_request(&rules::STATUS, "get_wallet", &request, "200", "500");
        let json = report.to_json(1);
        assert_eq!(
            json["differences"][0]["differences"][0]["request"],
            r#"curl -i -H "Authorization: Bearer $KEY_1" -H 'accept: x' 'https://market.test/v2/wallet?a=it'\''s'"#
        );
        assert_eq!(
            (&json["difference_count"], &json["differences"][0]["rule"]),
            (&json!(1), &json!("response.status"))
        );
    }

    #[test]
    fn first_differences_are_of_different_operations_and_fields() {
        let mut report = report();
        let request = Request::get("/v2/assets".to_owned(), Caller::Nobody);
        for number in 0..100 {
            for field in ["a", "b"] {
                let expected = format!("/items/{number}/{field}: type string");
                report.add_request(&rules::TYPE, "list_assets", &request, expected, "1");
            }
            report.add_request(&rules::TYPE, "list_tasks", &request, format!("value {number}"), "1");
        }
        let json = report.to_json(1);
        let found = json["differences"][0]["differences"].as_array().unwrap();
        let operations = found.iter().map(|found| found["operation"].as_str().unwrap());
        let operations: Vec<&str> = operations.collect();
        assert_eq!(operations[..4], ["list_assets", "list_tasks", "list_assets", "list_tasks"]);
        assert_eq!((operations.len(), &json["difference_count"]), (2 + MAX_KEPT, &json!(300)));
    }

    #[test]
    fn texts_of_the_deployment_are_harmless() {
        let report = report();
        assert_eq!(report.clean("a\u{1b}[31m\u{202e}\n"), "a\\u{1b}[31m\\u{202e}\\u{a}");
        assert_eq!(report.clean("key mkt_secret, mkt_op_x9-_/whsec_ab+/="), "key $KEY_1, mkt_…");
        assert_eq!(report.clean("\"mkt_other\" whsec_ab+/= end"), "\"mkt_…\" whsec_… end");
        assert_eq!(report.clean(&"ä".repeat(301)).chars().count(), 301);
    }
}
