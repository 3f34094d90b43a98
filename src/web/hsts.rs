//! The header that makes browsers use only https for a host (RFC 6797). Responses over http must not have it.

use std::sync::Arc;

use poem::{
    Endpoint, Request, Response,
    http::{HeaderValue, header},
};

use crate::{config::Settings, http_server::trusted_proxies::TrustedProxies};

/// The value of the header, and the proxies that decide which responses get it.
#[derive(Clone, Debug)]
pub struct Hsts {
    value: Option<HeaderValue>,
    proxies: TrustedProxies,
}

impl Hsts {
    /// Creates the header that the settings specify.
    pub fn new(settings: &Settings) -> Hsts {
        let seconds = settings.tls.hsts_seconds;
        let value = (seconds > 0).then(|| HeaderValue::try_from(format!("max-age={seconds}")).ok()).flatten();
        Hsts { value, proxies: settings.proxies() }
    }

    /// Middleware that adds the header to responses over https.
    pub async fn layer<E: Endpoint<Output = Response>>(
        self,
        inner: Arc<E>,
        request: Request,
    ) -> poem::Result<Response> {
        let value = self.value.filter(|_| self.proxies.client(&request).is_https);
        let mut response = inner.as_ref().call(request).await?;
        if let Some(value) = value {
            response.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, value);
        }
        Ok(response)
    }
}
