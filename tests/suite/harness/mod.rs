//! A market on a temporary directory, with a stopped clock and deterministic secrets, called in process.
//!
//! Dropping a market checks what must hold after every test: the index equals one that is rebuilt from the
//! database, the ledger sums to zero, and nothing has panicked.

pub mod archives;
pub mod backups;
pub mod browser;
pub mod codebases;
pub mod csv;
pub mod database;
pub mod documents;
pub mod environment;
pub mod errors;
pub mod generated;
pub mod git;
pub mod listing_lifecycle;
pub mod listings;
pub mod markup;
pub mod panics;
pub mod patterns;
pub mod random;
pub mod receiver;
pub mod records;
pub mod s3;
pub mod server;
pub mod teams;
pub mod templates;
pub mod uploads;
pub mod waiting;
pub mod worlds;

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock},
    time::{Duration, Instant},
};

use marketplace::{
    clock::{Clock, Entropy},
    config::{ContactSettings, RepositorySettings, Settings, SettingsSources},
    domain::{assets::Exclusivity, principals::KeyScope, time::Timestamp},
    error::Result,
    fixtures::{self, FixtureSet},
    market::{Market, OpenMode, OpenOptions, Reader, Writer},
    mcp,
    operations::{self, grants::GrantInput},
    rest,
    store::Durability,
    web,
    worlds::{World, Worlds},
};
use poem::{Body, Endpoint, EndpointExt, Request, Response, endpoint::BoxEndpoint, http::Method};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::{oneshot, watch};

use self::templates::Template;

/// Initial time of every test clock.
pub const NOW: &str = "2026-03-01T09:00:00Z";

/// Base URL of the links in responses.
pub const BASE: &str = "http://market.test";

/// A market and its HTTP endpoint.
pub struct TestMarket {
    market: Market,
    app: Arc<BoxEndpoint<'static, Response>>,
    clock: Arc<Clock>,
    worlds: Arc<Worlds>,
    /// The world that the market belongs to, and the responses to requests so far.
    world: Option<(Arc<World>, Mutex<Responses>)>,
    _directory: TempDir,
}

/// Requests, each as method and path, with their responses.
type Responses = Vec<(String, TestResponse)>;

/// Returns the app for markets with these settings. Almost all tests share one.
fn app_for(settings: &Settings) -> mcp::App {
    static SHARED: OnceLock<mcp::App> = OnceLock::new();
    let new_app = || mcp::App::new(rest::App::new(settings, false));
    let is_usual = settings.server.public_url.is_empty() && settings.contact == ContactSettings::default();
    if is_usual { SHARED.get_or_init(new_app).clone() } else { new_app() }
}

impl TestMarket {
    /// Creates a market that has only the taxonomy.
    pub fn empty() -> TestMarket {
        TestMarket::with_settings(|_| {})
    }

    /// Creates a market that has only the taxonomy, with changed settings.
    pub fn with_settings(change: impl FnOnce(&mut Settings)) -> TestMarket {
        TestMarket::with_program(env!("CARGO_BIN_EXE_marketplace").into(), change)
    }

    /// Like [`TestMarket::with_settings`], but child processes run `program`.
    pub fn with_program(program: PathBuf, change: impl FnOnce(&mut Settings)) -> TestMarket {
        TestMarket::of_template(templates::empty(), program, change)
    }

    /// Opens the market in a data directory, which is deleted with the returned value.
    pub fn open_in(directory: TempDir) -> TestMarket {
        let options = market_options(directory.path(), usual_settings());
        TestMarket::open(directory, options)
    }

    fn of_template(template: &Template, program: PathBuf, change: impl FnOnce(&mut Settings)) -> TestMarket {
        let (directory, mut settings) = (template.copy(), usual_settings());
        change(&mut settings);
        let options = OpenOptions { program, ..market_options(directory.path(), settings) };
        template.continue_with(&options);
        TestMarket::open(directory, options)
    }

    /// Serves the market of a world. Each request is admitted, and its response is kept for
    /// [`TestMarket::take_responses`].
    pub fn of_world(world: Arc<World>) -> TestMarket {
        let market = world.market();
        let app = Arc::new(app_for(market.settings()).serve(market.clone(), BASE));
        let (clock, directory) = (Arc::clone(market.clock()), tempfile::tempdir().unwrap());
        let world = Some((world, Mutex::default()));
        let worlds = Arc::new(worlds::open(&market));
        TestMarket { market, app, clock, worlds, world, _directory: directory }
    }

    /// Returns the requests to a world since the last call, each with its response.
    pub fn take_responses(&self) -> Vec<(String, TestResponse)> {
        self.world.as_ref().map(|(_, kept)| std::mem::take(&mut *kept.lock().unwrap())).unwrap_or_default()
    }

    fn open(directory: TempDir, options: OpenOptions) -> TestMarket {
        let clock = Arc::clone(&options.clock);
        let market = Market::open(options).unwrap();
        let worlds = Arc::new(worlds::open(&market));
        let address = market.settings().server.listen;
        let app =
            app_for(market.settings()).serve_with_sandbox(market.clone(), BASE, address, Arc::clone(&worlds));
        let app = Arc::new(app);
        TestMarket { market, app, clock, worlds, world: None, _directory: directory }
    }

    /// Creates a new demo market, for a test that changes it. Tests that only read share [`demo`].
    pub fn demo() -> TestMarket {
        TestMarket::demo_with_settings(|_| {})
    }

    /// Like [`TestMarket::demo`], with changed settings.
    pub fn demo_with_settings(change: impl FnOnce(&mut Settings)) -> TestMarket {
        TestMarket::of_template(templates::demo(), env!("CARGO_BIN_EXE_marketplace").into(), change)
    }

    /// Writes a fixture set to the market.
    pub fn seed(&self, set: &FixtureSet) {
        fixtures::seed(&self.market, set).unwrap();
    }

    /// Writes a fixture set, given as the JSON of one file, to the market.
    pub fn seed_json(&self, json: &Value) {
        self.seed(&FixtureSet::parse("test", &[("test.json".to_owned(), json.to_string())]).unwrap());
    }

    /// Returns the tested market.
    pub fn market(&self) -> &Market {
        &self.market
    }

    /// Runs a read operation.
    pub fn read<T>(&self, work: impl FnOnce(&Reader) -> Result<T>) -> Result<T> {
        self.market.read_blocking(work)
    }

    /// Runs a write operation.
    pub fn write<T>(&self, work: impl FnOnce(&mut Writer) -> Result<T>) -> Result<T> {
        self.market.write_blocking(work)
    }

    /// Creates a key of an operator with a name, and returns its text.
    pub fn operator_key(&self, name: &str, scope: KeyScope) -> String {
        let platform = operations::access::Platform::of_process();
        let create =
            |writer: &mut Writer| operations::keys::create_for_operator(writer, platform, name, scope, None);
        self.write(create).unwrap().1
    }

    /// Returns the worlds that are forked from the market, or beside it.
    pub fn worlds(&self) -> &Worlds {
        &self.worlds
    }

    /// Returns the clock of the market, which a test may advance.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Sends a GET request with a key as bearer token.
    pub async fn get(&self, key: &str, path: &str) -> TestResponse {
        self.send(Method::GET, path, &[("authorization", &format!("Bearer {key}"))]).await
    }

    /// Returns the items of all pages of a list with cursors. The path may have a query.
    pub async fn list_all(&self, key: &str, path: &str) -> Vec<Value> {
        let (mut items, mut cursor) = (Vec::new(), String::new());
        let separator = if path.contains('?') { '&' } else { '?' };
        loop {
            let page = self.get(key, &format!("{path}{separator}limit=100{cursor}")).await.ok();
            items.extend(elements(&page["items"]).cloned());
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return items,
            }
        }
    }

    /// Sends a request with a key and a JSON body (`Null` for none), and checks the response against the
    /// documents.
    pub async fn call(&self, key: &str, method: &str, path: &str, body: &Value) -> TestResponse {
        self.call_with(key, method, path, body, &[]).await
    }

    /// Like [`TestMarket::call`], with additional headers.
    pub async fn call_with(
        &self,
        key: &str,
        method: &str,
        path: &str,
        body: &Value,
        headers: &[(&str, &str)],
    ) -> TestResponse {
        let key = format!("Bearer {key}");
        let mut all = vec![("authorization", key.as_str())];
        all.extend(headers);
        let parsed_method = Method::from_bytes(method.as_bytes()).unwrap();
        let response = if body.is_null() {
            self.send(parsed_method, path, &all).await
        } else {
            all.push(("content-type", "application/json"));
            self.send_body(parsed_method, path, &all, body.to_string().into_bytes()).await
        };
        documents::assert_matches_documents(method, worlds::path_in_world(path), &response);
        response
    }

    /// Serves the market on a port of this machine until the sender is dropped. Returns the address.
    pub fn listen(&self) -> (SocketAddr, oneshot::Sender<()>) {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let (app, settings) = (Arc::clone(&self.app), self.market.settings().clone());
        let (stop, stopped) = oneshot::channel();
        tokio::spawn(async move {
            let stopped = async { stopped.await.unwrap_or_default() };
            web::serve(app.boxed(), listener, &settings.server, watch::Sender::default(), stopped)
                .await
                .unwrap();
        });
        (address, stop)
    }

    /// Runs all background jobs that are pending.
    pub fn run_background(&self) {
        operations::background::run_pending(&self.market, &|| true).unwrap();
    }

    /// Like [`TestMarket::run_background`], on a thread that serves no requests, as a server does.
    pub async fn run_background_on_a_thread(&self) {
        let market = self.market.clone();
        let run = move || operations::background::run_pending(&market, &|| true).unwrap();
        tokio::task::spawn_blocking(run).await.unwrap();
    }

    /// Sends a request without a body.
    pub async fn send(&self, method: Method, path: &str, headers: &[(&str, &str)]) -> TestResponse {
        self.send_body(method, path, headers, Vec::new()).await
    }

    /// Sends a request with a body.
    pub async fn send_body(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> TestResponse {
        let turn = match &self.world {
            Some((world, _)) => Some(world.admit().await.unwrap()),
            None => None,
        };
        let name = format!("{method} {path}");
        let response = self.begin(method, path, headers, body).await;
        let (parts, body) = response.into_parts();
        let response = TestResponse {
            status: parts.status.as_u16(),
            headers: parts.headers,
            bytes: body.into_vec().await.unwrap(),
        };
        drop(turn);
        panics::assert_none();
        if let Some((_, kept)) = &self.world {
            kept.lock().unwrap().push((name, response.clone()));
        }
        response
    }

    /// Sends a request, and returns the response without reading its body.
    pub async fn begin(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Response {
        let mut request = Request::builder().method(method).uri(path.parse().unwrap());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.app.get_response(request.body(body.into())).await
    }
}

/// Returns the elements of an array.
#[track_caller]
pub fn elements(array: &Value) -> std::slice::Iter<'_, Value> {
    array.as_array().unwrap().iter()
}

/// Returns how tested markets are opened.
pub fn market_options(directory: &Path, settings: Settings) -> OpenOptions {
    panics::watch();
    OpenOptions {
        data_dir: directory.to_owned(),
        settings,
        clock: Arc::new(Clock::stopped(Timestamp::parse(NOW).unwrap())),
        entropy: Entropy::seeded(7),
        durability: Durability::None,
        mode: OpenMode::Serve,
        renderer: rest::RENDERER,
        run_step: marketplace::operations::due_steps::run_step,
        program: env!("CARGO_BIN_EXE_marketplace").into(),
    }
}

/// Returns the settings of tested markets: those of a demo, without the network.
pub fn usual_settings() -> Settings {
    let mut sources = SettingsSources::new();
    sources.apply_demo().unwrap();
    let mut settings = sources.resolve().unwrap();
    disable_repository_hosts(&mut settings.repositories);
    settings.events.keep_days = Settings::default().events.keep_days;
    settings
}

/// Replaces the addresses of repository hosts, so that no test uses the network.
fn disable_repository_hosts(settings: &mut RepositorySettings) {
    for url in [&mut settings.github_url, &mut settings.gitlab_url, &mut settings.bitbucket_url] {
        "file:///nowhere".clone_into(url);
    }
    for url in [&mut settings.github_api_url, &mut settings.gitlab_api_url, &mut settings.bitbucket_api_url] {
        url.clear();
    }
}

impl TestMarket {
    /// Waits until the index has what another thread has committed, which indexes it without the connection for writing.
    fn wait_for_index(&self) {
        let began = Instant::now();
        let is_behind = || {
            let index = self.market.search_index();
            !index.has_failed() && index.change() < self.market.latest_change().unwrap()
        };
        while is_behind() && began.elapsed() < Duration::from_mins(1) {
            std::thread::yield_now();
        }
    }
}

impl Drop for TestMarket {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.run_background();
            self.wait_for_index();
            let inconsistencies = operations::verify::find_inconsistencies(&self.market).unwrap();
            assert!(inconsistencies.is_empty(), "the market is inconsistent: {inconsistencies:#?}");
            panics::assert_none();
        }
    }
}

/// Returns the demo market that read-only tests share. No test may change it.
pub fn demo() -> &'static TestMarket {
    static DEMO: OnceLock<TestMarket> = OnceLock::new();
    DEMO.get_or_init(complete_demo)
}

/// Creates a new demo market, for a test that changes it, with what fixture sets cannot have.
pub fn complete_demo() -> TestMarket {
    let market = demo_with_grant();
    worlds::create_examples(market.worlds());
    market
}

/// Creates a new demo market that has an upload grant, for a test that changes it.
pub fn demo_with_grant() -> TestMarket {
    let market = TestMarket::demo();
    create_grant(&market);
    market
}

/// Returns an upload grant for a team, by its name.
pub const fn grant_input<'a>(team: &'a str, title: &'a str) -> GrantInput<'a> {
    GrantInput { team, title, exclusivity: Exclusivity::Available, group: None, max_bytes: None }
}

/// Creates an upload grant, which fixture sets cannot have, for the routes whose path has its ID.
fn create_grant(market: &TestMarket) {
    let grant = grant_input("Lumen Codeworks", "Tide tables");
    market.write(|writer| operations::grants::create(writer, &grant)).unwrap();
}

/// The response to a request.
#[derive(Clone, Debug)]
pub struct TestResponse {
    pub status: u16,
    pub headers: poem::http::HeaderMap,
    pub bytes: Vec<u8>,
}

impl TestResponse {
    /// Returns the body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes)
            .unwrap_or_else(|error| panic!("{error}: {:?}", String::from_utf8_lossy(&self.bytes)))
    }

    /// Returns the value of a header, empty if there is none.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Asserts status 200 and returns the body.
    pub fn ok(&self) -> Value {
        self.expect_status(200)
    }

    /// Asserts the status and returns the body, `Null` if it is empty.
    pub fn expect_status(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.bytes));
        if self.bytes.is_empty() { Value::Null } else { self.json() }
    }

    /// Asserts status 422 and returns the problems, each as its location and its type.
    pub fn problems(&self) -> Vec<String> {
        let problems = self.expect_status(422)["detail"].as_array().unwrap().clone();
        problems
            .iter()
            .map(|problem| {
                let path: Vec<String> = elements(&problem["loc"])
                    .map(|step| step.as_str().map_or_else(|| step.to_string(), str::to_owned))
                    .collect();
                format!("{} {}", path.join("."), problem["type"].as_str().unwrap())
            })
            .collect()
    }

    /// Asserts the status of an error and returns its code.
    pub fn expect_error(&self, status: u16) -> String {
        self.expect_status(status);
        self.error_code()
    }

    /// Returns the error code, or the type of the first problem of a 422.
    pub fn error_code(&self) -> String {
        let json = self.json();
        let code = json["error"]["code"].as_str().or_else(|| json["detail"][0]["type"].as_str());
        code.unwrap_or_default().to_owned()
    }
}
