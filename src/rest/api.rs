//! The table of APIs: each is a set of routes with an OpenAPI document and a docs page.

use std::collections::HashMap;

use poem::{endpoint::BoxEndpoint, http::Method};
use poem_openapi::{OpenApiService, registry::MetaApi};

use super::{
    agent_api, buyer_api, catalog, operator_api,
    route::{DeclaredRoute, Routes},
    sandbox_api, vendor_api,
};
use crate::{
    config::Settings,
    domain::principals::PrincipalKind,
    web::{cors::CorsPolicy, in_process::AGENT_PREFIX},
};

/// The endpoints of paths, by path and method.
type Endpoints = HashMap<String, HashMap<Method, BoxEndpoint<'static>>>;

/// An API: a set of routes with an OpenAPI document and a docs page.
#[derive(Debug)]
pub struct Api {
    /// Name of the API, in the paths of its document and its docs page.
    pub name: &'static str,
    /// What the paths of all routes begin with, without a slash at the end. APIs can share it.
    pub prefix: &'static str,
    /// The kind of API keys that the routes take. It is the same for all APIs with the prefix.
    pub keys: PrincipalKind,
    /// Which web pages can use the API. It is the same for all APIs with the prefix.
    pub cors: CorsPolicy,
    /// Title of the document.
    pub title: &'static str,
    /// Version of the API, which is not that of the program.
    pub version: &'static str,
    /// What the API is for: the first paragraph of the document.
    pub purpose: &'static str,
    /// API key of the demo market that the docs page contains.
    pub demo_key: &'static str,
    /// The routes. Groups may be shared with other APIs.
    pub groups: &'static [&'static RouteGroup],
    /// Returns the framework's document of the routes.
    pub spec: fn() -> String,
}

/// Routes that belong to the same APIs.
#[derive(Debug)]
pub struct RouteGroup {
    /// Returns the routes, in the order in which agents see their tools.
    pub routes: fn() -> Vec<DeclaredRoute>,
    /// Returns the framework's declarations of the routes.
    pub declarations: fn() -> Vec<MetaApi>,
    /// Adds the endpoints of the routes.
    pub add_endpoints: fn(&mut Endpoints),
}

static CATALOG: RouteGroup = RouteGroup::of::<catalog::Apis>();
static VENDOR_ROUTES: RouteGroup = RouteGroup::of::<vendor_api::Apis>();
static BUYER_ROUTES: RouteGroup = RouteGroup::of::<buyer_api::Apis>();
static OPERATOR_ROUTES: RouteGroup = RouteGroup::of::<operator_api::Apis>();
static SANDBOX_ROUTES: RouteGroup = RouteGroup::of::<sandbox_api::Apis>();
static AGENT_ROUTES: RouteGroup = RouteGroup::of::<agent_api::Apis>();

/// The prefix of the APIs for teams.
const TEAM_PREFIX: &str = "/v2";

/// The version of the APIs for teams.
const TEAM_API_VERSION: &str = "2.0.0";

/// The API for teams that sell data.
pub static VENDOR: Api = Api {
    name: "vendor",
    prefix: TEAM_PREFIX,
    keys: PrincipalKind::Team,
    cors: CorsPolicy::ConfiguredOrigins,
    title: "Data marketplace: vendor API",
    version: TEAM_API_VERSION,
    purpose: "For teams that sell data: the catalog as buyers see it, and the team's own listings, assets, \
              uploads, estimations, and sales.",
    demo_key: "mkt_demo_vendor",
    groups: &[&CATALOG, &VENDOR_ROUTES],
    spec: spec::<(catalog::Apis, vendor_api::Apis)>,
};

/// The API for teams that buy data.
pub static BUYER: Api = Api {
    name: "buyer",
    prefix: TEAM_PREFIX,
    keys: PrincipalKind::Team,
    cors: CorsPolicy::ConfiguredOrigins,
    title: "Data marketplace: buyer API",
    version: TEAM_API_VERSION,
    purpose: "For teams that buy data: the catalog with its quality evidence and previews, and the team's \
              purchases, offers, and opportunities.",
    demo_key: "mkt_demo_buyer",
    groups: &[&CATALOG, &BUYER_ROUTES],
    spec: spec::<(catalog::Apis, buyer_api::Apis)>,
};

/// The API for operators.
pub static OPERATOR: Api = Api {
    name: "operator",
    prefix: "/operator/v1",
    keys: PrincipalKind::Operator,
    cors: CorsPolicy::ConfiguredOrigins,
    title: "Data marketplace: operator API",
    version: "1.0.0",
    purpose: "For operators of the marketplace, and for tests: everything that happens in the market beyond what \
              teams do themselves. An operator decides for the platform, and acts in the name of any team.",
    demo_key: "mkt_demo_operator",
    groups: &[&OPERATOR_ROUTES],
    spec: spec::<operator_api::Apis>,
};

/// The API for worlds.
pub static SANDBOX: Api = Api {
    name: "sandbox",
    prefix: "/sandbox/v1",
    keys: PrincipalKind::Operator,
    cors: CorsPolicy::ConfiguredOrigins,
    title: "Data marketplace: sandbox API",
    version: "1.0.0",
    purpose: "For tests: worlds, which are private copies of a market, each with a clock of its own. A world serves \
              all APIs of the server below its own base address.",
    demo_key: "mkt_demo_operator",
    groups: &[&SANDBOX_ROUTES],
    spec: spec::<sandbox_api::Apis>,
};

/// The operations behind tools of agents that no API has. They can only be called in process: nothing serves them over
/// HTTP, and their document is not published.
pub static IN_PROCESS: Api = Api {
    name: "agents",
    prefix: AGENT_PREFIX,
    keys: PrincipalKind::Team,
    cors: CorsPolicy::SameOrigin,
    title: "Data marketplace: operations of agents",
    version: "1.0.0",
    purpose: "For the agent server: related data in one call, and sums that the server computes.",
    demo_key: "",
    groups: &[&AGENT_ROUTES],
    spec: spec::<agent_api::Apis>,
};

/// Every API that a server can have.
pub static APIS: [&Api; 4] = [&VENDOR, &BUYER, &OPERATOR, &SANDBOX];

impl RouteGroup {
    /// Creates a group of these routes.
    pub const fn of<R: Routes>() -> RouteGroup {
        RouteGroup {
            routes: R::routes,
            declarations: R::meta,
            add_endpoints: |endpoints| R::default().add_routes(endpoints),
        }
    }
}

impl Api {
    /// Returns the API with this name.
    pub fn find(name: &str) -> Option<&'static Api> {
        APIS.into_iter().find(|api| api.name == name)
    }

    /// Returns the APIs that a server with these settings has.
    pub fn enabled(settings: &Settings) -> Vec<&'static Api> {
        let is_enabled = |api: &&Api| match api.keys {
            PrincipalKind::Team => true,
            PrincipalKind::Operator => {
                settings.operator.enabled && (settings.sandbox.enabled || !api.is_sandbox())
            }
        };
        APIS.into_iter().filter(is_enabled).collect()
    }

    /// Whether it is the sandbox API, which worlds do not have themselves.
    pub fn is_sandbox(&self) -> bool {
        self.name == SANDBOX.name
    }

    /// Returns the name for people.
    pub fn display_name(&self) -> String {
        let (first, rest) = self.name.split_at(1);
        format!("{}{rest} API", first.to_ascii_uppercase())
    }

    /// Returns the path of the OpenAPI document.
    pub fn document_path(&self) -> String {
        format!("/{}/openapi.json", self.name)
    }

    /// Returns the path of the docs page.
    pub fn docs_path(&self) -> String {
        format!("/{}/docs", self.name)
    }

    /// Whether a path belongs to the API: it is that of a route, the document, or the docs page, or would be
    /// if there were one more route.
    pub fn has_path(&self, path: &str) -> bool {
        is_below(path, self.prefix) || path == self.document_path() || path == self.docs_path()
    }

    /// Returns the routes.
    pub fn routes(&self) -> Vec<DeclaredRoute> {
        self.groups.iter().flat_map(|group| (group.routes)()).collect()
    }
}

/// Whether a path is this prefix, or continues it after a slash.
pub fn is_below(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the groups of several APIs, each once.
pub fn groups(apis: &[&'static Api]) -> Vec<&'static RouteGroup> {
    let mut groups: Vec<&'static RouteGroup> = Vec::new();
    for group in apis.iter().flat_map(|api| api.groups) {
        if !groups.iter().any(|known| std::ptr::eq(*known, *group)) {
            groups.push(group);
        }
    }
    groups
}

/// Returns every route of the server, in the order in which agents see their tools.
pub fn routes() -> Vec<DeclaredRoute> {
    groups(&APIS).into_iter().flat_map(|group| (group.routes)()).collect()
}

/// Returns the framework's document of routes. [`super::openapi`] completes it.
pub fn spec<R: Routes>() -> String {
    OpenApiService::new(R::default(), "", "").spec()
}
