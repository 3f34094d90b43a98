//! Messages above the content of each page, for everybody: maintenance, and the announcement.

use maud::{Markup, html};

use super::{
    parts::{
        badges::{self, Tone},
        markdown,
    },
    paths,
    visit::Context,
};
use crate::{
    domain::announcements::{Announcement, AnnouncementLevel},
    error::Result,
    market::Reader,
    operations::{
        announcements,
        maintenance::{self, Maintenance},
    },
};

/// The sentence before the message of maintenance, unless the message begins with it.
const REFUSAL: &str = "Nothing can be changed now";

/// Messages above the content of a page.
#[derive(Clone, Debug, Default)]
pub struct Banners {
    maintenance: Option<Maintenance>,
    announcement: Option<Announcement>,
}

impl Banners {
    /// Finds the messages of now.
    pub fn find(reader: &Reader) -> Result<Banners> {
        let context = reader.check_context();
        Ok(Banners {
            maintenance: maintenance::current(&context)?,
            announcement: announcements::current(&context)?,
        })
    }

    /// Reads the messages for a page that reads nothing else.
    pub async fn read(context: &Context) -> Result<Banners> {
        context.market().read_inline(context.requester.clone(), Banners::find).await
    }

    /// Shows the messages.
    pub fn show(&self, context: &Context) -> Markup {
        let announcement = self.announcement.as_ref().map(announcement);
        let is_operator = context.signed_in.is_some() && context.team().is_none();
        // Maintenance that the settings have switched on can only be switched off there.
        let can_end = context.may_act() && !context.market().settings().maintenance.enabled;
        html! {
            @if let Some(maintenance) = &self.maintenance {
                (badges::warning(html! {
                    @if is_operator {
                        b { "Maintenance is on. " } "Teams cannot change anything. "
                        @if can_end { a href=(context.links.to(paths::OPERATOR_ANNOUNCEMENTS)) { "End it" } ". " }
                        "They read: "
                    } @else if !maintenance.text.starts_with(REFUSAL) {
                        b { (REFUSAL) ". " }
                    }
                    (markdown::render_links(&maintenance.text))
                }))
            }
            @if let Some(announcement) = announcement { (announcement) }
        }
    }
}

/// Returns an announcement as it is shown above each page.
pub fn announcement(announcement: &Announcement) -> Markup {
    let tone = match announcement.level {
        AnnouncementLevel::Information => Tone::Neutral,
        AnnouncementLevel::Warning => Tone::Warning,
    };
    badges::message(tone, markdown::render_links(&announcement.text))
}
