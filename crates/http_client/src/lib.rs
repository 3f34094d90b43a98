//! HTTP clients for all outgoing requests: to Git hosts and their APIs, S3-compatible stores, webhooks, and other servers of ours.
//!
//! All of them use the same TLS configuration, and read the trusted certificates of the system only for https. The caller
//! decides where requests may go.

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
