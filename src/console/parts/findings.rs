//! Quality runs as their vendor sees them: the state of a run, and its findings by check and by file.

use std::collections::HashMap;

use marketplace_text::is_blank;
use maud::{Markup, html};
use uuid::Uuid;

use super::{
    badges::{self, Tone},
    evidence, icons, kinds,
    tables::{self, Cell, Head},
    text,
};
use crate::{
    console::{paths, visit::Context},
    domain::{
        money::Cents,
        quality_checks::{CheckKind, CheckStatus},
        quality_runs::{RunOutcome, RunStatus, RunTrigger},
    },
    operations::quality_runs::CheckedRun,
    store::{
        quality_checks::{CheckRow, CheckedAsset},
        quality_runs::RunRow,
    },
};

/// Number of findings about tasks that are shown for a check.
const MAX_TASKS: usize = 50;

/// Number of assets whose findings are shown.
const MAX_SUBJECTS: usize = 200;

/// Number of files that are shown.
const MAX_FILES: usize = 200;

/// The check whose findings name other assets, and not files.
const NAMES_OTHER_ASSETS: &str = "duplicates_elsewhere";

/// Returns how a run ended, or that it has not. `has_passed` counts for completed runs only.
pub const fn outcome(status: RunStatus, has_passed: bool) -> RunOutcome {
    match (status, has_passed) {
        (RunStatus::Queued | RunStatus::Running, _) => RunOutcome::InProgress,
        (RunStatus::Completed, true) => RunOutcome::Passed,
        (RunStatus::Completed, false) => RunOutcome::Failed,
        (RunStatus::Error, _) => RunOutcome::Error,
        (RunStatus::Cancelled, _) => RunOutcome::Cancelled,
    }
}

/// Returns the tone and the label of the outcome of a run.
pub const fn tone_and_label(outcome: RunOutcome) -> (Tone, &'static str) {
    match outcome {
        RunOutcome::Passed => (Tone::Good, "Passed"),
        RunOutcome::Failed => (Tone::Bad, "Failed"),
        RunOutcome::InProgress => (Tone::Waiting, "In progress"),
        RunOutcome::Error => (Tone::Warning, "No result"),
        RunOutcome::Cancelled => (Tone::Neutral, "Canceled"),
        RunOutcome::None => (Tone::Neutral, "Never checked"),
    }
}

/// Returns who started a run.
pub const fn starter(trigger: RunTrigger) -> &'static str {
    match trigger {
        RunTrigger::Submission => "The submission",
        RunTrigger::Team => "Your team",
        RunTrigger::Platform => "The market",
    }
}

/// Says what a run costs a team with these credits.
pub fn cost(price: Cents, credits: Cents) -> Markup {
    if price == Cents(0) {
        return html! { p { "It costs nothing." } };
    }
    if price > credits {
        return html! { p {
            "It costs " (text::money(price)) ", and your team has " (text::money(credits)) " of credits: "
            (text::money(Cents(price.0 - credits.0))) " too little."
        } };
    }
    let rest = text::money(Cents(credits.0 - price.0));
    html! {
        (tables::sum(&[("Your credits", text::money(credits)), ("Cost of the run", text::money(price)), ("Left after it", rest)]))
        p.note { "If the run itself fails, you get the cost back." }
    }
}

/// Returns a run: its state, and what its checks found.
pub fn run(context: &Context, run: &CheckedRun) -> Markup {
    html! {
        (summary(run))
        (findings(context, &run.checks))
    }
}

/// Returns the state of a run: its outcome, when it ran, who started it, and what it cost.
pub fn summary(run: &CheckedRun) -> Markup {
    let CheckedRun { run, has_passed, checks } = run;
    let outcome = outcome(run.status, *has_passed);
    html! {
        @if let Some(error) = &run.error { (badges::warning(html! { "There is no result. " (error) })) }
        @if outcome == RunOutcome::InProgress {
            p { @if run.status == RunStatus::Queued { "The run waits for its turn, or for the data to be analyzed." } @else { "The checks are being made." } }
        }
        (tables::facts(&facts(run, outcome, checks)))
        @if let Some(feedback) = &run.review_feedback { h3 { "Feedback of the reviewer" } p.long { (feedback) } }
    }
}

fn facts(run: &RunRow, outcome: RunOutcome, checks: &[CheckRow]) -> Vec<(&'static str, Markup)> {
    let required = || checks.iter().filter(|check| check.is_mandatory);
    let passed = required().filter(|check| check.status == CheckStatus::Passed).count();
    let mut facts = vec![("Result", badges::of(tone_and_label(outcome)))];
    if !checks.is_empty() {
        facts.push(("Required checks", html! { (passed) " of " (required().count()) " passed" }));
    }
    facts.push(("Started", text::moment(run.started_at)));
    if let Some(ended) = run.completed_at {
        facts.push(("Ended", text::moment(ended)));
    }
    facts.push(("Started by", html! { (starter(run.triggered_by)) }));
    let charge = if run.charge == Cents(0) { "Nothing".to_owned() } else { text::money(run.charge) };
    facts.push(("Cost", html! { (charge) }));
    facts
}

/// Returns the findings of checks: first by asset and check, with failures first, then by file.
pub fn findings(context: &Context, checks: &[CheckRow]) -> Markup {
    let mut groups = by_asset(checks);
    let all = groups.len();
    if all > MAX_SUBJECTS {
        groups.sort_by_key(|(_, checks)| checks.iter().all(|check| check.status == CheckStatus::Passed));
        groups.truncate(MAX_SUBJECTS);
    }
    html! {
        @for (asset, checks) in &groups {
            @if all > 1 { h3 { (subject(context, *asset)) } }
            (of_subject(checks))
        }
        @if all > groups.len() { p.note { "And " (text::counted((all - groups.len()) as u64, "more asset", "more assets")) "." } }
        (by_file(checks))
    }
}

/// Returns the checks by the asset that they are about, in the order of the first check of each.
fn by_asset(checks: &[CheckRow]) -> Vec<(Option<&CheckedAsset>, Vec<&CheckRow>)> {
    let mut groups: Vec<(Option<&CheckedAsset>, Vec<&CheckRow>)> = Vec::new();
    let mut positions: HashMap<Option<Uuid>, usize> = HashMap::new();
    for check in checks {
        let asset = check.asset.as_ref();
        let position = *positions.entry(asset.map(|asset| asset.id)).or_insert(groups.len());
        match groups.get_mut(position) {
            Some(group) => group.1.push(check),
            None => groups.push((asset, vec![check])),
        }
    }
    groups
}

fn subject(context: &Context, asset: Option<&CheckedAsset>) -> Markup {
    html! {
        @match asset {
            None => "The whole listing",
            Some(asset) => {
                @match asset.readable_id() {
                    Some(id) => a href=(context.links.to(&paths::asset(id))) { bdi { (name(asset)) } },
                    None => { bdi { (name(asset)) } " (deleted)" },
                }
            }
        }
    }
}

/// Returns the name of a checked asset: its title, or what it is.
pub fn name(asset: &CheckedAsset) -> String {
    match (is_blank(&asset.title), &asset.repo_full_name) {
        (false, _) => asset.title.clone(),
        (true, Some(repository)) => repository.clone(),
        (true, None) => format!("Untitled {}", kinds::words(asset.kind).0),
    }
}

/// A check, or the checks of all tasks by one rule.
struct Line<'c> {
    first: &'c CheckRow,
    worst: CheckStatus,
    passed: usize,
    messages: Vec<(&'c str, CheckStatus)>,
}

/// Returns the checks of one asset, or of the listing as a whole: first those that did not pass, then those that passed.
fn of_subject(checks: &[&CheckRow]) -> Markup {
    let mut lines: Vec<Line> = Vec::new();
    for check in checks {
        let message = (check.message.as_deref().unwrap_or_default(), check.status);
        let passed = usize::from(check.status == CheckStatus::Passed);
        let is_same = |line: &&mut Line| check.kind == CheckKind::Task && line.first.key == check.key;
        match lines.iter_mut().find(is_same) {
            Some(line) => {
                line.passed += passed;
                line.messages.push(message);
                if check.status != CheckStatus::Passed {
                    line.worst = check.status;
                }
            }
            None => lines.push(Line { first: check, worst: check.status, passed, messages: vec![message] }),
        }
    }
    let (passed, other): (Vec<Line>, Vec<Line>) =
        lines.into_iter().partition(|line| line.worst == CheckStatus::Passed);
    let subject = checks.first().and_then(|check| check.asset.as_ref());
    let subject = subject.map_or_else(|| "listing".to_owned(), |asset| asset.id.to_string());
    html! {
        @if !other.is_empty() { ul.checks { @for line in &other { (shown(line)) } } }
        @if !passed.is_empty() {
            details id={ "passed-" (subject) } open[other.is_empty()] {
                summary { (text::counted(passed.len() as u64, "check passed", "checks passed")) }
                ul.checks { @for line in &passed { (shown(line)) } }
            }
        }
    }
}

fn shown(line: &Line) -> Markup {
    let check = line.first;
    let (tone, word) = evidence::verdict(line.worst, check.is_mandatory);
    let (icon, color) = tone.icon_and_class();
    let weight = match (check.is_mandatory, check.is_informational) {
        (true, _) => "required",
        (false, true) => "for information",
        (false, false) => "not required",
    };
    let all = line.messages.len();
    let open: Vec<_> = line.messages.iter().filter(|(_, status)| *status != CheckStatus::Passed).collect();
    html! {
        li {
            (icons::colored(icon, color))
            div {
                span.out { (word) ": " } bdi { (check.label) }
                span.note { (word) " · " (weight) " · " (evidence::maker(check.kind)) }
                @if check.kind == CheckKind::Task {
                    p { (line.passed) " of " (text::counted(all as u64, "task", "tasks")) " passed." }
                    @if !open.is_empty() { details id={ "tasks-" (check.id) } {
                        summary { "What did not pass" }
                        ul { @for (message, _) in open.iter().take(MAX_TASKS) { li.long { (message) } } }
                        @if open.len() > MAX_TASKS { p.note { "And " (open.len() - MAX_TASKS) " more." } }
                    } }
                } @else if let Some((message, _)) = line.messages.first().filter(|(message, _)| !message.is_empty()) {
                    p.long { (message) }
                }
            }
        }
    }
}

/// A place in a file that a check names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Path of the file.
    pub path: String,
    /// Line in it, if the check names one.
    pub line: Option<u64>,
}

/// A file, with the check and the line of each finding in it.
type FoundInFile<'c> = (String, Vec<(&'c str, Option<u64>)>);

/// Returns the files that the checks which did not pass name, each with what was found there.
fn by_file(checks: &[CheckRow]) -> Markup {
    let mut files: Vec<FoundInFile> = Vec::new();
    let mut positions: HashMap<String, usize> = HashMap::new();
    for check in
        checks.iter().filter(|check| names_files(check)).filter(|check| check.status != CheckStatus::Passed)
    {
        for place in places(check.message.as_deref().unwrap_or_default()) {
            let finding = (check.label.as_str(), place.line);
            let position = *positions.entry(place.path.clone()).or_insert(files.len());
            match files.get_mut(position) {
                Some((_, findings)) => findings.push(finding),
                None => files.push((place.path, vec![finding])),
            }
        }
    }
    html! {
        @if !files.is_empty() {
            h3 { "By file" }
            p.note { "The first places that each check names. A check that did not pass can have found more than these." }
            (tables::of("Findings by file", files.iter().take(MAX_FILES), |(path, found)| file_row(path, found)))
            @if files.len() > MAX_FILES { p.note { "And " (files.len() - MAX_FILES) " more files." } }
        }
    }
}

/// Whether the quoted names in the messages of a check are those of files.
pub fn names_files(check: &CheckRow) -> bool {
    check.kind == CheckKind::Automated && check.key != NAMES_OTHER_ASSETS
}

fn file_row(path: &str, found: &[(&str, Option<u64>)]) -> [Cell; 2] {
    let findings = html! {
        ul { @for (label, line) in found.iter().take(MAX_TASKS) { li { bdi { (label) } @if let Some(line) = line { ", line " (text::grouped(*line)) } } } }
    };
    let path = html! { span.mono.long { bdi { (path) } } };
    [Head::text("File").cell(path), Head::text("What was found").cell(findings)]
}

/// Returns the places that a message names: quoted paths, each with the line after it if there is one.
pub fn places(message: &str) -> Vec<Place> {
    let mut places = Vec::new();
    let mut rest = message;
    while let Some(start) = rest.find('"') {
        let Some((path, after)) = unquote(&rest[start..]) else { break };
        let digits = after.strip_prefix(", line ").unwrap_or_default();
        let end = digits.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(digits.len());
        let place = Place { path, line: digits[..end].parse().ok() };
        if !places.contains(&place) {
            places.push(place);
        }
        rest = after;
    }
    places
}

/// Returns the text in quotation marks at the beginning, and what comes after it.
fn unquote(text: &str) -> Option<(String, &str)> {
    let mut letters = text.char_indices().skip(1);
    let mut unquoted = String::new();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((unquoted, &text[at + 1..])),
            '\\' => unquoted.push(letters.next()?.1),
            letter => unquoted.push(letter),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_files_are_read_from_messages() {
        let place = |path: &str, line| Place { path: path.to_owned(), line };
        for (message, expected) in [
            ("No license was found.", vec![]),
            (
                "2 secrets: GitHub token ghp_**** in \"a/b.env\", line 12; private key in \"k \\\"x\\\".pem\", line 1. Revoke any.",
                vec![place("a/b.env", Some(12)), place("k \"x\".pem", Some(1))],
            ),
            ("Too large to check: \"a.csv\"; \"a.csv\"; and 2 more.", vec![place("a.csv", None)]),
            ("A message that was cut in \"a.cs…", vec![]),
        ] {
            assert_eq!(places(message), expected, "{message}");
        }
    }

    #[test]
    fn only_completed_runs_pass_or_fail() {
        assert_eq!(outcome(RunStatus::Completed, true), RunOutcome::Passed);
        assert_eq!(outcome(RunStatus::Completed, false), RunOutcome::Failed);
        assert_eq!(outcome(RunStatus::Running, true), RunOutcome::InProgress);
        assert_eq!(tone_and_label(outcome(RunStatus::Error, false)).1, "No result");
    }
}
