//! Evidence of quality: checks with their verdicts, and what says so.

use maud::{Markup, html};

use super::{badges::Tone, icons, kinds, text};
use crate::{
    domain::{
        quality_checks::{CheckKind, CheckStatus},
        time::Timestamp,
    },
    store::listing_quality::EvidenceCheck,
};

/// A check in a list of checks.
#[derive(Clone, Debug)]
pub struct Check {
    /// What was checked, for people.
    pub label: String,
    /// The verdict: its look, and its words.
    pub verdict: (Tone, &'static str),
    /// What stands below the label.
    pub note: String,
    /// Time of the verdict; `None` if there is none.
    pub at: Option<Timestamp>,
}

/// Shows checks.
pub fn checks(checks: &[Check]) -> Markup {
    html! {
        ul.checks { @for check in checks { li {
            @let (tone, word) = check.verdict;
            @let (icon, color) = tone.icon_and_class();
            (icons::colored(icon, color))
            div {
                span.out { (word) ": " } bdi { (check.label) }
                span.note { (word) @if !check.note.is_empty() { " · " (check.note) } }
            }
            span.note { @if let Some(at) = check.at { (text::day(at)) } }
        } } }
    }
}

/// Returns how the status of a check is shown. The failure of a check that is not required is a warning.
pub const fn verdict(status: CheckStatus, is_required: bool) -> (Tone, &'static str) {
    match status {
        CheckStatus::Passed => (Tone::Good, "Passed"),
        CheckStatus::Failed if is_required => (Tone::Bad, "Failed"),
        CheckStatus::Failed => (Tone::Warning, "Failed"),
        CheckStatus::Error => (Tone::Warning, "No result"),
        CheckStatus::Queued | CheckStatus::Running => (Tone::Neutral, "Not run"),
    }
}

/// Returns who makes a check.
pub const fn maker(kind: CheckKind) -> &'static str {
    match kind {
        CheckKind::Automated => "by a program that reads the data",
        CheckKind::Environment => "by building and starting the environment",
        CheckKind::Task => "by running the tasks",
        CheckKind::Review => "by a person who reads the data",
    }
}

/// The verdicts of one check about a listing: on the listing as a whole, or on its assets of one kind.
struct Group<'c> {
    check: &'c EvidenceCheck,
    worst: CheckStatus,
    passed: u64,
    all: u64,
}

/// Returns the checks of a listing's run that was completed at a time: one for each check and kind of asset, however many assets
/// were checked.
pub fn of_listing(evidence: &[EvidenceCheck], at: Option<Timestamp>) -> Vec<Check> {
    let mut groups: Vec<Group> = Vec::new();
    for check in evidence {
        let passed = u64::from(check.status == CheckStatus::Passed);
        let is_same = |group: &&mut Group| {
            let other = group.check;
            (&other.key, &other.label, other.asset_kind, other.is_mandatory)
                == (&check.key, &check.label, check.asset_kind, check.is_mandatory)
        };
        match groups.iter_mut().find(is_same) {
            Some(group) => {
                group.all += 1;
                group.passed += passed;
                if severity(check.status) > severity(group.worst) {
                    group.worst = check.status;
                }
            }
            None => groups.push(Group { check, worst: check.status, passed, all: 1 }),
        }
    }
    groups.iter().map(|group| group.check(at)).collect()
}

impl Group<'_> {
    fn check(&self, at: Option<Timestamp>) -> Check {
        let EvidenceCheck { label, kind, asset_kind, is_mandatory, is_informational, .. } = self.check;
        let weight = match (is_mandatory, is_informational) {
            (true, _) => "Required",
            (false, true) => "For information",
            (false, false) => "Not required",
        };
        let subject = match asset_kind {
            None => "the whole listing".to_owned(),
            Some(kind) if self.all == 1 || self.passed == self.all => kinds::counted(*kind, self.all),
            Some(kind) => {
                format!("{} of {} passed", text::grouped(self.passed), kinds::counted(*kind, self.all))
            }
        };
        Check {
            label: label.clone(),
            verdict: verdict(self.worst, *is_mandatory),
            note: format!("{weight} · {subject} · {}", maker(*kind)),
            at,
        }
    }
}

/// Returns the number of required checks that passed, and of all that are required.
pub fn required(evidence: &[EvidenceCheck]) -> (u64, u64) {
    let required = || evidence.iter().filter(|check| check.is_mandatory);
    let passed = required().filter(|check| check.status == CheckStatus::Passed).count();
    (passed as u64, required().count() as u64)
}

/// Returns how many of the required checks passed, in words.
pub fn required_text(passed: u64, required: u64) -> String {
    let required = text::counted(required, "required check", "required checks");
    format!("{} of {required} passed", text::grouped(passed))
}

/// Returns how many of the required checks did not pass, in words.
pub fn not_passed_text(passed: u64, required: u64) -> String {
    let checks = text::counted(required, "required check", "required checks");
    format!("{} of {checks} not passed", text::grouped(required - passed.min(required)))
}

/// Returns how bad a status is, from 0 for a check that has passed.
pub const fn severity(status: CheckStatus) -> u8 {
    match status {
        CheckStatus::Passed => 0,
        CheckStatus::Queued | CheckStatus::Running => 1,
        CheckStatus::Error => 2,
        CheckStatus::Failed => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::assets::Kind;

    #[test]
    fn assets_of_one_kind_are_one_line_with_the_worst_verdict() {
        let check = |asset_kind, status| EvidenceCheck {
            key: "archive_opens".to_owned(),
            label: "Archive opens".to_owned(),
            kind: CheckKind::Automated,
            asset_kind,
            is_mandatory: true,
            is_informational: false,
            status,
        };
        let evidence = [
            check(Some(Kind::Codebase), CheckStatus::Passed),
            check(Some(Kind::Codebase), CheckStatus::Failed),
            check(Some(Kind::Codebase), CheckStatus::Passed),
            check(None, CheckStatus::Passed),
        ];
        let shown = of_listing(&evidence, None);
        let texts: Vec<_> = shown.iter().map(|check| (check.verdict, check.note.as_str())).collect();
        let by = "by a program that reads the data";
        assert_eq!(
            texts,
            [
                ((Tone::Bad, "Failed"), format!("Required · 2 of 3 codebases passed · {by}").as_str()),
                ((Tone::Good, "Passed"), format!("Required · the whole listing · {by}").as_str()),
            ]
        );
        assert_eq!(required(&evidence), (3, 4));
    }
}
