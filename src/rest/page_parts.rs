//! What all pages of the APIs have in common.

use crate::web::ICON_SVG;

/// Style of all pages, light or dark as the browser prefers.
pub const PAGE_STYLE: &str = include_str!("pages/page.css");

/// The policy of a page without scripts.
pub const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
                          form-action 'none'; frame-ancestors 'none'";

/// Returns the icon of all pages as an address that contains it.
pub fn icon() -> String {
    let percent_encoded = ICON_SVG.trim().replace('#', "%23").replace('"', "'");
    format!(
        "data:image/svg+xml,{}",
        percent_encoded.replace('<', "%3C").replace('>', "%3E").replace(' ', "%20")
    )
}

/// Escapes text for HTML, also in attributes.
pub fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
