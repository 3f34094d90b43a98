//! Links between related pages, one of which is open, and links that remove filters from a list.

use maud::{Markup, html};

use super::icons;

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

/// Returns the chosen filters, each as a link that removes it. `chosen` has their names, their values, and the addresses without
/// them. `none` is the address without filters.
pub fn chosen_filters(chosen: &[(&str, &str, String)], none: &str) -> Markup {
    html! { @if !chosen.is_empty() {
        ul.row aria-label="Chosen filters" {
            @for (name, value, without) in chosen { li {
                a.chip href=(without) {
                    span { (name) } " " bdi.long { (value) } " " (icons::icon("x")) span.out { "remove" }
                }
            } }
            @if chosen.len() > 1 { li { a.button.quiet.little href=(none) { "Clear all" } } }
        }
    } }
}
