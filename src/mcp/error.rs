//! Errors of tools, in a form that a model can act on: a code, a message, and the next step.

use rmcp::{
    ErrorData,
    model::{CallToolResult, ContentBlock},
};
use serde_json::{Value, json};

use crate::{
    error::{Code, Error, ErrorChain, beginning, excerpt},
    string_enum::StringEnum,
    web::in_process::InProcessResponse,
};

/// Code of an error of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolErrorCode {
    /// An argument has an invalid value.
    InvalidArguments,
    /// A required argument is missing.
    MissingArgument,
    /// The tool has no argument of this name.
    UnknownArgument,
    /// A code of the HTTP API.
    Api(Code),
}

impl ToolErrorCode {
    /// Returns the code as agents see it.
    pub fn as_str(self) -> &'static str {
        match self {
            ToolErrorCode::InvalidArguments => "invalid_arguments",
            ToolErrorCode::MissingArgument => "missing_argument",
            ToolErrorCode::UnknownArgument => "unknown_argument",
            ToolErrorCode::Api(code) => code.as_str(),
        }
    }
}

/// Maximum number of characters of a message. Each can take seven bytes in the response, which thus stays
/// below the maximum size of an output.
const MAX_MESSAGE_CHARS: usize = 4_000;

/// An error of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolError {
    /// Stable error code.
    pub code: ToolErrorCode,
    /// Description of the error.
    pub message: String,
    /// What the agent should do now.
    pub next_step: String,
    /// ID of the request in the server's log.
    pub request_id: Option<String>,
}

impl ToolError {
    /// Creates an error for arguments with invalid values.
    pub fn invalid(message: impl Into<String>, next_step: impl Into<String>) -> ToolError {
        ToolError::invalid_argument(ToolErrorCode::InvalidArguments, message.into(), next_step)
    }

    /// Creates an error for an invalid argument.
    pub fn invalid_argument(code: ToolErrorCode, message: String, next_step: impl Into<String>) -> ToolError {
        ToolError { code, message, next_step: next_step.into(), request_id: None }
    }

    /// Creates an error from the unsuccessful response of an operation.
    pub fn from_response(response: &InProcessResponse) -> ToolError {
        let body: Value = serde_json::from_slice(&response.bytes).unwrap_or_default();
        if let Some(problems) = body["detail"].as_array() {
            let messages: Vec<String> = problems.iter().filter_map(problem_message).collect();
            let next = "Fix what the message names; leave out arguments that you do not need.";
            return ToolError::invalid(messages.join(" "), next);
        }
        let error = &body["error"];
        let text = |key: &str| error[key].as_str().map(str::to_owned);
        // A response without a known code does not come from our APIs, so it is an internal error.
        let code = error["code"].as_str().and_then(Code::parse).unwrap_or(Code::InternalError);
        ToolError {
            next_step: next_step(code, response.retry_after),
            message: text("message").unwrap_or_else(|| "Internal server error.".to_owned()),
            request_id: text("request_id"),
            code: ToolErrorCode::Api(code),
        }
    }

    /// Creates an error from one in this process, and logs its cause.
    pub fn internal(error: &Error, request_id: &str) -> ToolError {
        if let Error::Internal(source) = error {
            let cause = ErrorChain(source.as_ref());
            tracing::error!(request_id, %cause, "tool failed with an internal error");
        }
        let code = error.code().unwrap_or(Code::InternalError);
        ToolError {
            code: ToolErrorCode::Api(code),
            message: error.message(),
            next_step: next_step(code, None),
            request_id: Some(request_id.to_owned()),
        }
    }

    /// Returns the error as JSON.
    pub fn to_json(&self) -> Value {
        let [message, next_step] =
            [&self.message, &self.next_step].map(|text| beginning(text, MAX_MESSAGE_CHARS));
        let mut error = json!({"code": self.code.as_str(), "message": message, "next_step": next_step});
        if let Some(id) = &self.request_id {
            error["request_id"] = json!(id);
        }
        json!({"error": error})
    }

    /// Returns the error as the result of a tool call.
    pub fn to_tool_result(&self) -> CallToolResult {
        CallToolResult::error(vec![ContentBlock::text(self.to_json().to_string())])
    }
}

/// The error as a protocol error, for methods whose results cannot contain one.
impl From<ToolError> for ErrorData {
    fn from(error: ToolError) -> ErrorData {
        let data = Some(error.to_json());
        match error.code {
            ToolErrorCode::Api(Code::InternalError) => ErrorData::internal_error(error.message, data),
            _ => ErrorData::invalid_params(error.message, data),
        }
    }
}

/// Returns the message of a validation problem, prefixed with the item's location if it is in a list.
fn problem_message(problem: &Value) -> Option<String> {
    let message = problem["msg"].as_str()?;
    match problem["loc"].as_array()?.as_slice() {
        [_, name, index, ..] if index.is_number() => Some(format!("{}[{index}]: {message}", name.as_str()?)),
        _ => Some(message.to_owned()),
    }
}

/// Returns the next step for an error code. `retry_after` is in seconds.
fn next_step(code: Code, retry_after: Option<u64>) -> String {
    let step = match code {
        Code::NotFound => {
            "Take IDs from the responses of list and browse tools; do not invent them. Records that were \
             withdrawn or belong to another team are also reported as not found."
        }
        Code::InvalidCursor => {
            "The cursor may be miscopied: copy `next_cursor` exactly, and keep all other arguments unchanged. If it \
             still fails, the listing before it may be gone: leave `cursor` out, and set `offset` to the number of \
             items read so far if the tool has it."
        }
        Code::Unauthorized => {
            "Tell the user that the API key is invalid; it is set where this server was configured."
        }
        Code::NdaRequired => {
            "No tool can do this: tell the user that the market's operator must record the mutual NDA, then call \
             again."
        }
        Code::MarketplaceRoleRequired => {
            "No tool can do this: tell the user that the team lacks the role; get_current_team lists its \
             roles."
        }
        Code::ListingBrowseLocked => {
            "Call browse_listings with only `limit` and `fields` to see the first page; `browse_access` of \
             get_current_team has the number of published listings that the team needs. No tool publishes any."
        }
        Code::RateLimited | Code::AtCapacity => {
            return format!("Wait {} s, then call again.", retry_after.unwrap_or(1));
        }
        Code::InternalError => "Retry once; if it fails again, tell the user, with the request ID.",
        _ => "Read the message; the user may have to do what it asks for.",
    };
    step.to_owned()
}

/// Returns the beginning of a value's JSON, for messages.
pub fn quote(value: &Value) -> String {
    excerpt(&value.to_string())
}
