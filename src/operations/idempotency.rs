//! Idempotent requests: a client can send a request again, and it is executed only once.

use super::{quotas, retention::in_batches};
use crate::{
    domain::{principals::Principal, time::Timestamp},
    error::{Error, Problem, Result},
    market::{Market, Reader, Writer},
    store::{self, idempotency::KeyUse},
};

/// Name of the request header with the idempotency key.
pub const HEADER: &str = "Idempotency-Key";

/// Number of days for which a response is stored.
const RETENTION_DAYS: i64 = 1;

/// Maximum size in bytes of a stored response. A response repeats at most what its request contains, so it is
/// smaller with the default limit of bodies. A larger response is not stored, but its key is, so that the
/// request is not executed again.
pub const MAX_STORED_BYTES: usize = 32 << 20;

/// Maximum number of expired uses that a request deletes, of its principal and of all principals.
const MAX_DELETED_PER_REQUEST: u32 = 20;

/// Maximum number of expired uses that one transaction of a cleanup deletes.
const MAX_DELETED_PER_BATCH: u32 = 1_000;

/// The identity of a request. Two requests with equal identities are the same request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// Who sent the request.
    pub principal: Principal,
    /// The idempotency key of the request.
    pub key: String,
    /// Method and path of the request.
    pub route: String,
}

/// Returns the stored response of a request, if it was executed before.
pub fn find_response(reader: &Reader, request: &Request, body: [u8; 32]) -> Result<Option<Vec<u8>>> {
    find_stored(reader.rows, request, body, reader.now)
}

fn find_stored(
    rows: &store::Reader,
    request: &Request,
    body: [u8; 32],
    now: Timestamp,
) -> Result<Option<Vec<u8>>> {
    let Request { principal, key, route } = request;
    match store::idempotency::find(rows, *principal, key, route, retained_since(now))? {
        Some(key_use) if key_use.body_digest != body => {
            let msg =
                "The key was used with another body in the last day. Use a new key for each new request.";
            Err(Error::invalid(Problem::header(HEADER, "idempotency_key_reused", msg)))
        }
        Some(key_use) if key_use.response.is_empty() => {
            let message = "The request with this key was executed, but its response was too large to store. Get \
                           its result with a GET request.";
            Err(Error::Conflict(message.to_owned()))
        }
        Some(key_use) => Ok(Some(key_use.response)),
        None => Ok(None),
    }
}

fn retained_since(now: Timestamp) -> Timestamp {
    now.plus_days(-RETENTION_DAYS)
}

/// Executes a request within the quotas of its principal. With a key, it may return the stored response
/// instead. The response is stored in the same transaction as the request's changes, so neither exists
/// without the other. An error is not stored, so the client can send the request again.
pub fn execute(
    writer: &mut Writer,
    principal: Principal,
    request: Option<&Request>,
    body: [u8; 32],
    work: impl FnOnce(&mut Writer) -> Result<Vec<u8>>,
) -> Result<Vec<u8>> {
    let Some(request) = request else { return quotas::enforce(writer, principal, work) };
    if let Some(response) = find_stored(writer.rows, request, body, writer.now)? {
        return Ok(response);
    }
    quotas::enforce(writer, principal, |writer| {
        let response = work(writer)?;
        store_response(writer, request, body, response)
    })
}

fn store_response(
    writer: &Writer,
    request: &Request,
    body_digest: [u8; 32],
    response: Vec<u8>,
) -> Result<Vec<u8>> {
    let Request { principal, key, route } = request;
    let since = retained_since(writer.now);
    store::idempotency::delete_expired_of(writer.rows, *principal, since, MAX_DELETED_PER_REQUEST)?;
    store::idempotency::delete_expired(writer.rows, since, MAX_DELETED_PER_REQUEST)?;
    let (stored, returned) =
        if response.len() <= MAX_STORED_BYTES { (response, None) } else { (Vec::new(), Some(response)) };
    let key_use = KeyUse { body_digest, response: stored };
    store::idempotency::insert(writer.rows, *principal, key, route, &key_use, writer.now)?;
    Ok(returned.unwrap_or(key_use.response))
}

/// Returns when the first use of a key expires; `None` if none is stored.
pub fn next_expiry_at(reader: &Reader) -> Result<Option<Timestamp>> {
    Ok(store::idempotency::first_used_at(reader.rows)?.map(|at| at.plus_days(RETENTION_DAYS)))
}

/// Deletes all expired uses of keys, in transactions of bounded size. Returns their number.
pub fn delete_expired(market: &Market) -> Result<u64> {
    in_batches(market, MAX_DELETED_PER_BATCH as usize, |writer| {
        store::idempotency::delete_expired(writer.rows, retained_since(writer.now), MAX_DELETED_PER_BATCH)
    })
}
