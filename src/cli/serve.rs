//! The `marketplace serve` command.

use std::{
    net::SocketAddr,
    panic::resume_unwind,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use clap::Args;
use tokio::sync::watch;

use super::{
    CommandError, CommandResult, GlobalOptions,
    app::{check_tools, new_app},
    demo,
    global_options::print_warnings,
    listeners::{Listeners, local_address, served_result},
    logging::{init_server_logging, log_warnings},
    open_directory, print_line, process,
    public_demo::{self, PublicDemoOptions},
    reachability,
    reload::{ReadSources, Reloader, Reloads},
    replica as replica_server,
    service_manager::ServiceManager,
    temporary_directory::TemporaryDirectory,
    tls,
};
use crate::{
    config::{Settings, SettingsSources, parse_listen_address},
    domain::time::Timestamp,
    fixtures,
    market::{self, Market, OpenMode},
    mcp::{self, WatchedServer},
    operations,
    replica::{REPLICATION_STOP_TIMEOUT, Replication},
    rest,
    store::Durability,
    web::{self, monitoring::MonitoringEndpoint},
    worlds::{self, Worlds, WorldsOptions},
};

/// Directory in the data directory for the files of worlds. They do not outlive the process.
const WORLDS_DIRECTORY: &str = "worlds";

/// Start the server and run until SIGINT or SIGTERM.
///
/// The first line on standard output is `listening on` and the URL of the server, when it accepts connections.
///
/// On SIGHUP, it reads its settings again, and applies those that can change while it runs.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Examples:\n  marketplace serve --demo\n  marketplace serve --data ./market --listen 127.0.0.1:9000"
)]
pub struct Serve {
    /// Serve the demo market, from a temporary directory, or from --data or `MARKETPLACE_DATA_FOLDER` if that is
    /// empty or contains it.
    #[arg(long)]
    demo: bool,
    /// Address and port to listen on, or only a port for local connections [default: the setting server.listen].
    /// Port 0 picks a free port.
    #[arg(long, value_name = "ADDR:PORT", value_parser = parse_listen_address)]
    listen: Option<SocketAddr>,
    #[command(flatten)]
    public: PublicDemoOptions,
    /// Serve a copy of the database of another server, and forward changes to that one. The settings `[replica]` say
    /// which.
    #[arg(long, conflicts_with = "demo")]
    replica: bool,
    /// Do not copy the database of an earlier version before a migration that cannot be undone.
    #[arg(long)]
    no_backup: bool,
    /// Also stop when standard input closes, so that the server does not outlive the program that has its other end.
    #[arg(long)]
    until_stdin_closes: bool,
}

impl Serve {
    pub(super) fn run(&self, options: &GlobalOptions) -> CommandResult {
        let (sources, has_directory) = self.sources(options)?;
        if self.replica {
            return replica_server::run(&sources, options, self.standard_input());
        }
        let (settings, checked) = self.check(&sources).inspect_err(|_| print_warnings(&sources))?;
        let change_filter = init_server_logging(&settings);
        log_warnings(&settings, &sources);
        let reloads = Reloads::install()?;
        market::raise_descriptor_limit();
        let temporary = match (self.demo, has_directory) {
            (true, false) => Some(TemporaryDirectory::create_or(
                "choose a directory with --data, or another place for temporary files with TMPDIR",
            )?),
            _ => None,
        };
        let directory: PathBuf = match &temporary {
            Some(directory) => directory.path().to_owned(),
            None => settings.data.folder.clone(),
        };
        let durability = if temporary.is_some() { Durability::None } else { Durability::Full };
        // Bind the addresses first, so that a port in use is reported before any data is created.
        let listeners = Listeners::bind(&settings)?;
        // The routes and documents do not depend on the market, so both are prepared at the same time.
        let (market, app) = std::thread::scope(|scope| {
            let app = scope.spawn(|| checked.unwrap_or_else(|| new_app(&settings, self.demo)));
            (self.open_market(&directory, settings.clone(), durability), app.join())
        });
        let (market, app) = (market?, app.unwrap_or_else(|panic| resume_unwind(panic)));
        self.log_start(options, &market, &listeners)?;
        let manager = ServiceManager::from_environment();
        let url = web::link_base::base_url(market.settings(), listeners.address()?);
        let reloader = Reloader {
            market: market.clone(),
            sources: sources.clone(),
            read: self.read_again(options),
            change_filter,
            manager: manager.clone(),
            status: serving(&url),
        };
        let runtime = process::build_runtime(market.settings())?;
        let worlds = market
            .settings()
            .sandbox
            .enabled
            .then(|| open_worlds(&market, sources, self.demo))
            .transpose()?;
        let done = runtime
            .block_on(self.run_server(app, market, listeners, (worlds, manager), || reloads.begin(reloader)));
        drop(reloads);
        // Work that still runs has had its time to finish. Interrupted writes are rolled back at the next
        // start.
        runtime.shutdown_timeout(process::SHUTDOWN_TIMEOUT);
        if done.is_ok() {
            tracing::info!("the server has stopped");
        }
        done
    }

    /// Logs what is served, and where.
    fn log_start(&self, options: &GlobalOptions, market: &Market, listeners: &Listeners) -> CommandResult {
        let settings = market.settings();
        let address = listeners.address()?;
        let metrics = listeners.monitoring.as_ref().map(local_address).transpose()?;
        let redirecting = listeners.redirecting.as_ref().map(local_address).transpose()?;
        let others = public_demo::url_for_others(settings, address);
        tracing::info!(
            version = env!("CARGO_PKG_VERSION"),
            settings_file = options.settings_file(self.demo).map(|file| absolute(&file)),
            data_directory = %absolute(market.data_dir()),
            listen = %address,
            metrics_listen = metrics.map(tracing::field::display),
            redirect_listen = redirecting.map(tracing::field::display),
            url = web::link_base::base_url(settings, address),
            url_for_others = others.as_deref(),
            trusted_hosts = ?settings.server.trusted_hosts,
            demo = self.demo,
            "the server starts"
        );
        if others.is_some() && settings.keys.allow_fixture_keys {
            tracing::warn!(
                "others can reach this server, and keys of fixture sets are accepted, which they may know"
            );
        }
        if address.ip().is_unspecified()
            && settings.server.public_url.is_empty()
            && settings.server.trusted_hosts.is_empty()
        {
            tracing::warn!(
                "the names of this server are not known, so agents reach it by its addresses and local names only; \
                 set server.trusted_hosts or server.public_url"
            );
        }
        Ok(())
    }

    fn open_market(
        &self,
        directory: &Path,
        settings: Settings,
        durability: Durability,
    ) -> Result<Market, CommandError> {
        if self.demo {
            demo::create(directory, durability)?;
        }
        let market = open_directory(directory, settings, OpenMode::Serve, durability)?;
        if self.demo {
            demo::complete(&market)?;
        }
        Ok(market)
    }

    /// Returns the settings, and whether a flag or a variable names the data directory.
    fn sources(&self, options: &GlobalOptions) -> Result<(SettingsSources, bool), CommandError> {
        let mut sources = options.load_layers_of_server(self.demo)?;
        if let Some(listen) = self.listen {
            sources.set("server.listen", listen.to_string().into(), "--listen".to_owned())?;
        }
        if self.no_backup {
            sources.set("data.backup_before_upgrade", false.into(), "--no-backup".to_owned())?;
        }
        self.public.add_to(&mut sources)?;
        if self.demo {
            sources.apply_demo()?;
        }
        let has_directory = sources.is_set_for_process("data.folder");
        Ok((sources, has_directory))
    }

    /// Checks sources of settings. Returns the settings, and the app if checking them has required one.
    fn check(&self, sources: &SettingsSources) -> Result<(Settings, Option<mcp::App>), CommandError> {
        let settings = sources.clone().resolve()?;
        if self.demo {
            public_demo::check(&settings)?;
        }
        let app = check_tools(sources, &settings, self.demo)?;
        Ok((settings, app))
    }

    /// Returns a function that reads and checks the sources of the settings again.
    fn read_again(&self, options: &GlobalOptions) -> ReadSources {
        let (serve, options) = (self.clone(), options.clone());
        Box::new(move || {
            let (sources, _) = serve.sources(&options)?;
            let (settings, _) = serve.check(&sources)?;
            log_warnings(&settings, &sources);
            Ok(sources)
        })
    }

    fn standard_input(&self) -> process::StandardInput {
        if self.until_stdin_closes {
            process::StandardInput::StopsAtItsEnd
        } else {
            process::StandardInput::Ignored
        }
    }

    async fn run_server(
        &self,
        app: mcp::App,
        market: Market,
        listeners: Listeners,
        (worlds, manager): (Option<Arc<Worlds>>, ServiceManager),
        on_ready: impl FnOnce(),
    ) -> CommandResult {
        let address = listeners.address()?;
        // Before there is any background work: another server may have been promoted.
        let replication = match market.settings().replication.destination.as_str() {
            "" => None,
            _ => Some((Replication::start(&market)?, market.clone())),
        };
        reachability::check(&market);
        let url = web::link_base::base_url(market.settings(), address);
        if let Err(cause) = market.record_server_url(&url) {
            tracing::warn!(%cause, "commands on the data directory do not know the URL of the server");
        }
        let WatchedServer { endpoint, monitor } =
            app.watched(market.clone(), &url, worlds.map(|worlds| (address, worlds)));
        if let Some((replication, _)) = &replication {
            monitor.watch_replication(replication.state());
        }
        if let Some(certificates) = &listeners.certificates {
            tls::follow(certificates, &market, &monitor);
        }
        let runtime = tokio::runtime::Handle::current();
        // If the first key were created by the first sale, the published keys would tell everybody when that was.
        market.write_blocking(|writer| operations::signing_keys::find_or_create(writer).map(drop))?;
        let background = Arc::new(operations::background::BackgroundJobs::start(&market, &runtime)?);
        let webhooks = Arc::new(operations::webhook_sender::WebhookSender::start(&market, &runtime)?);
        // Install signal handlers before the address is printed, so that a stop right after it is graceful.
        let drain = Duration::from_secs(market.settings().server.drain_seconds);
        let stop_time = drain + replication.as_ref().map_or(Duration::ZERO, |_| REPLICATION_STOP_TIMEOUT);
        let stop_signal = process::server_stop_signal(stop_time, self.standard_input())?;
        // Jobs, requests, and attempts to send to webhooks share the time to drain.
        let stop = {
            let (background, webhooks) = (Arc::clone(&background), Arc::clone(&webhooks));
            let (monitor, manager) = (Arc::clone(&monitor), manager.clone());
            async move {
                stop_signal.await;
                manager.stopping();
                monitor.begin_draining();
                background.stop();
                webhooks.stop();
            }
        };
        let is_operable = market.settings().operator.enabled;
        let (settings, data_dir) = (market.settings().clone(), market.data_dir().to_owned());
        let printed = settings.clone();
        let now = market.clock().now();
        let connected = watch::Sender::default();
        let watching = listeners.monitoring.map(|listener| {
            web::listening::spawn(MonitoringEndpoint(monitor), listener, &settings.server, "metrics")
        });
        let redirecting = listeners.redirecting.map(|listener| tls::redirect(listener, &settings, address));
        let listener = tls::listener(listeners.server, listeners.certificates);
        let read = market.clone();
        let progress = manager.watch(move || read.latest_change().map(drop));
        let last_uses = market.clone();
        let following = tokio::spawn(market::follow_processes(market, connected.subscribe()));
        let server = tokio::spawn(async move {
            web::listening::serve(endpoint, listener, &settings.server, connected, stop).await
        });
        print_line(format_args!("listening on {}", web::link_base::listen_url(&printed, address)));
        manager.ready(&serving(&url));
        on_ready();
        if self.demo {
            let others = public_demo::url_for_others(&printed, address);
            print_demo_instructions((&url, others.as_deref()), &data_dir, now, is_operable);
        }
        let served = server.await;
        following.abort();
        // Otherwise, the uses since the last poll would be lost.
        let record = move || market::log_unrecorded(last_uses.record_pending_uses());
        let _ = tokio::task::spawn_blocking(record).await;
        drop((background, webhooks));
        if let Some((replication, market)) = replication {
            // All earlier writes are replicated, and there are no later ones.
            market.lease().end();
            let _ = tokio::task::spawn_blocking(move || drop(replication)).await;
        }
        // Until now, it reported that the server is stopping.
        for task in watching.into_iter().chain(redirecting).chain(progress) {
            task.abort();
        }
        served_result(served)
    }
}

/// Returns what the server does, for the service manager.
fn serving(url: &str) -> String {
    format!("Serving {url}")
}

/// Returns a path that does not depend on the working directory, as text.
fn absolute(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
}

/// Returns the worlds of a server, in its data directory. Deletes worlds that a killed process left there.
pub(super) fn open_worlds(
    market: &Market,
    sources: SettingsSources,
    is_demo: bool,
) -> Result<Arc<Worlds>, CommandError> {
    let opener = worlds::Opener::new(rest::RENDERER, operations::due_steps::run_step, market::this_program());
    let options = WorldsOptions {
        opener,
        sources,
        root: market.clone(),
        is_demo,
        directory: market.data_dir().join(WORLDS_DIRECTORY),
    };
    Worlds::new(options).map(Arc::new).map_err(|error| CommandError::Other(error.to_string()))
}

/// Prints the API keys of the demo market, its time, its directory, and some commands to try: also for operators if the
/// server has their API.
fn print_demo_instructions(
    (url, url_for_others): (&str, Option<&str>),
    directory: &Path,
    now: Timestamp,
    is_operable: bool,
) {
    if let Some(others) = url_for_others {
        print_line(format_args!(
            "\nOthers reach this market at {others}, and can do anything with these keys."
        ));
    }
    print_line("\nAPI keys:");
    for (key, meaning) in fixtures::DEMO_KEYS {
        print_line(format_args!("  {key:<18} {meaning}"));
    }
    if is_operable {
        print_line(format_args!("  {:<18} an operator of the marketplace", rest::OPERATOR.demo_key));
    }
    print_line(format_args!("\nClock of the market, which goes on from now: {now}"));
    print_line("\nData directory, for other commands such as `marketplace upload`, `grant`, and `key`:");
    print_line(format_args!("  --data {}", absolute(directory)));
    print_line("\nTry:");
    print_line(format_args!(
        "  curl -H 'Authorization: Bearer mkt_demo_buyer' '{url}/v2/listings/browse?limit=3'"
    ));
    print_line(format_args!(
        "  curl -H 'Authorization: Bearer mkt_demo_buyer' '{url}/v2/listings/browse?query=cobol&sort=price_low'"
    ));
    if is_operable {
        let key = rest::OPERATOR.demo_key;
        print_line(format_args!(
            "  MARKETPLACE_OPERATOR_KEY={key} marketplace listing list --stage review --url {url}"
        ));
        print_line(format_args!(
            "  curl -H 'Authorization: Bearer {key}' -H 'Content-Type: application/json' -d '{{}}' {url}/sandbox/v1/worlds"
        ));
    }
    print_line(format_args!("  open {url}/"));
    print_line(format_args!("\nMCP server: {url}/v2/mcp/ (or `marketplace mcp --demo` over stdio)"));
}
