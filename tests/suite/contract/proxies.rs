//! Who a client is behind proxies: from which entries its address and its scheme are taken, and from which they never are.

use marketplace::config::{Settings, SettingsSources};
use poem::{
    Addr, Body, Request, RequestParts,
    http::{self, uri::Scheme},
    web::{LocalAddr, RemoteAddr},
};
use proptest::prelude::*;

/// Returns settings that trust these proxies.
fn settings(proxies: &[&str]) -> Settings {
    let mut sources = SettingsSources::new();
    let proxies = toml::Value::Array(proxies.iter().map(|proxy| (*proxy).into()).collect());
    sources.set("server.trusted_proxies", proxies, "--test".to_owned()).unwrap();
    sources.resolve().unwrap()
}

/// Returns the address of the client of a request from `peer` with these headers, and whether it used https.
fn client(settings: &Settings, peer: &str, headers: &[(&str, &str)]) -> (String, bool) {
    let mut builder = http::Request::builder();
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    let (parts, ()) = builder.body(()).unwrap().into_parts();
    let address = |ip: &str| Addr::SocketAddr(std::net::SocketAddr::new(ip.parse().unwrap(), 1234));
    let (local, remote) = (LocalAddr(address("192.0.2.80")), RemoteAddr(address(peer)));
    let request =
        Request::from_parts(RequestParts::from((parts, local, remote, Scheme::HTTP)), Body::empty());
    let client = settings.proxies().client(&request);
    (client.address.unwrap().to_string(), client.is_https)
}

const FOR: &str = "x-forwarded-for";
const PROTO: &str = "x-forwarded-proto";
const FORWARDED: &str = "forwarded";

/// The address of the other end, the headers, and who the client is: its address, and whether it used TLS.
type Case = (&'static str, &'static [(&'static str, &'static str)], &'static str, bool);

/// An address that nobody trusts, the proxies, and what of a header the client wrote itself.
const CASES: [Case; 34] = [
    // Without a proxy, nothing is believed.
    ("203.0.113.9", &[], "203.0.113.9", false),
    ("203.0.113.9", &[(FOR, "198.51.100.1"), (PROTO, "https")], "203.0.113.9", false),
    ("203.0.113.9", &[(FORWARDED, "for=198.51.100.1;proto=https")], "203.0.113.9", false),
    ("203.0.113.9", &[(FOR, "10.0.0.1")], "203.0.113.9", false),
    // One proxy.
    ("127.0.0.1", &[], "127.0.0.1", false),
    ("127.0.0.1", &[(PROTO, "https")], "127.0.0.1", true),
    ("127.0.0.1", &[(FOR, "198.51.100.1"), (PROTO, "HTTPS")], "198.51.100.1", true),
    ("127.0.0.1", &[(FOR, "198.51.100.1"), (PROTO, "http")], "198.51.100.1", false),
    ("127.0.0.1", &[(FOR, "198.51.100.1"), (PROTO, "wss")], "198.51.100.1", false),
    ("::ffff:127.0.0.1", &[(FOR, "198.51.100.1")], "198.51.100.1", false),
    // Entries of the client are to the left of the entries of the proxy.
    ("127.0.0.1", &[(FOR, "1.1.1.1, 198.51.100.1"), (PROTO, "https")], "198.51.100.1", true),
    ("127.0.0.1", &[(FOR, "10.0.0.1, 198.51.100.1")], "198.51.100.1", false),
    ("127.0.0.1", &[(FOR, "1.1.1.1"), (FOR, "198.51.100.1")], "198.51.100.1", false),
    ("127.0.0.1", &[(FOR, "198.51.100.1"), (FORWARDED, "for=1.1.1.1")], "198.51.100.1", false),
    ("127.0.0.1", &[(FOR, "198.51.100.1"), (PROTO, "https, http")], "198.51.100.1", false),
    // Several hops.
    ("127.0.0.1", &[(FOR, "198.51.100.1, 10.0.0.7"), (PROTO, "https")], "198.51.100.1", true),
    ("127.0.0.1", &[(FOR, "198.51.100.1, 10.0.0.7"), (PROTO, "https, http")], "198.51.100.1", true),
    ("127.0.0.1", &[(FOR, "1.1.1.1,198.51.100.1,10.9.9.9,10.0.0.7")], "198.51.100.1", false),
    ("127.0.0.1", &[(FOR, "198.51.100.1, 203.0.113.7, 10.0.0.7")], "203.0.113.7", false),
    ("127.0.0.1", &[(FOR, "10.0.0.1, 10.0.0.7")], "10.0.0.1", false),
    // IPv6, ports, and brackets.
    ("fd00::1", &[(FOR, "2001:db8::7")], "2001:db8::7", false),
    ("127.0.0.1", &[(FOR, "[2001:db8::7]:443, fd00::9")], "2001:db8::7", false),
    ("127.0.0.1", &[(FOR, "198.51.100.1:1234")], "198.51.100.1", false),
    ("127.0.0.1", &[(FOR, "[2001:db8::7]")], "2001:db8::7", false),
    ("127.0.0.1", &[(FOR, "2001:db8::7, ::ffff:10.0.0.1")], "2001:db8::7", false),
    ("fe80::1", &[(FOR, "198.51.100.1")], "fe80::1", false),
    // Entries without an address: the last one that was known counts.
    ("127.0.0.1", &[(FOR, "198.51.100.1, unknown")], "127.0.0.1", false),
    ("127.0.0.1", &[(FOR, "198.51.100.1, unknown, 10.0.0.7")], "10.0.0.7", false),
    ("127.0.0.1", &[(FOR, "198.51.100.1,")], "127.0.0.1", false),
    ("127.0.0.1", &[(FOR, "198.51.100.1; drop"), (PROTO, "https")], "127.0.0.1", true),
    // Forwarded.
    ("127.0.0.1", &[(FORWARDED, "for=198.51.100.1;proto=https;by=10.0.0.1")], "198.51.100.1", true),
    (
        "127.0.0.1",
        &[(FORWARDED, r#"For="[2001:db8::7]:4711"; Proto=https, for=10.0.0.7;proto=http"#)],
        "2001:db8::7",
        true,
    ),
    ("127.0.0.1", &[(FORWARDED, "for=1.1.1.1;proto=https, for=198.51.100.1")], "198.51.100.1", false),
    ("127.0.0.1", &[(FORWARDED, "for=198.51.100.1, for=_hidden")], "127.0.0.1", false),
];

#[test]
fn client_is_the_first_address_that_is_no_trusted_proxy() {
    let settings = settings(&["127.0.0.1", "10.0.0.0/8", "fd00::/8"]);
    for (peer, headers, address, is_https) in CASES {
        let found = client(&settings, peer, headers);
        assert_eq!(found, (address.to_owned(), is_https), "{peer} {headers:?}");
    }
}

#[test]
fn no_proxy_is_trusted_unless_it_is_named() {
    for (peer, headers, ..) in CASES {
        let direct = peer.parse::<std::net::IpAddr>().unwrap().to_string();
        assert_eq!(client(&Settings::default(), peer, headers), (direct, false));
    }
    // All of them, and only those of one version of IP.
    let forwarded = [(FOR, "198.51.100.1, 203.0.113.7")];
    assert_eq!(client(&settings(&["0.0.0.0/0"]), "192.0.2.1", &forwarded).0, "198.51.100.1");
    assert_eq!(client(&settings(&["0.0.0.0/0"]), "2001:db8::1", &forwarded).0, "2001:db8::1");
    assert_eq!(client(&settings(&["::/0"]), "2001:db8::1", &forwarded).0, "203.0.113.7");
    assert_eq!(client(&settings(&["::ffff:192.0.2.0/120"]), "192.0.2.1", &forwarded).0, "203.0.113.7");
}

#[test]
fn setting_of_before_trusts_the_last_entry_of_anybody() {
    let mut settings = Settings::default();
    settings.limits.trust_forwarded_for = true;
    assert_eq!(settings.warnings().len(), 1);
    for (headers, address) in [
        (&[(FOR, "1.1.1.1, 198.51.100.1"), (PROTO, "https")][..], "198.51.100.1"),
        (&[(FOR, "198.51.100.1, ")], "203.0.113.9"),
        (&[(FORWARDED, "for=198.51.100.1")], "203.0.113.9"),
    ] {
        assert_eq!(client(&settings, "203.0.113.9", headers), (address.to_owned(), false));
    }
}

#[test]
fn proxy_that_was_forgotten_is_noticed_at_the_start() {
    let mut settings = Settings::default();
    assert!(settings.warnings().is_empty());
    settings.server.public_url = "https://market.example".to_owned();
    assert!(settings.warnings()[0].contains("server.trusted_proxies"), "{:?}", settings.warnings());
    settings.tls.certificate = "certificate.pem".to_owned();
    assert!(settings.warnings().is_empty());
}

proptest! {
    /// If each proxy adds its peer, a client cannot pretend to be another client or a proxy.
    #[test]
    fn client_cannot_choose_its_address(
        written in proptest::collection::vec("[ -~]{0,20}|10\\.0\\.0\\.[1-9]|1\\.1\\.1\\.1", 0..6),
        hops in 0_usize..4,
    ) {
        let settings = settings(&["127.0.0.1", "10.0.0.0/8"]);
        let mut entries = written;
        entries.push("198.51.100.1".to_owned());
        entries.extend((0..hops).map(|hop| format!("10.0.0.{hop}")));
        let header = entries.join(", ");
        prop_assert_eq!(client(&settings, "127.0.0.1", &[(FOR, &header)]).0, "198.51.100.1");
    }
}
