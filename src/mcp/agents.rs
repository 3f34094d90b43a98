//! State of the agent server: the caller of a request, and running tools on its behalf.

use poem::http::request::Parts;
use rmcp::{
    ErrorData, RoleServer,
    model::{ErrorCode, JsonObject},
    service::RequestContext,
};
use serde_json::{Value, json};

use super::{
    answers::{self, Answer},
    arguments::{self, Asked},
    cleaning,
    failures::Fault,
    table::Calls,
    team,
    tools::{Tool, Toolboxes},
};
use crate::{
    domain::vocabulary::Vocabulary,
    error::Code,
    market::Market,
    rest::{Caller, Direct},
};

/// Message of the error for an API key that is missing or invalid.
pub const UNAUTHORIZED: &str = "Unauthorized";

/// Code of that error, from the range that JSON-RPC reserves for servers.
pub const UNAUTHORIZED_CODE: i32 = -32001;

/// Next step for an agent that calls a tool its team does not have.
pub const TOOLS_FOLLOW_ROLES: &str = "Tools depend on the roles of the key's team, which get_current_team \
                                      returns. tools/list has the available tools.";

/// The agent server. It implements the protocol's methods for all transports.
pub struct Agents {
    /// The market whose data is served.
    pub market: Market,
    /// In-process access to the HTTP routes.
    pub direct: Direct,
    /// Tools for each combination of team roles.
    pub toolboxes: Toolboxes,
    /// Source of the API key of a call.
    pub keys: Keys,
}

/// Source of the API key of a call.
pub enum Keys {
    /// Each HTTP request has its own key, which was checked before the request got here.
    OfRequests,
    /// The process has one key for all calls; `None` if it was started without one.
    OfProcess(Option<String>),
}

impl Agents {
    /// Returns the caller of a request.
    pub async fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
        let Keys::OfProcess(key) = &self.keys else {
            let caller = context.extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<Caller>());
            return caller.cloned().ok_or_else(|| unauthorized("The request has no API key."));
        };
        // A long-running process has to see what other processes wrote since, including revoked keys.
        self.market.look().map_err(|error| ErrorData::internal_error(error.message(), None))?;
        match key {
            Some(key) => {
                Caller::with_key(&self.market, key).await.map_err(|error| unauthorized(&error.message()))
            }
            None => Err(unauthorized("Set MARKETPLACE_API_KEY to an API key of your team, and restart.")),
        }
    }

    /// Runs a tool and returns its output.
    pub async fn answer(&self, caller: &Caller, tool: &Tool, given: &JsonObject) -> Result<Answer, Fault> {
        if matches!(tool.row.calls, Calls::Nothing) {
            return match given.keys().next() {
                Some(name) => Err(arguments::unknown(tool, name)),
                None => {
                    let mut team = team::describe(caller, &self.market);
                    cleaning::clean(&mut team);
                    Ok(Answer::of(team))
                }
            };
        }
        let asked = Asked::read(tool, given)?;
        answers::fetch(&self.direct, caller, &asked).await
    }

    /// Runs the tool with this name. Prompts, resources and completions get their data this way.
    pub async fn ask(&self, caller: &Caller, name: &str, given: Value) -> Result<Answer, Fault> {
        let tool = self.toolboxes.of(caller.team()).find(name).ok_or_else(|| {
            let message = format!("This requires the tool {name}, which the team does not have.");
            Fault::argument(Code::MarketplaceRoleRequired.word(), message, TOOLS_FOLLOW_ROLES)
        })?;
        self.answer(caller, tool, given.as_object().unwrap_or(&JsonObject::new())).await
    }
}

/// Returns the error for a call without a valid API key.
fn unauthorized(why: &str) -> ErrorData {
    ErrorData::new(ErrorCode(UNAUTHORIZED_CODE), UNAUTHORIZED, Some(json!({"message": why})))
}
