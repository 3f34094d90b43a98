//! Links between pages that belong together, one of which is shown.

use maud::{Markup, html};

/// A link to one of the pages.
#[derive(Clone, Debug)]
pub struct Tab {
    /// What the page is about.
    pub label: &'static str,
    /// Its address.
    pub address: String,
    /// Whether it, or a page below it, is shown.
    pub is_current: bool,
}

/// Returns the links, in their order.
pub fn tabs(label: &str, tabs: &[Tab]) -> Markup {
    html! {
        nav.no-print aria-label=(label) {
            ul.row { @for tab in tabs { li {
                a.chip href=(tab.address) aria-current=[tab.is_current.then_some("true")] { span { (tab.label) } }
            } } }
        }
    }
}
