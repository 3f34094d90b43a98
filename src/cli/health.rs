//! The `marketplace health` command, for health checks of containers, and scripts that wait for a server.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use clap::Args;
use reqwest::{StatusCode, Url};
use serde::Deserialize;

use super::{CommandError, CommandResult, GlobalOptions, print_line, server_url};
use crate::{
    config::Settings,
    error::ErrorChain,
    http_client,
    web::monitoring::{ALIVE_PATH, READY_PATH},
};

/// Maximum number of bytes of a response that are read. A response has some hundred.
const MAX_ANSWER_BYTES: u64 = 1 << 16;

/// Ask a server whether it is ready.
///
/// Exits with 1 if it is not, or does not respond. Without --url, the settings say where the server is: at
/// `metrics.listen`, or else at `server.listen`; with TLS, its certificate must be valid for `server.public_url`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  marketplace health\n  marketplace health --url https://market.example.com\n  marketplace health --alive"
)]
pub struct Health {
    /// URL of the server.
    #[arg(long = "url", value_name = "URL")]
    at: Option<String>,
    /// Ask only whether the server responds. Use this to decide about a restart.
    #[arg(long)]
    alive: bool,
    /// Maximum time for the answer.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=600))]
    timeout: u64,
}

/// What the server says.
#[derive(Debug, Deserialize)]
struct State {
    status: String,
    failed: Vec<String>,
}

impl Health {
    pub(super) fn run(&self, options: &GlobalOptions) -> CommandResult {
        let server = match &self.at {
            Some(url) => Server { url: server_url::parse(url, "no key")?, address: None },
            None => local_server(&options.load_layers()?.resolve()?)?,
        };
        let path = if self.alive { ALIVE_PATH } else { READY_PATH };
        let url = format!("{}{path}", server.url.as_str().trim_end_matches('/'));
        let (status, body) = get(&server, &url, Duration::from_secs(self.timeout))?;
        let Ok(state) = serde_json::from_slice::<State>(&body) else {
            let message =
                format!("{url} responded with status {}, and not as a marketplace does", status.as_u16());
            return Err(CommandError::NoResponse(message));
        };
        if status.is_success() {
            print_line(state.status);
            return Ok(());
        }
        let failed = state.failed.join(", ");
        Err(CommandError::Other(format!("the server at {} is not ready: {failed}", server.url)))
    }
}

/// The location of a server.
struct Server {
    url: Url,
    /// The address to connect to, if it differs from that of the host in the URL.
    address: Option<SocketAddr>,
}

/// Returns the location of the server with these settings, as seen from this computer.
fn local_server(settings: &Settings) -> Result<Server, CommandError> {
    let address = settings.metrics.listen.unwrap_or(settings.server.listen);
    let address = SocketAddr::new(reachable(address.ip()), address.port());
    if settings.metrics.listen.is_some() || settings.tls.certificate.is_empty() {
        let url = Url::parse(&format!("http://{address}")).expect("an address is a valid host");
        return Ok(Server { url, address: None });
    }
    let public = Url::parse(&settings.server.public_url).ok();
    let url = public
        .as_ref()
        .and_then(Url::host_str)
        .and_then(|host| Url::parse(&format!("https://{host}:{}", address.port())).ok());
    let url = url.ok_or_else(|| {
        let message = "the server has TLS, but the settings do not say for which host its certificate is; set \
                       server.public_url or metrics.listen, or use --url";
        CommandError::Usage(message.to_owned())
    })?;
    Ok(Server { url, address: Some(address) })
}

/// Returns the address under which this computer reaches a server that listens on an address.
fn reachable(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(address) if address.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(address) if address.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        other => other,
    }
}

/// Returns the status and the body of the answer.
fn get(server: &Server, url: &str, timeout: Duration) -> Result<(StatusCode, Vec<u8>), CommandError> {
    let builder = http_client::blocking().map_err(|cause| CommandError::Other(cause.to_string()))?;
    let no_response = |cause: reqwest::Error| {
        CommandError::NoResponse(format!("no response from {url}: {}", ErrorChain(&cause.without_url())))
    };
    let builder = match (server.address, server.url.host_str()) {
        (Some(address), Some(host)) => builder.resolve(host, address),
        _ => builder,
    };
    let client = builder.timeout(timeout).build().map_err(no_response)?;
    let response = client.get(url).send().map_err(no_response)?;
    if let Some(problem) = http_client::redirection(response.status().as_u16(), response.headers(), url) {
        return Err(CommandError::NoResponse(problem));
    }
    let status = response.status();
    let mut body = Vec::new();
    let read = std::io::Read::read_to_end(&mut std::io::Read::take(response, MAX_ANSWER_BYTES), &mut body);
    read.map_err(|cause| CommandError::NoResponse(format!("no response from {url}: {cause}")))?;
    Ok((status, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_say_where_the_server_is() {
        let mut settings = Settings::default();
        let url = |settings: &Settings| local_server(settings).unwrap().url.to_string();
        assert_eq!(url(&settings), "http://127.0.0.1:8080/");
        settings.server.listen = "0.0.0.0:90".parse().unwrap();
        assert_eq!(url(&settings), "http://127.0.0.1:90/");
        settings.server.listen = "[::]:90".parse().unwrap();
        assert_eq!(url(&settings), "http://[::1]:90/");
        settings.tls.certificate = "certificate.pem".to_owned();
        assert!(matches!(local_server(&settings), Err(CommandError::Usage(_))));
        settings.server.public_url = "https://market.example.com/prefix".to_owned();
        assert_eq!(url(&settings), "https://market.example.com:90/");
        assert_eq!(local_server(&settings).unwrap().address, Some("[::1]:90".parse().unwrap()));
        settings.metrics.listen = Some("10.0.0.1:91".parse().unwrap());
        assert_eq!(url(&settings), "http://10.0.0.1:91/");
    }
}
