//! The web app: pages for people, below [`address::PREFIX`].
//!
//! A page is data and a pure function to markup; a form is one operation. [`pages::rows`] is the table of pages. Nothing here has
//! rules, SQL, or JSON of its own, and no page calls the HTTP APIs.

mod address;
mod answer;
mod assets;
mod banners;
mod changes;
mod const_text;
mod csv;
mod described;
mod forms;
mod frame;
mod list_filters;
mod lists;
mod navigation;
mod notices;
mod page;
mod pages;
mod parts;
mod paths;
mod prelude;
mod questions;
mod receivers;
mod refusals;
mod resources;
mod responses;
mod same_origin;
mod seen;
mod session;
pub(crate) mod text;
mod tone;
mod typed_values;
mod visit;
mod wording;

use std::sync::Arc;

use poem::{
    Endpoint, EndpointExt, Request, Response, Route,
    endpoint::{BoxEndpoint, make},
};

use crate::{
    error::Error,
    web::{
        limits::Budget, path_params, problem::ApiError, request_id, served_market::ServedMarket, world_host,
    },
};

use navigation::PageTable;

pub use address::PREFIX;
pub use described::{Input, ResourceInfo, StepInfo};
pub use navigation::PageRow;
pub use pages::rows as pages;

/// The pages of the web app. They never change, so any number of markets can be served with them.
#[derive(Clone)]
pub struct Console(Arc<BoxEndpoint<'static, Response>>);

impl Console {
    /// Creates the pages. With `has_demo_keys`, the page for signing in offers the teams of the demo market.
    pub fn new(has_demo_keys: bool) -> Console {
        let routes = pages::rows().into_iter().fold(Route::new(), |route, row| {
            let path = path_params::framework_path(&format!("{PREFIX}{}", row.path));
            route.at(path, Routed { path: row.path, inner: (row.endpoint)() })
        });
        let routes = assets::endpoints()
            .fold(routes, |route, (path, endpoint)| route.at(format!("{PREFIX}{path}"), endpoint));
        let routes = routes.at(format!("{PREFIX}/*rest"), make(answer_unknown));
        let shown = pages::sign_in::DemoKeysShown(has_demo_keys);
        let table = PageTable::new(pages::rows().into_iter());
        let endpoint = routes.around(move |inner, mut request: Request| {
            request.set_data(shown);
            request.set_data(table.clone());
            async move { inner.call(request).await.map(responses::guarded) }
        });
        Console(Arc::new(endpoint.boxed()))
    }

    /// Returns the endpoint of all pages. Requests must have a [`ServedMarket`].
    pub fn endpoint(&self) -> Arc<BoxEndpoint<'static, Response>> {
        Arc::clone(&self.0)
    }
}

/// Adds the headers that all responses of the web app have, also those of layers around it, and shows errors of these layers to
/// people as pages: in the web app, on other pages for people (`is_other_page` knows their paths), and on pages of worlds that do
/// not exist.
pub fn guard(
    server: BoxEndpoint<'static, Response>,
    served: Arc<ServedMarket>,
    is_other_page: fn(&str) -> bool,
) -> BoxEndpoint<'static, Response> {
    let is_of_console =
        |path: &str| path.strip_prefix(PREFIX).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let guarded = server.around(move |inner, request: Request| {
        let path = request.uri().path();
        let is_guarded = is_of_console(path);
        // Requests for worlds have the paths of their markets, except where there is no such world.
        let path_in_world = world_host::split_path(path).map_or(path, |(_, path)| path);
        let is_page = || is_of_console(path_in_world) || is_other_page(path_in_world);
        let asked = (page::asks_for_page(&request) && is_page()).then(|| {
            let context = page::context_of(&served, &request, None);
            let address = context.links.outside(path);
            (context, address)
        });
        async move {
            let mut response = inner.call(request).await?;
            if let Some((context, address)) = asked {
                response = refusals::of_layer(context, &address, response).await;
            }
            Ok::<_, poem::Error>(if is_guarded { responses::guarded(response) } else { response })
        }
    });
    guarded.boxed()
}

/// Says that there is no page at an address.
async fn answer_unknown(request: Request) -> poem::Result<Response> {
    let served = ServedMarket::shared(&request).map_err(ApiError)?;
    if request.uri().path().strip_prefix(PREFIX) == Some("/") {
        // The address of the first page has no slash at the end.
        return Ok(responses::redirect(&address::Links::of_request(&served, &request).to("")));
    }
    let (signed_in, error) = match session::identify(&served, &request, Some(Budget::Other)).await {
        Ok(signed_in) => (signed_in, Error::not_found("page")),
        Err(error) => (None, error),
    };
    let context = page::context_of(&served, &request, signed_in);
    Ok(refusals::response(&context, &error).await)
}

/// A page with the path by which the log names it.
struct Routed {
    path: &'static str,
    inner: BoxEndpoint<'static, Response>,
}

impl Endpoint for Routed {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        request_id::set_route(&request, Arc::from(format!("{PREFIX}{}", self.path)));
        self.inner.call(request).await
    }
}
