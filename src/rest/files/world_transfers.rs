//! Export and import of worlds as files, and files for replays. Their bodies are no JSON, so
//! `openapi::transfer_operations` documents them.
//!
//! Neither transfer holds the turn of the world, and an exported file is read in chunks.

use std::{fs::File, io, sync::Arc};

use bytes::Bytes;
use http_body::Body as _;
use http_body_util::combinators::BoxBody;
use poem::{
    IntoResponse, Request, Response, Route,
    http::{Method, header},
};

use super::admission;
use crate::{
    blobs::DiskUsage,
    error::{Error, Result},
    http_server::chunks::Chunks,
    market::Market,
    operations::access::PrincipalProof as _,
    rest::{
        arguments::params,
        json::Json,
        router::answered_by,
        sandbox_api::{WorldOperator, WorldOut},
    },
    web::{
        body::receive_into,
        limits::Budget,
        path_params::{self, framework_path},
        responses::parts,
        served_market::ServedMarket,
        shares::{
            capacity::Slot,
            transfer_limits::{self, RequestTransfers},
        },
        world_host::SandboxHost,
    },
    worlds::{MAX_FILE_BYTES, World},
};

/// The route of exports.
pub const EXPORT_ROUTE: &str = "/sandbox/v1/worlds/{world}/export";

/// The route of imports.
pub const IMPORT_ROUTE: &str = "/sandbox/v1/worlds/{world}/import";

/// The route of replays.
pub const REPLAY_ROUTE: &str = "/sandbox/v1/worlds/{world}/replay";

/// Content type of exported worlds.
pub const CONTENT_TYPE: &str = "application/zip";

/// Maximum number of bytes of a file that are read at a time, and thus in memory.
const CHUNK_BYTES: u64 = 256 * 1024;

/// Adds the routes of exports, imports, and replays.
pub fn add_routes(routes: Route) -> Route {
    routes
        .at(framework_path(EXPORT_ROUTE), answered_by(Method::GET, export))
        .at(framework_path(IMPORT_ROUTE), answered_by(Method::POST, import))
        .at(framework_path(REPLAY_ROUTE), answered_by(Method::GET, replay))
}

/// Authenticates a request, and returns its world and who sends it. An export has the secrets of the world, so it also takes a
/// key that permits changes.
async fn find_world(
    served: &ServedMarket,
    request: &Request,
) -> Result<(Arc<SandboxHost>, Arc<World>, WorldOperator)> {
    let operator: WorldOperator = admission::admit(served, request, Budget::Other).await?;
    params::check_no_query(request)?;
    let sandbox = served.require_sandbox()?;
    let world = sandbox.worlds().require(&path_params::first(request).unwrap_or_default())?;
    Ok((sandbox, world, operator))
}

async fn export(request: Request) -> Result<Response> {
    let served = ServedMarket::shared(&request)?;
    let (sandbox, world, _) = find_world(&served, &request).await?;
    let name = format!("{}.zip", world.name());
    let turn = world.admit().await?;
    let (host, source) = (Arc::clone(&sandbox), Arc::clone(&world));
    let write = move |file| {
        let _turn = turn;
        Ok(sandbox.worlds().export(&world, file)?)
    };
    send_file(&served, &request, (&host, source), &name, write).await
}

/// Sends the start of a world and its requests.
async fn replay(request: Request) -> Result<Response> {
    let served = ServedMarket::shared(&request)?;
    let (sandbox, world, _) = find_world(&served, &request).await?;
    let name = format!("{}.replay.zip", world.name());
    let (host, source) = (Arc::clone(&sandbox), Arc::clone(&world));
    let write = move |file| sandbox.write_replay(&world, file);
    send_file(&served, &request, (&host, source), &name, write).await
}

/// Sends a file with this name, which `write` writes. It is not larger than the files of the world. The slot of the download is
/// occupied until the end.
async fn send_file(
    served: &ServedMarket,
    request: &Request,
    (sandbox, world): (&SandboxHost, Arc<World>),
    name: &str,
    write: impl FnOnce(File) -> Result<File> + Send + 'static,
) -> Result<Response> {
    let slot = transfer_limits::of_request(request).map(RequestTransfers::download_slot).transpose()?;
    Slot::remove_deadline(request);
    let name = format!("attachment; filename=\"{name}\"");
    let file = sandbox.worlds().temporary_file().map_err(Error::internal)?.into_file();
    let write = move |market: &Market| {
        let mut usage = DiskUsage::default();
        world.add_disk_usage(&mut usage)?;
        let _reservation = market.reserve_space(usage.bytes())?;
        let file = write(file)?;
        let length = file.metadata().map_err(Error::internal)?.len();
        Ok((file, length))
    };
    let (file, length) = served.market().spawn_blocking(write).await?;
    Ok(Response::builder()
        .header(header::CONTENT_DISPOSITION, name)
        .header(header::CONTENT_LENGTH, length)
        .header(header::CACHE_CONTROL, "no-store")
        .content_type(CONTENT_TYPE)
        .body(parts::file_body(Arc::new(file), length, CHUNK_BYTES, slot)))
}

async fn import(mut request: Request) -> Result<Response> {
    let served = ServedMarket::shared(&request)?;
    let (sandbox, world, operator) = find_world(&served, &request).await?;
    Slot::move_to_changes(&request).await?;
    let kind = request.header(header::CONTENT_TYPE).unwrap_or_default();
    if !kind.eq_ignore_ascii_case(CONTENT_TYPE) {
        let message = format!("Send an exported world, with `Content-Type: {CONTENT_TYPE}`.");
        return Err(Error::Malformed(message));
    }
    // The body may take as long as its size requires, while data keeps arriving.
    Slot::remove_deadline(&request);
    let body: BoxBody<Bytes, io::Error> = request.take_body().into();
    let expected_bytes = body.size_hint().upper().unwrap_or(MAX_FILE_BYTES);
    if body.size_hint().lower() > MAX_FILE_BYTES {
        return Err(Error::PayloadTooLarge { max_bytes: MAX_FILE_BYTES });
    }
    let slot = transfer_limits::of_request(&request).map(RequestTransfers::body_slot).transpose()?;
    let market = served.market();
    let host = Arc::clone(&sandbox);
    let create = move |market: &Market| {
        let reservation = market.reserve_space(expected_bytes.min(MAX_FILE_BYTES))?;
        Ok((host.worlds().temporary_file().map_err(Error::internal)?, reservation))
    };
    let (file, reservation) = market.spawn_blocking(create).await?;
    let chunks = Chunks::new(body, &market.settings().server.connections(), None);
    let received = receive_into(market, chunks, file, MAX_FILE_BYTES, |_| Ok(()));
    let file = Slot::release_during(&request, received).await??;
    drop(slot);
    let turn = world.admit().await?;
    let imported = Arc::clone(&world);
    let read = move |market: &Market| {
        let (_turn, _reservation) = (turn, reservation);
        operator.check_key(market)?;
        Ok(sandbox.worlds().import(&imported, file.path())?)
    };
    market.spawn_blocking(read).await?;
    let base_url = served.link_base().for_request(&request);
    Ok(Json::<WorldOut>::from_small(&WorldOut::new(&world, &base_url)).into_response())
}
