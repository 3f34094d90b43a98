//! State of the agent server: the caller of a request, and running tools on its behalf.

use std::sync::Arc;

use poem::http::request::Parts;
use rmcp::{
    ErrorData, RoleServer,
    model::{ErrorCode, JsonObject},
    service::RequestContext,
};
use serde_json::{Value, json};

use super::{
    accepted_forms,
    arguments::{self, ToolCall},
    current_team,
    error::{ToolError, ToolErrorCode},
    estimate,
    instructions::instructions,
    known_values, off_workers,
    output::{self, ToolOutput},
    sanitize,
    table::ToolOperations,
    tools::{Tool, ToolSets},
};
use crate::{
    config::SchemaDetail,
    error::{Code, Error},
    market::Market,
    rest::{Caller, InProcessRoutes},
    string_enum::StringEnum,
};

/// Message of the error for an API key that is missing or invalid.
pub const UNAUTHORIZED: &str = "Unauthorized";

/// Code of that error, from the range that JSON-RPC reserves for servers.
pub const UNAUTHORIZED_CODE: i32 = -32001;

/// Next step for an agent that calls a tool its team does not have.
pub const TOOLS_DEPEND_ON_ROLES: &str = "Tools depend on the roles of the key's team, which get_current_team \
                                      returns. tools/list has the available tools.";

/// The agent server. It implements the protocol's methods for all transports.
pub struct AgentServer {
    /// The market whose data is served.
    pub market: Market,
    /// In-process access to the HTTP routes.
    pub direct: InProcessRoutes,
    /// Tools for each combination of team roles.
    pub tool_sets: Arc<ToolSets>,
    /// Source of the API key of a call.
    pub key_source: KeySource,
}

/// Source of the API key of a call.
pub enum KeySource {
    /// Each HTTP request has its own key, which was checked before the request got here.
    Request,
    /// The process has one key for all calls; `None` if it was started without one.
    Process(Option<String>),
}

impl AgentServer {
    /// Returns the caller of a request.
    pub async fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
        let KeySource::Process(key) = &self.key_source else {
            let caller = context.extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<Caller>());
            return caller.cloned().ok_or_else(|| unauthorized("The request has no API key."));
        };
        // A long-running process has to see what other processes wrote since, including revoked keys.
        self.market.refresh().map_err(|error| ErrorData::internal_error(error.message(), None))?;
        match key {
            Some(key) => Caller::from_key(&self.market, key).await.map_err(|error| match error {
                Error::TeamKeyRequired => operator_key(&error),
                error => unauthorized(&error.message()),
            }),
            None => Err(unauthorized("Set MARKETPLACE_API_KEY to an API key of your team, and restart.")),
        }
    }

    /// Returns the instructions for the caller. One whose key is invalid gets those for all roles: it is refused when it calls
    /// something.
    pub async fn instructions(&self, context: &RequestContext<RoleServer>) -> String {
        let caller = self.caller(context).await.ok();
        instructions(caller.as_ref().map(Caller::team))
    }

    /// Returns how much the output schemas say that a request gets: what `schemas` in the query of its address says, or
    /// else the setting.
    pub fn schema_detail(&self, context: &RequestContext<RoleServer>) -> Result<SchemaDetail, ErrorData> {
        let query = context.extensions.get::<Parts>().and_then(|parts| parts.uri.query()).unwrap_or_default();
        let stated = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "schemas");
        let Some((_, value)) = stated else { return Ok(self.market.settings().agents.schemas) };
        SchemaDetail::parse(&value).ok_or_else(|| {
            ErrorData::invalid_params("`schemas` in the address must be `shallow` or `full`.", None)
        })
    }

    /// Runs a tool and returns its output.
    pub async fn run_tool(
        &self,
        caller: &Caller,
        tool: &Tool,
        input: &JsonObject,
    ) -> Result<ToolOutput, ToolError> {
        let mut input = input.clone();
        let is_estimate = estimate::take(&mut input)?;
        let (output, list) = if matches!(tool.entry.operations, ToolOperations::None) {
            if let Some(name) = input.keys().next() {
                return Err(arguments::unknown_argument(tool, name));
            }
            let team = current_team::describe_team(caller, &self.market).await;
            let mut team = team.map_err(|error| ToolError::internal(&error, caller.request_id()))?;
            sanitize::sanitize_value(&mut team);
            (ToolOutput::new(team), None)
        } else {
            let max_bytes = self.market.settings().agents.max_answer_bytes;
            let mut input = accepted_forms::normalize(tool, &input)?;
            let hint = known_values::resolve(&self.market, caller, tool, &mut input).await?;
            let mut call = ToolCall::parse(tool, &input, max_bytes)?;
            call.hint = hint;
            (off_workers::run(output::fetch(&self.direct, caller, &call)).await?, call.variant.call.list)
        };
        Ok(if is_estimate { estimate::of_output(&output, list) } else { output })
    }

    /// Runs the tool with this name. Prompts, resources and completions get their data this way.
    pub async fn run_tool_by_name(
        &self,
        caller: &Caller,
        name: &str,
        input: Value,
    ) -> Result<ToolOutput, ToolError> {
        let tool = self.tool_sets.for_team(caller.team()).find(name).ok_or_else(|| {
            let message = format!("This requires the tool {name}, which the team does not have.");
            ToolError::invalid_argument(
                ToolErrorCode::Api(Code::MarketplaceRoleRequired),
                message,
                TOOLS_DEPEND_ON_ROLES,
            )
        })?;
        self.run_tool(caller, tool, input.as_object().unwrap_or(&JsonObject::new())).await
    }
}

/// Returns the error for a call with an operator key: agents act for teams.
fn operator_key(error: &Error) -> ErrorData {
    let error = ToolError::invalid_argument(
        ToolErrorCode::Api(Code::MarketplaceRoleRequired),
        error.message(),
        "Tell the user to configure this server with an API key of a team.",
    );
    error.to_protocol_error()
}

/// Returns the error for a call without a valid API key.
fn unauthorized(reason: &str) -> ErrorData {
    ErrorData::new(ErrorCode(UNAUTHORIZED_CODE), UNAUTHORIZED, Some(json!({"message": reason})))
}
