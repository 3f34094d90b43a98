//! The announcement of the operator to all users of the web app.

use crate::{string_enum::string_enum, time::Timestamp};

string_enum! {
    /// How an announcement is shown.
    AnnouncementLevel {
        /// For information only.
        Information = "information",
        /// Requires an action, or is about something that does not work.
        Warning = "warning",
    }
}

/// An announcement of the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// Plain text, in which `[label](address)` is a link.
    pub text: String,
    /// How it is shown.
    pub level: AnnouncementLevel,
    /// When it begins to be shown; `None` if at once.
    pub starts_at: Option<Timestamp>,
    /// When it is no longer shown; `None` if it is shown until it is deleted.
    pub ends_at: Option<Timestamp>,
}

impl Announcement {
    /// Whether it is shown at a time.
    pub fn is_shown(&self, now: Timestamp) -> bool {
        self.starts_at.is_none_or(|starts_at| starts_at <= now)
            && self.ends_at.is_none_or(|ends_at| now < ends_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announcement_is_shown_from_its_start_until_before_its_end() {
        let times = [None, Some(10)].map(|at| at.map(Timestamp));
        for starts_at in times {
            for ends_at in [None, Some(Timestamp(20))] {
                let level = AnnouncementLevel::Warning;
                let announcement = Announcement { text: "Soon.".to_owned(), level, starts_at, ends_at };
                let shown = [9, 10, 19, 20].map(|now| announcement.is_shown(Timestamp(now)));
                assert_eq!(shown, [starts_at.is_none(), true, true, ends_at.is_none()]);
            }
        }
    }
}
