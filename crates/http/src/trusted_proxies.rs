//! Finds out who sent a request that came through proxies: the address of the client, and whether it used TLS, as the
//! proxies that the server trusts have recorded them.
//!
//! The nearest proxy writes the rightmost entry. From there to the left, entries are believed as long as a trusted
//! proxy wrote them. Anybody can have written the entries before these.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    str::FromStr,
    sync::Arc,
};

use poem::{
    Request,
    http::{HeaderMap, uri::Scheme},
};

use crate::client_network::client_network;

/// Request headers in which proxies record the client, and the scheme that it used.
const FORWARDED_FOR: &str = "x-forwarded-for";
const FORWARDED_PROTO: &str = "x-forwarded-proto";
const FORWARDED: &str = "forwarded";

/// Maximum number of proxies between the client and the server. Further entries are not read.
const MAX_HOPS: usize = 32;

/// Number of bits of an IPv6 address before the IPv4 address that is mapped to it.
const MAPPED_BITS: u8 = 96;

/// A network: all addresses with the same first bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

impl Network {
    /// Whether an address belongs to the network. An IPv4-mapped IPv6 address is the IPv4 address.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                (network.to_bits() ^ address.to_bits()).checked_shr(32 - u32::from(self.prefix)).unwrap_or(0)
                    == 0
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                let shift = 128 - u32::from(self.prefix);
                (network.to_bits() ^ address.to_bits()).checked_shr(shift).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

/// Parses an address with a prefix length, or a single address without one. The error says what to write.
impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Network, String> {
        let (address, prefix) =
            text.split_once('/').map_or((text, None), |(address, prefix)| (address, Some(prefix)));
        let parsed = address.parse::<IpAddr>().ok().and_then(|address| {
            let bits = if address.is_ipv4() { 32 } else { 128 };
            let is_number =
                |prefix: &str| !prefix.is_empty() && prefix.bytes().all(|byte| byte.is_ascii_digit());
            let prefix = match prefix {
                None => bits,
                Some(prefix) => prefix.parse().ok().filter(|length| is_number(prefix) && *length <= bits)?,
            };
            Some(match (address, address.to_canonical()) {
                // The addresses of clients are compared as IPv4 addresses.
                (IpAddr::V6(_), mapped @ IpAddr::V4(_)) if prefix >= MAPPED_BITS => {
                    Network { address: mapped, prefix: prefix - MAPPED_BITS }
                }
                _ => Network { address, prefix },
            })
        });
        let network = parsed.ok_or_else(|| {
            format!(
                "must be an IP address or a network, but is {text:?}; write it as \"10.0.0.7\" or \"10.0.0.0/8\""
            )
        })?;
        // An address with bits after the prefix probably means another network.
        if network.first() != network.address {
            let Network { prefix, .. } = network;
            return Err(format!(
                "must be a network, but {text:?} has bits after its prefix; write it as \"{}/{prefix}\"",
                network.first()
            ));
        }
        Ok(network)
    }
}

impl Network {
    /// Returns the first address of the network.
    fn first(&self) -> IpAddr {
        match self.address {
            IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.prefix)).unwrap_or(0);
                Ipv4Addr::from_bits(address.to_bits() & mask).into()
            }
            IpAddr::V6(address) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.prefix)).unwrap_or(0);
                Ipv6Addr::from_bits(address.to_bits() & mask).into()
            }
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = if self.address.is_ipv4() { 32 } else { 128 };
        if self.prefix == bits { self.address.fmt(f) } else { write!(f, "{}/{}", self.address, self.prefix) }
    }
}

/// The proxies whose records of clients are believed.
#[derive(Clone, Debug, Default)]
pub struct TrustedProxies {
    networks: Arc<[Network]>,
    /// Whether the peer of each connection counts as a proxy, and no other address does.
    is_nearest_trusted: bool,
}

/// Who sent a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client {
    /// The address; `None` for a request in process.
    pub address: Option<IpAddr>,
    /// Whether the client used TLS.
    pub is_https: bool,
}

impl TrustedProxies {
    /// Trusts the proxies in these networks.
    pub fn new(networks: impl IntoIterator<Item = Network>) -> TrustedProxies {
        TrustedProxies { networks: networks.into_iter().collect(), is_nearest_trusted: false }
    }

    /// If `is_nearest_trusted`, also believes the last address of `X-Forwarded-For` when the other end of the connection is not a
    /// trusted proxy.
    #[must_use]
    pub fn and_nearest(mut self, is_nearest_trusted: bool) -> TrustedProxies {
        self.is_nearest_trusted |= is_nearest_trusted;
        self
    }

    /// Returns the networks of the proxies.
    pub fn networks(&self) -> &[Network] {
        &self.networks
    }

    /// Whether no proxy is trusted.
    pub fn is_empty(&self) -> bool {
        self.networks.is_empty() && !self.is_nearest_trusted
    }

    /// Whether a trusted proxy has this address.
    pub fn are_at(&self, address: IpAddr) -> bool {
        self.networks.iter().any(|network| network.contains(address))
    }

    /// Returns the network of the client that sent a request. Limits count by this network. Requests without an
    /// address, such as those in process, count as one client.
    pub fn client_network(&self, request: &Request) -> IpAddr {
        client_network(self.client(request).address.unwrap_or(Ipv4Addr::UNSPECIFIED.into()))
    }

    /// Returns who sent a request.
    pub fn client(&self, request: &Request) -> Client {
        let peer = request.remote_addr().as_socket_addr().map(SocketAddr::ip);
        let direct = Client { address: peer, is_https: request.scheme() == &Scheme::HTTPS };
        if self.is_empty() {
            return direct;
        }
        self.find_client(direct, request.headers())
    }

    /// Returns who sent a request with these headers, which the client `direct` of the connection sent on.
    fn find_client(&self, direct: Client, headers: &HeaderMap) -> Client {
        let is_trusted = |address| self.are_at(address);
        if !direct.address.is_some_and(is_trusted) {
            if !self.is_nearest_trusted {
                return direct;
            }
            let last = from_the_right(headers, FORWARDED_FOR).next().and_then(address_of_node);
            return Client { address: last.or(direct.address), ..direct };
        }
        // Only one of the headers is believed, since a proxy that writes one of them may pass on the other.
        if headers.contains_key(FORWARDED_FOR) {
            let nodes = from_the_right(headers, FORWARDED_FOR).map(address_of_node);
            let (address, hops) = walk(nodes, is_trusted);
            let mut schemes = from_the_right(headers, FORWARDED_PROTO).take(hops.max(1));
            let scheme = schemes.by_ref().last();
            return Client {
                address: address.or(direct.address),
                is_https: scheme.map_or(direct.is_https, is_https),
            };
        }
        if headers.contains_key(FORWARDED) {
            let elements = || from_the_right(headers, FORWARDED);
            let nodes = elements().map(|element| address_of_node(parameter(element, "for")?));
            let (address, hops) = walk(nodes, is_trusted);
            let scheme = elements().take(hops.max(1)).last().and_then(|element| parameter(element, "proto"));
            return Client {
                address: address.or(direct.address),
                is_https: scheme.map_or(direct.is_https, is_https),
            };
        }
        let scheme = from_the_right(headers, FORWARDED_PROTO).next();
        Client { is_https: scheme.map_or(direct.is_https, is_https), ..direct }
    }
}

/// Returns the first address, from the nearest proxy on, that does not belong to a trusted proxy, or else the last
/// address, and the number of entries up to it. An entry without an address ends the search.
fn walk(
    nodes: impl Iterator<Item = Option<IpAddr>>,
    is_trusted: impl Fn(IpAddr) -> bool,
) -> (Option<IpAddr>, usize) {
    let (mut found, mut hops) = (None, 0);
    for node in nodes.take(MAX_HOPS) {
        let Some(address) = node else { break };
        (found, hops) = (Some(address), hops + 1);
        if !is_trusted(address) {
            break;
        }
    }
    (found, hops)
}

/// Returns the entries of a header that is a list, last one first. Valid entries have no commas in quotes.
fn from_the_right<'h>(headers: &'h HeaderMap, name: &'static str) -> impl Iterator<Item = &'h str> {
    let values = headers.get_all(name).iter().rev();
    // A value that is not text cannot be believed, and neither can the entries before it.
    values.flat_map(|value| value.to_str().unwrap_or_default().rsplit(',')).map(str::trim)
}

/// Returns the value of a parameter of an element of `Forwarded`, without quotes.
fn parameter<'e>(element: &'e str, name: &str) -> Option<&'e str> {
    let mut pairs = element.split(';').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(known, _)| known.trim().eq_ignore_ascii_case(name))?;
    let value = value.trim();
    Some(value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value))
}

/// Returns the address of a node, which can have a port. Obfuscated names have no address.
fn address_of_node(node: &str) -> Option<IpAddr> {
    let address = node.parse::<IpAddr>().ok().or_else(|| {
        let in_brackets = || node.strip_prefix('[')?.strip_suffix(']')?.parse::<Ipv6Addr>().ok();
        in_brackets().map(IpAddr::V6).or_else(|| Some(node.parse::<SocketAddr>().ok()?.ip()))
    })?;
    Some(address.to_canonical())
}

fn is_https(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("https")
}
