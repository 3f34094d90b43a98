//! Idempotent POST requests: each runs in one transaction, and only once per `Idempotency-Key`.

use std::sync::Arc;

use poem::{FromRequest, Request, RequestBody};
use serde::Serialize;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::json::{BodyWork, Json, JsonResult};
use crate::{
    domain::{principals::Principal, problems::Problems},
    error::{Error, Problem, Result},
    market::{CheckContext, Market, Reader, Requester, Writer},
    operations::{
        access::PrincipalProof,
        idempotency::{self, HEADER},
    },
    request_problems::ProblemsExt,
    rest::arguments::request_body::BodySource,
    web::{problem::ApiError, served_market::ServedMarket},
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
    async fn from_request(request: &'a Request, _: &mut RequestBody) -> poem::Result<Idempotent> {
        Idempotent::read(request).map_err(|error| ApiError(error).into())
    }
}

impl Idempotent {
    /// Reads the key. Fails if it is not valid.
    fn read(request: &Request) -> Result<Idempotent> {
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
                Err(Error::invalid(Problem::header(HEADER, "value_error", msg)))
            }
        }
    }
}

/// A response that was made before it is stored.
#[derive(Serialize)]
#[serde(transparent)]
struct Response(Box<RawValue>);

impl Idempotent {
    /// Runs `check` and then `work` in a transaction, or returns the stored response of an earlier run.
    /// `check` gets the problems of the body, and must fail with them and its own. `work` gets what `check`
    /// returns.
    pub fn write<A: PrincipalProof, C, T: Serialize, const STATUS: u16>(
        self,
        served: &ServedMarket,
        access: A,
        body: BodySource,
        check: impl FnOnce(&CheckContext, &A, Problems) -> Result<C> + Send + 'static,
        work: impl FnOnce(&mut Writer, &A, C) -> Result<T> + Send + 'static,
    ) -> impl Future<Output = JsonResult<T, STATUS>> + Send {
        let (body, caller) = (Arc::new(body), Caller::new(&access));
        let work = if body.is_valid() {
            BodyWork::Write(Box::new(move |writer| {
                let checked = check(&writer.check_context(), &access, Problems::default())?;
                Json::<T>::render(&work(writer, &access, checked)?)
            }))
        } else {
            let source = Arc::clone(&body);
            BodyWork::Reject(Box::new(move |reader| {
                source.reject(reader, |context, problems| check(context, &access, problems))
            }))
        };
        Json::of(self.perform(served, caller, body, work))
    }

    /// Like [`Idempotent::write`], for a request without a body.
    pub fn write_without_body<A: PrincipalProof, T: Serialize, const STATUS: u16>(
        self,
        served: &ServedMarket,
        access: A,
        work: impl FnOnce(&mut Writer, &A) -> Result<T> + Send + 'static,
    ) -> impl Future<Output = JsonResult<T, STATUS>> + Send {
        let caller = Caller::new(&access);
        let work = move |writer: &mut Writer| Json::<T>::render(&work(writer, &access)?);
        Json::of(self.perform(served, caller, Arc::new(BodySource::empty()), BodyWork::Write(Box::new(work))))
    }

    /// Executes an operation in a transaction, or returns the stored response of an earlier run. If the body violates its
    /// schema, fails with everything that is wrong with it, without the write connection.
    async fn perform(
        self,
        served: &ServedMarket,
        caller: Caller,
        body: Arc<BodySource>,
        work: BodyWork,
    ) -> Result<Vec<u8>> {
        let request = self.into_request(&caller);
        let Caller { principal, requester, .. } = caller;
        let _guard = request.as_ref().map(|request| served.in_flight().try_insert(request)).transpose()?;
        let digest = body.digest();
        let result = match work {
            BodyWork::Write(work) => {
                let (market, source) = (served.market().clone(), Arc::clone(&body));
                let render = move |writer: &mut Writer| {
                    // Only work that is executed needs space. A stored response is returned in any case.
                    source.ensure_space(&market)?;
                    work(writer)
                };
                let write = move |writer: &mut Writer| {
                    idempotency::execute(writer, principal, request.as_ref(), digest, render)
                };
                served.market().write_freeing(requester, write).await
            }
            BodyWork::Reject(check) => {
                let read = move |reader: &Reader| {
                    // The schema may have been different when the request was executed.
                    if let Some(request) = &request
                        && let Some(response) = idempotency::find_response(reader, request, digest)?
                    {
                        return Ok(response);
                    }
                    check(reader).map(|()| Vec::new())
                };
                served.market().read(requester, read).await
            }
        };
        body.sort_problems(served, result).await
    }

    /// Like [`Idempotent::write`], with a first step before the transaction, and a last one after it, whether
    /// it was committed or not. Neither runs if a response is stored. All steps run even if the client
    /// disconnects. `prepare` gets the problems of the body, and must fail if there are any.
    pub fn prepare_and_write<A: PrincipalProof, P: 'static, T: Serialize, const STATUS: u16>(
        self,
        served: &ServedMarket,
        access: A,
        body: BodySource,
        prepare: impl FnOnce(&Market, &A, Problems) -> Result<P> + Send + 'static,
        work: impl FnOnce(&mut Writer, &A, &P) -> Result<T> + Send + 'static,
        finish: impl FnOnce(&Market, P) + Send + 'static,
    ) -> impl Future<Output = JsonResult<T, STATUS>> {
        let requester = access.requester();
        self.prepare_and_write_for(served, (access, requester), body, prepare, work, finish)
    }

    /// Like [`Idempotent::prepare_and_write`], with the requester of the transaction.
    async fn prepare_and_write_for<A: PrincipalProof, P: 'static, T: Serialize, const STATUS: u16>(
        self,
        served: &ServedMarket,
        (access, requester): (A, Requester),
        body: BodySource,
        prepare: impl FnOnce(&Market, &A, Problems) -> Result<P> + Send + 'static,
        work: impl FnOnce(&mut Writer, &A, &P) -> Result<T> + Send + 'static,
        finish: impl FnOnce(&Market, P) + Send + 'static,
    ) -> JsonResult<T, STATUS> {
        let caller = Caller::new(&access);
        let request = self.into_request(&caller);
        let principal = caller.principal;
        let _guard = request.as_ref().map(|request| served.in_flight().try_insert(request)).transpose()?;
        let digest = body.digest();
        if let Some(request) = request.clone() {
            let stored = served
                .market()
                .read(requester.clone(), move |reader| idempotency::find_response(reader, &request, digest));
            if let Some(response) = stored.await? {
                return Ok(Json::from_bytes(response));
            }
        }
        let body = Arc::new(body);
        let source = Arc::clone(&body);
        let run = move |market: &Market| {
            if source.is_valid() {
                source.ensure_space(market)?;
            }
            let prepared = prepare(market, &access, source.problems())?;
            let render = |writer: &mut Writer| {
                source.problems().into_result()?;
                Json::<T>::render(&work(writer, &access, &prepared)?)
            };
            let response = market.write_blocking_for(requester, |writer| {
                idempotency::execute(writer, principal, request.as_ref(), digest, render)
            });
            finish(market, prepared);
            response
        };
        let result = served.market().spawn_blocking(run).await;
        Ok(Json::from_bytes(body.sort_problems(served, result).await?))
    }

    /// Runs `work`, which changes something besides the market, on a blocking thread, or returns the stored response of
    /// an earlier run. Only responses to requests with an `Idempotency-Key` are stored. Fails before `work` if the API key has
    /// ended.
    pub async fn run<A: PrincipalProof, T: Serialize + 'static, const STATUS: u16>(
        self,
        served: &ServedMarket,
        access: A,
        body: BodySource,
        work: impl FnOnce(&A) -> Result<T> + Send + 'static,
    ) -> JsonResult<T, STATUS> {
        let run = move |market: &Market, access: &A, problems: Problems| {
            problems.into_result()?;
            access.check_key(market)?;
            serde_json::value::to_raw_value(&work(access)?).map_err(Error::internal)
        };
        if self.key.is_some() {
            let store = |_: &mut Writer, _: &A, response: &Response| Ok(Response(response.0.clone()));
            let run =
                |market: &Market, access: &A, problems: Problems| run(market, access, problems).map(Response);
            // Once the work is done, its response is stored even if the API key has ended meanwhile.
            let requester = access.requester().without_key();
            let stored: Json<Response> =
                self.prepare_and_write_for(served, (access, requester), body, run, store, |_, _| ()).await?;
            return Ok(stored.cast());
        }
        let problems = body.problems();
        let result = served.market().spawn_blocking(move |market| run(market, &access, problems)).await;
        let response = body.sort_problems(served, result).await?;
        Ok(Json::from_bytes(Box::<str>::from(response).into_boxed_bytes().into_vec()))
    }

    /// Like [`Idempotent::run`], for a request without a body.
    pub async fn run_without_body<A: PrincipalProof, T: Serialize + 'static, const STATUS: u16>(
        self,
        served: &ServedMarket,
        access: A,
        work: impl FnOnce(&A) -> Result<T> + Send + 'static,
    ) -> JsonResult<T, STATUS> {
        self.run(served, access, BodySource::empty(), work).await
    }

    /// Returns the identity of the request if it has a key.
    fn into_request(self, caller: &Caller) -> Option<idempotency::Request> {
        let Idempotent { key, route } = self;
        let route = format!("{route}{}", caller.name);
        key.map(|key| idempotency::Request { principal: caller.principal, key, route })
    }
}

/// Who sends a request, without the proof of access.
struct Caller {
    principal: Principal,
    /// What distinguishes it from others with the same principal.
    name: String,
    requester: Requester,
}

impl Caller {
    fn new(access: &impl PrincipalProof) -> Caller {
        let (principal, name) = (access.principal(), access.caller());
        Caller { principal, name, requester: access.requester() }
    }
}
