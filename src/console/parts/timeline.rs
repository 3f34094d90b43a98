//! What happened, and when.

use maud::{Markup, html};

use super::text;
use crate::domain::time::Timestamp;

/// Something that happened.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What.
    pub what: Markup,
    /// When.
    pub at: Timestamp,
    /// What else is to say about it.
    pub note: Option<Markup>,
}

impl Entry {
    /// Returns an entry without a note.
    pub fn new(what: &str, at: Timestamp) -> Entry {
        Entry { what: html! { (what) }, at, note: None }
    }
}

/// Shows what happened, in the given order, which is newest first.
pub fn timeline(entries: &[Entry]) -> Markup {
    html! {
        ol.timeline { @for entry in entries { li {
            (entry.what)
            @if let Some(note) = &entry.note { span.note { (note) } }
            span.note { (text::moment(entry.at)) }
        } } }
    }
}
