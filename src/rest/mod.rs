//! HTTP: routes, shapes, credentials and documents. Only this folder knows the framework.
//!
//! Two documents are made of the routes, one for each side; the shared routes stand in both.

mod auth;
mod catalog;
mod compression;
mod documents;
mod etag;
mod examples;
mod methods;
mod params;
mod problem;
mod raw;
mod request_id;
pub mod shapes;
pub mod vocabulary;

use std::{
    net::SocketAddr,
    sync::Arc,
    time::Duration,
};

use poem::{
    Endpoint, EndpointExt, IntoEndpoint, Response, Route, Server,
    endpoint::{BoxEndpoint, make_sync},
    http::{Method, header},
    listener::TcpAcceptor,
    middleware::{AddData, Cors},
    web::Html,
};
use poem_openapi::{OpenApi, OpenApiService, registry::Registry, types::Type};

use crate::{
    config::Settings,
    market::Market,
    search::Renderer,
};

/// Parts of the interface, as the documents group operations.
#[derive(poem_openapi::Tags)]
#[oai(rename_all = "snake_case")]
enum Tag {
    Catalog,
    Taxonomy,
    Account,
}

/// How listings are rendered for the catalog.
pub const RENDERER: Renderer = shapes::listings::render;

/// Who a document is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Side {
    /// Teams that offer data.
    Vendor,
    /// Teams that look for data.
    Buyer,
}

impl Side {
    const fn name(self) -> &'static str {
        match self {
            Side::Vendor => "vendor",
            Side::Buyer => "buyer",
        }
    }
}

/// What handlers share: the market, and where the server is reached.
pub struct App {
    market: Market,
    base_url: String,
    front_pages: catalog::FrontPages,
}

impl App {
    /// The market.
    pub const fn market(&self) -> &Market {
        &self.market
    }

    /// The base of every link that the server makes, without a slash at its end.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }
}

/// The base of every link: the setting, or the address that the server listens on.
pub fn base_url(settings: &Settings, address: SocketAddr) -> String {
    match settings.server.public_url.as_str() {
        "" => format!("http://{address}"),
        url => url.to_owned(),
    }
}

/// The document of one side, as JSON.
pub fn document(side: Side, base_url: &str) -> String {
    let mut text = serde_json::to_string_pretty(&document_value(side, base_url)).expect("a document is JSON");
    text.push('\n');
    text
}

fn document_value(side: Side, base_url: &str) -> serde_json::Value {
    // Until the sides have routes of their own, both consist of the shared ones.
    documents::complete(&service((catalog::apis(), Failures)).spec(), side, base_url)
}

fn service<A: OpenApi>(apis: A) -> OpenApiService<A, ()> {
    OpenApiService::new(apis, "Data marketplace", "2.0.0")
}

/// Stands for no route: it brings the bodies of failures into the documents.
struct Failures;

impl OpenApi for Failures {
    fn meta() -> Vec<poem_openapi::registry::MetaApi> {
        Vec::new()
    }

    fn register(registry: &mut Registry) {
        problem::ErrorBody::register(registry);
        problem::ValidationBody::register(registry);
    }

    fn add_routes(
        self,
        _: &mut std::collections::HashMap<String, std::collections::HashMap<Method, BoxEndpoint<'static>>>,
    ) {
    }
}

/// Everything that the server answers.
pub fn app(market: Market, base_url: &str) -> BoxEndpoint<'static, Response> {
    let settings = market.settings().clone();
    let app =
        Arc::new(App { market, base_url: base_url.to_owned(), front_pages: catalog::FrontPages::default() });
    let documents = [Side::Vendor, Side::Buyer].map(|side| (side, document_value(side, base_url)));
    let mut methods = methods::Methods::of_documents(documents.iter().map(|(_, document)| document));
    let mut route = Route::new().nest("/", service(catalog::apis()));
    for (side, document) in documents {
        let (json, html) = (format!("/{}/openapi.json", side.name()), format!("/{}/docs", side.name()));
        for path in [&json, &html] {
            methods.add(path, vec!["GET".to_owned()]);
        }
        let text = document.to_string();
        route = route.at(html, poem::get(docs_page(&text))).at(json, poem::get(document_page(text)));
    }
    let endpoint = route
        .with(AddData::new(app))
        .with(etag::EntityTags)
        .with(compression::Compression)
        .with(request_id::Surface { methods: Arc::new(methods) });
    with_cors(endpoint, &settings)
}

/// Lets browsers of the configured origins in; without any, no header about it is sent.
fn with_cors(
    endpoint: impl Endpoint<Output = Response> + 'static,
    settings: &Settings,
) -> BoxEndpoint<'static, Response> {
    if settings.server.cors_origins.is_empty() {
        return endpoint.boxed();
    }
    let cors = Cors::new()
        .allow_origins(settings.server.cors_origins.clone())
        .allow_methods([Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        .expose_headers(["x-request-id", "etag", "retry-after"]);
    endpoint.with(cors).map_to_response().boxed()
}

fn document_page(text: String) -> impl IntoEndpoint<Endpoint = impl Endpoint + 'static> {
    let bytes = bytes::Bytes::from(text);
    make_sync(move |_| {
        Response::builder().header(header::CONTENT_TYPE, "application/json; charset=utf-8").body(bytes.clone())
    })
}

/// The interactive reference; everything that it needs is in the page.
fn docs_page(document: &str) -> impl IntoEndpoint<Endpoint = impl Endpoint + 'static> {
    let empty = service(());
    let html = empty.swagger_ui_html().replace(&empty.spec(), document);
    let html = html.replacen("<html charset=\"UTF-8\">", "<!doctype html>\n<html lang=\"en\">", 1);
    let html = html.replacen("<title>Swagger UI</title>", "<title>Data marketplace API</title>", 1);
    make_sync(move |_| Html(html.clone()))
}

/// Serves until `stop` resolves, then gives running requests `drain` to finish.
pub async fn run(
    app: impl Endpoint + 'static,
    listener: std::net::TcpListener,
    stop: impl Future<Output = ()>,
    drain: Duration,
) -> std::io::Result<()> {
    let acceptor = TcpAcceptor::from_std(listener)?;
    Server::new_with_acceptor(acceptor).run_with_graceful_shutdown(app, stop, Some(drain)).await
}
