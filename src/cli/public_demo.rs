//! Demo markets at addresses that others can reach, whose keys everybody knows.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use clap::Args;

use super::{CommandError, CommandResult};
use crate::{
    config::{Settings, SettingsError, SettingsSources},
    web,
};

/// The setting that allows public demos.
const SETTING: &str = "server.allow_public_demo";

/// The flag that does so.
#[derive(Clone, Debug, Args)]
pub struct PublicDemoOptions {
    /// With --demo: allow an address that others can reach. Everybody knows the keys of the demo, one of which is an
    /// operator's, who can do anything.
    #[arg(long, requires = "demo")]
    allow_public_demo: bool,
}

impl PublicDemoOptions {
    /// Adds the flag to the settings.
    pub fn add_to(&self, sources: &mut SettingsSources) -> Result<(), SettingsError> {
        if self.allow_public_demo {
            sources.set(SETTING, true.into(), "--allow-public-demo".to_owned())?;
        }
        Ok(())
    }
}

/// Fails if a demo would listen on an address that others can reach, unless the settings allow it.
pub fn check(settings: &Settings) -> CommandResult {
    let server = &settings.server;
    if server.allow_public_demo || is_local(server.listen.ip()) {
        return Ok(());
    }
    Err(CommandError::Usage(format!(
        "others can reach {}, and everybody knows the keys of the demo market, one of which is an operator's; listen on \
         127.0.0.1, or allow it with --allow-public-demo, or with the setting {SETTING}",
        server.listen
    )))
}

/// Returns the URL by which others reach a server that listens on this address; `None` if they cannot.
pub fn url_for_others(settings: &Settings, address: SocketAddr) -> Option<String> {
    if !settings.server.public_url.is_empty() {
        return Some(settings.server.public_url.clone());
    }
    if is_local(address.ip()) {
        return None;
    }
    let ip = if address.ip().is_unspecified() { address_in_network(address.ip())? } else { address.ip() };
    Some(web::link_base::listen_url(settings, SocketAddr::new(ip, address.port())))
}

fn is_local(ip: IpAddr) -> bool {
    ip.to_canonical().is_loopback()
}

/// Returns the address of this machine that others see: that of packets to addresses elsewhere. Nothing is sent.
fn address_in_network(unspecified: IpAddr) -> Option<IpAddr> {
    // Addresses for documentation, which no network has.
    let v4 = || source_of(Ipv4Addr::UNSPECIFIED.into(), Ipv4Addr::new(192, 0, 2, 1).into());
    let v6 =
        || source_of(Ipv6Addr::UNSPECIFIED.into(), Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into());
    match unspecified {
        IpAddr::V4(_) => v4(),
        // A socket for IPv6 also accepts connections by IPv4.
        IpAddr::V6(_) => v4().or_else(v6),
    }
}

fn source_of(from: IpAddr, to: IpAddr) -> Option<IpAddr> {
    let socket = UdpSocket::bind(SocketAddr::new(from, 0)).ok()?;
    socket.connect(SocketAddr::new(to, 9)).ok()?;
    let ip = socket.local_addr().ok()?.ip();
    (!ip.is_unspecified() && !ip.is_loopback()).then_some(ip)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(listen: &str) -> Settings {
        let mut settings = Settings::default();
        settings.server.listen = listen.parse().unwrap();
        settings
    }

    #[test]
    fn public_demo_must_be_allowed() {
        for (listen, is_local) in [
            ("127.0.0.1:8080", true),
            ("127.8.8.8:0", true),
            ("[::1]:8080", true),
            ("[::ffff:127.0.0.1]:8080", true),
            ("0.0.0.0:8080", false),
            ("[::]:8080", false),
            ("192.168.1.7:80", false),
            ("[2001:db8::7]:80", false),
        ] {
            let mut settings = settings(listen);
            let refused = check(&settings).map_err(|error| error.to_string());
            assert_eq!(refused.is_ok(), is_local, "{listen}");
            if let Err(message) = refused {
                assert!(message.contains(listen) && message.contains("--allow-public-demo"), "{message}");
            }
            settings.server.allow_public_demo = true;
            assert!(check(&settings).is_ok(), "{listen}");
        }
    }

    #[test]
    fn others_use_the_public_url_or_an_address_of_the_network() {
        for (listen, public_url, expected) in [
            ("127.0.0.1:8080", "", None),
            ("127.0.0.1:8080", "https://market.example", Some("https://market.example")),
            ("192.0.2.7:8080", "", Some("http://192.0.2.7:8080")),
            ("[2001:db8::7]:80", "", Some("http://[2001:db8::7]:80")),
        ] {
            let mut settings = settings(listen);
            public_url.clone_into(&mut settings.server.public_url);
            assert_eq!(url_for_others(&settings, settings.server.listen).as_deref(), expected, "{listen}");
        }
        for listen in ["0.0.0.0:8080", "[::]:8080"] {
            let url = url_for_others(&settings(listen), listen.parse().unwrap());
            // A machine may have no network.
            assert!(url.is_none_or(|url| url.ends_with(":8080") && !url.contains("0.0.0.0")), "{listen}");
        }
    }
}
