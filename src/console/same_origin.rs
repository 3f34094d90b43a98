//! Refuses forms that pages of other sites send with a visitor's cookie.
//!
//! The rule needs no tokens: browsers say where a request comes from. A request without these headers comes from no browser,
//! and so from no other site.

use poem::{
    Request,
    http::{HeaderName, Method, header},
};

use crate::error::{Error, Result};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Fails if a request that could change something was sent by a page of another site, or of another origin of the same site.
pub fn check(request: &Request) -> Result<()> {
    if [Method::GET, Method::HEAD].contains(request.method()) || is_same_origin(request) {
        return Ok(());
    }
    let message = "This form was sent by a page of another site, so nothing was changed. Open the page of this market, and \
                   send the form from there.";
    Err(Error::Forbidden(message.to_owned()))
}

fn is_same_origin(request: &Request) -> bool {
    let one = |name: &HeaderName| {
        let mut values = request.headers().get_all(name).iter();
        let first = values.next();
        (first, values.next().is_some())
    };
    match one(&SEC_FETCH_SITE) {
        (Some(site), false) => return site == "same-origin" || site == "none",
        (Some(_), true) => return false,
        (None, _) => {}
    }
    let ((origin, is_repeated), (host, _)) = (one(&header::ORIGIN), one(&header::HOST));
    let Some(origin) = origin else { return true };
    let origin = origin.to_str().unwrap_or_default();
    let of_origin = origin.split_once("://").map(|(_, host)| host);
    let host = host.and_then(|host| host.to_str().ok());
    !is_repeated && of_origin.is_some() && of_origin.zip(host).is_some_and(|(a, b)| a.eq_ignore_ascii_case(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_other_origins_are_refused() {
        for (site, origin, is_allowed) in [
            (Some("same-origin"), None, true),
            (Some("none"), None, true),
            (Some("same-site"), None, false),
            (Some("cross-site"), Some("http://market.example"), false),
            (None, None, true),
            (None, Some("http://market.example"), true),
            (None, Some("http://MARKET.example"), true),
            (None, Some("http://market.example:81"), false),
            (None, Some("http://evil.example"), false),
            (None, Some("null"), false),
            (None, Some(""), false),
        ] {
            let mut request = Request::builder().method(Method::POST).header(header::HOST, "market.example");
            if let Some(site) = site {
                request = request.header(SEC_FETCH_SITE, site);
            }
            if let Some(origin) = origin {
                request = request.header(header::ORIGIN, origin);
            }
            assert_eq!(check(&request.finish()).is_ok(), is_allowed, "{site:?} {origin:?}");
        }
        let read = Request::builder().header(SEC_FETCH_SITE, "cross-site").finish();
        assert!(check(&read).is_ok());
    }
}
