//! Checks that no file of an archive is encrypted.

use marketplace_domain::written::counted;

use super::{Check, FileAction, Finding, Role, Rule, samples::Samples};
use crate::contents::{Entry, Root};

/// No file needs a password.
pub static NO_ENCRYPTED_ENTRIES: Rule = Rule::mandatory("no_encrypted_entries", "No encrypted entries");

/// Check for [`NO_ENCRYPTED_ENTRIES`].
#[derive(Debug, Default)]
pub struct Encryption(Samples);

impl Check for Encryption {
    fn start_file(&mut self, entry: &Entry<'_>) -> FileAction {
        if entry.is_encrypted {
            self.0.add_file(entry.path);
        }
        FileAction::Skip
    }

    fn covers_extra(&self) -> bool {
        true
    }

    fn finish(self: Box<Self>, _root: &Root) -> Vec<Finding> {
        let found = self.0;
        if found.is_empty() {
            return vec![Finding::passed(&NO_ENCRYPTED_ENTRIES, "No file needs a password.")];
        }
        let count = counted(found.count(), "file needs", "files need");
        let message = format!("{count} a password: {found}. Pack the archive without a password.");
        let finding = Finding::failed(&NO_ENCRYPTED_ENTRIES, &message);
        vec![finding.with(Role::Cause, "needs a password", found)]
    }
}
