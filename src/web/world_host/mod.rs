//! What the server needs to serve worlds: their endpoints, their ports, and the end of their time to live.

pub mod fault_answers;
pub mod faults;
pub mod recorder;
pub mod replay;

use std::{
    net::{SocketAddr, TcpListener},
    sync::{Arc, OnceLock, Weak},
    time::Duration,
};

use poem::{
    Endpoint, Request, Response,
    endpoint::BoxEndpoint,
    http::{Method, StatusCode, header},
};
use tokio::{runtime::Handle, sync::watch};

use crate::{
    error::{Error, QuotaExcess, Result},
    http_server::arrived_body::{EarlyReceiver, stated_length},
    market::Market,
    operations::{webhook_forwarder::WebhookForwarder, webhook_inbox},
    web::{
        documented_operations::DocumentedOperations,
        listening,
        problem::ApiError,
        request_id::{WorldName, refuse},
        request_kinds::WORLDS,
        shares::held_requests::ServerStop,
        trusted_sources::{TrustedSources, Untrusted},
        world_host::{
            faults::FaultContext,
            recorder::WorldRecorder,
            replay::{OwnPortWorld, ReplaySource},
        },
    },
    worlds::{NewWorld, WebhookMode, World, Worlds},
};

/// What the paths of uploads begin with. Their transfers hold no turn.
const UPLOADS: &str = "/v2/blobs/";

/// Maximum number of bytes that a request without an upload adds to the disk, besides its body: the pages of the database that
/// it writes.
const WRITE_BYTES: u64 = 64 << 10;

/// Maximum time between two checks of whether a world has expired by the system clock.
const MAX_SLEEP: Duration = Duration::from_mins(1);

/// Creates the endpoint of a market, which has everything that a server has. The text is the base URL of stored
/// addresses.
pub type ServeMarket = dyn Fn(Market, &str) -> BoxEndpoint<'static, Response> + Send + Sync;

/// The worlds of a server, and how they are served.
pub struct SandboxHost {
    worlds: Arc<Worlds>,
    serve: Box<ServeMarket>,
    recorder: WorldRecorder,
    early_receiver: EarlyReceiver,
    shows_demo_keys: bool,
    base_url: String,
    sources: TrustedSources,
    /// The address of the server. Worlds get ports of the same IP address.
    address: SocketAddr,
    /// What faults need; see [`SandboxHost::set_fault_context`].
    faults: OnceLock<FaultContext>,
}

/// The endpoint of a world. It is kept with the world's market, and dropped with it.
type WorldEndpoint = BoxEndpoint<'static, Response>;

impl SandboxHost {
    /// Creates the host of a server with this base URL and listen address. `operations` are those of its documents, and
    /// `shows_demo_keys` is whether its pages show the keys of the demo.
    pub fn new(
        worlds: Arc<Worlds>,
        base_url: &str,
        address: SocketAddr,
        (operations, shows_demo_keys): (Arc<DocumentedOperations>, bool),
        serve: Box<ServeMarket>,
    ) -> SandboxHost {
        let recorder = WorldRecorder::new(operations);
        let sources = TrustedSources::new(&worlds.root().settings().server, base_url);
        let base_url = base_url.to_owned();
        SandboxHost {
            worlds,
            serve,
            recorder,
            early_receiver: EarlyReceiver::default(),
            shows_demo_keys,
            base_url,
            sources,
            address,
            faults: OnceLock::new(),
        }
    }

    /// Sets the data that the faults of worlds need. Without it, requests have no faults.
    pub fn set_fault_context(&self, context: FaultContext) {
        let _ = self.faults.set(context);
    }

    /// Returns the worlds.
    pub fn worlds(&self) -> &Arc<Worlds> {
        &self.worlds
    }

    /// Returns the operations of the documents.
    pub const fn operations(&self) -> &Arc<DocumentedOperations> {
        self.recorder.operations()
    }

    /// Writes the start of a world and its requests to an empty file.
    pub fn write_replay(&self, world: &World, to: std::fs::File) -> Result<std::fs::File> {
        let source = ReplaySource {
            worlds: &self.worlds,
            world,
            base_url: &self.base_url,
            shows_demo_keys: self.shows_demo_keys,
        };
        replay::write(&source, to)
    }

    /// Returns the base URL of a world at a server with this base URL.
    pub fn world_url(base_url: &str, world: &World) -> String {
        format!("{base_url}{WORLDS}{}", world.name())
    }

    /// Returns the URL of a world's own port, on the host of this base URL.
    pub fn port_url(base_url: &str, world: &World) -> Option<String> {
        let port = world.details().port?;
        let mut url = url::Url::parse(base_url).ok()?;
        url.set_scheme("http").ok()?;
        url.set_port(Some(port)).ok()?;
        Some(url.origin().ascii_serialization())
    }

    /// Creates a world, opens its port, and carries out what becomes due while its clock runs. Must be called in a runtime.
    pub fn create(self: &Arc<Self>, new: &NewWorld) -> Result<Arc<World>> {
        let listener = new.has_port.then(|| self.bind()).transpose()?;
        let port = listener.as_ref().map(|(_, port)| *port);
        let world = self.worlds.create(new, port)?;
        if new.webhooks == WebhookMode::Send {
            let may_be_private = world.market().settings().webhooks.allow_private_addresses;
            let forwarder = WebhookForwarder::new(Handle::current(), may_be_private)?;
            world.set_receiver(Arc::new(move |message| {
                forwarder.forward(message);
                webhook_inbox::accept()
            }));
        }
        Handle::current().spawn(World::follow_clock(Arc::downgrade(&world)));
        if let Some((listener, _)) = listener {
            self.serve_port(&world, listener);
        }
        self.delete_when_expired(&world);
        Ok(world)
    }

    fn bind(&self) -> Result<(TcpListener, u16)> {
        let bind = || {
            let listener = TcpListener::bind(SocketAddr::new(self.address.ip(), 0))?;
            listener.set_nonblocking(true)?;
            let port = listener.local_addr()?.port();
            Ok((listener, port))
        };
        bind().map_err(|cause: std::io::Error| {
            Error::internal_with_source("cannot open a port for a world", cause)
        })
    }

    /// Serves a world on its own port until it ends.
    fn serve_port(self: &Arc<Self>, world: &Arc<World>, listener: TcpListener) {
        let endpoint = PortEndpoint {
            host: Arc::clone(self),
            world: Arc::downgrade(world),
            name: world.name().to_owned(),
        };
        let mut end = world.subscribe_to_end();
        let settings = world.market().settings().server.clone();
        Handle::current().spawn(async move {
            let stop = async move { drop(end.wait_for(|has_ended| *has_ended).await) };
            let served = listening::serve(endpoint, listener, &settings, watch::Sender::default(), stop);
            if let Err(cause) = served.await {
                tracing::warn!(%cause, "the port of a world was closed");
            }
        });
    }

    /// Deletes a world when its time to live is over by the system clock, which may be set meanwhile.
    fn delete_when_expired(&self, world: &Arc<World>) {
        let (worlds, details) = (Arc::downgrade(&self.worlds), world.details().clone());
        if details.expires_at.is_none() {
            return;
        }
        let mut end = world.subscribe_to_end();
        Handle::current().spawn(async move {
            while let Some(left) = details.time_left() {
                tokio::select! {
                    () = tokio::time::sleep(left.min(MAX_SLEEP)) => {}
                    _ = end.wait_for(|has_ended| *has_ended) => return,
                }
                let (worlds, name, id) = (Weak::clone(&worlds), details.name.clone(), details.id);
                // Does nothing if the world has not expired yet.
                let delete = move || worlds.upgrade().map(|worlds| worlds.delete_expired(&name, id));
                // Fails if the process stops.
                let Ok(Some(())) = tokio::task::spawn_blocking(delete).await else { return };
            }
        });
    }

    /// Counts what a request with a body of this length may add to the disk. Returns why it must be refused, if worlds may use no
    /// more.
    async fn reserve_disk(&self, request: &Request, body: u64) -> poem::Result<Option<Refusal>> {
        if [Method::GET, Method::HEAD, Method::OPTIONS, Method::DELETE].contains(request.method()) {
            return Ok(None);
        }
        let bytes = WRITE_BYTES.saturating_add(body);
        let worlds = Arc::clone(&self.worlds);
        let reserved = tokio::task::spawn_blocking(move || worlds.reserve_disk(bytes)).await;
        match reserved.map_err(Error::internal).and_then(|reserved| reserved.map_err(Error::from)) {
            Ok(()) => Ok(None),
            Err(Error::QuotaExceeded(excess)) => Ok(Some(Refusal::DiskQuota(excess))),
            Err(Error::StorageFull { .. }) => Ok(Some(Refusal::StorageFull)),
            Err(error) => Err(ApiError(error).into()),
        }
    }

    /// Receives the body of a request to a world before the request is admitted. Returns its length in bytes, as far as it is
    /// known.
    async fn receive_body(&self, world: &World, request: &mut Request) -> u64 {
        if request.uri().path().starts_with(UPLOADS) {
            return stated_length(request);
        }
        let settings = world.market().settings().server.connections();
        self.early_receiver.receive(request, &settings).await
    }

    /// Returns the response of a world, when it is the request's turn.
    async fn call_world(&self, world: Arc<World>, mut request: Request) -> poem::Result<Response> {
        let is_by_port = request.data::<BasePath>().is_none();
        request.set_data(WorldName(world.name().into()));
        request.set_data(ServedWorld(Arc::downgrade(&world)));
        let mut recorded = self.recorder.start(&world, is_by_port, &mut request);
        let body = self.receive_body(&world, &mut request).await;
        if let Some(refusal) = self.reserve_disk(&request, body).await? {
            request.set_data(refusal);
        }
        let turn = world.admit().await.map_err(ApiError)?;
        recorded.admitted(&world).await;
        request.set_data(turn.clone());
        if let Some(stop) = ServerStop::of_request(&request) {
            let stop = stop.or_end_of_world(world.subscribe_to_end());
            request.set_data(stop.or_end_of_market(world.subscribe_to_end_of_market()));
        }
        let fault = match self.faults.get() {
            Some(context) => context.plan(&world, &mut request).await,
            None => None,
        };
        let endpoint = world.attached(|market| -> WorldEndpoint {
            (self.serve)(market.clone(), &SandboxHost::world_url(&self.base_url, &world))
        });
        let mut response = endpoint.get_response(request).await;
        turn.release();
        recorded.note_code(&mut response).await;
        let response = match fault {
            // Boxed: otherwise, it would enlarge the future of every request.
            Some(fault) => Box::pin(fault.carry_out(response)).await,
            None => response,
        };
        Ok(recorded.answer(response).await)
    }
}

/// The part of the path of a request before the path of a route, such as `/w/one`.
#[derive(Clone, Debug)]
pub struct BasePath(pub String);

/// The world that a request is for. It does not keep the world, since responses can last longer.
#[derive(Clone, Debug)]
pub struct ServedWorld(pub Weak<World>);

/// Why the host of worlds refuses a request. The server responds with it, as it does with every error.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// There is no world with this name.
    UnknownWorld(String),
    /// Worlds may use no more of the disk.
    DiskQuota(QuotaExcess),
    /// The disk has no space except its reserve.
    StorageFull,
    /// The request is for another host, or comes from a page of another origin. Worlds accept fixture keys, whether or not the
    /// server does.
    Untrusted(Untrusted),
}

impl Refusal {
    /// Returns the error.
    pub fn into_error(self) -> Error {
        match self {
            Refusal::UnknownWorld(name) => Error::WorldNotFound(name),
            Refusal::DiskQuota(excess) => Error::QuotaExceeded(excess),
            Refusal::StorageFull => Error::storage_full(),
            Refusal::Untrusted(untrusted) => untrusted.into_error(),
        }
    }
}

/// An endpoint that dispatches requests to the worlds of a server, and all others to the server itself.
pub struct WorldDispatcher {
    root: BoxEndpoint<'static, Response>,
    host: Arc<SandboxHost>,
}

impl WorldDispatcher {
    /// Adds the worlds of a host to a server.
    pub fn new(root: BoxEndpoint<'static, Response>, host: Arc<SandboxHost>) -> WorldDispatcher {
        WorldDispatcher { root, host }
    }
}

impl Endpoint for WorldDispatcher {
    type Output = Response;

    async fn call(&self, mut request: Request) -> poem::Result<Response> {
        if let Some(OwnPortWorld(name)) = request.data().cloned() {
            let world = self.host.worlds.require(&name).map_err(ApiError)?;
            return self.host.call_world(world, request).await;
        }
        // Before anything is recorded: requests that are refused are in no journal, and count for no coverage.
        if let Err(untrusted) = self.host.sources.check(&request)
            && (self.host.worlds.root().settings().keys.allow_fixture_keys
                || split_path(request.uri().path()).is_some())
        {
            request.set_data(Refusal::Untrusted(untrusted));
            return self.root.call(request).await;
        }
        let Some((name, path)) = split_path(request.uri().path()) else {
            return match self.host.recorder.start_of_sandbox(&self.host.worlds, &mut request).await {
                Some(mut recorded) => {
                    let mut response = self.root.get_response(request).await;
                    recorded.note_code(&mut response).await;
                    Ok(recorded.answer(response).await)
                }
                None => self.root.call(request).await,
            };
        };
        let Some(world) = self.host.worlds.find(name) else {
            request.set_data(Refusal::UnknownWorld(name.to_owned()));
            return self.root.call(request).await;
        };
        if let Some(redirect) = RedirectToStartPage::of(&request, name) {
            request.set_data(redirect);
            return self.root.call(request).await;
        }
        let path_and_query = match request.uri().query() {
            Some(query) => format!("{path}?{query}"),
            None => path.to_owned(),
        };
        let base_path = BasePath(format!("{WORLDS}{name}"));
        let mut parts = request.uri().clone().into_parts();
        parts.path_and_query =
            Some(path_and_query.parse().map_err(|cause| ApiError(Error::internal(cause)))?);
        *request.uri_mut() = parts
            .try_into()
            .map_err(|cause: poem::http::uri::InvalidUriParts| ApiError(Error::internal(cause)))?;
        request.set_data(base_path);
        self.host.call_world(world, request).await
    }
}

/// Splits a path below [`WORLDS`] into the name of a world and the path in that world.
pub fn split_path(path: &str) -> Option<(&str, &str)> {
    let rest = path.strip_prefix(WORLDS)?;
    match rest.find('/') {
        Some(end) => Some((&rest[..end], &rest[end..])),
        None => Some((rest, "/")),
    }
}

/// The answer to a request for the base address of a world, which ends without a slash: the links of the start page are relative, so
/// its address ends with one.
#[derive(Clone, Debug)]
pub struct RedirectToStartPage(String);

impl RedirectToStartPage {
    fn of(request: &Request, name: &str) -> Option<RedirectToStartPage> {
        let is_read = [Method::GET, Method::HEAD].contains(request.method());
        let is_base_address = request.uri().path().strip_prefix(WORLDS) == Some(name);
        let query = request.uri().query().map(|query| format!("?{query}")).unwrap_or_default();
        (is_read && is_base_address).then(|| RedirectToStartPage(format!("{name}/{query}")))
    }

    /// Returns the response.
    pub fn respond(&self) -> Response {
        Response::builder().status(StatusCode::PERMANENT_REDIRECT).header(header::LOCATION, &self.0).finish()
    }
}

/// The endpoint of a world's own port.
struct PortEndpoint {
    host: Arc<SandboxHost>,
    world: Weak<World>,
    name: String,
}

impl Endpoint for PortEndpoint {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let world = self.world.upgrade().filter(|world| !world.has_ended());
        let refusal = match (self.host.sources.check(&request), world) {
            (Ok(()), Some(world)) => return self.host.call_world(world, request).await,
            (Err(untrusted), _) => Refusal::Untrusted(untrusted),
            (Ok(()), None) => Refusal::UnknownWorld(self.name.clone()),
        };
        Ok(refuse(request, refusal.into_error()).await)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_below_the_prefix_has_a_name_and_a_rest() {
        for (path, expected) in [
            ("/w/one/v2/wallet", Some(("one", "/v2/wallet"))),
            ("/w/one/", Some(("one", "/"))),
            ("/w/one", Some(("one", "/"))),
            ("/w/", Some(("", "/"))),
            ("/w", None),
            ("/wallet", None),
            ("/v2/w/one", None),
        ] {
            assert_eq!(split_path(path), expected, "{path}");
        }
    }
}
