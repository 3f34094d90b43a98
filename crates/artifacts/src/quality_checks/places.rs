//! Places of a finding in the data: the content of its message, file by file.

use marketplace_domain::string_enum::string_enum;
use serde::{Deserialize, Serialize};

use crate::contents::quoted;

/// Maximum number of places of one kind in a finding. The others are counted.
pub const MAX_PLACES: usize = 200;

/// Maximum length of a path and of a text in bytes. A place with a longer one is only counted.
const MAX_TEXT_BYTES: usize = 1_024;

string_enum! {
    /// What a place means for the result of its check.
    Role {
        /// It is why the check did not pass.
        Cause = "cause",
        /// It was noticed, and does not count against the data.
        Note = "note",
        /// It is not part of what was read.
        LeftOut = "left_out",
    }
}

/// A place in the data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Path of the file, with `/`.
    pub path: String,
    /// Number of the line, from 1, if it is known.
    pub line: Option<u64>,
    /// What was found there. Secrets and personal data are masked.
    pub text: String,
    /// What it means for the result of the check.
    pub role: Role,
    /// What was found there, without values and counts; empty if the check finds only one kind of thing in a file. Stays the
    /// same when the data around it changes.
    #[serde(default)]
    pub kind: String,
    /// Digest of the line around the value that was found, in hexadecimal; empty if a file has only one place of a kind. Tells
    /// places of a kind apart, and stays the same when other lines change.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub context: String,
}

/// Number of places that are only counted, by role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FurtherPlaces {
    /// Number of causes.
    pub cause: u64,
    /// Number of notes.
    pub note: u64,
    /// Number of files that were not read.
    pub left_out: u64,
}

impl FurtherPlaces {
    pub(super) const fn add(&mut self, role: Role, count: u64) {
        let of_role = match role {
            Role::Cause => &mut self.cause,
            Role::Note => &mut self.note,
            Role::LeftOut => &mut self.left_out,
        };
        *of_role = of_role.saturating_add(count);
    }
}

impl Place {
    /// Creates the place of a whole file.
    pub(super) fn file(path: &str, text: &str) -> Place {
        Place {
            path: path.to_owned(),
            line: None,
            text: text.to_owned(),
            role: Role::Cause,
            kind: String::new(),
            context: String::new(),
        }
    }

    /// Creates the place of a line.
    pub(super) fn line(path: &str, line: u64, text: String) -> Place {
        Place { line: Some(line), text, ..Place::file(path, "") }
    }

    /// Describes the place of a line for a message.
    pub(super) fn described(&self) -> String {
        let line = self.line.map(|line| format!(", line {line}")).unwrap_or_default();
        format!("{} in {}{line}", self.text, quoted(&self.path))
    }

    /// Whether the texts are within their limits.
    pub(crate) fn is_short(&self) -> bool {
        [&self.path, &self.text, &self.kind, &self.context].iter().all(|text| text.len() <= MAX_TEXT_BYTES)
    }
}
