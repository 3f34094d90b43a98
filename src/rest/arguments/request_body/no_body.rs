//! Bodies of requests to operations that take none: whitespace or `{}`, which some clients send anyway.

use http_body_util::combinators::BoxBody;
use poem::{Body, Request, RequestBody};

use crate::{
    error::{Error, Problem, Result},
    http_server::chunks::Chunks,
    web::{
        served_market::ServedMarket,
        shares::{capacity::Slot, transfer_limits},
    },
};

/// Maximum size in bytes of a body where none is taken.
const MAX_BLANK_BYTES: usize = 65_536;

/// Seconds in which such a body must arrive.
const BLANK_BODY_SECONDS: u32 = 1;

/// Marks a request to an operation that takes no body.
#[derive(Clone, Copy, Debug)]
pub struct TakesNoBody;

/// Fails if a request to an operation that takes no body has one that holds more than whitespace or `{}`, is
/// too long for that, or does not arrive at once.
///
/// Call this only after everything was checked that does not need the body.
pub async fn reject_body(request: &Request, body: &mut RequestBody) -> Result<()> {
    if request.data::<TakesNoBody>().is_none() {
        return Ok(());
    }
    let Ok(body) = body.take() else { return Ok(()) };
    receive_blank(request, body).await
}

/// Receives a body that contains only whitespace or `{}`. Any other body is an error.
pub(super) async fn receive_blank(request: &Request, body: Body) -> Result<()> {
    if body.is_empty() {
        return Ok(());
    }
    let body: BoxBody<bytes::Bytes, std::io::Error> = body.into();
    let settings = &ServedMarket::from_request(request)?.market().settings().server;
    let _slot =
        transfer_limits::of_request(request).map(transfer_limits::RequestTransfers::body_slot).transpose()?;
    let receive = async {
        let mut chunks = Chunks::new(body, &settings.connections(), Some(BLANK_BODY_SECONDS));
        let (mut braces, mut length) = (Vec::new(), 0);
        while let Some(chunk) = chunks.next().await? {
            length += chunk.len();
            braces.extend(chunk.iter().filter(|byte| !b" \t\n\r".contains(byte)));
            if length > MAX_BLANK_BYTES || !b"{}".starts_with(&braces) {
                return Err(takes_no_body());
            }
        }
        if braces.len() == 1 { Err(takes_no_body()) } else { Ok(()) }
    };
    match Slot::release_during(request, receive).await? {
        Err(Error::RequestTimeout(_)) => Err(takes_no_body()),
        received => received,
    }
}

fn takes_no_body() -> Error {
    let msg = "This operation takes no body. Send the request without one.";
    Error::invalid(Problem::body(&[], "extra_forbidden", msg))
}
