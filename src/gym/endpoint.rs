//! The HTTP endpoint of the gym. It has an address per question and counts its requests; all addresses lead to one agent
//! server.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use poem::{
    Endpoint, Request, Response,
    endpoint::BoxEndpoint,
    http::{StatusCode, Uri},
};

use super::{counts::Counts, planted::Canary};
use crate::mcp;

/// Maximum size of a request in bytes, which is that of the agent server.
const MAX_REQUEST_BYTES: usize = 1 << 20;

/// The place of a question in a path whose requests are not counted.
pub const UNCOUNTED: &str = "-";

/// Returns the path of the agent server for a question.
pub fn path(id: &str) -> String {
    format!("/q/{id}{}", mcp::PATHS[0])
}

/// The endpoint of the gym.
pub struct GymEndpoint {
    inner: BoxEndpoint<'static, Response>,
    canaries: Vec<Canary>,
    counts: BTreeMap<String, Mutex<Counts>>,
}

impl GymEndpoint {
    /// Creates the endpoint for questions with these IDs. `inner` is the agent server.
    pub fn new(
        inner: BoxEndpoint<'static, Response>,
        ids: impl Iterator<Item = String>,
        canaries: Vec<Canary>,
    ) -> GymEndpoint {
        GymEndpoint { inner, canaries, counts: ids.map(|id| (id, Mutex::default())).collect() }
    }

    /// Returns what was counted for a question so far.
    pub fn counts(&self, id: &str) -> Counts {
        let counts =
            self.counts.get(id).map(|counts| counts.lock().unwrap_or_else(PoisonError::into_inner).clone());
        counts.unwrap_or_default()
    }

    /// Returns the names of the planted texts whose token is in a text.
    pub fn canaries_in<'a>(&'a self, text: &'a str) -> impl Iterator<Item = &'static str> + 'a {
        self.canaries.iter().filter(|canary| canary.is_in(text)).map(|canary| canary.name)
    }

    /// Passes a request to the agent server, and counts it for a question if there is one with this ID.
    pub async fn forward(
        &self,
        id: &str,
        mut request: Request,
        target: Uri,
    ) -> poem::Result<(StatusCode, Response)> {
        let body = request.take_body().into_bytes_limit(MAX_REQUEST_BYTES).await?;
        *request.uri_mut() = target;
        request.set_body(body.clone());
        let response = self.inner.get_response(request).await;
        let (parts, answer) = response.into_parts();
        let answer = answer.into_bytes().await?;
        if let Some(counts) = self.counts.get(id) {
            let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
            counts.add(&body, parts.status.as_u16(), &answer, &self.canaries);
        }
        let mut response = Response::from(answer);
        response.set_status(parts.status);
        *response.headers_mut() = parts.headers;
        Ok((parts.status, response))
    }
}

impl Endpoint for GymEndpoint {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let not_found = || poem::Error::from_string("No question has this path.", StatusCode::NOT_FOUND);
        let path = request.uri().path().to_owned();
        let (id, rest) =
            path.strip_prefix("/q/").and_then(|path| path.split_once('/')).ok_or_else(not_found)?;
        let target = format!("/{rest}");
        if !self.counts.contains_key(id) || !mcp::PATHS.contains(&target.as_str()) {
            return Err(not_found());
        }
        let query = request.uri().query().map(|query| format!("?{query}")).unwrap_or_default();
        let target = format!("{target}{query}").parse().map_err(poem::error::BadRequest)?;
        Ok(self.forward(id, request, target).await?.1)
    }
}
