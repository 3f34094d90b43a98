//! The routes as a layer above calls them in process: the same credentials, validation, budgets and JSON as over HTTP, since
//! it is the same endpoint.

use std::sync::Arc;

use bytes::Bytes;
use poem::{
    Endpoint, Request, Response,
    endpoint::BoxEndpoint,
    http::{HeaderValue, header},
};

use super::{auth, body, failures, limits::Account, request_id::RequestId};
use crate::{
    domain::teams::Team,
    error::{Error, Result},
    market::Market,
    operations::access::KeyHolder,
};

/// The routes of both sides.
#[derive(Clone)]
pub struct Direct(Arc<BoxEndpoint<'static, Response>>);

/// Whom a layer above asks for: a key that counts, and what the request that brought it is known by and counted against.
#[derive(Clone, Debug)]
pub struct Caller {
    holder: KeyHolder,
    credentials: HeaderValue,
    request_id: RequestId,
    account: Option<Account>,
}

/// What a call in process was answered with.
#[derive(Clone, Debug)]
pub struct DirectAnswer {
    /// The status.
    pub status: u16,
    /// Seconds after which a caller that was refused may try again.
    pub retry_after: Option<u64>,
    /// The JSON.
    pub bytes: Bytes,
}

impl Caller {
    /// Who sent a request, by its key.
    pub async fn of(market: &Market, request: &Request) -> Result<Caller> {
        let key = auth::key(request.headers())?;
        let mut caller = Caller::with_key(market, key).await?;
        caller.request_id = RequestId::of(request);
        caller.account = request.data::<Account>().cloned();
        Ok(caller)
    }

    /// Who has a key, for a request that did not come over HTTP.
    pub async fn with_key(market: &Market, key: &str) -> Result<Caller> {
        let holder = KeyHolder::admit(market, key).await?;
        let mut credentials = HeaderValue::from_str(&format!("Bearer {key}")).map_err(Error::internal)?;
        credentials.set_sensitive(true);
        Ok(Caller { holder, credentials, request_id: RequestId::fresh(), account: None })
    }

    /// The team that the key speaks for.
    pub fn team(&self) -> &Team {
        self.holder.team()
    }

    /// The proof of the key.
    pub const fn holder(&self) -> &KeyHolder {
        &self.holder
    }

    /// What the request is known by.
    pub fn request_id(&self) -> &str {
        self.request_id.as_str()
    }
}

impl Direct {
    pub(super) fn new(routes: BoxEndpoint<'static, Response>) -> Direct {
        Direct(Arc::new(routes))
    }

    pub(super) async fn call(&self, request: Request) -> poem::Result<Response> {
        self.0.call(request).await
    }

    /// What a GET of a path, with its query, is answered with.
    pub async fn get(&self, caller: &Caller, path: &str) -> Result<DirectAnswer> {
        let uri = path.parse().map_err(Error::internal)?;
        let request = Request::builder().uri(uri).header(header::AUTHORIZATION, caller.credentials.clone());
        let mut request = request.finish();
        request.set_data(caller.request_id.clone());
        if let Some(account) = &caller.account {
            request.set_data(account.clone());
        }
        let mut response = failures::layer(Arc::clone(&self.0), request).await.map_err(Error::internal)?;
        let retry_after = response.header(header::RETRY_AFTER).and_then(|seconds| seconds.parse().ok());
        let status = response.status().as_u16();
        let bytes = body::take_whole(&mut response).await.unwrap_or_default();
        Ok(DirectAnswer { status, retry_after, bytes })
    }
}
