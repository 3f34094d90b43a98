//! HTTP clients for all outgoing requests: to Git hosts and their APIs, S3-compatible stores, webhooks, and other servers of ours.
//!
//! All of them use the same TLS configuration, and read the trusted certificates of the system only for https. The caller
//! decides where requests may go.

mod posts;
mod public_addresses;
mod tls;

use reqwest::header::{HeaderMap, LOCATION};
use url::Url;

pub use posts::{PostClient, PostError, Posted};
pub use public_addresses::{
    AddressError, NoPublicAddress, PublicResolver, has_private_ip_host, is_public, resolve,
};

/// Returns a builder of a blocking client, which follows no redirect and uses no proxy.
///
/// # Errors
///
/// The cryptography does not support the versions of TLS.
pub fn blocking() -> Result<reqwest::blocking::ClientBuilder, rustls::Error> {
    Ok(reqwest::blocking::Client::builder()
        .tls_backend_preconfigured(tls::config()?)
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy())
}

/// Returns a builder of an asynchronous client, which follows no redirect and uses no proxy.
///
/// # Errors
///
/// The cryptography does not support the versions of TLS.
pub fn asynchronous() -> Result<reqwest::ClientBuilder, rustls::Error> {
    Ok(reqwest::Client::builder()
        .tls_backend_preconfigured(tls::config()?)
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy())
}

/// Returns the problem with a response of `server` that redirects; `None` for other responses. Redirects are not followed: a
/// request could lose its body, and its key could get elsewhere.
pub fn redirection(status: u16, headers: &HeaderMap, server: &str) -> Option<String> {
    let location = headers.get(LOCATION).filter(|_| (300..400).contains(&status))?;
    let location = String::from_utf8_lossy(location.as_bytes());
    let elsewhere = Url::parse(&location)
        .map_or_else(|_| location.into_owned(), |url| url.origin().ascii_serialization());
    Some(format!(
        "{server} redirects to {elsewhere}, and redirects are not followed; use the URL of the server itself"
    ))
}
