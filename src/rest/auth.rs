//! Credentials: a key from one of three headers becomes a proof of access, before anything else is looked at.
//!
//! A handler takes the proof as its first argument, since arguments are read in their order: a caller without a right
//! learns nothing about parameters or paths.

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

/// The headers that may carry a key; the first that is sent counts.
static KEY_HEADERS: [HeaderName; 3] = [
    header::AUTHORIZATION,
    HeaderName::from_static("platform-api-key"),
    HeaderName::from_static("x-api-key"),
];

/// What the framework calls the first parameter of a path.
const FIRST_IN_PATH: &str = "param0";

/// Carries a team's API key as a bearer token.
#[derive(SecurityScheme)]
#[oai(rename = "BearerKey", ty = "bearer")]
pub struct BearerKey(#[allow(dead_code)] Bearer);

/// Carries a team's API key in the platform's own header.
#[derive(SecurityScheme)]
#[oai(rename = "PlatformKey", ty = "api_key", key_in = "header", key_name = "platform-api-key")]
pub struct PlatformKey(#[allow(dead_code)] ApiKey);

/// Carries a team's API key in the header that many clients know.
#[derive(SecurityScheme)]
#[oai(rename = "XApiKey", ty = "api_key", key_in = "header", key_name = "X-API-Key")]
pub struct XApiKey(#[allow(dead_code)] ApiKey);

/// What a key must be good for.
pub trait Policy: Sized + Send {
    /// Lets a key in, or says why not.
    fn admit(app: &App, holder: KeyHolder, request: &Request) -> impl Future<Output = Result<Self>> + Send;
}

/// Any valid key.
impl Policy for KeyHolder {
    async fn admit(_: &App, holder: KeyHolder, _: &Request) -> Result<KeyHolder> {
        Ok(holder)
    }
}

/// A marketplace role and the mutual NDA.
impl Policy for Member {
    async fn admit(_: &App, holder: KeyHolder, _: &Request) -> Result<Member> {
        Member::of(holder)
    }
}

/// The vendor's role and the mutual NDA.
impl Policy for Vendor {
    async fn admit(_: &App, holder: KeyHolder, _: &Request) -> Result<Vendor> {
        Vendor::of(holder)
    }
}

/// The buyer's role and the mutual NDA.
impl Policy for Buyer {
    async fn admit(_: &App, holder: KeyHolder, _: &Request) -> Result<Buyer> {
        Buyer::of(holder)
    }
}

/// A marketplace role and the mutual NDA, with where the team stands at the browse gate.
impl Policy for Browser {
    async fn admit(app: &App, holder: KeyHolder, _: &Request) -> Result<Browser> {
        Ok(Browser::of(Member::of(holder)?, app.market()))
    }
}

/// A team that is past the gate.
impl Policy for OpenBrowser {
    async fn admit(app: &App, holder: KeyHolder, request: &Request) -> Result<OpenBrowser> {
        OpenBrowser::of(&Browser::admit(app, holder, request).await?)
    }
}

/// A team that is past the gate, or looks at a listing of its own: the first parameter of the path.
impl Policy for ListingBrowser {
    async fn admit(app: &App, holder: KeyHolder, request: &Request) -> Result<ListingBrowser> {
        let browser = Browser::admit(app, holder, request).await?;
        let listing = request.raw_path_param(FIRST_IN_PATH).and_then(|id| uuid::Uuid::try_parse(id).ok());
        ListingBrowser::of(browser, app.market(), listing).await
    }
}

/// Any team that may browse the first page; behind the gate, parameters other than the page's size are refused before they
/// are read.
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

/// A proof of access in front of a handler's other arguments.
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

/// Whether a request brings a key along, good or not, so that its answer is its caller's own.
pub fn carries_key(headers: &HeaderMap) -> bool {
    KEY_HEADERS.iter().any(|name| headers.contains_key(name))
}

/// The key of a request: of the headers that may carry one, the first that is sent counts. No refusal repeats what was
/// sent.
pub fn key(headers: &HeaderMap) -> Result<&str> {
    let missing =
        "An API key is needed. Send it as `Authorization: Bearer <key>`, `platform-api-key` or `X-API-Key`.";
    let refuse = |why: &str| Error::Unauthorized(why.to_owned());
    let sent = KEY_HEADERS.iter().find_map(|name| Some((name, headers.get(name)?)));
    let (name, value) = sent.ok_or_else(|| refuse(missing))?;
    let value =
        value.to_str().map_err(|_| refuse("The header that carries the API key cannot be read."))?.trim();
    if name != header::AUTHORIZATION {
        return if value.is_empty() { Err(refuse(missing)) } else { Ok(value) };
    }
    match value.split_once(' ') {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case("bearer") => Ok(key.trim()),
        _ => Err(refuse("`Authorization` takes the form `Bearer <key>`.")),
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
