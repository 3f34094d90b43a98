//! The TLS configuration of all outgoing requests.

use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{self, CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use rustls_platform_verifier::Verifier;

/// Returns the configuration. The cryptography is named here, not installed for the whole process, so that no order
/// of calls matters.
pub(super) fn config() -> Result<ClientConfig, Error> {
    let provider = Arc::new(ring::default_provider());
    let verifier = SystemVerifier { provider: provider.clone(), loaded: OnceLock::new() };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    Ok(config.with_no_client_auth())
}

/// Accepts the certificates that the system trusts. They are read when the first server presents one, so that a system
/// without any can send requests to http URLs.
#[derive(Debug)]
struct SystemVerifier {
    provider: Arc<CryptoProvider>,
    loaded: OnceLock<Verifier>,
}

impl SystemVerifier {
    /// Returns the verifier of the platform. If the system has no trusted certificates, the next call reads them again.
    fn loaded(&self) -> Result<&Verifier, Error> {
        if let Some(verifier) = self.loaded.get() {
            return Ok(verifier);
        }
        let verifier = Verifier::new(self.provider.clone()).map_err(|_| {
            let message = "this system trusts no certificates; install its package of trusted certificates, \
                           usually ca-certificates";
            Error::General(message.to_owned())
        })?;
        Ok(self.loaded.get_or_init(|| verifier))
    }
}

impl ServerCertVerifier for SystemVerifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.loaded()?.verify_server_cert(certificate, intermediates, server, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        crypto::verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        crypto::verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
