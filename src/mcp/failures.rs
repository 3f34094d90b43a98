//! What goes wrong in a tool, told so that a model can mend it: a code, what was wrong, and the next step.

use rmcp::{
    ErrorData,
    model::{CallToolResult, ContentBlock},
};
use serde_json::{Value, json};

use crate::{
    domain::vocabulary::Vocabulary,
    error::{Code, Error},
    rest::DirectAnswer,
};

/// Why a tool did not answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The stable name of the failure: one of the HTTP interface's, or one of the arguments'.
    pub code: String,
    /// What was wrong.
    pub message: String,
    /// What to do now.
    pub next_step: String,
    /// What the request is known by to the people who run the server.
    pub request_id: Option<String>,
}

impl Fault {
    /// An argument that is wrong.
    pub fn argument(code: &str, message: String, next_step: impl Into<String>) -> Fault {
        Fault { code: code.to_owned(), message, next_step: next_step.into(), request_id: None }
    }

    /// What an operation answered instead of what it was asked for.
    pub fn of(answer: &DirectAnswer) -> Fault {
        let body: Value = serde_json::from_slice(&answer.bytes).unwrap_or_default();
        if let Some(problems) = body["detail"].as_array() {
            let told: Vec<String> = problems.iter().filter_map(problem).collect();
            let next = "Mend what the message names; leave out arguments that you do not need.";
            return Fault::argument("invalid_arguments", told.join(" "), next);
        }
        let error = &body["error"];
        let text = |key: &str| error[key].as_str().map(str::to_owned);
        let code = text("code").unwrap_or_else(|| Code::InternalError.word().to_owned());
        Fault {
            next_step: next_step(Code::parse(&code), answer.retry_after),
            message: text("message").unwrap_or_else(|| "The server failed.".to_owned()),
            request_id: text("request_id"),
            code,
        }
    }

    /// A failure of this process.
    pub fn internal(error: &Error, request_id: &str) -> Fault {
        if let Error::Internal(cause) = error {
            tracing::error!(request_id, cause, "a tool failed on our side");
        }
        let code = error.code().unwrap_or(Code::InternalError);
        Fault {
            code: code.word().to_owned(),
            message: error.message(),
            next_step: next_step(Some(code), None),
            request_id: Some(request_id.to_owned()),
        }
    }

    /// The failure as JSON.
    pub fn json(&self) -> Value {
        let mut error = json!({"code": self.code, "message": self.message, "next_step": self.next_step});
        if let Some(id) = &self.request_id {
            error["request_id"] = json!(id);
        }
        json!({"error": error})
    }

    /// The failure of a method that has no results to put it in.
    pub fn error(&self) -> ErrorData {
        let data = Some(self.json());
        match self.code.as_str() {
            "internal_error" => ErrorData::internal_error(self.message.clone(), data),
            _ => ErrorData::invalid_params(self.message.clone(), data),
        }
    }

    /// The failure as the result of a tool.
    pub fn result(&self) -> CallToolResult {
        CallToolResult::error(vec![ContentBlock::text(self.json().to_string())])
    }
}

/// What is wrong with a value: of one in a list, which.
fn problem(problem: &Value) -> Option<String> {
    let message = problem["msg"].as_str()?;
    match problem["loc"].as_array()?.as_slice() {
        [_, name, place, ..] if place.is_number() => Some(format!("{}[{place}]: {message}", name.as_str()?)),
        _ => Some(message.to_owned()),
    }
}

/// What an agent does about a failure.
fn next_step(code: Option<Code>, retry_after: Option<u64>) -> String {
    let step = match code {
        Some(Code::NotFound) => {
            "Take ids from the answers of list and browse tools; what is withdrawn, or another team's, reads as not there. \
             Do not make ids up."
        }
        Some(Code::InvalidCursor) => {
            "Call again without `cursor`, then pass each `next_cursor` on with every other argument unchanged."
        }
        Some(Code::Unauthorized) => {
            "Tell the user that the API key does not count; it is set where this server was set up."
        }
        Some(Code::NdaRequired) => {
            "No tool can do this: tell the user to accept the mutual NDA in the team's settings, then call again."
        }
        Some(Code::MarketplaceRoleRequired) => {
            "No tool can do this: tell the user that the team lacks the role; get_current_team says which it has."
        }
        Some(Code::ListingBrowseLocked) => {
            "Call browse_listings with no arguments but `limit` and `fields` to see the first page; get_browse_access says how many \
             published listings the team lacks. Publishing is done in the web app."
        }
        Some(Code::RateLimited | Code::AtCapacity) => {
            return format!("Wait {} s, then call again.", retry_after.unwrap_or(1));
        }
        Some(Code::InternalError) | None => {
            "Call again once; if it fails again, tell the user, with the request id."
        }
        Some(_) => "Read the message; what it asks for may have to be done by the user.",
    };
    step.to_owned()
}
