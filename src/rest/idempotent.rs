//! Idempotent POST requests: each runs in one transaction, and only once per `Idempotency-Key`.

use poem::{FromRequest, Request, RequestBody};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{
    app::App,
    json::{Json, JsonResult},
    problem::ApiError,
};
use crate::{
    error::{Error, Problem, Result},
    market::{Market, Reader, Writer},
    operations::{
        access::Vendor,
        idempotency::{self, HEADER},
    },
};

/// Maximum length of an idempotency key in characters.
pub const MAX_KEY_LENGTH: usize = 255;

/// The idempotency key of a request, if it has one, and its route.
#[derive(Debug)]
pub struct Idempotent {
    key: Option<String>,
    route: String,
}

impl<'a> FromRequest<'a> for Idempotent {
    async fn from_request(request: &'a Request, _: &mut RequestBody) -> poem::Result<Self> {
        // A path may contain the token of an upload grant, so only a digest of it is stored.
        let route = format!("{} {:x}", request.method(), Sha256::digest(request.uri().path()));
        let Some(key) = request.headers().get(HEADER) else { return Ok(Idempotent { key: None, route }) };
        let is_valid = |key: &&str| {
            (1..=MAX_KEY_LENGTH).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic())
        };
        match key.to_str().ok().filter(is_valid) {
            Some(key) => Ok(Idempotent { key: Some(key.to_owned()), route }),
            None => {
                let msg = format!("`{HEADER}` must have 1 to {MAX_KEY_LENGTH} visible ASCII characters.");
                Err(ApiError(Error::invalid(Problem::header(HEADER, "value_error", msg))).into())
            }
        }
    }
}

impl Idempotent {
    /// Runs `work` in a transaction, or returns the stored response of an earlier run. `digest` is the digest
    /// of the body.
    pub async fn write<T: Serialize, const STATUS: u16>(
        self,
        app: &App,
        vendor: Vendor,
        digest: [u8; 32],
        work: impl FnOnce(&mut Writer, &Vendor) -> Result<T> + Send + 'static,
    ) -> JsonResult<T, STATUS> {
        let (team, requester) = (vendor.team_row_id(), vendor.requester());
        let render =
            move |writer: &mut Writer| serde_json::to_vec(&work(writer, &vendor)?).map_err(Error::internal);
        let Some(key) = self.key else {
            return Ok(Json::from_bytes(app.market().write(requester, render).await?));
        };
        let request = idempotency::Request { team, key, route: self.route };
        let _guard = app.in_flight().try_insert(&request)?;
        let response = app
            .market()
            .write(requester, move |writer| idempotency::execute_once(writer, &request, digest, render))
            .await?;
        Ok(Json::from_bytes(response))
    }

    /// Like [`Idempotent::write`], for a request without a body.
    pub async fn write_without_body<T: Serialize, const STATUS: u16>(
        self,
        app: &App,
        vendor: Vendor,
        work: impl FnOnce(&mut Writer, &Vendor) -> Result<T> + Send + 'static,
    ) -> JsonResult<T, STATUS> {
        self.write(app, vendor, Sha256::digest(b"").into(), work).await
    }

    /// Like [`Idempotent::write`], with a first step outside of the transaction, which is skipped if a
    /// response is stored.
    pub async fn prepare_and_write<P: Send + 'static, T: Serialize, const STATUS: u16>(
        self,
        app: &App,
        vendor: Vendor,
        digest: [u8; 32],
        prepare: impl FnOnce(&Market, &Vendor) -> Result<P> + Send + 'static,
        work: impl FnOnce(&mut Writer, &Vendor, P) -> Result<T> + Send + 'static,
    ) -> JsonResult<T, STATUS> {
        let (team, requester) = (vendor.team_row_id(), vendor.requester());
        let preparing_vendor = vendor.clone();
        let prepare = move |market: &Market| prepare(market, &preparing_vendor);
        let Some(key) = self.key else {
            let prepared = app.market().spawn_blocking(prepare).await?;
            let write = move |writer: &mut Writer| {
                serde_json::to_vec(&work(writer, &vendor, prepared)?).map_err(Error::internal)
            };
            return Ok(Json::from_bytes(app.market().write(requester, write).await?));
        };
        let request = idempotency::Request { team, key, route: self.route };
        let _guard = app.in_flight().try_insert(&request)?;
        let lookup = request.clone();
        let find = move |reader: &Reader| idempotency::find_response(reader, &lookup, digest);
        if let Some(response) = app.market().read(requester.clone(), find).await? {
            return Ok(Json::from_bytes(response));
        }
        let prepared = app.market().spawn_blocking(prepare).await?;
        let write = move |writer: &mut Writer| {
            serde_json::to_vec(&work(writer, &vendor, prepared)?).map_err(Error::internal)
        };
        let response = app
            .market()
            .write(requester, move |writer| idempotency::execute_once(writer, &request, digest, write));
        Ok(Json::from_bytes(response.await?))
    }
}
