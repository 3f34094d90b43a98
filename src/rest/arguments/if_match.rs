//! Changes that are made only if the record is still as the caller read it: the `If-Match` header of RFC 9110, 13.1.1.

use poem::{
    Request,
    http::{HeaderMap, HeaderValue, header},
};

use crate::{
    error::{Error, Result},
    http_server::coding::entity_tag,
    rest::arguments::{
        header_argument::{HeaderArgument, header_argument},
        schema_marks::IF_MATCH_MARK,
    },
    web::responses::etag::matches_tag,
};

/// The `If-Match` headers of a request.
#[derive(Debug)]
pub struct IfMatch(Vec<HeaderValue>);

header_argument!(IfMatch, IF_MATCH_MARK);

impl HeaderArgument for IfMatch {
    fn read(request: &Request) -> Result<IfMatch> {
        Ok(IfMatch(request.headers().get_all(header::IF_MATCH).iter().cloned().collect()))
    }
}

impl IfMatch {
    /// Fails if the request has a condition that a record does not meet. `json` is the body of a GET response for
    /// it. A tag that a proxy made weak counts, too.
    pub fn check(&self, json: &[u8]) -> Result<()> {
        check_tags(self.0.iter(), &entity_tag(json))
    }
}

/// Fails if a request has `If-Match` headers, and the tag of what it reads matches none of them.
pub fn check_headers(headers: &HeaderMap, tag: &HeaderValue) -> Result<()> {
    check_tags(headers.get_all(header::IF_MATCH).iter(), tag)
}

fn check_tags<'h>(lists: impl Iterator<Item = &'h HeaderValue>, tag: &HeaderValue) -> Result<()> {
    let mut lists = lists.peekable();
    let is_met = lists.peek().is_none() || lists.any(|list| matches_tag(list, tag));
    if is_met { Ok(()) } else { Err(Error::PreconditionFailed) }
}
