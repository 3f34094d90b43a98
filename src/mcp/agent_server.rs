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
    known_values, off_workers, output,
    request_options::RequestOptions,
    sanitize,
    table::ToolOperations,
    tool_output::ToolOutput,
    tool_selection::ToolSelection,
    tools::{Tool, ToolSets},
};
use crate::{
    error::{Code, Error, excerpt},
    market::Market,
    string_enum::StringEnum,
    web::in_process::{Caller, InProcessRoutes},
};

/// Message of the error for an API key that is missing or invalid.
pub const UNAUTHORIZED: &str = "Unauthorized";

/// Code of that error, from the range that JSON-RPC reserves for servers.
pub const UNAUTHORIZED_CODE: i32 = -32001;

/// Next step for an agent that calls a tool its team does not have.
pub const TOOLS_DEPEND_ON_ROLES: &str = "Tools depend on the roles of the key's team, which get_current_team \
                                      returns. tools/list has the available tools.";

/// Next step for an agent that calls a tool which its configuration does not select.
const SELECTED_TOOLS: &str = "tools/list has the selected tools. To have this one, too, the user selects it where this server \
                              was configured.";

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
    /// Address of a page for people; none if nothing serves one.
    pub website: Option<String>,
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
            Some(key) => Caller::from_key(&self.market, key).await.map_err(|error| {
                let refused = refused_key(&error);
                refused.unwrap_or_else(|| ErrorData::internal_error(error.message(), None))
            }),
            None => Err(unauthorized("Set MARKETPLACE_API_KEY to an API key of your team, and restart.")),
        }
    }

    /// Returns the instructions for the caller. A caller with an invalid key gets the instructions for all roles; its calls are
    /// refused later.
    pub async fn instructions(&self, context: &RequestContext<RoleServer>) -> String {
        let caller = self.caller(context).await.ok();
        let selection = self.tool_selection(context);
        instructions(
            caller.as_ref().map(Caller::team),
            matches!(selection, Ok(ToolSelection::All | ToolSelection::Default)),
        )
    }

    /// Returns what a request asks for beyond the protocol.
    pub fn options<'a>(&'a self, context: &'a RequestContext<RoleServer>) -> RequestOptions<'a> {
        RequestOptions::new(context.extensions.get::<Parts>(), &self.market.settings().agents)
    }

    /// Returns the tools that a request selects.
    pub fn tool_selection(&self, context: &RequestContext<RoleServer>) -> Result<ToolSelection, ErrorData> {
        self.options(context).tool_selection(self.tool_sets.names())
    }

    /// Returns the tool that a request calls.
    pub fn find_tool(
        &self,
        caller: &Caller,
        context: &RequestContext<RoleServer>,
        name: &str,
    ) -> Result<&Tool, ErrorData> {
        let refused = |message: String, next: &str| {
            ErrorData::invalid_params(message, Some(json!({"next_step": next})))
        };
        let tool = self.tool_sets.for_team(caller.team()).find(name);
        let tool =
            tool.ok_or_else(|| refused(format!("Unknown tool: {}", excerpt(name)), TOOLS_DEPEND_ON_ROLES))?;
        if !self.tool_selection(context)?.has(tool.entry.text) {
            let toolset = tool.entry.text.toolset.as_str();
            let message = format!("Tool not selected: {name}, of the toolset {toolset}");
            return Err(refused(message, SELECTED_TOOLS));
        }
        Ok(tool)
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
        let output = if matches!(tool.entry.operations, ToolOperations::None) {
            if let Some(name) = input.keys().next() {
                return Err(arguments::unknown_argument(tool, name, None));
            }
            let team = current_team::describe_team(caller, &self.market).await;
            let mut team = team.map_err(|error| ToolError::internal(&error, caller.request_id()))?;
            sanitize::sanitize_value(&mut team);
            ToolOutput::new(team)
        } else {
            let normalized = accepted_forms::normalize(tool, &input)?;
            let output = self.run_operation(caller, tool, normalized).await;
            output.map_err(|error| accepted_forms::with_sent_names(tool, &input, error))?
        };
        Ok(if is_estimate { estimate::of_output(&output) } else { output })
    }

    /// Runs the operation that the arguments of a call select. They have the names and forms of the tool's schema.
    async fn run_operation(
        &self,
        caller: &Caller,
        tool: &Tool,
        mut input: JsonObject,
    ) -> Result<ToolOutput, ToolError> {
        let max_bytes = self.market.settings().agents.max_answer_bytes;
        let advice = known_values::resolve(&self.market, caller, tool, &mut input).await?;
        let mut call = ToolCall::parse(tool, &input, max_bytes)?;
        call.advice = advice;
        off_workers::run(output::fetch(&self.direct, caller, &call)).await
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

/// Returns the error for a call whose key agents cannot use: it is invalid, or not a key of a team for programs. `None` if the
/// error does not concern the key.
pub fn refused_key(error: &Error) -> Option<ErrorData> {
    let code = match error {
        Error::Unauthorized(reason) => return Some(unauthorized(reason)),
        Error::TeamKeyRequired => Code::MarketplaceRoleRequired,
        Error::ApiScopeRequired => Code::Forbidden,
        _ => return None,
    };
    let next_step =
        "Tell the user to configure this server with an API key of a team, which is for programs.";
    let error = ToolError::invalid_argument(ToolErrorCode::Api(code), error.message(), next_step);
    Some(error.into())
}

/// Returns the error for a call without a valid API key.
fn unauthorized(reason: &str) -> ErrorData {
    ErrorData::new(ErrorCode(UNAUTHORIZED_CODE), UNAUTHORIZED, Some(json!({"message": reason})))
}
