//! Notifications about the thing that a page shows.
//!
//! A page reads them together with its other data, by
//! [`notifications::list_about`](crate::operations::notifications::list_about) with the IDs of the thing and of what belongs to
//! it (such as the runs of a listing), and [`LIMIT`]; and shows them by [`section`].

use maud::{Markup, html};

use super::{
    badges::{self, Tone},
    tables, text,
};
use crate::{
    console::{paths, visit::Context},
    store::notifications::Notification,
};

/// Number of notifications that are shown.
pub const LIMIT: usize = 10;

/// Returns the section with notifications, newest first; nothing if there are none.
pub fn section(context: &Context, notifications: &[Notification]) -> Markup {
    html! { @if !notifications.is_empty() {
        (tables::section("about", "Notifications about this", &html! {
            ol.timeline { @for notification in notifications { li {
                b { bdi { (notification.title) } }
                @if !notification.is_read { " " (badges::badge(Tone::Waiting, "Unread")) }
                span.note.long { bdi { (notification.message) } }
                span.note { (text::moment(notification.created_at)) }
            } } }
            p { a href=(context.links.to(paths::NOTIFICATIONS)) { "All notifications" } }
        }))
    } }
}
