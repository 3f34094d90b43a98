//! Addresses to listen on and host names, as people write them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use serde::{Deserialize, Deserializer, Serializer, de::Error};

/// Maximum length of a host name in characters.
const MAX_NAME_LENGTH: usize = 255;

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

/// Whether this is a host name, or an IP address with or without brackets, and neither a URL nor a host with a port.
pub fn is_host_without_port(text: &str) -> bool {
    let in_brackets = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let is_part_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    match in_brackets {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => {
            text.parse::<IpAddr>().is_ok()
                || (1..=MAX_NAME_LENGTH).contains(&text.len()) && text.bytes().all(is_part_of_name)
        }
    }
}

pub(super) fn deserialize_listen_address<'de, D: Deserializer<'de>>(from: D) -> Result<SocketAddr, D::Error> {
    parse_listen_address(&String::deserialize(from)?).map_err(D::Error::custom)
}

pub(super) fn deserialize_optional_listen_address<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<SocketAddr>, D::Error> {
    match String::deserialize(from)?.as_str() {
        "" => Ok(None),
        address => parse_listen_address(address).map(Some).map_err(D::Error::custom),
    }
}

// serde requires this signature.
#[allow(clippy::ref_option)]
pub(super) fn serialize_optional_address<S: Serializer>(
    address: &Option<SocketAddr>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match address {
        Some(address) => serializer.collect_str(address),
        None => serializer.serialize_str(""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_no_scheme_and_no_port() {
        for host in ["market.example", "market", "my_service", "10.0.0.7", "::1", "[::1]", "2001:db8::7"] {
            assert!(is_host_without_port(host), "{host}");
        }
        for host in [
            "",
            "*",
            "market:8080",
            "[::1]:80",
            "http://market",
            "market/",
            "[market]",
            "[10.0.0.7]",
            "a b",
            "m\u{e4}rkt",
        ] {
            assert!(!is_host_without_port(host), "{host}");
        }
    }

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
