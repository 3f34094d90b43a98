//! The TLS configuration of all outgoing requests.

use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt;

/// Returns the configuration. The cryptography is named here, not installed for the whole process, so that no order
/// of calls matters.
pub(super) fn config() -> Result<ClientConfig, rustls::Error> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_platform_verifier()?;
    Ok(config.with_no_client_auth())
}

/// Returns a configuration that trusts nobody, for clients of http URLs.
pub(super) fn config_without_certificates() -> Result<ClientConfig, rustls::Error> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(RootCertStore::empty());
    Ok(config.with_no_client_auth())
}
