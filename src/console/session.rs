//! Who visits: the session in a cookie. Nothing else knows how somebody signed in.

use std::sync::Arc;

use poem::{
    Request,
    http::{HeaderValue, header},
};
use sha2::{Digest, Sha256};

use super::address::Links;
use crate::{
    error::Result,
    market::Requester,
    operations::access::{
        Authenticated,
        sessions::{self, Session},
    },
    web::{
        limits::{Budget, RequestLimits},
        request_id::{self, WorldName},
        served_market::ServedMarket,
        shares,
    },
};

/// Somebody who has signed in.
#[derive(Clone, Debug)]
pub struct SignedIn {
    /// The proof that the session's key is valid.
    pub authenticated: Authenticated,
    /// The session.
    pub session: Session,
}

/// Returns who sends a request; `None` without a valid session. Counts the request for its principal, in the budget if there is one.
pub async fn identify(
    served: &Arc<ServedMarket>,
    request: &Request,
    budget: Option<Budget>,
) -> Result<Option<SignedIn>> {
    let Some(token) = token(served, request) else { return Ok(None) };
    let requester = client(served, request);
    let found = sessions::authenticate(served.market(), requester, token).await?;
    let Some((authenticated, session)) = found else { return Ok(None) };
    request_id::set_caller(request, authenticated.team().cloned(), authenticated.key_id());
    let principal = authenticated.principal();
    if let Some(budget) = budget {
        RequestLimits::set_budget(request, budget);
        RequestLimits::charge_principal(request, principal)?;
    }
    shares::count_for(served.market(), request, principal).await?;
    Ok(Some(SignedIn { authenticated, session }))
}

/// Returns the requester of a visitor who is not known yet.
pub fn client(served: &ServedMarket, request: &Request) -> Requester {
    RequestLimits::client_requester(request, served.market().settings())
}

/// Returns the token in the cookie of a request, valid or not.
pub fn token<'r>(served: &ServedMarket, request: &'r Request) -> Option<&'r str> {
    let name = cookie_name(served, request);
    let cookies = request.headers().get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = cookies.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(|(known, _)| *known == name).map(|(_, value)| value).find(|value| !value.is_empty())
}

/// Returns the header that keeps a token in the browser, or removes it. Its attributes must be the same, or browsers keep it.
pub fn cookie(served: &ServedMarket, request: &Request, token: Option<&str>) -> HeaderValue {
    let is_secure = served.link_base().is_over_tls(request);
    let name = cookie_name(served, request);
    // The prefix `__Host-` of a name requires this path.
    let path = if is_secure { "/".to_owned() } else { Links::of_request(served, request).to("") };
    let secure = if is_secure { "; Secure" } else { "" };
    let (value, age) = token.map_or(("", "; Max-Age=0"), |token| (token, ""));
    let text = format!("{name}={value}; Path={path}; HttpOnly; SameSite=Lax{secure}{age}");
    HeaderValue::try_from(text).expect("names, tokens, and paths of URLs are visible ASCII")
}

/// Returns the name of the cookie. It differs between markets, since the ports of a host share its cookies.
fn cookie_name(served: &ServedMarket, request: &Request) -> String {
    let prefix = if served.link_base().is_over_tls(request) { "__Host-" } else { "" };
    let world = request.data::<WorldName>().map(|name| format!("_{}", name.0)).unwrap_or_default();
    let market = Sha256::new().chain_update("cookie").chain_update(served.market().blob_secret()).finalize();
    format!("{prefix}market_{:08x}{world}", u32::from_be_bytes([market[0], market[1], market[2], market[3]]))
}
