//! The agent server as its parts know it: who calls, and what a tool answers.

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

/// What is answered to a key that does not count.
pub const UNAUTHORIZED: &str = "Unauthorized";

/// The code of that failure: one of those that JSON-RPC leaves to servers.
pub const UNAUTHORIZED_CODE: i32 = -32001;

/// What is told of tools that a team has not.
pub const TOOLS_FOLLOW_ROLES: &str = "Tools follow the roles of the key's team, which get_current_team tells; tools/list names those \
                                  that there are.";

/// The agent server.
pub struct Agents {
    /// The market.
    pub market: Market,
    /// The routes.
    pub direct: Direct,
    /// The tools of every team.
    pub toolboxes: Toolboxes,
    /// Where the key of a call comes from.
    pub keys: Keys,
}

/// Where the key of a call comes from.
pub enum Keys {
    /// Each request brought one, which was judged before.
    OfRequests,
    /// The process was started with one, or should have been.
    OfProcess(Option<String>),
}

impl Agents {
    /// Who calls.
    pub async fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
        let Keys::OfProcess(key) = &self.keys else {
            let caller = context.extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<Caller>());
            return caller.cloned().ok_or_else(|| unauthorized("The request brought no key."));
        };
        // A process that goes on for days sees what others wrote meanwhile, keys that were taken back included.
        self.market.look().map_err(|error| ErrorData::internal_error(error.message(), None))?;
        match key {
            Some(key) => {
                Caller::with_key(&self.market, key).await.map_err(|error| unauthorized(&error.message()))
            }
            None => Err(unauthorized("Set MARKETPLACE_API_KEY to a key of your team, and start again.")),
        }
    }

    /// What a tool answers.
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

    /// What the tool of this name answers, for what else the server offers.
    pub async fn ask(&self, caller: &Caller, name: &str, given: Value) -> Result<Answer, Fault> {
        let tool = self.toolboxes.of(caller.team()).find(name).ok_or_else(|| {
            let message = format!("This needs the tool {name}, which the team has not.");
            Fault::argument(Code::MarketplaceRoleRequired.word(), message, TOOLS_FOLLOW_ROLES)
        })?;
        self.answer(caller, tool, given.as_object().unwrap_or(&JsonObject::new())).await
    }
}

/// The failure of a call without a key that counts.
fn unauthorized(why: &str) -> ErrorData {
    ErrorData::new(ErrorCode(UNAUTHORIZED_CODE), UNAUTHORIZED, Some(json!({"message": why})))
}
