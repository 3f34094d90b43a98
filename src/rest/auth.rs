//! Authentication and authorization: extracts the API key from one of three headers and turns it into a proof
//! of access.
//!
//! Handlers take the proof as their first argument. Arguments are extracted in order, so a caller without
//! access learns nothing about parameters or resources.

use std::sync::Arc;

use poem::{
    Request, RequestBody,
    http::{HeaderMap, HeaderName, header},
};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions, SecurityScheme,
    auth::{ApiKey, Bearer},
    registry::Registry,
};

use super::{App, limits::Account, problem::Failure};
use crate::{
    error::{Error, Result},
    operations::access::{Browser, Buyer, KeyHolder, ListingBrowser, Member, OpenBrowser, Vendor},
};

/// The headers that may carry an API key, by precedence: only the first one that is present is used.
static KEY_HEADERS: [HeaderName; 3] = [
    header::AUTHORIZATION,
    HeaderName::from_static("platform-api-key"),
    HeaderName::from_static("x-api-key"),
];

/// The framework's name for the first parameter of a path.
const FIRST_IN_PATH: &str = "param0";

/// The team's API key as a bearer token: `Authorization: Bearer <key>`.
#[derive(SecurityScheme)]
#[oai(rename = "BearerKey", ty = "bearer")]
pub struct BearerKey(#[allow(dead_code)] Bearer);

/// The team's API key in the `platform-api-key` header.
#[derive(SecurityScheme)]
#[oai(rename = "PlatformKey", ty = "api_key", key_in = "header", key_name = "platform-api-key")]
pub struct PlatformKey(#[allow(dead_code)] ApiKey);

/// The team's API key in the `X-API-Key` header.
#[derive(SecurityScheme)]
#[oai(rename = "XApiKey", ty = "api_key", key_in = "header", key_name = "X-API-Key")]
pub struct XApiKey(#[allow(dead_code)] ApiKey);

/// An access requirement of an operation. The type itself is the proof that the requirement is met.
pub trait Policy: Sized + Send {
    /// Checks the owner of a valid key against the requirement, and returns the proof or the reason for
    /// denial.
    fn admit(app: &App, holder: KeyHolder, request: &Request) -> impl Future<Output = Result<Self>> + Send;
}

/// Requires a valid key.
impl Policy for KeyHolder {
    async fn admit(_: &App, holder: KeyHolder, _: &Request) -> Result<KeyHolder> {
        Ok(holder)
    }
}

/// Requires a marketplace role and the mutual NDA.
impl Policy for Member {
    async fn admit(_: &App, holder: KeyHolder, _: &Request) -> Result<Member> {
        Member::of(holder)
    }
}

/// Requires the vendor role and the mutual NDA.
impl Policy for Vendor {
    async fn admit(_: &App, holder: KeyHolder, _: &Request) -> Result<Vendor> {
        Vendor::of(holder)
    }
}

/// Requires the buyer role and the mutual NDA.
impl Policy for Buyer {
    async fn admit(_: &App, holder: KeyHolder, _: &Request) -> Result<Buyer> {
        Buyer::of(holder)
    }
}

/// Requires a marketplace role and the mutual NDA; the proof includes the team's browse gate state.
impl Policy for Browser {
    async fn admit(app: &App, holder: KeyHolder, _: &Request) -> Result<Browser> {
        Ok(Browser::of(Member::of(holder)?, app.market()))
    }
}

/// Requires an open browse gate.
impl Policy for OpenBrowser {
    async fn admit(app: &App, holder: KeyHolder, request: &Request) -> Result<OpenBrowser> {
        OpenBrowser::of(&Browser::admit(app, holder, request).await?)
    }
}

/// Requires an open browse gate, or that the team owns the listing that the first path parameter identifies.
impl Policy for ListingBrowser {
    async fn admit(app: &App, holder: KeyHolder, request: &Request) -> Result<ListingBrowser> {
        let browser = Browser::admit(app, holder, request).await?;
        let listing = request.raw_path_param(FIRST_IN_PATH).and_then(|id| uuid::Uuid::try_parse(id).ok());
        ListingBrowser::of(browser, app.market(), listing).await
    }
}

/// Requires a marketplace role and the mutual NDA. Behind the browse gate, a query with anything but `limit`
/// and the default sort is rejected before its parameters are parsed.
pub struct PageBrowser(pub Browser);

impl Policy for PageBrowser {
    async fn admit(app: &App, holder: KeyHolder, request: &Request) -> Result<PageBrowser> {
        let browser = Browser::admit(app, holder, request).await?;
        let query = request.uri().query().unwrap_or_default();
        let is_bare = |(name, value): (std::borrow::Cow<str>, std::borrow::Cow<str>)| {
            name == "limit" || (name == "sort" && value == "recommended")
        };
        if !form_urlencoded::parse(query.as_bytes()).all(is_bare) {
            browser.open()?;
        }
        Ok(PageBrowser(browser))
    }
}

/// Extracts a proof of access from a request.
pub struct Access<P>(pub P);

impl<'a, P: Policy> ApiExtractor<'a> for Access<P> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::SecurityScheme];

    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        <BearerKey as ApiExtractor>::register(registry);
        <PlatformKey as ApiExtractor>::register(registry);
        <XApiKey as ApiExtractor>::register(registry);
    }

    fn security_schemes() -> Vec<&'static str> {
        vec!["BearerKey", "PlatformKey", "XApiKey"]
    }

    async fn from_request(
        request: &'a Request,
        _: &mut RequestBody,
        _: ExtractParamOptions<()>,
    ) -> poem::Result<Self> {
        let app =
            request.data::<Arc<App>>().ok_or_else(|| Failure(Error::internal("no app in the request")))?;
        let key = key(request.headers()).map_err(Failure)?;
        let holder = KeyHolder::admit(app.market(), key).await.map_err(Failure)?;
        Account::charge(request, holder.team().number).map_err(Failure)?;
        Ok(Access(P::admit(app, holder, request).await.map_err(Failure)?))
    }
}

/// Whether a request has a key header, valid or not. The response to such a request is private to the caller.
pub fn carries_key(headers: &HeaderMap) -> bool {
    KEY_HEADERS.iter().any(|name| headers.contains_key(name))
}

/// Extracts the API key of a request from the first of [`KEY_HEADERS`] that is present. Error messages never
/// repeat what was sent.
pub fn key(headers: &HeaderMap) -> Result<&str> {
    let missing = "An API key is required. \
                   Send it as `Authorization: Bearer <key>`, `platform-api-key`, or `X-API-Key`.";
    let refuse = |why: &str| Error::Unauthorized(why.to_owned());
    let sent = KEY_HEADERS.iter().find_map(|name| Some((name, headers.get(name)?)));
    let (name, value) = sent.ok_or_else(|| refuse(missing))?;
    let value = value
        .to_str()
        .map_err(|_| refuse("The API key header must contain only visible ASCII characters."))?
        .trim();
    if name != header::AUTHORIZATION {
        return if value.is_empty() { Err(refuse(missing)) } else { Ok(value) };
    }
    match value.split_once(' ') {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case("bearer") => Ok(key.trim()),
        _ => Err(refuse("`Authorization` must have the form `Bearer <key>`.")),
    }
}

#[cfg(test)]
mod tests {
    use poem::http::HeaderValue;

    use super::*;

    fn sent(headers: &[(&'static str, &str)]) -> std::result::Result<String, String> {
        let pairs = headers.iter().map(|(name, value)| {
            (HeaderName::from_static(name), HeaderValue::from_bytes(value.as_bytes()).unwrap())
        });
        key(&pairs.collect()).map(str::to_owned).map_err(|error| error.message())
    }

    #[test]
    fn the_first_header_that_is_sent_counts() {
        for (headers, expected) in [
            (&[("authorization", "Bearer k1")][..], "k1"),
            (&[("authorization", "bearer   k1 ")], "k1"),
            (&[("platform-api-key", "k2")], "k2"),
            (&[("x-api-key", " k3")], "k3"),
            (&[("x-api-key", "k3"), ("platform-api-key", "k2")], "k2"),
            (&[("x-api-key", "k3"), ("platform-api-key", "k2"), ("authorization", "Bearer k1")], "k1"),
        ] {
            assert_eq!(sent(headers).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn what_is_no_key_is_refused_and_not_repeated() {
        for headers in [
            &[][..],
            &[("authorization", "Basic c2VjcmV0"), ("x-api-key", "k")],
            &[("authorization", "secret")],
            &[("authorization", "Bearer")],
            &[("authorization", "Bearer  ")],
            &[("authorization", "")],
            &[("authorization", "Bearer secr\u{e9}t")],
            &[("platform-api-key", ""), ("x-api-key", "k")],
        ] {
            let refusal = sent(headers).unwrap_err();
            assert!(!refusal.contains("secr") && !refusal.contains("c2V"), "{refusal}");
        }
    }
}
