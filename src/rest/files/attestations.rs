//! Attestations of deliveries: the envelope beside the bundle, its status and the proof that it is in the log for the buyer, and,
//! for everybody, the public keys, the logs, and the schema. The routes are in no OpenAPI document, since the formats are those
//! of in-toto, DSSE, Sigstore, and C2SP.

use std::sync::Arc;

use poem::{
    Body, Request, Response, Route,
    endpoint::make_sync,
    http::{HeaderValue, Method, header},
};

use super::admission;
use crate::{
    domain::log_proofs,
    error::Result,
    market::Writer,
    operations::{access::Buyer, attestation_log, attestations, bundles, signing_keys},
    rest::{
        arguments::params,
        prelude::*,
        router::{answered_by, get_only},
    },
    web::{
        limits::RequestLimits,
        path_params::{self, framework_path},
        served_market::ServedMarket,
    },
};

/// The route of the attestation of a bundle, with the signed query of the bundle.
const ATTESTATION_ROUTE: &str = "/v2/blobs/bundles/{listing_id}/attestation";

/// The route of the proof that this attestation is in the log, with the same query.
const BUNDLE_PROOF_ROUTE: &str = "/v2/blobs/bundles/{listing_id}/proof";

/// The route of the proof that an attestation is in the log.
const PROOF_ROUTE: &str = "/v2/attestations/{statement_sha256}/proof";

/// The route of the status of an attestation.
const STATUS_ROUTE: &str = "/v2/attestations/{statement_sha256}/status";

/// The route of the JSON Schema of what is attested about a delivery.
const SCHEMA_ROUTE: &str = "/schemas/delivery-v1.json";

/// The media type of an envelope of DSSE.
const ENVELOPE: &str = "application/vnd.dsse.envelope.v1+json";

/// What only the caller may keep, and not without asking again.
const PRIVATE: HeaderValue = HeaderValue::from_static("private, no-cache");

/// Keys and heads are added, and keys end.
const PUBLIC: HeaderValue = HeaderValue::from_static("public, max-age=60");

/// Adds the routes of attestations, logs, and keys.
pub fn add_routes(routes: Route) -> Route {
    let schema = make_sync(|_| respond("application/schema+json", &PUBLIC, attestations::DELIVERY_SCHEMA));
    routes
        .at(framework_path(ATTESTATION_ROUTE), answered_by(Method::GET, send_attestation))
        .at(framework_path(BUNDLE_PROOF_ROUTE), answered_by(Method::GET, send_bundle_proof))
        .at(framework_path(STATUS_ROUTE), answered_by(Method::GET, send_status))
        .at(framework_path(PROOF_ROUTE), answered_by(Method::GET, send_proof))
        .at(signing_keys::PUBLISHED_PATH, answered_by(Method::GET, send_keys))
        .at(attestation_log::PUBLISHED_PATH, answered_by(Method::GET, send_logs))
        .at(attestation_log::CONSISTENCY_PATH, answered_by(Method::GET, send_consistency))
        .at(SCHEMA_ROUTE, get_only(schema))
}

fn respond(media_type: &str, cache: &HeaderValue, body: impl Into<Body>) -> Response {
    Response::builder().header(header::CACHE_CONTROL, cache).content_type(media_type).body(body)
}

async fn send_attestation(request: Request) -> Result<Response> {
    let served = ServedMarket::shared(&request)?;
    let linked = super::bundles::find(&served, &request, bundles::find_linked_attestation).await?;
    let envelope = linked.found.ok_or_else(|| Error::not_found("attestation"))?;
    Ok(respond(ENVELOPE, &PRIVATE, envelope))
}

async fn send_bundle_proof(request: Request) -> Result<Response> {
    let served = ServedMarket::shared(&request)?;
    let linked = super::bundles::find(&served, &request, bundles::find_linked_proof).await?;
    Ok(respond(log_proofs::MEDIA_TYPE, &PRIVATE, linked.found))
}

async fn send_proof(request: Request) -> Result<Response> {
    let (served, buyer, digest) = admit(&request).await?;
    let requester = buyer.requester();
    let read = move |reader: &Reader| attestations::proof(reader, &buyer, &digest);
    let proof = served.market().read(requester, read).await?;
    Ok(respond(log_proofs::MEDIA_TYPE, &PRIVATE, proof))
}

/// Admits a buyer to the attestation in the path. Returns the digest of its statement, too.
async fn admit(request: &Request) -> Result<(Arc<ServedMarket>, Buyer, String)> {
    let served = ServedMarket::shared(request)?;
    let buyer: Buyer = admission::admit(&served, request, Budget::Purchases).await?;
    params::check_no_query(request)?;
    let digest = path_params::values(request).into_iter().next().unwrap_or_default();
    Ok((served, buyer, digest))
}

async fn send_status(request: Request) -> Result<Response> {
    let (served, buyer, digest) = admit(&request).await?;
    let envelope = read_status(&served, buyer, digest).await?;
    Ok(respond(ENVELOPE, &PRIVATE, envelope))
}

async fn read_status(served: &ServedMarket, buyer: Buyer, digest: String) -> Result<Vec<u8>> {
    let market = served.market();
    let requester = buyer.requester();
    let read = move |reader: &Reader| {
        let status = attestations::status(reader, &buyer, &digest)?;
        Ok((status, buyer, digest))
    };
    let (status, buyer, digest) = market.read(requester.clone(), read).await?;
    if let Some(status) = status {
        return Ok(status);
    }
    // A copy of a market has no key of the original, and creates its own when it first signs.
    let create = |writer: &mut Writer| signing_keys::find_or_create(writer).map(drop);
    market.write(requester.clone(), create).await?;
    let read = move |reader: &Reader| attestations::status(reader, &buyer, &digest);
    market.read(requester, read).await?.ok_or_else(|| Error::internal("there is no signing key"))
}

async fn send_keys(request: Request) -> Result<Response> {
    let served = ServedMarket::shared(&request)?;
    let requester = RequestLimits::client_requester(&request, served.market().settings());
    let keys = served.market().read_inline(requester, signing_keys::list).await?;
    Ok(respond("application/json", &PUBLIC, to_json(&keys)?))
}

/// Query parameters of the published logs.
#[derive(Debug, Object)]
struct LogsQuery {
    /// Name of the only log.
    origin: Option<String>,
    /// Only heads with fewer leaves.
    #[oai(validator(minimum(value = "1")))]
    before: Option<i64>,
}

async fn send_logs(request: Request) -> Result<Response> {
    let query: LogsQuery = params::parse_request(&request)?;
    let served = ServedMarket::shared(&request)?;
    let requester = RequestLimits::client_requester(&request, served.market().settings());
    let before = query.before.map(i64::unsigned_abs);
    let read = move |reader: &Reader| attestation_log::list(reader, query.origin.as_deref(), before);
    let logs = served.market().read(requester, read).await?;
    Ok(respond("application/json", &PUBLIC, to_json(&logs)?))
}

/// Query parameters of the proof that a head of the log continues another one.
#[derive(Debug, Object)]
struct ConsistencyQuery {
    /// Name of the log; the newest one unless set.
    origin: Option<String>,
    /// Number of leaves of the earlier head.
    #[oai(validator(minimum(value = "1")))]
    from: i64,
    /// Number of leaves of the later head.
    #[oai(validator(minimum(value = "1")))]
    to: i64,
}

async fn send_consistency(request: Request) -> Result<Response> {
    let query: ConsistencyQuery = params::parse_request(&request)?;
    let served = ServedMarket::shared(&request)?;
    let requester = RequestLimits::client_requester(&request, served.market().settings());
    let (from, to) = (query.from.unsigned_abs(), query.to.unsigned_abs());
    let read = move |reader: &Reader| attestation_log::consistency(reader, query.origin.as_deref(), from, to);
    let proof = served.market().read(requester, read).await?;
    Ok(respond("application/json", &PUBLIC, to_json(&proof)?))
}

fn to_json(value: &impl Serialize) -> Result<Vec<u8>> {
    let mut json = serde_json::to_vec_pretty(value).map_err(Error::internal)?;
    json.push(b'\n');
    Ok(json)
}
