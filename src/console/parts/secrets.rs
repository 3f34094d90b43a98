//! Secrets that are shown once.

use maud::{Markup, html};

use super::badges;

/// Returns a secret to copy, with a warning that it is not shown again. The ID must be unique on the page.
pub fn secret(id: &str, label: &str, secret: &str) -> Markup {
    html! {
        (badges::warning(html! {
            b { "Copy it now. " }
            "It is shown this once, and nobody can look it up later. Keep it like a password."
        }))
        div.field {
            label for=(id) { (label) }
            input.mono id=(id) value=(secret) readonly autocomplete="off" spellcheck="false";
            div.row { button type="button" data-copy=(secret) hidden { "Copy" } }
        }
    }
}
