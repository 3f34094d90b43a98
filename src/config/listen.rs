//! Addresses to listen on, as people write them.

use std::net::{Ipv4Addr, SocketAddr};

/// Parses an address to listen on: an IP address or `localhost` with a port, or only a port, which is then one of
/// the loopback address. The error says what to write.
pub fn parse_listen_address(text: &str) -> Result<SocketAddr, String> {
    let loopback = |port: &str| Some(SocketAddr::from((Ipv4Addr::LOCALHOST, port.parse().ok()?)));
    let local_name = || loopback(text.strip_prefix("localhost:")?);
    let address = text.parse().ok().or_else(|| loopback(text)).or_else(local_name);
    address.ok_or_else(|| {
        format!(
            "{text:?} is not an address to listen on; write an IP address or localhost with a port, such as \
             127.0.0.1:8080, or only a port"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_alone_and_localhost_are_the_loopback_address() {
        for (text, expected) in [
            ("8080", Some("127.0.0.1:8080")),
            ("0", Some("127.0.0.1:0")),
            ("localhost:8080", Some("127.0.0.1:8080")),
            ("0.0.0.0:80", Some("0.0.0.0:80")),
            ("[::1]:80", Some("[::1]:80")),
            ("localhost", None),
            ("127.0.0.1", None),
            ("65536", None),
            (":8080", None),
            ("example.com:80", None),
            ("", None),
        ] {
            let parsed = parse_listen_address(text);
            assert_eq!(parsed.ok().map(|address| address.to_string()).as_deref(), expected, "{text}");
        }
    }
}
