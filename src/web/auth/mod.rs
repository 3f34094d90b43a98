//! Authentication and authorization: extracts the API key from one of three headers and turns it into a proof
//! of access.
//!
//! A [`crate::rest::route::Call`] brings the proof to the handler.

pub mod required_access;

use poem::Request;
use poem_openapi::{
    ApiExtractor, SecurityScheme,
    auth::{ApiKey, Bearer},
    registry::Registry,
};

use crate::{
    error::Result,
    market::Market,
    operations::access::{
        ActingOperator, Authenticated, AuthenticatedTeam, Buyer, CatalogViewer, FullCatalogViewer,
        ListingViewer, Member, Operator, PaymentOperator, PaymentReader, TeamWithNda, Vendor,
    },
    web::{
        auth::required_access::RequiredAccess, in_process::InProcessProof, key_headers,
        limits::RequestLimits, path_params, request_id, served_market::ServedMarket, shares,
    },
};

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
pub trait Policy: Sized + Send + Sync {
    /// The requirement as a value.
    const REQUIRED: RequiredAccess;

    /// Authenticates the key of a request: the key of the market, unless the requirement says otherwise.
    fn identify(
        served: &ServedMarket,
        request: &Request,
    ) -> impl Future<Output = Result<Authenticated>> + Send {
        identify(served, request)
    }

    /// Checks the owner of a valid key against the requirement, and returns the proof or the reason for
    /// denial.
    fn admit(
        served: &ServedMarket,
        authenticated: Authenticated,
        request: &Request,
    ) -> impl Future<Output = Result<Self>> + Send;
}

/// Requires a valid key.
impl Policy for Authenticated {
    const REQUIRED: RequiredAccess = RequiredAccess::AnyKey;

    async fn admit(_: &ServedMarket, authenticated: Authenticated, _: &Request) -> Result<Authenticated> {
        Ok(authenticated)
    }
}

/// Implements [`Policy`] for proofs that follow from the key alone, or `from` another such proof.
macro_rules! policies {
    ($($(#[$meta:meta])* $proof:ident: $required:ident $(from $before:ident)?;)+) => { $(
        $(#[$meta])*
        impl Policy for $proof {
            const REQUIRED: RequiredAccess = RequiredAccess::$required;

            async fn admit(_: &ServedMarket, owner: Authenticated, _: &Request) -> Result<$proof> {
                $(let owner = $before::authorize(owner)?;)?
                $proof::authorize(owner)
            }
        }
    )+ };
}

policies! {
    /// Requires a valid key of a team.
    AuthenticatedTeam: ValidKey;
    /// Requires a valid key of a team that has accepted the mutual NDA.
    TeamWithNda: TeamWithNda from AuthenticatedTeam;
    /// Requires an operator key.
    Operator: Operator;
    /// Requires an operator key that permits changes.
    ActingOperator: ActingOperator;
    /// Requires an operator key, which may be one that is only for payments.
    PaymentReader: Operator;
    /// Requires an operator key that permits changes, or one that is only for payments.
    PaymentOperator: ActingOperator;
    /// Requires a marketplace role and the mutual NDA.
    Member: Member from AuthenticatedTeam;
    /// Requires the vendor role and the mutual NDA.
    Vendor: Vendor from AuthenticatedTeam;
    /// Requires the buyer role and the mutual NDA.
    Buyer: Buyer from AuthenticatedTeam;
}

/// Requires a marketplace role and the mutual NDA; the proof includes the team's browse gate state.
impl Policy for CatalogViewer {
    const REQUIRED: RequiredAccess = RequiredAccess::Member;

    async fn admit(
        served: &ServedMarket,
        authenticated: Authenticated,
        request: &Request,
    ) -> Result<CatalogViewer> {
        CatalogViewer::new(Member::admit(served, authenticated, request).await?, served.market())
    }
}

/// Requires an open browse gate.
impl Policy for FullCatalogViewer {
    const REQUIRED: RequiredAccess = RequiredAccess::CatalogAccess;

    async fn admit(
        served: &ServedMarket,
        authenticated: Authenticated,
        request: &Request,
    ) -> Result<FullCatalogViewer> {
        FullCatalogViewer::authorize(CatalogViewer::admit(served, authenticated, request).await?)
    }
}

/// Requires an open browse gate, or that the team owns the listing that the first path parameter identifies.
impl Policy for ListingViewer {
    const REQUIRED: RequiredAccess = RequiredAccess::CatalogAccessOrOwner;

    async fn admit(
        served: &ServedMarket,
        authenticated: Authenticated,
        request: &Request,
    ) -> Result<ListingViewer> {
        let viewer = CatalogViewer::admit(served, authenticated, request).await?;
        let listing = path_params::first(request).and_then(|id| uuid::Uuid::try_parse(&id).ok());
        ListingViewer::authorize(viewer, served.market(), listing).await
    }
}

/// Requires a marketplace role and the mutual NDA. Behind the browse gate, a query with anything but `limit`
/// and the default sort is rejected before its parameters are parsed.
pub struct FirstPageViewer(pub CatalogViewer);

impl Policy for FirstPageViewer {
    const REQUIRED: RequiredAccess = RequiredAccess::MemberFirstPage;

    async fn admit(
        served: &ServedMarket,
        authenticated: Authenticated,
        request: &Request,
    ) -> Result<FirstPageViewer> {
        let is_allowed =
            |name: &str, value: &str| name == "limit" || (name == "sort" && value == "recommended");
        admit_first_page(served, authenticated, request, is_allowed).await.map(FirstPageViewer)
    }
}

/// Like [`FirstPageViewer`], for agents, which can also select the fields of the first page.
pub struct AgentFirstPageViewer(pub CatalogViewer);

impl Policy for AgentFirstPageViewer {
    const REQUIRED: RequiredAccess = RequiredAccess::MemberFirstPage;

    async fn admit(
        served: &ServedMarket,
        authenticated: Authenticated,
        request: &Request,
    ) -> Result<AgentFirstPageViewer> {
        let is_allowed = |name: &str, value: &str| {
            name == "limit"
                || name == "fields"
                || (name == "offset" && value == "0")
                || (name == "sort" && value == "recommended")
        };
        admit_first_page(served, authenticated, request, is_allowed).await.map(AgentFirstPageViewer)
    }
}

/// Returns the viewer of a request. Behind the browse gate, all of its query parameters must be allowed, given by name and
/// value.
async fn admit_first_page(
    served: &ServedMarket,
    authenticated: Authenticated,
    request: &Request,
    is_allowed: fn(&str, &str) -> bool,
) -> Result<CatalogViewer> {
    let viewer = CatalogViewer::admit(served, authenticated, request).await?;
    let query = request.uri().query().unwrap_or_default();
    if !form_urlencoded::parse(query.as_bytes()).all(|(name, value)| is_allowed(&name, &value)) {
        viewer.require_open()?;
    }
    Ok(viewer)
}

/// How the descriptions of the security schemes name the key.
pub const KEY_OF_TEAM: &str = "The team's API key";

/// The names of the security schemes, any of which carries the key.
pub const SCHEMES: [&str; 3] = ["BearerKey", "PlatformKey", "XApiKey"];

/// Registers the security schemes.
pub fn register_schemes(registry: &mut Registry) {
    <BearerKey as ApiExtractor>::register(registry);
    <PlatformKey as ApiExtractor>::register(registry);
    <XApiKey as ApiExtractor>::register(registry);
}

/// Authenticates the API key of a request by the keys of a market.
pub async fn authenticate(market: &Market, request: &Request) -> Result<Authenticated> {
    let key = key_headers::api_key(request.headers())?;
    let requester = RequestLimits::client_requester(request, market.settings());
    let authenticated = Authenticated::authenticate(market, requester, key).await?;
    request_id::set_caller(request, authenticated.team().cloned(), authenticated.key_id());
    Ok(authenticated)
}

/// Returns the proof that the request's key is valid, and counts the request for its principal from now on.
pub async fn identify(served: &ServedMarket, request: &Request) -> Result<Authenticated> {
    let authenticated = match InProcessProof::of_request(request) {
        Some(authenticated) => authenticated,
        None => authenticate(served.market(), request).await?,
    };
    let principal = authenticated.principal();
    RequestLimits::charge_principal(request, principal)?;
    shares::count_for(served.market(), request, principal).await?;
    Ok(authenticated)
}
