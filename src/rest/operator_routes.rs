//! In-process calls of the operator API, for commands on the data directory. They need no key, since anybody who can read the
//! data directory can do everything; the audit says `cli`.

use std::sync::Arc;

use poem::{
    Body, EndpointExt, Request,
    http::{Method, header},
};
use serde_json::Value;
use tokio::io::AsyncReadExt;

use super::{
    api::OPERATOR,
    app::{self, SharedEndpoint},
};
use crate::{
    error::{Error, Result},
    http_server::response_body,
    market::{Market, running_server_url},
    operations::access::Authenticated,
    web::{
        error_layer, in_process::InProcessProof, link_base::base_url, request_id::RequestId,
        served_market::ServedMarket, shares::held_requests::HeldRequests,
    },
};

/// The routes of the operator API for one market, callable in process.
pub struct OperatorRoutes {
    routes: SharedEndpoint,
    served: Arc<ServedMarket>,
}

impl OperatorRoutes {
    /// Creates the routes for a market.
    pub fn new(market: Market) -> OperatorRoutes {
        // Without the documents, which take longer to generate than most commands.
        let routes = Arc::new(app::routes_with_files(OPERATOR.groups).boxed());
        // URLs in responses point to the server that is running on the data directory, if there is one.
        let url = running_server_url(market.data_dir())
            .unwrap_or_else(|| base_url(market.settings(), market.settings().server.listen));
        let held_requests = HeldRequests::without_server(&market);
        OperatorRoutes { routes, served: Arc::new(ServedMarket::new(market, &url, held_requests)) }
    }

    /// Whether a URL of an upload is one of this market, rather than of an S3-compatible store.
    pub fn serves(&self, url: &str) -> bool {
        url.starts_with(self.served.base_url())
    }

    /// Sends `length` bytes of a file to a URL of an upload, and returns the status and the bytes of the response.
    pub async fn put(
        &self,
        url: &str,
        headers: &[(String, String)],
        file: std::fs::File,
        length: u64,
    ) -> Result<(u16, Vec<u8>)> {
        let path = url.strip_prefix(self.served.base_url()).unwrap_or(url);
        let mut request = Request::builder().method(Method::PUT).uri(path.parse().map_err(Error::internal)?);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let request = request.header(header::CONTENT_LENGTH, length);
        let bytes = tokio::fs::File::from_std(file).take(length);
        let mut request = request.body(Body::from_async_read(bytes));
        request.set_data(Arc::clone(&self.served));
        request.set_data(RequestId::generate(self.served.market().clock()));
        self.send(request).await
    }

    /// Performs a request, and returns its status and the bytes of its response. `path` may include a query string.
    pub async fn request(&self, method: &str, path: &str, body: Option<&Value>) -> Result<(u16, Vec<u8>)> {
        let method = Method::from_bytes(method.as_bytes()).map_err(Error::internal)?;
        let mut request = Request::builder().method(method).uri(path.parse().map_err(Error::internal)?);
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        let mut request = request.body(body.map(Value::to_string).unwrap_or_default());
        let id = RequestId::generate(self.served.market().clock());
        request.set_data(InProcessProof::of_local_command(Authenticated::of_local_command(id.as_str())));
        request.set_data(Arc::clone(&self.served));
        request.set_data(id);
        self.send(request).await
    }

    async fn send(&self, request: Request) -> Result<(u16, Vec<u8>)> {
        let mut response =
            error_layer::layer(Arc::clone(&self.routes), request).await.map_err(Error::internal)?;
        let bytes = response_body::take_in_memory(&mut response).await.unwrap_or_default();
        Ok((response.status().as_u16(), bytes.to_vec()))
    }
}
