//! Settings of the console, where people sign in.

use serde::{Deserialize, Serialize};

use super::nda_text::NdaText;

/// The console: pages for people who have signed in.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ConsoleSettings {
    /// Whether the console is served.
    pub enabled: bool,
    /// Hours after signing in until a session ends.
    pub session_hours: u32,
    /// Minutes after its last use until a session ends.
    pub session_idle_minutes: u32,
    /// File with the text of the mutual NDA, in Markdown. Empty for the default text.
    pub nda_file: NdaText,
    /// Where and how to pay invoices, in plain text.
    pub invoice_text: String,
    /// Default announcement on all pages, unless an operator has written one. Empty for none.
    pub banner: String,
    /// Address of the terms of use. Empty for none.
    pub terms_url: String,
    /// Address of the privacy notice. Empty for none.
    pub privacy_url: String,
    /// Address of a page, or email address with `mailto:`, for questions. Empty for none.
    pub contact: String,
}

/// Settings of the review of listings.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ReviewSettings {
    /// Templates of notes to vendors.
    pub templates: Vec<String>,
}
