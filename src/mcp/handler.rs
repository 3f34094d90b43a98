//! The MCP methods, for all transports.

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
        CompletionInfo, ContentBlock, CustomRequest, CustomResult, DiscoverResult, ErrorCode,
        GetPromptRequestParams, GetPromptResponse, InitializeRequestParams, InitializeResult, JsonObject,
        ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, MetaObject,
        PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
        ServerCapabilities, ServerConfig,
    },
    service::RequestContext,
};
use serde_json::json;
use tracing::Instrument;

use super::{
    agent_server::AgentServer, completions, instructions::instructions, messages, prompts, resources,
    server_card, tool_output::ToolOutput,
};
use crate::{error::excerpt, market::milliseconds};

/// Time in milliseconds for which clients may cache lists and resources. They depend on a team's roles and
/// the market's data, which change rarely. The library marks the cache scope as private to the caller.
const CACHE_TTL_MS: u64 = 60_000;

/// Field of the metadata of a result with the origin of each of its fields, for programs: `team` or `platform`. `*` stands
/// for all fields that are not named.
const ORIGINS: &str = "marketplace/origins";

/// Returns the metadata of a result with text of teams in these fields.
fn origins(team_fields: &[&str]) -> MetaObject {
    let of_teams = team_fields.iter().map(|field| (*field, "team"));
    let origins: JsonObject = of_teams
        .chain([("*", "platform")])
        .map(|(field, origin)| (field.to_owned(), json!(origin)))
        .collect();
    MetaObject(JsonObject::from_iter([(ORIGINS.to_owned(), origins.into())]))
}

/// Fails if a request for a list has a cursor: lists have one page, so the server has given none.
fn require_no_cursor(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor) {
        None => Ok(()),
        Some(_) => Err(ErrorData::invalid_params("The list has one page. Leave `cursor` out.", None)),
    }
}

impl ServerHandler for AgentServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .enable_completions()
            .build();
        let name = server_card::implementation(self.website.as_deref());
        InitializeResult::new(capabilities).with_server_info(name).with_instructions(instructions(None, true))
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let negotiated = self.negotiate_initialize(&request)?;
        Ok(negotiated.with_instructions(self.instructions(&context).await))
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let info = self.get_info().with_instructions(self.instructions(&context).await);
        Ok(DiscoverResult::from_server_info(self.supported_protocol_versions().into_owned(), info))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let caller = self.caller(&context).await?;
        require_no_cursor(request)?;
        let schemas = self.options(&context).schema_detail()?;
        let selection = self.tool_selection(&context)?;
        let tools = self.tool_sets.listed_for(caller.team()).as_slice();
        let tools = tools.iter().filter(|tool| selection.lists(tool.entry.text));
        let tools = tools.map(|tool| tool.definition(schemas)).collect();
        Ok(ListToolsResult::with_all_items(tools).with_ttl_ms(CACHE_TTL_MS))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = self.caller(&context).await?;
        let tool = self.find_tool(&caller, &context, &request.name)?;
        let text_detail = self.options(&context).text_detail()?;
        let (name, before) = (tool.entry.text.name, caller.times());
        let span = tracing::debug_span!("tool_call", request_id = caller.request_id(), tool = name);
        let output =
            self.run_tool(&caller, tool, &request.arguments.unwrap_or_default()).instrument(span).await;
        let outcome = output.as_ref().err().map_or("answered", |error| error.code.as_str());
        let times = caller.times() - before;
        tracing::info!(
            request_id = caller.request_id(),
            tool = name,
            outcome,
            compute_wait_ms = milliseconds(times.compute_wait),
            read_wait_ms = milliseconds(times.read_wait),
            read_ms = milliseconds(times.read),
            "tool called"
        );
        let result = match output {
            Ok(mut output) => {
                let text = output.text_for(text_detail);
                let ToolOutput { value, team_fields, .. } = output;
                let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
                result.structured_content = Some(value);
                result.with_meta(Some(origins(&team_fields)))
            }
            Err(error) => error.to_tool_result(),
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.caller(&context).await?;
        require_no_cursor(request)?;
        Ok(ListResourcesResult::with_all_items(resources::fixed_resources()).with_ttl_ms(CACHE_TTL_MS))
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.caller(&context).await?;
        require_no_cursor(request)?;
        Ok(ListResourceTemplatesResult::with_all_items(resources::resource_templates())
            .with_ttl_ms(CACHE_TTL_MS))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let caller = self.caller(&context).await?;
        let contents = resources::read_resource(self, &caller, &request.uri).await?;
        Ok(ReadResourceResult::new(vec![contents]).with_ttl_ms(CACHE_TTL_MS).into())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let caller = self.caller(&context).await?;
        require_no_cursor(request)?;
        let selection = self.tool_selection(&context)?;
        let tools = self.tool_sets.for_team(caller.team());
        let is_selected = |name: &str| tools.find(name).is_some_and(|tool| selection.has(tool.entry.text));
        let mut listed = prompts::prompts_for(caller.team());
        listed.retain(|prompt| prompts::named_tools(&prompt.name).iter().all(|name| is_selected(name)));
        Ok(ListPromptsResult::with_all_items(listed).with_ttl_ms(CACHE_TTL_MS))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let caller = self.caller(&context).await?;
        let arguments = request.arguments.unwrap_or_default();
        Ok(prompts::get_prompt(self, &caller, &request.name, &arguments).await?.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let caller = self.caller(&context).await?;
        let values = completions::complete(self, &caller, &request).await;
        let has_more = values.len() >= completions::MAX_SUGGESTIONS;
        let info = CompletionInfo::with_pagination(values, None, has_more);
        Ok(CompleteResult::new(info.map_err(|cause| ErrorData::internal_error(cause, None))?))
    }

    /// Handles requests that the library could not parse: unknown methods, and known ones with invalid
    /// parameters.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        self.caller(&context).await?;
        Err(match messages::invalid_params(&request.method, Some(&context.meta)) {
            Some(message) => ErrorData::invalid_params(message, None),
            None => {
                let message = format!("Unknown method: {}", excerpt(&request.method));
                ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
            }
        })
    }
}
