//! The agent (MCP) server: read-only access to the marketplace for agents, over HTTP and stdio.
//!
//! It contains no marketplace logic. A tool is backed by GET operations, of the APIs or of agents only: its schemas are
//! derived from their OpenAPI documents, and a call goes through their endpoint in process. No write operation can be
//! reached.

mod accepted_forms;
mod agent_server;
mod arguments;
mod bundle_manifest;
mod completions;
mod current_team;
mod error;
mod estimate;
mod evidence;
mod field_paths;
mod handler;
mod http;
mod imitations;
mod instructions;
mod known_values;
mod large_pages;
mod markdown;
mod messages;
mod notice_first;
mod off_workers;
mod openapi;
mod output;
mod page;
mod prompts;
mod request_options;
mod request_scan;
mod resources;
mod sanitize;
mod schemas;
mod selected_fields;
mod self_check;
mod server_card;
mod shaped_characters;
mod signed_addresses;
mod streams;
mod suggested_ids;
pub mod table;
mod team_text;
mod tool_output;
mod tool_selection;
mod tools;
mod truncate;
mod value_lists;
mod variants;

use std::{net::SocketAddr, sync::Arc};

use poem::{EndpointExt, Response, endpoint::BoxEndpoint};
use rmcp::ServiceExt;
use tokio::io::{AsyncRead, AsyncWrite};

pub use agent_server::refused_key;
pub use http::PATHS;
pub use self_check::{Finding, KEY_VARIABLE};
pub use team_text::TEAM_TEXT_FIELDS as WRITTEN_BY_TEAMS;

use crate::{
    config::AgentSettings,
    console::{self, Console},
    domain::principals::PrincipalKind,
    market::Market,
    rest::{self, ServerBuilder},
    web::{
        monitoring::{self, MetricsForOperators, Monitor},
        positions::WithPositions,
        reported_uses::WithReportedUses,
        request_counts::METRICS_PATH,
        trusted_sources::TrustedSources,
        world_host::{SandboxHost, WorldDispatcher},
    },
    worlds::Worlds,
};
use agent_server::{AgentServer, KeySource};
use server_card::PublicDocument;
use tool_selection::ToolSelection;

/// The whole application: the routes, documents, and pages of [`rest::App`], the tools that the routes declare, and the web app. It is built once per process, and serves any number of markets.
#[derive(Clone)]
pub struct App {
    rest: rest::App,
    console: Console,
    tool_sets: Arc<tools::ToolSets>,
}

impl App {
    /// Adds tools to the routes of an app.
    pub fn new(rest: rest::App) -> App {
        let mut documents = rest.documents(PrincipalKind::Team);
        documents.push(rest.agent_document());
        let operations = openapi::GetOperations::from_documents(&documents);
        let routes = [rest.agent_routes(), rest.routes(PrincipalKind::Team)].concat();
        let tool_sets = Arc::new(tools::ToolSets::new(&routes, &operations));
        let console = Console::new(rest.has_demo_keys());
        App { rest, console, tool_sets }
    }

    /// Returns the server of a market. `base_url` is what [`web::link_base::base_url`] returns for it.
    pub fn serve(&self, market: Market, base_url: &str) -> BoxEndpoint<'static, Response> {
        self.watched(market, base_url, None).endpoint
    }

    /// Returns the server of a market with its worlds, each of which has all that a server has.
    pub fn serve_with_sandbox(
        &self,
        market: Market,
        base_url: &str,
        address: SocketAddr,
        worlds: Arc<Worlds>,
    ) -> BoxEndpoint<'static, Response> {
        self.watched(market, base_url, Some((address, worlds))).endpoint
    }

    /// Returns the server of a market, with its worlds if it has some, and the monitor of the server. The address is where the
    /// server listens.
    pub fn watched(
        &self,
        market: Market,
        base_url: &str,
        sandbox: Option<(SocketAddr, Arc<Worlds>)>,
    ) -> WatchedServer {
        let mut builder = ServerBuilder::new(&self.rest, market, base_url);
        let monitor = builder.monitor();
        let replicated = builder.market().clone();
        if builder.market().settings().operator.enabled {
            builder = builder.mount(METRICS_PATH, MetricsForOperators(Arc::clone(&monitor)));
        }
        let endpoint = match sandbox {
            None => self.server(builder, base_url),
            Some((address, worlds)) => self.server_with_worlds(builder, base_url, address, worlds),
        };
        let endpoint = match replicated.position_secret() {
            Some(secret) if replicated.written_position().is_some() => {
                let endpoint = WithReportedUses::new(replicated.clone(), secret, endpoint);
                WithPositions::new(replicated.clone(), secret, endpoint).boxed()
            }
            _ => endpoint,
        };
        WatchedServer { endpoint: monitoring::with_state(Arc::clone(&monitor), endpoint), monitor }
    }

    fn server_with_worlds(
        &self,
        builder: ServerBuilder,
        base_url: &str,
        address: SocketAddr,
        worlds: Arc<Worlds>,
    ) -> BoxEndpoint<'static, Response> {
        let (app, limits) = (self.clone(), builder.limits());
        let serve = Box::new(move |market, base_url: &str| {
            let builder = ServerBuilder::with_limits(&app.rest, market, base_url, limits.clone());
            app.server(builder, base_url)
        });
        let documents = (Arc::clone(self.rest.operations()), self.rest.has_demo_keys());
        let host = Arc::new(SandboxHost::new(worlds, base_url, address, documents, serve));
        let builder = builder.with_sandbox(Arc::clone(&host));
        WorldDispatcher::new(self.server(builder, base_url), host).boxed()
    }

    /// Returns a server that has the agent server of a market, but not the routes of the APIs.
    pub fn serve_agents(&self, market: Market, base_url: &str) -> BoxEndpoint<'static, Response> {
        self.with_agent_server(ServerBuilder::without_routes(&self.rest, market, base_url), base_url).build()
    }

    /// Returns the server of a builder, with what people and agents use.
    fn server(&self, builder: ServerBuilder, base_url: &str) -> BoxEndpoint<'static, Response> {
        let builder = self.with_agent_server(builder, base_url);
        if builder.market().settings().console.enabled {
            let served = builder.served();
            return console::guard(
                builder.mount_below(console::PREFIX, self.console.endpoint()).build(),
                served,
                rest::is_page,
            );
        }
        builder.build()
    }

    fn with_agent_server(&self, builder: ServerBuilder, base_url: &str) -> ServerBuilder {
        let agents = self.agent_server(&builder, KeySource::Request, base_url);
        let sources = TrustedSources::new(&builder.market().settings().server, base_url);
        let card = PublicDocument::card(base_url, agents.website.as_deref(), sources.clone());
        let card = Arc::new(card);
        let endpoint = Arc::new(http::AgentEndpoint::new(agents, sources.clone()));
        let builder = builder.mount(server_card::CATALOG_PATH, PublicDocument::catalog(base_url, sources));
        let builder = server_card::CARD_PATHS
            .into_iter()
            .fold(builder, |builder, path| builder.mount(path, Arc::clone(&card)));
        PATHS.into_iter().fold(builder, |builder, path| builder.mount(path, Arc::clone(&endpoint)))
    }

    /// Checks the tools that the settings select. The error says which tool is unknown.
    pub fn check_selected_tools(&self, settings: &AgentSettings) -> Result<(), String> {
        let selected = ToolSelection::from_settings(settings, self.tool_sets.names());
        selected.map(|_| ()).map_err(|message| format!("agents.tools: {message}"))
    }

    fn agent_server(&self, builder: &ServerBuilder, key_source: KeySource, base_url: &str) -> AgentServer {
        let public_url = &builder.market().settings().server.public_url;
        let has_pages = builder.in_process_routes().serves_files() || !public_url.is_empty();
        AgentServer {
            website: has_pages.then(|| base_url.to_owned()),
            market: builder.market().clone(),
            direct: builder.in_process_routes(),
            tool_sets: Arc::clone(&self.tool_sets),
            key_source,
        }
    }
}

/// The server of a market, and its monitor.
pub struct WatchedServer {
    /// The server.
    pub endpoint: BoxEndpoint<'static, Response>,
    /// The monitor of the server.
    pub monitor: Arc<Monitor>,
}

/// Returns the server of a market in a process that serves no other.
pub fn app(market: Market, base_url: &str) -> BoxEndpoint<'static, Response> {
    App::new(rest::App::new(market.settings(), false)).serve(market, base_url)
}

/// Returns the standard streams of the process, for [`serve_agent`].
pub fn stdio_streams() -> (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static)
{
    rmcp::transport::io::stdio_pipes()
}

/// Returns what an agent with this key would meet, without starting one.
pub async fn check_agent(market: Market, base_url: &str, key: Option<&str>) -> Vec<Finding> {
    let app = App::new(rest::App::new(market.settings(), false));
    let builder = ServerBuilder::without_routes(&app.rest, market, base_url);
    self_check::check(&app.agent_server(&builder, KeySource::Process(None), base_url), key).await
}

/// Serves one agent over a pair of streams until it disconnects. `key` is the API key for all of its
/// requests.
pub async fn serve_agent(
    market: Market,
    base_url: &str,
    key: Option<String>,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), String> {
    let app = App::new(rest::App::new(market.settings(), false));
    app.check_selected_tools(&market.settings().agents)?;
    let builder = ServerBuilder::without_routes(&app.rest, market, base_url);
    let agents = app.agent_server(&builder, KeySource::Process(key), base_url);
    let (requests, received) = tokio::io::duplex(streams::BUFFER_BYTES);
    let (responses, sent) = tokio::io::duplex(streams::BUFFER_BYTES);
    let connection = Arc::new(streams::Connection::new(output, http::MAX_REQUEST_BYTES as usize));
    let receiving = Arc::clone(&connection);
    tokio::spawn(async move { receiving.receive(input, requests).await });
    let sending = tokio::spawn(async move { connection.send(sent).await });
    let running = match agents.serve((received, responses)).await {
        Ok(running) => running,
        // A client that disconnects before initialization is not an error.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(cause) => return Err(cause.to_string()),
    };
    running.waiting().await.map_err(|cause| cause.to_string())?;
    // A client that stops reading is not an error either.
    let _ = sending.await;
    Ok(())
}
