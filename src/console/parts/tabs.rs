//! Links between pages that belong together, one of which is shown; and links that drop the filters of a list.

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

/// Returns the filters that are chosen, each as a link that drops it: names, values, and addresses without them. `none` is the address
/// without any.
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
