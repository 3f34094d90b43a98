//! The rules of texts that people write: their lengths, and the characters that they must not contain.

use marketplace_text::{has_invisible_end, is_blank};

use super::patterns::{LINE_PATTERN, MULTILINE_PATTERN, NAME_PATTERN};
use crate::problem::Problem;

/// The rule of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextRule {
    /// Minimum number of characters. If it is more than 0, at least one character must be visible.
    pub min: usize,
    /// Maximum number of characters.
    pub max: usize,
    /// Whether it may have several lines, with tabs.
    pub lines: Lines,
    /// Whether it must begin and end with a visible character, so that no two names look the same.
    pub has_visible_ends: bool,
}

/// Whether a text may have several lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// One line.
    One,
    /// Any number of lines, with tabs.
    Many,
}

const fn line(min: usize, max: usize) -> TextRule {
    TextRule { min, max, lines: Lines::One, has_visible_ends: false }
}

const fn text(min: usize, max: usize) -> TextRule {
    TextRule { min, max, lines: Lines::Many, has_visible_ends: false }
}

const fn unique_name(max: usize) -> TextRule {
    TextRule { min: 1, max, lines: Lines::One, has_visible_ends: true }
}

/// Title of an asset, a listing, an opportunity, or an upload grant.
pub const TITLE: TextRule = line(1, 200);

/// Name of a taskset or a task, an identifier in the vendor's own system, or the name of a model.
pub const NAME: TextRule = line(1, 200);

/// Name of a team.
pub const TEAM_NAME: TextRule = unique_name(120);

/// Name of an inventory group.
pub const GROUP_NAME: TextRule = unique_name(120);

/// Name of an API key.
pub const KEY_NAME: TextRule = line(1, 120);

/// Display name of a domain, a tag, or a column, or a tag of a task.
pub const LABEL: TextRule = line(1, 120);

/// One or more sentences on one line.
pub const SENTENCE: TextRule = line(1, 2_000);

/// A domain that the taxonomy does not have.
pub const OTHER_DOMAIN: TextRule = line(1, 200);

/// Overview of an opportunity. Requests have at least one character.
pub const OVERVIEW: TextRule = line(1, 500);

/// Tag of an opportunity.
pub const FREE_TAG: TextRule = line(1, 60);

/// Name of a file without its directory.
pub const FILE_NAME: TextRule = line(1, 255);

/// Description, notes, or terms.
pub const DESCRIPTION: TextRule = text(0, 20_000);

/// What the operator announces on all pages of the web app, or says during maintenance.
pub const ANNOUNCEMENT: TextRule = text(1, 1_000);

/// An explanation for a team.
pub const NOTE: TextRule = text(1, 2_000);

/// What the owner of a webhook says about it.
pub const WEBHOOK_DESCRIPTION: TextRule = text(0, 500);

impl TextRule {
    /// Returns the pattern of the texts, for documents.
    pub const fn pattern(&self) -> &'static str {
        match (self.lines, self.has_visible_ends) {
            (Lines::One, true) => NAME_PATTERN,
            (Lines::One, false) => LINE_PATTERN,
            (Lines::Many, _) => MULTILINE_PATTERN,
        }
    }

    /// Returns the problem with a text: its type, and the violated rule.
    pub fn find_fault(&self, text: &str) -> Option<(&'static str, String)> {
        let TextRule { min, max, lines, has_visible_ends } = *self;
        let length = text.chars().count();
        if length < min || (min > 0 && is_blank(text)) {
            return Some(("string_too_short", "must not be blank".to_owned()));
        }
        if length > max {
            let fault = format!("has {length} characters. It can have at most {max}");
            return Some(("string_too_long", fault));
        }
        let is_allowed = |c: char| lines == Lines::Many && matches!(c, '\n' | '\r' | '\t');
        if text.chars().any(|c| is_control(c) && !is_allowed(c)) {
            let fault = match lines {
                Lines::One => "must be one line without control characters",
                Lines::Many => "must have no control characters other than tabs and line breaks",
            };
            return Some(("string_pattern_mismatch", fault.to_owned()));
        }
        if has_visible_ends && has_invisible_end(text) {
            return Some((
                "string_pattern_mismatch",
                "must begin and end with a visible character".to_owned(),
            ));
        }
        None
    }
}

/// Returns the problem with a text: its length in characters, or a control character. `path` leads to it in the
/// body.
pub fn find_problem(path: &[&str], text: &str, rule: TextRule) -> Option<Problem> {
    let name = path.last().copied().unwrap_or("body");
    let (kind, fault) = rule.find_fault(text)?;
    Some(Problem::body(path, kind, format!("`{name}` {fault}.")))
}

/// Whether a character is a control character, or changes the direction of the text after it.
fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_bounds_and_no_control_characters() {
        let kind = |text: &str, rule| find_problem(&["title"], text, rule).map_or("", |problem| problem.kind);
        for (text, one, many) in [
            ("", "string_too_short", ""),
            ("  ", "string_too_short", ""),
            ("\u{200b}", "string_too_short", ""),
            ("\u{3164} ", "string_too_short", ""),
            ("äöü", "", ""),
            ("äöüß", "string_too_long", "string_too_long"),
            ("a\nb", "string_pattern_mismatch", ""),
            ("a\0b", "string_pattern_mismatch", "string_pattern_mismatch"),
            ("a\u{202e}b", "string_pattern_mismatch", "string_pattern_mismatch"),
        ] {
            assert_eq!(kind(text, line(1, 3)), one, "{text:?}");
            assert_eq!(kind(text, super::text(0, 3)), many, "{text:?}");
        }
    }

    #[test]
    fn pattern_of_names_states_that_no_space_is_at_an_end() {
        let pattern = regex::Regex::new(GROUP_NAME.pattern()).unwrap();
        for (name, is_valid) in [
            ("a", true),
            ("a b", true),
            ("❤\u{fe0f}", true),
            ("\u{1f980}", true),
            (" a", false),
            ("a ", false),
            ("a\u{a0}", false),
            ("\u{2003}a", false),
            (" ", false),
            ("", false),
            ("a\tb", false),
            ("a\n", false),
        ] {
            assert_eq!(pattern.is_match(name), is_valid, "{name:?}");
            assert_eq!(GROUP_NAME.find_fault(name).is_none(), is_valid, "{name:?}");
        }
    }
}
