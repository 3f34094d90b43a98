//! The size of an answer, returned instead of the answer, so that an agent can decide whether to read it.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::{
    error::ToolError,
    schemas::{CUT, ESTIMATE, HINT},
    tool_output::ToolOutput,
};

/// Bytes that count as a token.
const BYTES_PER_TOKEN: usize = 4;

/// Takes the argument `estimate` out of the arguments of a call, and returns whether it is true.
pub fn take(input: &mut JsonObject) -> Result<bool, ToolError> {
    match input.remove(ESTIMATE) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::String(text)) if text.is_empty() => Ok(false),
        Some(Value::Bool(is_set)) => Ok(is_set),
        Some(Value::String(text)) if text == "true" || text == "false" => Ok(text == "true"),
        Some(_) => Err(ToolError::invalid(
            format!("`{ESTIMATE}` must be true or false."),
            "Leave it out to get the answer.",
        )),
    }
}

/// Returns the size of an answer: its rows, and its bytes and tokens of JSON. An answer without a list is one row.
pub fn of_output(output: &ToolOutput) -> ToolOutput {
    let (rows, total) = output.items.unwrap_or((1, None));
    let bytes = output.text.len();
    let mut estimate = json!({"rows": rows, "bytes": bytes, "tokens": bytes.div_ceil(BYTES_PER_TOKEN)});
    if let Some(total) = total {
        estimate["total"] = json!(total);
    }
    for name in [CUT, HINT] {
        if let Some(text) = output.value.get(name) {
            estimate[name] = text.clone();
        }
    }
    ToolOutput::new(json!({"estimate": estimate}))
}
