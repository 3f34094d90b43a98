//! Positions let a client read its own writes on every machine.
//!
//! A response to a change has the position of the market after it, in a header, and for pages in a cookie. A replica that gets
//! the position back answers when it has reached it. Positions are encrypted, so they do not reveal how much the market is
//! used.

use poem::{
    Endpoint, Request, Response,
    http::{HeaderMap, HeaderName, HeaderValue, header},
};
use sha2::{Digest, Sha256};

use crate::{
    clock::Entropy,
    domain::commit_position::CommitPosition,
    market::Market,
    web::{
        request_kinds,
        sealing::{Purpose, Sealer},
    },
};

/// The header of a position, in responses and in requests.
pub const HEADER: HeaderName = HeaderName::from_static("market-position");

/// Maximum number of positions of a request that are decrypted. A client has one for each way in which it brings them.
const MAX_POSITIONS: usize = 8;

/// Prefix of the name of the cookie with a position. It differs between markets, since the ports of a host share its cookies.
const COOKIE: &str = "market_position";

/// Seconds for which browsers keep the cookie: longer than any replica should be behind.
const COOKIE_SECONDS: u32 = 600;

/// The position that a request or a response states: of the last change that its reader has to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatedPosition {
    /// It states none.
    None,
    /// This one.
    At(CommitPosition),
    /// It states one that cannot be decrypted, such as one of another generation.
    Unreadable,
}

/// Encrypts and decrypts the positions of a market.
#[derive(Debug)]
pub struct Positions {
    sealer: Sealer,
    cookie: String,
}

impl Positions {
    /// Uses the secret of a market. `market` is another one, which a promotion does not replace.
    pub fn new(secret: &[u8; 32], market: &[u8; 32]) -> Positions {
        let name = Sha256::new().chain_update(COOKIE).chain_update(market).finalize();
        let name = u32::from_be_bytes([name[0], name[1], name[2], name[3]]);
        Positions { sealer: Sealer::new(secret), cookie: format!("{COOKIE}_{name:08x}") }
    }

    /// Returns a position as text.
    pub fn seal(&self, position: CommitPosition, entropy: &Entropy) -> String {
        self.sealer.seal(Purpose::Position, &position.0.to_be_bytes(), entropy)
    }

    /// Returns the position in a text; `None` if the text is invalid, or comes from another market.
    fn open(&self, text: &[u8]) -> Option<CommitPosition> {
        let bytes = self.sealer.open(Purpose::Position, text)?;
        Some(CommitPosition(u32::from_be_bytes(bytes.try_into().ok()?)))
    }

    /// Returns the position that headers state; of several, the latest.
    pub fn find(&self, headers: &HeaderMap) -> StatedPosition {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let cookies =
            cookies.flat_map(|value| value.split(';')).filter_map(|cookie| cookie.trim().split_once('='));
        let of_cookies = cookies.filter(|(name, _)| *name == self.cookie).map(|(_, value)| value.as_bytes());
        let of_headers = headers.get_all(HEADER).iter().map(HeaderValue::as_bytes);
        let later = |one: CommitPosition, other| if one.includes(other) { one } else { other };
        of_headers.chain(of_cookies).take(MAX_POSITIONS).fold(StatedPosition::None, |written, text| {
            match (written, self.open(text)) {
                (StatedPosition::Unreadable, _) | (_, None) => StatedPosition::Unreadable,
                (StatedPosition::None, Some(position)) => StatedPosition::At(position),
                (StatedPosition::At(earlier), Some(position)) => StatedPosition::At(later(earlier, position)),
            }
        })
    }
}

/// Adds the position of a primary to responses to changes.
pub struct WithPositions<E> {
    market: Market,
    positions: Positions,
    inner: E,
}

impl<E> WithPositions<E> {
    /// Wraps the server of a market that has this secret for positions.
    pub fn new(market: Market, secret: &[u8; 32], inner: E) -> WithPositions<E> {
        let positions = Positions::new(secret, market.blob_secret());
        WithPositions { market, positions, inner }
    }
}

impl<E: Endpoint<Output = Response>> Endpoint for WithPositions<E> {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let changes = !request_kinds::only_reads(&request);
        let mut response = self.inner.call(request).await?;
        if changes && let Some(position) = self.market.written_position() {
            let name = &self.positions.cookie;
            let position = self.positions.seal(position, self.market.entropy());
            let cookie =
                format!("{name}={position}; Path=/; Max-Age={COOKIE_SECONDS}; HttpOnly; SameSite=Lax");
            let value = |text: &str| HeaderValue::from_str(text).expect("it is ASCII");
            response.headers_mut().insert(HEADER, value(&position));
            if response.headers().contains_key(header::SET_COOKIE) || is_form(&response) {
                response.headers_mut().append(header::SET_COOKIE, value(&cookie));
            }
        }
        Ok(response)
    }
}

/// Whether a response is one to a form: a page, or the address of the next one.
fn is_form(response: &Response) -> bool {
    let content_type = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    response.status().is_redirection() || content_type.is_some_and(|text| text.starts_with("text/html"))
}

#[cfg(test)]
mod tests {
    use poem::http::HeaderMap;

    use super::*;

    #[test]
    fn positions_are_read_by_their_market_alone() {
        let entropy = Entropy::System;
        let (own, other) = (Positions::new(&[1; 32], &[7; 32]), Positions::new(&[2; 32], &[7; 32]));
        let position = CommitPosition(7_000_000);
        let text = own.seal(position, &entropy);
        assert_eq!(own.open(text.as_bytes()), Some(position));
        assert_eq!(other.open(text.as_bytes()), None);
        assert_eq!(own.seal(CommitPosition(0), &entropy).len(), text.len());
    }

    #[test]
    fn latest_position_of_a_request_counts() {
        let (positions, entropy) = (Positions::new(&[1; 32], &[7; 32]), Entropy::System);
        let text = |number| positions.seal(CommitPosition(number), &entropy);
        let mut headers = HeaderMap::new();
        assert_eq!(positions.find(&headers), StatedPosition::None);
        headers.insert(header::COOKIE, "market_position_00000000=other; a=b".parse().unwrap());
        assert_eq!(positions.find(&headers), StatedPosition::None, "it is of another market");
        headers.insert(HEADER, text(3).parse().unwrap());
        let cookie = format!("a=b; {}={}", positions.cookie, text(5));
        headers.append(header::COOKIE, cookie.parse().unwrap());
        assert_eq!(positions.find(&headers), StatedPosition::At(CommitPosition(5)));
        headers.append(HEADER, text(9).parse().unwrap());
        assert_eq!(positions.find(&headers), StatedPosition::At(CommitPosition(9)));
        headers.append(HEADER, "other".parse().unwrap());
        assert_eq!(positions.find(&headers), StatedPosition::Unreadable);
    }
}
