//! Warnings about settings that are deprecated or work only in part, and the trusted proxies that some of them depend
//! on.

use super::settings::Settings;
use crate::http_server::trusted_proxies::TrustedProxies;

impl Settings {
    /// Returns the proxies whose records of clients are believed.
    pub fn proxies(&self) -> TrustedProxies {
        self.server.trusted_proxies.clone().and_nearest(self.limits.trust_forwarded_for)
    }

    /// Returns warnings about settings that are deprecated or work only in part.
    pub fn warnings(&self) -> Vec<&'static str> {
        let is_https = self.server.public_url.starts_with("https://");
        let mut warnings = Vec::new();
        if self.limits.trust_forwarded_for {
            warnings.push(
                "limits.trust_forwarded_for is replaced by server.trusted_proxies, and removed in the next version; set \
                 server.trusted_proxies to the address of the proxy",
            );
        }
        if is_https && !self.tls.is_enabled() && self.proxies().is_empty() {
            warnings.push(
                "server.public_url begins with https://, but there is no certificate, and no proxy is trusted, so all \
                 clients that come through a proxy share the limits of one address; set server.trusted_proxies to the \
                 address of the proxy",
            );
        }
        warnings
    }
}
