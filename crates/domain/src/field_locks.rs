//! Locks on fields of an asset: where the value of each locked field came from, and who can still change it.

use std::collections::BTreeMap;

use super::assets::Channel;
use crate::string_enum::string_enum;

string_enum! {
    /// The source of the value of a locked field.
    LockSource {
        /// Extracted from a GitHub repository.
        Github = "github",
        /// Extracted from a GitLab repository.
        Gitlab = "gitlab",
        /// Extracted from a Bitbucket repository.
        Bitbucket = "bitbucket",
        /// Extracted from an uploaded zip archive.
        Zip = "zip",
        /// Written by a request with an API key.
        Api = "api",
    }
}

/// Locked fields by name, with the source of each value.
pub type FieldLocks = BTreeMap<String, LockSource>;

impl From<Channel> for LockSource {
    fn from(channel: Channel) -> LockSource {
        match channel {
            Channel::Github => LockSource::Github,
            Channel::Gitlab => LockSource::Gitlab,
            Channel::Bitbucket => LockSource::Bitbucket,
            Channel::Zip => LockSource::Zip,
        }
    }
}

/// Returns the fields that attached data locks, with their sources. They cannot change until the data is
/// detached. Fields locked by an API key can be changed with an API key.
pub fn locked_by_data(locks: &FieldLocks) -> impl Iterator<Item = (&str, LockSource)> {
    let locked = locks.iter().map(|(field, source)| (field.as_str(), *source));
    locked.filter(|(_, source)| *source != LockSource::Api)
}

/// Returns the fields that an API key locks. They can be changed with an API key only.
pub fn locked_by_api(locks: &FieldLocks) -> impl Iterator<Item = &str> {
    locks.iter().filter(|(_, source)| **source == LockSource::Api).map(|(field, _)| field.as_str())
}

/// Locks the fields that an API key wrote. Clearing a field unlocks it, since it has no value to protect.
pub fn update_api_locks<'a>(locks: &mut FieldLocks, written: impl IntoIterator<Item = (&'a str, bool)>) {
    for (field, has_value) in written {
        if has_value {
            locks.insert(field.to_owned(), LockSource::Api);
        } else {
            locks.remove(field);
        }
    }
}

/// Locks the fields that were extracted from attached data. Replaces the locks of an API key.
pub fn lock_extracted<'a>(
    locks: &mut FieldLocks,
    channel: Channel,
    fields: impl IntoIterator<Item = &'a str>,
) {
    locks.extend(fields.into_iter().map(|field| (field.to_owned(), LockSource::from(channel))));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::string_enum::StringEnum;

    #[test]
    fn extracted_fields_are_locked_by_the_data() {
        for channel in Channel::ALL {
            let mut locks = FieldLocks::new();
            update_api_locks(&mut locks, [("title", true), ("commits", true)]);
            lock_extracted(&mut locks, *channel, ["commits", "merged_prs"]);
            assert_eq!(
                locked_by_data(&locks).collect::<Vec<_>>(),
                [("commits", LockSource::from(*channel)), ("merged_prs", LockSource::from(*channel))]
            );
            assert_eq!(LockSource::from(*channel).as_str(), channel.as_str());
        }
    }

    #[test]
    fn clearing_a_field_unlocks_it() {
        let mut locks = FieldLocks::new();
        update_api_locks(&mut locks, [("commits", true), ("merged_prs", true)]);
        update_api_locks(&mut locks, [("commits", false), ("contributors", false)]);
        assert_eq!(locks.keys().collect::<Vec<_>>(), ["merged_prs"]);
    }
}
