//! The network of a client. Limits on requests and connections apply to networks, since one client can have many
//! addresses.

use std::net::{IpAddr, Ipv6Addr};

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
    use super::*;

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
