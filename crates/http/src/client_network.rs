//! The network of a client: what limits on requests and connections count, since one client can have many
//! addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use poem::{Request, http::HeaderMap};

/// Request header in which proxies record the client address.
const FORWARDED_FOR: &str = "x-forwarded-for";

/// Returns the network of the client that sent a request. Requests without an address, such as those in
/// process, count as one client. `trust_forwarded_for` states whether a proxy recorded the address.
pub fn request_network(request: &Request, trust_forwarded_for: bool) -> IpAddr {
    client_network(client_address(request, trust_forwarded_for).unwrap_or(Ipv4Addr::UNSPECIFIED.into()))
}

/// Returns the address of the client that sent a request; `None` for a request in process.
pub fn client_address(request: &Request, trust_forwarded_for: bool) -> Option<IpAddr> {
    let forwarded = trust_forwarded_for.then(|| forwarded_for(request.headers())).flatten();
    forwarded.or_else(|| Some(request.remote_addr().as_socket_addr()?.ip()))
}

/// Returns the last address in `X-Forwarded-For`: the one that the nearest proxy recorded.
fn forwarded_for(headers: &HeaderMap) -> Option<IpAddr> {
    let last = headers.get_all(FORWARDED_FOR).iter().next_back()?.to_str().ok()?.rsplit(',').next()?;
    last.trim().parse().ok()
}

/// Returns the address under which a client is counted. An IPv6 address is reduced to its /64 network, since
/// a client usually has at least that; an IPv4-mapped IPv6 address is converted to IPv4.
pub fn client_network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use poem::http::{HeaderName, HeaderValue};

    use super::*;

    #[test]
    fn last_forwarded_address_is_used() {
        let forwarded_address = |values: &[&'static str]| {
            let name = HeaderName::from_static(FORWARDED_FOR);
            let headers = values.iter().map(|value| (name.clone(), HeaderValue::from_static(value)));
            forwarded_for(&headers.collect()).map(|address| address.to_string())
        };
        assert_eq!(forwarded_address(&["203.0.113.9, 192.0.2.1"]).as_deref(), Some("192.0.2.1"));
        assert_eq!(forwarded_address(&["203.0.113.9", "192.0.2.2"]).as_deref(), Some("192.0.2.2"));
        for values in [&[][..], &["unknown"], &["192.0.2.1, "]] {
            assert_eq!(forwarded_address(values), None);
        }
    }

    #[test]
    fn addresses_of_a_network_are_counted_together() {
        for (address, counted_as) in [
            ("192.0.2.7", "192.0.2.7"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
            ("2001:db8:1:2::1", "2001:db8:1:2::"),
        ] {
            assert_eq!(client_network(address.parse().unwrap()).to_string(), counted_as);
        }
    }
}
