//! Where the pages of a record are, by the kind of the record: the kinds of the audit, and of the search. The resources state
//! both, so that no list of them has to be kept.

use std::sync::LazyLock;

use super::{events::EVENTS, worlds::place::WORLDS};

/// The kind of the events of the outbox, which are no resource.
pub const EVENT: &str = "event";

/// The kind of worlds, which are no records of the market.
pub const WORLD: &str = "world";

/// The pages of a kind of record.
#[derive(Clone, Copy, Debug)]
pub struct KindPages {
    /// The kind, as in the audit.
    pub kind: &'static str,
    /// Title of the list.
    pub title: &'static str,
    /// Path of the list. That of a record has its ID, its slug, or its number after it.
    pub list: &'static str,
}

/// The kinds, in the order of the navigation.
static KINDS: LazyLock<Vec<KindPages>> = LazyLock::new(|| {
    let of_resource = |row: crate::console::page::PageRow| {
        let resource = row.resource?();
        Some(KindPages { kind: resource.subject, title: row.title, list: resource.list })
    };
    let resources = super::rows().into_iter().filter_map(of_resource);
    let others = [
        KindPages { kind: EVENT, title: "Events", list: EVENTS },
        KindPages { kind: WORLD, title: "Worlds", list: WORLDS },
    ];
    resources.chain(others).collect()
});

/// Returns the kinds, in the order of the navigation.
pub fn all() -> &'static [KindPages] {
    &KINDS
}

/// Returns the path of the page of a record; `None` if records of the kind have no pages.
pub fn page_of(kind: &str, key: &str) -> Option<String> {
    all().iter().find(|pages| pages.kind == kind).map(|pages| format!("{}/{key}", pages.list))
}
