//! HTTP clients for outgoing requests: to Git hosts, to their APIs, to an S3-compatible store, and to webhooks.
//!
//! All of them use the same TLS configuration. The caller decides where requests may go.

mod posts;
mod public_addresses;
mod tls;

pub use posts::{PostClient, PostError, Posted};
pub use public_addresses::{
    AddressError, NoPublicAddress, PublicResolver, has_private_ip_host, is_public, resolve,
};

/// Returns a builder of a blocking client, which follows no redirect and uses no proxy.
///
/// # Errors
///
/// The certificates that the system trusts cannot be read.
pub fn blocking() -> Result<reqwest::blocking::ClientBuilder, rustls::Error> {
    Ok(reqwest::blocking::Client::builder()
        .tls_backend_preconfigured(tls::config()?)
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy())
}

/// Returns a builder of a blocking client for http URLs, which needs no certificates. It trusts no server with https.
///
/// # Errors
///
/// The cryptography does not support the versions of TLS.
pub fn blocking_without_tls() -> Result<reqwest::blocking::ClientBuilder, rustls::Error> {
    Ok(reqwest::blocking::Client::builder()
        .tls_backend_preconfigured(tls::config_without_certificates()?)
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy())
}

/// Returns a builder of an asynchronous client.
///
/// # Errors
///
/// The certificates that the system trusts cannot be read.
pub fn asynchronous() -> Result<reqwest::ClientBuilder, rustls::Error> {
    Ok(reqwest::Client::builder().tls_backend_preconfigured(tls::config()?))
}
