//! Idempotent requests: a client can send a request again, and it is executed only once.

use crate::{
    domain::{teams::TeamRowId, time::Timestamp},
    error::{Error, Problem, Result},
    market::{Reader, Writer},
    store::{self, idempotency::KeyUse},
};

/// Name of the request header with the idempotency key.
pub const HEADER: &str = "Idempotency-Key";

/// Number of days for which a response is stored.
const RETENTION_DAYS: i64 = 1;

/// The identity of a request. Two requests with equal identities are the same request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// Row ID of the team that sent the request.
    pub team: TeamRowId,
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
    let Request { team, key, route } = request;
    match store::idempotency::find(rows, *team, key, route, now.plus_days(-RETENTION_DAYS))? {
        Some(key_use) if key_use.body_digest == body => Ok(Some(key_use.response)),
        Some(_) => {
            let msg =
                "The key was used with another body in the last day. Use a new key for each new request.";
            Err(Error::invalid(Problem::header(HEADER, "idempotency_key_reused", msg)))
        }
        None => Ok(None),
    }
}

/// Executes a request, or returns its stored response. The response is stored in the same transaction as the
/// request's changes, so neither exists without the other. An error is not stored, so the client can send the
/// request again.
pub fn execute_once(
    writer: &mut Writer,
    request: &Request,
    body: [u8; 32],
    work: impl FnOnce(&mut Writer) -> Result<Vec<u8>>,
) -> Result<Vec<u8>> {
    if let Some(response) = find_stored(writer.rows, request, body, writer.now)? {
        return Ok(response);
    }
    let response = work(writer)?;
    let Request { team, key, route } = request;
    let (key_use, since) = (KeyUse { body_digest: body, response }, writer.now.plus_days(-RETENTION_DAYS));
    store::idempotency::insert(writer.rows, *team, key, route, &key_use, writer.now, since)?;
    Ok(key_use.response)
}
