//! The agent server itself: what each method of the protocol is answered with, whichever way it comes in.

use std::sync::Arc;

use poem::http::request::Parts;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams,
        CompleteResult, CompletionInfo, ContentBlock, CustomRequest, CustomResult, ErrorCode,
        GetPromptRequestParams, GetPromptResponse, Implementation, InitializeResult, JsonObject,
        ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
        PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
        ServerCapabilities, ServerConfig,
    },
    service::RequestContext,
};
use serde_json::{Value, json};

use super::{
    answers::{self, Answer},
    arguments::{self, Asked},
    cleaning, completions,
    failures::Fault,
    prompts, resources,
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

/// How long lists and resources may be kept, in milliseconds. They follow a team's roles and the market's data, which
/// change seldom.
const KEPT_FOR: u64 = 60_000;

/// What is answered to a key that does not count.
pub const UNAUTHORIZED: &str = "Unauthorized";

/// The code of that failure: one of those that JSON-RPC leaves to servers.
pub const UNAUTHORIZED_CODE: i32 = -32001;

/// What is told of tools that a team has not.
const TOOLS_FOLLOW_ROLES: &str = "Tools follow the roles of the key's team, which get_current_team tells; tools/list names those \
                                  that there are.";

/// How agents should use the server.
const INSTRUCTIONS: &str = include_str!("words/instructions.md");

/// The agent server.
pub struct Agents {
    pub(super) market: Market,
    pub(super) direct: Direct,
    pub(super) toolboxes: Arc<Toolboxes>,
    /// The key of everybody who calls, where requests bring none along.
    pub(super) key: Option<Key>,
}

/// The key that a process was started with.
#[derive(Clone)]
pub struct Key(pub Option<String>);

impl Agents {
    /// Who calls.
    async fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
        let Some(Key(key)) = &self.key else {
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
    async fn answer(&self, caller: &Caller, tool: &Tool, given: &JsonObject) -> Result<Answer, Fault> {
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
    pub(super) async fn ask(&self, caller: &Caller, name: &str, given: Value) -> Result<Answer, Fault> {
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

impl ServerHandler for Agents {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .enable_completions()
            .build();
        let name = Implementation::new("marketplace", env!("CARGO_PKG_VERSION"))
            .with_title("Data marketplace")
            .with_description("Read-only: the catalog, and what a team has in the market.");
        InitializeResult::new(capabilities).with_server_info(name).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let caller = self.caller(&context).await?;
        let tools = self.toolboxes.of(caller.team()).all();
        let tools = tools.iter().map(|tool| tool.definition.clone()).collect();
        Ok(ListToolsResult::with_all_items(tools).with_ttl_ms(KEPT_FOR).with_cache_scope(CacheScope::Private))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = self.caller(&context).await?;
        let Some(tool) = self.toolboxes.of(caller.team()).find(&request.name) else {
            let message = format!("Unknown tool: {}", request.name);
            return Err(ErrorData::invalid_params(message, Some(json!({"next_step": TOOLS_FOLLOW_ROLES}))));
        };
        let answered = self.answer(&caller, tool, &request.arguments.unwrap_or_default()).await;
        let outcome = answered.as_ref().err().map_or("answered", |fault| fault.code.as_str());
        tracing::info!(request_id = caller.request_id(), tool = tool.row.name, outcome, "a tool was called");
        let result = match answered {
            Ok(Answer { value, text }) => {
                let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
                result.structured_content = Some(value);
                result
            }
            Err(fault) => fault.result(),
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.caller(&context).await?;
        Ok(ListResourcesResult::with_all_items(resources::all())
            .with_ttl_ms(KEPT_FOR)
            .with_cache_scope(CacheScope::Private))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.caller(&context).await?;
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates())
            .with_ttl_ms(KEPT_FOR)
            .with_cache_scope(CacheScope::Private))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let caller = self.caller(&context).await?;
        let contents = resources::read(self, &caller, &request.uri).await?;
        Ok(ReadResourceResult::new(vec![contents])
            .with_ttl_ms(KEPT_FOR)
            .with_cache_scope(CacheScope::Private)
            .into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let caller = self.caller(&context).await?;
        Ok(ListPromptsResult::with_all_items(prompts::of(caller.team()))
            .with_ttl_ms(KEPT_FOR)
            .with_cache_scope(CacheScope::Private))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let caller = self.caller(&context).await?;
        let given = request.arguments.unwrap_or_default();
        Ok(prompts::get(self, &caller, &request.name, &given).await?.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let caller = self.caller(&context).await?;
        let values = completions::complete(self, &caller, &request).await;
        let has_more = values.len() >= completions::MOST;
        let info = CompletionInfo::with_pagination(values, None, has_more);
        Ok(CompleteResult::new(info.map_err(|cause| ErrorData::internal_error(cause, None))?))
    }

    /// What the library could not read as a request that it knows: one of those with parameters of another form.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        self.caller(&context).await?;
        let expected = match request.method.as_str() {
            "tools/call" | "prompts/get" => "`name`, and `arguments` as an object",
            "resources/read" => "`uri`",
            "completion/complete" => "`ref` and `argument`",
            "initialize" => "`protocolVersion`, `capabilities` and `clientInfo`",
            _ => return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None)),
        };
        let message = format!("The `params` of {} do not have their form: {expected}.", request.method);
        Err(ErrorData::invalid_params(message, None))
    }
}
