//! Requests that may be sent twice and are carried out once.

use crate::{
    domain::{teams::TeamNumber, time::Timestamp},
    error::{Error, Problem, Result},
    market::{Reader, Writer},
    store::{self, idempotency::Use},
};

/// The header that carries a key.
pub const HEADER: &str = "Idempotency-Key";

/// Days for which an answer is kept.
const KEPT_DAYS: i64 = 1;

/// What makes two requests the same one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// Whose it is.
    pub team: TeamNumber,
    /// The key that it came with.
    pub key: String,
    /// Its method and path.
    pub route: String,
}

/// What a request was answered with before, if it was.
pub fn answered(reader: &Reader, request: &Request, body: [u8; 32]) -> Result<Option<Vec<u8>>> {
    find(reader.rows, request, body, reader.now)
}

fn find(rows: &store::Reader, request: &Request, body: [u8; 32], now: Timestamp) -> Result<Option<Vec<u8>>> {
    let Request { team, key, route } = request;
    match store::idempotency::find(rows, *team, key, route, now.plus_days(-KEPT_DAYS))? {
        Some(using) if using.body == body => Ok(Some(using.answer)),
        Some(_) => {
            let msg =
                "The key was used with another body within a day. Take a fresh key for another request.";
            Err(Error::invalid(Problem::header(HEADER, "idempotency_key_reused", msg)))
        }
        None => Ok(None),
    }
}

/// Carries a request out, or answers what it was answered with before. The answer is kept in the transaction of what it
/// tells of, so that neither is there without the other; a failure is not kept, so the request can be sent again.
pub fn once(
    writer: &mut Writer,
    request: &Request,
    body: [u8; 32],
    work: impl FnOnce(&mut Writer) -> Result<Vec<u8>>,
) -> Result<Vec<u8>> {
    if let Some(answer) = find(writer.rows, request, body, writer.now)? {
        return Ok(answer);
    }
    let answer = work(writer)?;
    let Request { team, key, route } = request;
    let (using, since) = (Use { body, answer }, writer.now.plus_days(-KEPT_DAYS));
    store::idempotency::insert(writer.rows, *team, key, route, &using, writer.now, since)?;
    Ok(using.answer)
}
