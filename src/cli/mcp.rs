//! The `marketplace mcp` command.

mod check;
mod client_config;

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;
use tokio::sync::watch;

use super::{
    CommandError, CommandResult, GlobalOptions, app, demo, init_logging, key_variables,
    listeners::local_address, open_directory, operator_message, print_line, print_note, process, server_url,
    temporary_directory::TemporaryDirectory,
};
use crate::{
    config::{Settings, parse_listen_address},
    fixtures,
    market::{Market, OpenMode},
    mcp::{self, KEY_VARIABLE},
    store::Durability,
    web,
};
use client_config::{Access, Client, ClientConfig};

/// Start the read-only agent (MCP) server over stdio or HTTP. It can run next to `marketplace serve`.
#[derive(Debug, Args)]
#[command(
    after_help = "Over stdio, the API key of the team is read from MARKETPLACE_API_KEY.\n\nExamples:\n  \
                  MARKETPLACE_API_KEY=mkt_demo_buyer marketplace mcp --demo\n  \
                  MARKETPLACE_API_KEY=... marketplace mcp --data ./market\n  \
                  marketplace mcp --data ./market --http 127.0.0.1:9001\n  \
                  marketplace mcp --data ./market --toolsets catalog,purchases --text short\n  \
                  marketplace mcp --data ./market --print-config vscode\n  \
                  MARKETPLACE_API_KEY=... marketplace mcp --data ./market --check"
)]
pub struct Mcp {
    /// Serve the demo market, from a temporary directory, or from --data or `MARKETPLACE_DATA_FOLDER`,
    /// which must contain it.
    #[arg(long)]
    demo: bool,
    /// Serve over HTTP at this address instead of stdio. Port 0 picks a free port.
    #[arg(long, value_name = "ADDR:PORT", value_parser = parse_listen_address)]
    http: Option<SocketAddr>,
    /// How much the output schemas of tools say [default: the setting agents.schemas].
    #[arg(long, value_name = "DETAIL", value_parser = ["shallow", "full"])]
    schemas: Option<String>,
    /// Text of answers, next to their structured content: the same, or one line [default: the setting agents.text].
    #[arg(long, value_name = "DETAIL", value_parser = ["full", "short"])]
    text: Option<String>,
    /// Toolsets that the agent has: all, account, catalog, purchases, requests, assets, listings, quality, sales, opportunities
    /// [default: the setting agents.toolsets; if that is empty, too, all tools can be called, and most are listed].
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    toolsets: Vec<String>,
    /// Single tools that the agent has in addition to the toolsets [default: the setting agents.tools].
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    tools: Vec<String>,
    /// Print the configuration of a client, to paste, and exit. It does not contain the key.
    #[arg(long, value_name = "CLIENT", conflicts_with_all = ["http", "check"])]
    print_config: Option<Client>,
    /// With --print-config: the URL of a server that the client uses, instead of starting a process.
    #[arg(long, value_name = "URL", requires = "print_config", conflicts_with = "demo")]
    server: Option<String>,
    /// Call a tool with the key of `MARKETPLACE_API_KEY`, say what is wrong, and exit.
    #[arg(long, conflicts_with = "http")]
    check: bool,
}

impl Mcp {
    pub(super) fn run(&self, options: &GlobalOptions) -> CommandResult {
        let (settings, has_directory) = self.settings(options)?;
        if let Some(client) = self.print_config {
            let access = self.access(options, &settings, has_directory)?;
            let ClientConfig { text, notes } = client_config::config(client, &access);
            print_line(text);
            for note in notes {
                print_note(format_args!("{note}"));
            }
            return Ok(());
        }
        init_logging(&settings, "warn");
        let temporary = match (self.demo, has_directory) {
            (true, false) => Some(create_demo(&settings)?),
            _ => None,
        };
        let folder: PathBuf =
            temporary.as_ref().map_or_else(|| settings.data.folder.clone(), |made| made.path().to_owned());
        let market = open_directory(&folder, settings, OpenMode::ReadOnly, Durability::Full)?;
        // The demo keys are public, so they must not give access to any other market.
        if self.demo && !fixtures::has_demo(&market)? {
            return Err(CommandError::Other(format!(
                "{} does not contain the demo market; omit --demo to serve this market, or omit --data to serve a \
                 temporary demo",
                market.data_dir().display()
            )));
        }
        let runtime = process::build_runtime(market.settings())?;
        let done = runtime.block_on(async {
            match self.http {
                _ if self.check => check::run(market, key_variables::read(KEY_VARIABLE)?).await,
                Some(address) => serve_http(market, address).await,
                None => serve_stdio(market).await,
            }
        });
        // The thread that reads stdin blocks until the next line, so do not wait for it.
        runtime.shutdown_timeout(if self.http.is_some() {
            process::SHUTDOWN_TIMEOUT
        } else {
            Duration::ZERO
        });
        done
    }

    /// Returns the settings, and whether a flag or a variable names the data directory.
    fn settings(&self, options: &GlobalOptions) -> Result<(Settings, bool), CommandError> {
        let mut layers = options.load_layers_for(self.demo)?;
        if let Some(address) = self.http {
            layers.set("server.listen", address.to_string().into(), "--http".to_owned())?;
        }
        if let Some(schemas) = &self.schemas {
            layers.set("agents.schemas", schemas.clone().into(), "--schemas".to_owned())?;
        }
        if let Some(text) = &self.text {
            layers.set("agents.text", text.clone().into(), "--text".to_owned())?;
        }
        if !self.toolsets.is_empty() {
            let toolsets: Vec<&str> = self.toolsets.iter().map(|name| name.trim()).collect();
            layers.set("agents.toolsets", toolsets.into(), "--toolsets".to_owned())?;
        }
        if !self.tools.is_empty() {
            let tools: Vec<&str> = self.tools.iter().map(|name| name.trim()).collect();
            layers.set("agents.tools", tools.into(), "--tools".to_owned())?;
        }
        if self.demo {
            layers.apply_demo()?;
        }
        let has_directory = layers.is_set_for_process("data.folder");
        let settings = layers.clone().resolve()?;
        // Another server may have other tools.
        if self.server.is_none() {
            app::check_tools(&layers, &settings, false)?;
        }
        Ok((settings, has_directory))
    }

    /// Returns the query of the address of a server that has the effect of the flags; empty without flags.
    fn query(&self) -> String {
        let list = |names: &[String]| names.iter().map(|name| name.trim()).collect::<Vec<_>>().join(",");
        let parameters = [
            ("toolsets", list(&self.toolsets)),
            ("tools", list(&self.tools)),
            ("text", self.text.clone().unwrap_or_default()),
            ("schemas", self.schemas.clone().unwrap_or_default()),
        ];
        let stated: Vec<String> = parameters
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        if stated.is_empty() { String::new() } else { format!("?{}", stated.join("&")) }
    }

    /// Returns how a client reaches this market: over HTTP, or by starting this program as it was started now, with paths
    /// that do not depend on the working directory.
    fn access(
        &self,
        options: &GlobalOptions,
        settings: &Settings,
        has_directory: bool,
    ) -> Result<Access, CommandError> {
        if let Some(url) = &self.server {
            let url = server_url::parse(url, KEY_VARIABLE)?.to_string();
            let url = url.trim_end_matches('/');
            let base = url.strip_suffix("/v2/mcp").unwrap_or(url);
            return Ok(Access::Http(format!("{base}{}{}", mcp::PATHS[0], self.query())));
        }
        let absolute = |path: &Path| {
            let absolute = std::path::absolute(path);
            absolute
                .map(|path| path.display().to_string())
                .map_err(|cause| CommandError::Other(cause.to_string()))
        };
        let program = std::env::current_exe().map_err(|cause| CommandError::Other(cause.to_string()))?;
        let mut arguments = vec!["mcp".to_owned()];
        let mut add = |flag: &str, value: Option<String>| {
            arguments.extend(value.map(|value| [flag.to_owned(), value]).into_iter().flatten());
        };
        add("--config", options.settings_file(self.demo).map(|path| absolute(&path)).transpose()?);
        let folder = (has_directory || !self.demo).then(|| absolute(&settings.data.folder));
        add("--data", folder.transpose()?);
        add("--schemas", self.schemas.clone());
        add("--text", self.text.clone());
        let list = |names: &[String]| (!names.is_empty()).then(|| names.join(","));
        add("--toolsets", list(&self.toolsets));
        add("--tools", list(&self.tools));
        if self.demo {
            arguments.push("--demo".to_owned());
        }
        Ok(Access::Process { program, arguments })
    }
}

/// Creates the demo market in a temporary directory.
fn create_demo(settings: &Settings) -> Result<TemporaryDirectory, CommandError> {
    let directory = TemporaryDirectory::create()?;
    demo::create(directory.path(), Durability::None)?;
    // Also creates the secrets of the market, which cannot be done when it is opened read-only.
    demo::complete(&open_directory(
        directory.path(),
        settings.clone(),
        OpenMode::Command,
        Durability::None,
    )?)?;
    Ok(directory)
}

async fn serve_stdio(market: Market) -> CommandResult {
    let key = key_variables::read(KEY_VARIABLE)?;
    match &key {
        None => {
            print_note(format_args!(
                "warning: {KEY_VARIABLE} is not set, so every call will fail; set it to an API key of your team"
            ));
        }
        Some(key) => {
            if let Err(error) = web::in_process::Caller::from_key(&market, key).await {
                let problem = match mcp::refused_key(&error) {
                    Some(_) => "is invalid, so every call will fail",
                    None => "cannot be checked",
                };
                let cause = operator_message(&error);
                print_note(format_args!("warning: the key in {KEY_VARIABLE} {problem}: {cause}"));
            }
        }
    }
    let url = web::link_base::base_url(market.settings(), market.settings().server.listen);
    let stop = process::stop_signal()?;
    let (input, output) = mcp::stdio_streams();
    tokio::select! {
        result = mcp::serve_agent(market, &url, key, input, output) => result.map_err(CommandError::Other),
        () = stop => Ok(()),
    }
}

async fn serve_http(market: Market, address: SocketAddr) -> CommandResult {
    let listener = process::bind_listener(address, "--http")?;
    let address = local_address(&listener)?;
    let app = app::new_app(market.settings(), false);
    // This server has no TLS, even if the settings have a certificate for the HTTP server.
    let url = match market.settings().server.public_url.as_str() {
        "" => web::link_base::local_url(address),
        url => url.to_owned(),
    };
    let app = app.serve_agents(market.clone(), &url);
    let drain = Duration::from_secs(market.settings().server.drain_seconds);
    let stop = process::server_stop_signal(drain, process::StandardInput::Ignored)?;
    process::on_hangup(|| tracing::info!("SIGHUP is ignored"))?;
    print_line(format_args!("listening on {}{}", web::link_base::local_url(address), mcp::PATHS[0]));
    // A process that only reads looks for changes before each request.
    let result =
        web::listening::serve(app, listener, &market.settings().server, watch::Sender::default(), stop).await;
    result.map_err(|cause| CommandError::Other(format!("the server stopped: {cause}")))
}
