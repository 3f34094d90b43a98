//! Settings of TLS and of trusted proxies.

use std::net::SocketAddr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::listen::{deserialize_optional_listen_address, serialize_optional_address};
use crate::http_server::trusted_proxies::{Network, TrustedProxies};

/// TLS of the server.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TlsSettings {
    /// File with the certificate and its chain, in PEM. Empty for no TLS.
    pub certificate: String,
    /// File with the private key, in PEM.
    pub key: String,
    /// Where requests without TLS are redirected; `None` for nowhere.
    #[serde(
        deserialize_with = "deserialize_optional_listen_address",
        serialize_with = "serialize_optional_address"
    )]
    pub redirect_listen: Option<SocketAddr>,
    /// Seconds for which browsers use only https; 0 to not send the header.
    pub hsts_seconds: u32,
}

impl TlsSettings {
    /// Whether the server has TLS of its own.
    pub const fn is_enabled(&self) -> bool {
        !self.certificate.is_empty()
    }
}

pub(super) fn deserialize_proxies<'de, D: Deserializer<'de>>(from: D) -> Result<TrustedProxies, D::Error> {
    let texts = Vec::<String>::deserialize(from)?;
    let networks: Result<Vec<Network>, String> = texts.iter().map(|text| text.parse()).collect();
    networks.map(TrustedProxies::new).map_err(D::Error::custom)
}

pub(super) fn serialize_proxies<S: Serializer>(
    proxies: &TrustedProxies,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(proxies.networks().iter().map(ToString::to_string))
}
