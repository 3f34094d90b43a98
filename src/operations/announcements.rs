//! The announcement on all pages of the web app. A text that an operator has written replaces the text in the settings.

use super::access::Platform;
use crate::{
    domain::{
        announcements::{Announcement, AnnouncementLevel},
        problems::Problems,
        texts,
        time::Timestamp,
    },
    error::{Problem, Result},
    market::{CheckContext, Writer},
    request_problems::ProblemsExt,
    store,
};

/// The announcement that an operator has written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAnnouncement {
    /// The announcement.
    pub announcement: Announcement,
    /// When it was written or changed.
    pub changed_at: Timestamp,
    /// Whether it is shown now.
    pub is_shown: bool,
}

/// Returns the announcement that is shown now: the one by an operator if there is one, otherwise the one in the settings.
pub fn current(context: &CheckContext) -> Result<Option<Announcement>> {
    let stored = store::announcements::find(context.rows)?.map(|(announcement, _)| announcement);
    let of_settings = || {
        let text = context.settings.console.banner.trim();
        let level = AnnouncementLevel::Information;
        (!text.is_empty()).then(|| Announcement {
            text: text.to_owned(),
            level,
            starts_at: None,
            ends_at: None,
        })
    };
    Ok(stored.filter(|announcement| announcement.is_shown(context.now)).or_else(of_settings))
}

/// Returns the announcement that an operator has written, whether it is shown now or not.
pub fn stored(context: &CheckContext, _: Platform) -> Result<Option<StoredAnnouncement>> {
    let found = store::announcements::find(context.rows)?;
    Ok(found.map(|(announcement, changed_at)| {
        let is_shown = announcement.is_shown(context.now);
        StoredAnnouncement { announcement, changed_at, is_shown }
    }))
}

/// Returns the problems of an announcement.
pub fn find_problems(announcement: &Announcement, now: Timestamp) -> Problems {
    let Announcement { text, starts_at, ends_at, .. } = announcement;
    let mut problems = Problems::default();
    problems.check_text(&["text"], text, texts::ANNOUNCEMENT);
    let Some(ends_at) = *ends_at else { return problems };
    let message = if ends_at <= now {
        "The end must be later than now."
    } else if starts_at.is_some_and(|starts_at| ends_at <= starts_at) {
        "The end must be later than the start."
    } else {
        return problems;
    };
    problems.push(Problem::body(&["ends_at"], "value_error", message));
    problems
}

/// Stores an announcement in place of the earlier one.
pub fn set(writer: &mut Writer, _: Platform, mut announcement: Announcement) -> Result<()> {
    announcement.text.truncate(announcement.text.trim_end().len());
    find_problems(&announcement, writer.now).into_result()?;
    store::announcements::set(writer.rows, &announcement, writer.now)
}

/// Deletes the announcement that an operator has written. Returns whether there was one.
pub fn delete(writer: &mut Writer, _: Platform) -> Result<bool> {
    store::announcements::delete(writer.rows)
}
