//! Icons. A page contains the shapes that it uses once, and refers to them.

use std::collections::BTreeSet;

use maud::{Markup, PreEscaped, html};

/// The shapes by name, of 16 by 16 units.
const SHAPES: [(&str, &str); 15] = [
    ("menu", r#"<path d="M2 4.5h12M2 8h12M2 11.5h12"/>"#),
    ("search", r#"<circle cx="7" cy="7" r="4.5"/><path d="m10.5 10.5 3.5 3.5"/>"#),
    ("bell", r#"<path d="M4 11V7a4 4 0 0 1 8 0v4l1 1.5H3zM6.5 14.5h3"/>"#),
    ("ok", r#"<circle cx="8" cy="8" r="6.5"/><path d="m5 8.2 2.1 2.1L11 6"/>"#),
    ("warn", r#"<path d="M8 2 1.5 13.5h13z"/><path d="M8 6.5v3M8 11.6v.1"/>"#),
    (
        "bad",
        r#"<path d="M5.3 1.5h5.4l3.8 3.8v5.4l-3.8 3.8H5.3L1.5 10.7V5.3z"/><path d="m6 6 4 4M10 6l-4 4"/>"#,
    ),
    ("wait", r#"<circle cx="8" cy="8" r="6.5"/><path d="M8 4.5V8l2.5 1.5"/>"#),
    ("none", r#"<circle cx="8" cy="8" r="6.5" stroke-dasharray="2.5 2.5"/>"#),
    (
        "seal",
        r#"<path d="m8 1.3 1.7 1.4 2.2-.2.6 2.1 1.8 1.2-.8 2.1.8 2-1.8 1.3-.6 2.1-2.2-.2L8 14.5l-1.7-1.4-2.2.2-.6-2.1-1.8-1.3.8-2-.8-2.1 1.8-1.2.6-2.1 2.2.2z"/><path d="m5.5 8 1.8 1.8L10.7 6.3"/>"#,
    ),
    ("plus", r#"<path d="M8 3v10M3 8h10"/>"#),
    ("x", r#"<path d="m4 4 8 8M12 4l-8 8"/>"#),
    ("down", r#"<path d="M8 2.5v8M4.5 7 8 10.5 11.5 7M2.5 13.5h11"/>"#),
    ("key", r#"<circle cx="5" cy="11" r="3"/><path d="m7.2 8.8 6-6M11 5l2 2"/>"#),
    ("clock", r#"<circle cx="8" cy="8" r="6.5"/><path d="M8 4.5V8H11"/>"#),
    ("out", r#"<path d="M9 3h4v4M13 3 7.5 8.5M7 4H3v9h9V9"/>"#),
];

/// Returns an icon, which says nothing without the words beside it.
pub fn icon(name: &'static str) -> Markup {
    colored(name, "")
}

/// Returns an icon in a color of the design: `ok`, `warn`, or `bad`.
pub fn colored(name: &'static str, color: &str) -> Markup {
    let class = if color.is_empty() { "i".to_owned() } else { format!("i {color}") };
    html! { svg class=(class) aria-hidden="true" { use href={ "#i-" (name) } {} } }
}

/// Returns hidden definitions of the icons that a page uses, and of the logo; of all icons if a script changes parts of the
/// page.
pub fn shapes_of(page: &str) -> Markup {
    let has_changing_parts = page.contains("hx-get");
    let used: BTreeSet<&str> =
        page.split("href=\"#i-").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let is_used = |name: &str| has_changing_parts || used.contains(name);
    html! {
        div hidden { svg {
            symbol id="mark" viewBox="0 0 24 24" { path d="M2 3h5v18H2zM9.5 3h5v11h-5zM17 3h5v18h-5z" {} }
            @for (name, shape) in SHAPES { @if is_used(name) {
                symbol id={ "i-" (name) } viewBox="0 0 16 16" { (PreEscaped(shape)) }
            } }
        } }
    }
}
