//! The values that a page showed when its form was opened. A hidden field contains their digest, and the transaction of the
//! form compares it with the current values. So a form cannot undo a change that somebody else made meanwhile, and cannot agree
//! to something that the person has not read.

use std::fmt::Debug;

use data_encoding::HEXLOWER;
use maud::{Markup, html};
use sha2::{Digest, Sha256};

use super::forms::{Fields, Inputs};
use crate::error::{Error, Result};

/// The field with the digest of what the page of a form showed.
pub const SEEN_FIELD: &str = "seen";

/// Identifies what a page shows: the values of a record, or a question.
pub struct Seen(String);

impl Seen {
    /// Returns what identifies these values. Other values have another debug output, which people never see.
    pub fn of(shown: &impl Debug) -> Seen {
        Seen(HEXLOWER.encode(&Sha256::digest(format!("{shown:?}"))[..12]))
    }

    /// Returns the hidden field of a confirmation form. It is updated to the current values whenever the form is refused.
    pub fn asked(&self) -> Markup {
        html! { input type="hidden" name=(SEEN_FIELD) value=(self.0); }
    }

    /// Returns the hidden field of a form with fields that show a record. A form that was refused for another reason is still about
    /// the record as it was first shown.
    pub fn edited(&self, inputs: &Inputs) -> Markup {
        let seen = match inputs.typed() {
            Some(typed) if !inputs.is_outdated() => typed.get(SEEN_FIELD).unwrap_or_default(),
            _ => &self.0,
        };
        html! { input type="hidden" name=(SEEN_FIELD) value=(seen); }
    }

    /// Fails if the page of a form showed something else. A form that does not say what was shown comes from no page.
    pub fn check(&self, fields: &Fields) -> Result<()> {
        match fields.get(SEEN_FIELD) {
            Some(seen) if seen != self.0 => Err(Error::PreconditionFailed),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(seen: &str) -> Fields {
        Fields::of_pairs(vec![(SEEN_FIELD.to_owned(), seen.to_owned())]).unwrap()
    }

    #[test]
    fn form_is_about_what_was_shown() {
        let (before, after) = (Seen::of(&("Maps", 20_000)), Seen::of(&("Maps", 1)));
        before.check(&form(&before.0)).unwrap();
        assert!(matches!(after.check(&form(&before.0)), Err(Error::PreconditionFailed)));
        after.check(&Fields::default()).unwrap();
    }

    #[test]
    fn refused_form_shows_the_change_once() {
        let (before, after) = (Seen::of(&1), Seen::of(&2));
        let invalid = Inputs::refused(form(&before.0), &Error::Invalid(Vec::new()));
        assert!(after.edited(&invalid).0.contains(&before.0));
        let outdated = Inputs::refused(form(&before.0), &Error::PreconditionFailed);
        assert!(after.edited(&outdated).0.contains(&after.0));
        assert!(after.edited(&Inputs::default()).0.contains(&after.0));
    }
}
