//! The output of a tool, in its two forms.

use serde_json::Value;

use super::team_text::TeamText;
use crate::{config::TextDetail, domain::written::counted};

/// The output of a tool, as a value and as text.
#[derive(Debug)]
pub struct ToolOutput {
    /// The output; always an object.
    pub value: Value,
    /// The same output as JSON text, with the notice first.
    pub text: String,
    /// Names of the fields with text that teams wrote.
    pub team_fields: Vec<&'static str>,
    /// Number of items in its list, and the number of all of them if it is known; `None` for a record.
    pub items: Option<(usize, Option<u64>)>,
}

impl ToolOutput {
    /// Creates the output from a value without fields that a tool adds.
    pub fn new(value: Value) -> ToolOutput {
        let team_fields = TeamText::find(&value).fields();
        // Faster than `Value::to_string`, which goes through a formatter.
        let text = serde_json::to_string(&value).expect("a value serializes to JSON");
        ToolOutput { value, text, team_fields, items: None }
    }

    /// Returns the text next to the structured content: the same, or one line for clients that read that.
    pub fn text_for(&mut self, detail: TextDetail) -> String {
        match (detail, self.items) {
            (TextDetail::Full, _) => std::mem::take(&mut self.text),
            (TextDetail::Short, Some((shown, Some(total)))) => {
                format!("{shown} of {total} items; see structuredContent.")
            }
            (TextDetail::Short, Some((shown, None))) => {
                format!("{}; see structuredContent.", counted(shown as u64, "item", "items"))
            }
            (TextDetail::Short, None) => "One record; see structuredContent.".to_owned(),
        }
    }
}
