//! URLs of bundles: the stable one of a listing, and signed ones, each for one purchase or for the vendor.

use poem::Request;
use uuid::Uuid;

use crate::{
    blobs::{self, signatures},
    domain::time::Timestamp,
    error::{Error, Result},
    market::Market,
    operations::{
        bundles::LinkHolder,
        croissant::{self, Addresses},
    },
};

/// The expiry of links is a multiple of this number of seconds, so that responses with links rarely change. A link is
/// valid for once to twice as long.
const EXPIRY_SECONDS: i64 = 3600;

/// Returns the stable URL of the bundle of a listing, which gives no access.
pub fn bundle_url(base_url: &str, listing: Uuid) -> String {
    format!("{base_url}{}", blobs::bundle_path(listing))
}

/// Returns the addresses that the description of a listing has.
pub fn addresses(base_url: &str, listing: Uuid) -> Addresses {
    Addresses { listing: croissant::listing_url(base_url, listing), bundle: bundle_url(base_url, listing) }
}

/// Returns the signed URL of the bundle of a listing.
pub fn download_url(
    market: &Market,
    base_url: &str,
    listing: Uuid,
    holder: LinkHolder,
    now: Timestamp,
) -> String {
    let path = blobs::bundle_path(listing);
    let expires = (now.seconds().div_euclid(EXPIRY_SECONDS) + 2) * EXPIRY_SECONDS;
    let (name, id) = parameter(holder);
    let signature = sign(market, &path, holder, expires);
    format!("{base_url}{path}?{name}={id}&expires={expires}&signature={signature}")
}

/// Returns the name and the value of the parameter that says whose bundle a link is for.
const fn parameter(holder: LinkHolder) -> (&'static str, Uuid) {
    match holder {
        LinkHolder::Purchase(id) => ("purchase", id),
        LinkHolder::Owner(id) => ("owner", id),
    }
}

fn sign(market: &Market, path: &str, holder: LinkHolder, expires: i64) -> String {
    let (name, id) = parameter(holder);
    signatures::sign(market.blob_secret(), &["GET", path, name, &id.to_string(), &expires.to_string()])
}

/// The query of a signed URL: whose bundle it is, and the time of expiry in Unix seconds.
#[derive(serde::Deserialize)]
struct SignedQuery {
    purchase: Option<Uuid>,
    owner: Option<Uuid>,
    expires: i64,
    signature: String,
}

/// Verifies the signature of a URL, and its expiry. Returns whose bundle it is.
pub fn verify(market: &Market, request: &Request, listing: Uuid) -> Result<LinkHolder> {
    let not_signed = || {
        let message = "The URL was not signed by this server. Use the `bundle_download_url` of the listing.";
        Error::Forbidden(message.to_owned())
    };
    let signed: SignedQuery = request.params().map_err(|_| not_signed())?;
    let holder = match (signed.purchase, signed.owner) {
        (Some(id), None) => LinkHolder::Purchase(id),
        (None, Some(id)) => LinkHolder::Owner(id),
        _ => return Err(not_signed()),
    };
    let (name, id) = parameter(holder);
    let parts = ["GET", &blobs::bundle_path(listing), name, &id.to_string(), &signed.expires.to_string()];
    if !signatures::verify(market.blob_secret(), &parts, &signed.signature) {
        return Err(not_signed());
    }
    if market.clock().now().seconds() >= signed.expires {
        let message = "The URL has expired. Get the listing again for a new `bundle_download_url`.";
        return Err(Error::Forbidden(message.to_owned()));
    }
    Ok(holder)
}
