//! The parts that all markets share: the routes, their documents, and the docs pages. Built once per process.

use std::{panic, sync::Arc, thread};

use poem::{EndpointExt, Response, Route, endpoint::BoxEndpoint};
use serde_json::Value;

use super::{
    api::{self, Api, IN_PROCESS, RouteGroup},
    declarations,
    route::DeclaredRoute,
    router,
};
use crate::{
    config::{ContactSettings, Settings},
    domain::principals::PrincipalKind,
    rest::{
        documents::openapi_document,
        files::{self, world_transfers},
        pages::{guides::GUIDES, openapi_pages},
    },
    web::documented_operations::DocumentedOperations,
};

/// The address of the server, relative to that of a document.
const RELATIVE_SERVER: &str = "..";

/// An endpoint that several markets share.
pub type SharedEndpoint = Arc<BoxEndpoint<'static, Response>>;

/// Docs pages by path.
type DocsPages = Vec<(Arc<str>, SharedEndpoint)>;

/// The routes, documents, and docs pages of the server. They never change, so any number of markets can be
/// served with them; see [`super::ServerBuilder`].
#[derive(Clone)]
pub struct App(Arc<Parts>);

struct Parts {
    apis: Vec<(&'static Api, Arc<Value>)>,
    routes: SharedEndpoint,
    /// The document and the routes of the operations that only agents call.
    agents: (Arc<Value>, SharedEndpoint),
    /// The docs pages by path: without and with the sandbox API. All pages of a market link each other.
    docs_pages: [DocsPages; 2],
    operations: Arc<DocumentedOperations>,
    has_demo_keys: bool,
}

impl App {
    /// Creates the routes of all APIs. The documents state the address and the contact of the settings. With
    /// `has_demo_keys`, pages for people contain the keys of the demo market.
    pub fn new(settings: &Settings, has_demo_keys: bool) -> App {
        App::with_apis(settings, has_demo_keys, &Api::enabled(settings))
    }

    /// Like [`App::new`], with these APIs.
    pub fn with_apis(settings: &Settings, has_demo_keys: bool, apis: &[&'static Api]) -> App {
        // The address of the server is relative to the address of the document, so it is right for every host name and in every
        // world.
        let server = if settings.server.public_url.is_empty() || settings.sandbox.enabled {
            RELATIVE_SERVER
        } else {
            &settings.server.public_url
        };
        let groups = api::groups(apis);
        let with_agents = [apis, &[&IN_PROCESS]].concat();
        declarations::check_declarations(&with_agents);
        let mut apis = generate_documents(&with_agents, server, &settings.contact);
        let agent_document = apis.pop().map(|(_, document)| document).unwrap_or_default();
        let agent_routes = router::build_routes(IN_PROCESS.groups).boxed();
        let mut routes = routes_with_files(&groups);
        if apis.iter().any(|(api, _)| api.is_sandbox()) {
            routes = world_transfers::add_routes(routes);
        }
        for (api, document) in &apis {
            routes = routes.at(api.document_path(), openapi_pages::json_page(Arc::clone(document)));
        }
        for guide in &GUIDES {
            routes = routes.at(guide.path(), guide.page());
        }
        let of_worlds: Vec<_> = apis.iter().filter(|(api, _)| !api.is_sandbox()).cloned().collect();
        let docs_pages = [docs_pages(&of_worlds, has_demo_keys), docs_pages(&apis, has_demo_keys)];
        let operations =
            DocumentedOperations::new(apis.iter().map(|(api, document)| (api.name, &**document)));
        let (routes, operations) = (Arc::new(routes.boxed()), Arc::new(operations));
        let agents = (agent_document, Arc::new(agent_routes));
        App(Arc::new(Parts { apis, routes, agents, docs_pages, operations, has_demo_keys }))
    }

    /// Returns the APIs.
    pub fn apis(&self) -> Vec<&'static Api> {
        self.0.apis.iter().map(|(api, _)| *api).collect()
    }

    /// Returns the OpenAPI documents of the APIs that take this kind of keys.
    pub fn documents(&self, keys: PrincipalKind) -> Vec<&Value> {
        let with_keys = self.0.apis.iter().filter(|(api, _)| api.keys == keys);
        with_keys.map(|(_, document)| &**document).collect()
    }

    /// Returns the routes of the APIs that take this kind of keys, in the order in which agents see their tools.
    pub fn routes(&self, keys: PrincipalKind) -> Vec<DeclaredRoute> {
        let apis: Vec<_> = self.apis().into_iter().filter(|api| api.keys == keys).collect();
        api::groups(&apis).into_iter().flat_map(|group| (group.routes)()).collect()
    }

    /// Returns the document of the operations that only agents call.
    pub fn agent_document(&self) -> &Value {
        &self.0.agents.0
    }

    /// Returns the routes of the operations that only agents call.
    pub fn agent_routes(&self) -> Vec<DeclaredRoute> {
        IN_PROCESS.routes()
    }

    /// Returns the endpoint of these routes, for calls in process only.
    pub fn agent_endpoint(&self) -> SharedEndpoint {
        Arc::clone(&self.0.agents.1)
    }

    /// Returns the operations that the documents describe.
    pub fn operations(&self) -> &Arc<DocumentedOperations> {
        &self.0.operations
    }

    /// Returns the endpoint of all routes. Requests must have a [`super::served_market::ServedMarket`].
    pub fn endpoint(&self) -> SharedEndpoint {
        Arc::clone(&self.0.routes)
    }

    /// Returns the docs pages of a market by path. A world has no sandbox API.
    pub fn docs_pages(&self, has_sandbox: bool) -> &[(Arc<str>, SharedEndpoint)] {
        &self.0.docs_pages[usize::from(has_sandbox)]
    }

    /// Whether pages for people contain the keys of the demo market.
    pub fn has_demo_keys(&self) -> bool {
        self.0.has_demo_keys
    }
}

/// Returns the docs pages of APIs with their documents, each with links to all of them.
fn docs_pages(apis: &[(&'static Api, Arc<Value>)], has_demo_keys: bool) -> DocsPages {
    let linked: Vec<&'static Api> = apis.iter().map(|(api, _)| *api).collect();
    let page = |(api, document): &(&'static Api, Arc<Value>)| -> (Arc<str>, SharedEndpoint) {
        let key = if has_demo_keys { api.demo_key } else { "" };
        let page = openapi_pages::html_page(api, Arc::clone(document), key, linked.clone());
        (api.docs_path().into(), Arc::new(page.boxed()))
    };
    apis.iter().map(page).collect()
}

/// Returns the routes of groups, and those of uploads, bundles, descriptions, and attestations.
pub fn routes_with_files(groups: &[&RouteGroup]) -> Route {
    files::add_routes(router::build_routes(groups))
}

/// Returns the APIs with their documents, which are generated at the same time: a start waits for the longest.
fn generate_documents(
    apis: &[&'static Api],
    server: &str,
    contact: &ContactSettings,
) -> Vec<(&'static Api, Arc<Value>)> {
    thread::scope(|scope| {
        let generate = |api: &&'static Api| {
            let api = *api;
            scope.spawn(move || (api, Arc::new(openapi_document(api, server, contact))))
        };
        let threads: Vec<_> = apis.iter().map(generate).collect();
        let joined = threads.into_iter().map(thread::ScopedJoinHandle::join);
        joined.map(|document| document.unwrap_or_else(|cause| panic::resume_unwind(cause))).collect()
    })
}
