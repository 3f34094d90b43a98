//! `marketplace serve --replica`: a server that reads a copy of the database.

use std::{sync::Arc, time::Duration};

use tokio::sync::watch;

use super::{
    CommandError, CommandResult, GlobalOptions,
    app::{check_tools, new_app},
    global_options::print_warnings,
    listeners::{Listeners, served_result},
    logging::{init_server_logging, log_warnings},
    print_line, process,
    service_manager::ServiceManager,
    tls,
};
use crate::{
    config::{BlobKind, Settings, SettingsSources},
    http_server::tls::Certificates,
    market::{self, OpenError, ServeLock},
    mcp, private_files,
    replica::{self, ReplicaEndpoint, ReplicaServer},
    web,
};

/// Serves a replica until SIGINT or SIGTERM.
pub(super) fn run(
    sources: &SettingsSources,
    options: &GlobalOptions,
    input: process::StandardInput,
) -> CommandResult {
    let (settings, app) = prepare(sources).inspect_err(|_| print_warnings(sources))?;
    init_server_logging(&settings);
    log_warnings(&settings, sources);
    market::raise_descriptor_limit();
    let listeners = Listeners::bind(&settings)?;
    let address = listeners.address()?;
    let Listeners { server, monitoring, redirecting, certificates } = listeners;
    private_files::create_dir_all(&settings.data.folder)
        .map_err(|cause| OpenError::directory(settings.data.folder.clone(), cause))?;
    private_files::create_as_owner_of(&settings.data.folder);
    let _lock = ServeLock::acquire(&settings.data.folder)?;
    let base_url = web::link_base::base_url(&settings, address);
    let listen_url = web::link_base::listen_url(&settings, address);
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        settings_file = options.settings_file(false).map(|file| file.display().to_string()),
        listen = %address,
        url = base_url,
        primary = settings.replica.primary_url,
        "the replica starts"
    );
    let runtime = process::build_runtime(&settings)?;
    let served = runtime.block_on(async {
        let program = (&*base_url, market::this_program());
        let (replica, endpoint) = replica::serve(&settings, app, certificates.clone(), program)
            .map_err(|error| CommandError::Other(error.to_string()))?;
        let manager = ServiceManager::from_environment();
        reload_on_hangup(certificates.clone(), manager.clone(), serving(&listen_url))?;
        let tasks = [
            monitoring.map(|socket| {
                web::listening::spawn(endpoint.monitoring(), socket, &settings.server, "metrics")
            }),
            redirecting.map(|socket| tls::redirect(socket, &settings, address)),
        ];
        let socket = tls::listener(server, certificates);
        let progress = {
            let monitoring = endpoint.monitoring();
            manager.watch(move || {
                monitoring.try_to_read();
                Ok(())
            })
        };
        let served = serve(endpoint, replica, socket, &settings, (manager, &listen_url, input)).await;
        if let Some(progress) = progress {
            progress.abort();
        }
        tasks.into_iter().flatten().for_each(|task| task.abort());
        served
    });
    runtime.shutdown_timeout(process::SHUTDOWN_TIMEOUT);
    served
}

/// Checks sources of settings. Returns the settings, and the app to serve.
fn prepare(sources: &SettingsSources) -> Result<(Settings, mcp::App), CommandError> {
    let settings = sources.clone().resolve()?;
    check(&settings)?;
    let app = check_tools(sources, &settings, false)?.unwrap_or_else(|| new_app(&settings, false));
    Ok((settings, app))
}

async fn serve(
    endpoint: ReplicaEndpoint,
    replica: ReplicaServer,
    socket: crate::http_server::connections::Listener,
    settings: &Settings,
    (manager, url, input): (ServiceManager, &str, process::StandardInput),
) -> CommandResult {
    let stop_time = Duration::from_secs(settings.server.drain_seconds) + replica::REPORT_TIMEOUT;
    let stop_signal = process::server_stop_signal(stop_time, input)?;
    let (stopping, monitoring) = (manager.clone(), endpoint.monitoring());
    let stop = async move {
        stop_signal.await;
        stopping.stopping();
        monitoring.begin_draining();
    };
    let (server, connected) = (settings.server.clone(), watch::Sender::default());
    let served =
        tokio::spawn(async move { web::listening::serve(endpoint, socket, &server, connected, stop).await });
    print_line(format_args!("listening on {url}"));
    manager.ready(&serving(url));
    let served = served.await;
    replica.end().await;
    served_result(served)
}

/// Returns what the server does, for the service manager.
fn serving(url: &str) -> String {
    format!("Serving {url} as a replica")
}

/// Reads the certificate again for each SIGHUP. A replica reads its settings only when it starts.
fn reload_on_hangup(
    certificates: Option<Arc<Certificates>>,
    manager: ServiceManager,
    status: String,
) -> CommandResult {
    process::on_hangup(move || {
        manager.reloading();
        if let Some(certificates) = &certificates {
            certificates.reload_if_changed();
        }
        tracing::info!(
            "a replica reads its settings only when it starts; a certificate that has changed is used from now on"
        );
        manager.ready(&status);
    })
}

/// Checks the settings that only a replica needs.
fn check(settings: &Settings) -> CommandResult {
    let replica = &settings.replica;
    let missing = |name: &str, meaning: &str| {
        Err(CommandError::Usage(format!("--replica needs the setting {name}: {meaning}")))
    };
    if replica.primary_url.is_empty() {
        return missing("replica.primary_url", "the URL of the primary");
    }
    if replica.source.is_empty() {
        return missing("replica.source", "where Litestream replicates the database of the primary to");
    }
    if settings.blobs.kind != BlobKind::S3 {
        return missing("blobs.kind = \"s3\"", "uploads must be where the primary stores them, too");
    }
    Ok(())
}
