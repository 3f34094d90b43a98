//! Which addresses the server may connect to when it fetches data for clients or sends webhooks: only public ones, in
//! whatever notation, so that no client can use the server to reach its private network (SSRF).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Returns whether an address belongs to the public internet, according to the special-purpose address
/// registries (RFC 6890). IPv6 addresses that embed an IPv4 address are judged by the embedded address.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => embedded_ipv4(address).map_or_else(|| is_public_v6(address), is_public_v4),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || a == 0 // "this network"
        || (a == 100 && (64..128).contains(&b)) // carrier-grade NAT
        || (a == 192 && b == 0 && c == 0) // protocol assignments
        || (a == 192 && b == 88 && c == 99) // 6to4 relays
        || (a == 198 && (18..20).contains(&b)) // benchmarking
        || a >= 224; // multicast, reserved, broadcast
    !is_special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, ..] = address.segments();
    // Only 2000::/3 is assigned as global unicast.
    let is_global = a & 0xe000 == 0x2000;
    let is_special = match a {
        // Protocol assignments (including Teredo) and documentation.
        0x2001 => b < 0x200 || b == 0x0db8,
        // Documentation.
        0x3fff => b < 0x1000,
        _ => false,
    };
    is_global && !is_special
}

/// Returns the IPv4 address that an IPv6 address embeds: mapped, compatible, translated (NAT64) or relayed
/// (6to4).
fn embedded_ipv4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let segments = address.segments();
    let v4 = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match segments {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => Some(v4(high, low)),
        _ => None,
    }
}

/// Returns whether the host of a URL is a non-public IP address literal in any notation, or missing. The
/// client connects to IP literals without the resolver, so the resolver below does not check them.
pub fn has_private_ip_host(url: &url::Url) -> bool {
    // The URL parser normalizes short, octal and hexadecimal notations.
    match url.host() {
        Some(url::Host::Ipv4(address)) => !is_public(address.into()),
        Some(url::Host::Ipv6(address)) => !is_public(address.into()),
        Some(url::Host::Domain(_)) => false,
        None => true,
    }
}

/// Maximum number of addresses of a name that are tried.
const MAX_ADDRESSES: usize = 8;

/// Why the server may not connect to the host of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressError {
    /// The name has no address, or cannot be looked up now.
    NotFound,
    /// None of the addresses is on the public internet.
    NotPublic,
}

/// Looks up the addresses of the host of a URL to which the server may connect, at least one. Blocks until the
/// resolver of the system has answered.
pub fn resolve(url: &url::Url, may_be_private: bool) -> Result<Vec<SocketAddr>, AddressError> {
    let port = url.port_or_known_default().unwrap_or(0);
    let found: Vec<SocketAddr> = match url.host() {
        Some(url::Host::Ipv4(address)) => vec![(address, port).into()],
        Some(url::Host::Ipv6(address)) => vec![(address, port).into()],
        Some(url::Host::Domain(name)) => {
            (name, port).to_socket_addrs().map_err(|_| AddressError::NotFound)?.collect()
        }
        None => Vec::new(),
    };
    if found.is_empty() {
        return Err(AddressError::NotFound);
    }
    let allowed = found.into_iter().filter(|address| may_be_private || is_public(address.ip()));
    let allowed: Vec<SocketAddr> = allowed.take(MAX_ADDRESSES).collect();
    if allowed.is_empty() { Err(AddressError::NotPublic) } else { Ok(allowed) }
}

/// A DNS resolver that returns only public addresses, and fails if a name has none.
#[derive(Clone, Copy, Debug)]
pub struct PublicResolver;

impl Resolve for PublicResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let name = name.as_str().to_owned();
            let addresses =
                tokio::task::spawn_blocking(move || (name.as_str(), 0).to_socket_addrs()).await??;
            let public: Vec<_> = addresses.filter(|address| is_public(address.ip())).collect();
            if public.is_empty() {
                return Err(NoPublicAddress.into());
            }
            Ok(Box::new(public.into_iter()) as Addrs)
        })
    }
}

/// Error of the resolver for a name without public addresses. The client returns it as a source of its own
/// error.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the name has no public address")]
pub struct NoPublicAddress;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_purpose_addresses_are_not_public() {
        let public = [
            "1.1.1.1",
            "140.82.112.3",
            "100.63.255.255",
            "2606:50c0:8000::153",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
        ];
        for address in public {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
        let private = [
            "127.0.0.1",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.0.1",
            "169.254.169.254",
            "100.64.0.1",
            "198.18.0.1",
            "192.0.0.8",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "192.0.2.1",
            "::",
            "::1",
            "fe80::1",
            "fc00::1",
            "fd12:3456::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001:db8::1",
            "2001::1",
            "64:ff9b:1::1",
            "100::1",
        ];
        for address in private {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn private_ip_literals_are_detected_in_every_notation() {
        let private = [
            "http://127.0.0.1/",
            "http://127.1/",
            "http://0x7f.1/",
            "http://2130706433/",
            "http://0177.0.0.1/",
            "http://[::1]/",
            "http://[::ffff:10.0.0.1]/",
            "http://169.254.169.254/latest",
        ];
        for url in private {
            assert!(has_private_ip_host(&url.parse().unwrap()), "{url}");
        }
        for url in ["https://github.com/a/b", "http://1.1.1.1/", "http://[2606:4700::1111]/"] {
            assert!(!has_private_ip_host(&url.parse().unwrap()), "{url}");
        }
    }

    #[test]
    fn literals_and_names_are_resolved_to_allowed_addresses() {
        let resolve = |url: &str, may_be_private| resolve(&url.parse().unwrap(), may_be_private);
        for url in ["https://127.0.0.1/a", "https://[::1]:8443/", "https://0x7f.1/", "https://localhost/"] {
            assert_eq!(resolve(url, false), Err(AddressError::NotPublic), "{url}");
            assert!(!resolve(url, true).unwrap().is_empty(), "{url}");
        }
        assert_eq!(resolve("https://1.1.1.1/", false), Ok(vec!["1.1.1.1:443".parse().unwrap()]));
        assert_eq!(resolve("http://1.1.1.1:81/", false), Ok(vec!["1.1.1.1:81".parse().unwrap()]));
        assert_eq!(resolve("https://name.invalid/", true), Err(AddressError::NotFound));
    }
}
