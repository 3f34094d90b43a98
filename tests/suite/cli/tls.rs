//! TLS of the server: handshakes, a certificate that is replaced while the server runs, redirects, and clients without TLS.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
    path::Path,
    process::Command,
    sync::Arc,
};

use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, ServerName},
};
use tempfile::TempDir;

use super::{Server, marketplace, run_failing, temp_dir, without_certificates};
use crate::harness::waiting::wait_until;

/// A market with TLS, and the directory with its certificate.
struct Market {
    server: Server,
    directory: TempDir,
}

/// Writes a new certificate and its key into a directory. Returns the certificate.
fn write_pair(directory: &Path) -> CertificateDer<'static> {
    write_pair_until(directory, 4096)
}

/// Like [`write_pair`]. The certificate is valid until the second day of a year.
fn write_pair_until(directory: &Path, year: i32) -> CertificateDer<'static> {
    let mut parameters = rcgen::CertificateParams::new(["market.test".to_owned()]).unwrap();
    parameters.not_after = rcgen::date_time_ymd(year, 1, 2);
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = parameters.self_signed(&key).unwrap();
    std::fs::write(directory.join("key.pem"), key.serialize_pem()).unwrap();
    std::fs::write(directory.join("certificate.pem"), certificate.pem()).unwrap();
    certificate.der().clone()
}

fn command(directory: &Path, settings: &[(&str, &str)]) -> Command {
    let mut command = marketplace(&["serve", "--demo", "--listen", "127.0.0.1:0"], directory);
    command.env("MARKETPLACE_TLS_CERTIFICATE", directory.join("certificate.pem"));
    command.env("MARKETPLACE_TLS_KEY", directory.join("key.pem"));
    command.env("MARKETPLACE_SERVER_TRUSTED_HOSTS", "[\"market.test\"]");
    command.envs(settings.iter().copied());
    command
}

/// Starts a market with a new certificate.
fn start(settings: &[(&str, &str)]) -> (Market, CertificateDer<'static>) {
    let directory = temp_dir();
    let certificate = write_pair(directory.path());
    let server = Server::spawn(command(directory.path(), settings));
    (Market { server, directory }, certificate)
}

impl Market {
    fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.server.1).unwrap()
    }

    /// Opens a connection for a client that trusts one certificate, and offers these protocols.
    fn connect_tls(
        &self,
        trusted: &CertificateDer<'static>,
        protocols: &[&str],
    ) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add(trusted.clone()).unwrap();
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder.with_safe_default_protocol_versions().unwrap();
        let mut config = builder.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
        let name = ServerName::try_from("market.test").unwrap();
        let mut connection = ClientConnection::new(Arc::new(config), name).unwrap();
        let mut socket = self.connect();
        while connection.is_handshaking() {
            connection.complete_io(&mut socket)?;
        }
        Ok(StreamOwned::new(connection, socket))
    }

    /// Requests a path. Returns the response with its head.
    fn get(&self, trusted: &CertificateDer<'static>, path: &str) -> io::Result<String> {
        let mut stream = self.connect_tls(trusted, &["http/1.1"])?;
        write!(stream, "GET {path} HTTP/1.1\r\nhost: market.test\r\nconnection: close\r\n\r\n")?;
        let mut response = String::new();
        stream.read_to_string(&mut response)?;
        Ok(response)
    }

    /// Requests a path until the response has a text, or until the certificate is trusted.
    fn get_until(&self, trusted: &CertificateDer<'static>, path: &str, expected: &str) {
        wait_until(expected, || {
            self.get(trusted, path).unwrap_or_else(|error| error.to_string()).contains(expected)
        });
    }
}

/// Sends text without TLS, and returns the response.
fn send_plain(mut stream: TcpStream, request: &str) -> String {
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

#[test]
fn requests_are_served_over_tls_by_http_1_only() {
    let (market, certificate) = start(&[("MARKETPLACE_TLS_HSTS_SECONDS", "300")]);
    let response = market.get(&certificate, "/vendor/openapi.json").unwrap();
    assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
    assert!(response.contains("strict-transport-security: max-age=300\r\n"), "{response}");
    let landing = market.get(&certificate, "/").unwrap();
    assert!(landing.contains("https://market.test") && !landing.contains("http://market.test"), "{landing}");
    let stream = market.connect_tls(&certificate, &["h2", "http/1.1"]).unwrap();
    assert_eq!(stream.conn.alpn_protocol(), Some(&b"http/1.1"[..]));
    let error = market.connect_tls(&certificate, &["h2"]).unwrap_err();
    assert!(error.to_string().contains("alert"), "{error}");
    // A certificate that was not asked for is not trusted.
    let other = temp_dir();
    let error = market.connect_tls(&write_pair(other.path()), &[]).unwrap_err();
    assert!(error.to_string().contains("certificate"), "{error}");
    assert_eq!(market.server.terminate(), 0);
}

#[test]
fn large_responses_and_bodies_pass_through_tls() {
    let (market, certificate) = start(&[]);
    let mut stream = market.connect_tls(&certificate, &[]).unwrap();
    // The body arrives in records of 16 KB, and a response follows on the same connection.
    let body = format!("{{\"name\": \"{}\"}}", "x".repeat(60_000));
    for _ in 0..2 {
        let head = "POST /v2/asset-groups HTTP/1.1\r\nhost: market.test\r\nauthorization: Bearer mkt_demo_vendor\r\n\
                    content-type: application/json";
        write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut start = [0; 12];
        stream.read_exact(&mut start).unwrap();
        assert_eq!(&start, b"HTTP/1.1 422");
        read_body(&mut stream);
    }
    write!(stream, "GET /operator/openapi.json HTTP/1.1\r\nhost: market.test\r\n\r\n").unwrap();
    let mut start = [0; 12];
    stream.read_exact(&mut start).unwrap();
    let body = read_body(&mut stream);
    assert!(&start == b"HTTP/1.1 200" && body.len() > 500_000, "{}", body.len());
    serde_json::from_slice::<serde_json::Value>(&body).unwrap();
}

/// Reads the rest of a response with a `Content-Length`. Returns the body.
fn read_body(stream: &mut impl Read) -> Vec<u8> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.extend(byte);
    }
    let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
    let length = head.split("content-length: ").nth(1).unwrap().split('\r').next().unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body).unwrap();
    body
}

#[test]
fn client_without_tls_is_told_so() {
    let (market, _) = start(&[]);
    let response = send_plain(market.connect(), "GET / HTTP/1.1\r\nhost: market.test\r\n\r\n");
    assert!(response.starts_with("HTTP/1.1 400 "), "{response}");
    assert!(response.contains("https://") && response.contains("\"error\""), "{response}");
    // Data that is neither HTTP nor TLS gets an alert, and the connection ends.
    let mut stream = market.connect();
    stream.write_all(&[0x80, 0x2e, 1, 0, 2, 0, 0, 0]).unwrap();
    let mut received = Vec::new();
    let _ = stream.read_to_end(&mut received);
    assert!(!received.starts_with(b"HTTP"), "{received:?}");
}

#[test]
fn command_says_that_the_system_trusts_no_certificates() {
    let (market, _) = start(&[]);
    let url = format!("https://{}", market.server.1);
    let command = marketplace(&["health", "--url", &url], market.directory.path());
    let output = without_certificates(command).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("this system trusts no certificates; install"), "{message}");
}

/// Returns an address that a server has logged when it started.
fn logged_address(market: &mut Market, name: &str) -> String {
    let field = format!(" {name}=");
    market.server.2.wait_for(&field);
    let log = market.server.2.read();
    let address = log.split(&field).nth(1).unwrap_or_else(|| panic!("{log}"));
    address.split_whitespace().next().unwrap().to_owned()
}

#[test]
fn metrics_say_when_the_first_certificate_in_use_expires() {
    let (mut market, _) = start(&[("MARKETPLACE_METRICS_LISTEN", "127.0.0.1:0")]);
    let address = logged_address(&mut market, "metrics_listen");
    let chain_path = market.directory.path().join("certificate.pem");
    let issuer = temp_dir();
    write_pair_until(issuer.path(), 2029);
    let issuer = std::fs::read_to_string(issuer.path().join("certificate.pem")).unwrap();
    // In January 2030, 2031, and 2029: that of the issuer expires first.
    for (year, others, expected) in
        [(2030, "", 1_893_542_400), (2031, "", 1_925_078_400), (2031, issuer.as_str(), 1_862_006_400)]
    {
        write_pair_until(market.directory.path(), year);
        let certificate = std::fs::read_to_string(&chain_path).unwrap();
        std::fs::write(&chain_path, certificate + others).unwrap();
        market.server.signal("HUP");
        let line = format!("\nmarketplace_certificate_expiration_timestamp_seconds {expected}.0\n");
        wait_until(&line, || {
            let request = "GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
            send_plain(TcpStream::connect(&address).unwrap(), request).contains(&line)
        });
    }
}

#[test]
fn requests_without_tls_are_redirected() {
    let (mut market, _) = start(&[("MARKETPLACE_TLS_REDIRECT_LISTEN", "127.0.0.1:0")]);
    let address = logged_address(&mut market, "redirect_listen");
    let port = market.server.1.rsplit_once(':').unwrap().1;
    for (host, expected) in [
        ("market.test:80", format!("https://market.test:{port}/v2/a?b=c")),
        ("evil.test", format!("https://127.0.0.1:{port}/v2/a?b=c")),
    ] {
        for method in ["GET", "POST"] {
            let request = format!(
                "{method} /v2/a?b=c HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer x\r\nconnection: close\r\n\r\n"
            );
            let response = send_plain(TcpStream::connect(&address).unwrap(), &request);
            assert!(response.starts_with("HTTP/1.1 308 "), "{response}");
            assert!(response.contains(&format!("location: {expected}\r\n")), "{response}");
            assert!(response.contains("\r\nx-request-id: "), "{response}");
            assert!(!response.contains("strict-transport"), "{response}");
        }
    }
    let url = format!("http://{address}");
    for arguments in [&["health"][..], &["team", "create", "Acme Data"]] {
        let arguments = [arguments, &["--url", &url]].concat();
        let mut command = marketplace(&arguments, market.directory.path());
        let output = command.env("MARKETPLACE_OPERATOR_KEY", "mkt_demo_operator").output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains(&format!(" redirects to https://127.0.0.1:{port}, and")), "{message}");
    }
}

#[test]
fn certificate_is_replaced_while_the_server_runs() {
    let (market, first) = start(&[]);
    let kept = market.connect_tls(&first, &[]).unwrap();
    let second = write_pair(market.directory.path());
    market.server.signal("HUP");
    market.get_until(&second, "/healthz", "HTTP/1.1 200 ");
    assert!(market.get(&first, "/healthz").is_err(), "the first one is no longer used");
    // A key that does not belong to the certificate changes nothing, and is reported.
    let elsewhere = temp_dir();
    write_pair(elsewhere.path());
    std::fs::copy(elsewhere.path().join("key.pem"), market.directory.path().join("key.pem")).unwrap();
    market.server.signal("HUP");
    market.get_until(&second, "/readyz", "\"notes\":[\"certificate_not_replaced\"]");
    assert!(market.get(&second, "/readyz").unwrap().starts_with("HTTP/1.1 200 "), "it can still work");
    let third = write_pair(market.directory.path());
    market.server.signal("HUP");
    market.get_until(&third, "/readyz", "\"failed\":[]}");
    // Connections of before go on.
    let mut kept = kept;
    write!(kept, "GET /healthz HTTP/1.1\r\nhost: market.test\r\nconnection: close\r\n\r\n").unwrap();
    let mut response = String::new();
    kept.read_to_string(&mut response).unwrap();
    assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
    assert_eq!(market.server.terminate(), 0);
}

/// The server looks at the files by itself, too, at most every two seconds, when somebody connects.
#[test]
fn certificate_is_replaced_without_a_signal() {
    let (market, _) = start(&[]);
    let second = write_pair(market.directory.path());
    let began = std::time::Instant::now();
    while market.get(&second, "/healthz").is_err() {
        assert!(began.elapsed().as_secs() < 60, "it is not replaced");
        std::thread::yield_now();
    }
}

/// Some editors write a byte order mark at the beginning of a text.
#[test]
fn files_with_a_byte_order_mark_are_read() {
    let directory = temp_dir();
    let certificate = write_pair(directory.path());
    for name in ["certificate.pem", "key.pem"] {
        let text = std::fs::read_to_string(directory.path().join(name)).unwrap();
        std::fs::write(directory.path().join(name), format!("\u{feff}{text}")).unwrap();
    }
    let server = Server::spawn(command(directory.path(), &[]));
    let market = Market { server, directory };
    assert!(market.get(&certificate, "/healthz").unwrap().starts_with("HTTP/1.1 200 "));
}

#[test]
fn handshake_takes_a_place_and_limited_time() {
    let limits = [("MARKETPLACE_SERVER_MAX_CONNECTIONS", "16"), ("MARKETPLACE_SERVER_HEADER_SECONDS", "5")];
    let (market, certificate) = start(&limits);
    // Clients that never finish their handshakes give way to others.
    let silent: Vec<TcpStream> = (0..40)
        .map(|number| {
            let mut stream = market.connect();
            // The first bytes of a record, from half of them.
            let _ = stream.write_all(if number % 2 == 0 { &[] } else { &[22, 3, 1, 2, 0, 1] });
            stream
        })
        .collect();
    assert!(market.get(&certificate, "/healthz").unwrap().starts_with("HTTP/1.1 200 "));
    for mut stream in silent {
        let mut received = Vec::new();
        let _ = stream.read_to_end(&mut received);
        assert!(received.is_empty(), "the connection is closed: {received:?}");
    }
}

#[test]
fn pair_that_cannot_be_used_is_an_error_at_the_start() {
    let directory = temp_dir();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    write_pair(directory.path());
    std::fs::write(path("empty.pem"), "").unwrap();
    std::fs::rename(path("key.pem"), path("other.pem")).unwrap();
    write_pair(directory.path());
    let text = std::fs::read_to_string(path("key.pem")).unwrap();
    let secret = text.lines().nth(1).unwrap();
    for (name, changed) in [
        ("one-line.pem", text.replace('\n', "")),
        ("escaped.pem", text.replace('\n', "\\n")),
        ("cut.pem", text.replace("-----END", "")),
        ("damaged.pem", text.replace(secret, &format!("{secret}!"))),
        ("encrypted.pem", text.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY")),
    ] {
        std::fs::write(path(name), changed).unwrap();
    }
    assert!(Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
    for (certificate, key, expected) in [
        ("certificate.pem", "one-line.pem", "no private key in PEM: the line with its end is missing"),
        ("certificate.pem", "escaped.pem", "no private key in PEM: the line with its beginning is damaged"),
        ("certificate.pem", "cut.pem", "no private key in PEM: the line with its end is missing"),
        ("certificate.pem", "damaged.pem", "no private key in PEM: its text is damaged"),
        ("certificate.pem", "encrypted.pem", "it is encrypted; write it without a passphrase"),
        ("certificate.pem", "pipe", "pipe cannot be read: it is not a regular file"),
        ("certificate.pem", "other.pem", "cannot be used together"),
        ("empty.pem", "key.pem", "empty.pem is no certificate in PEM: it contains none"),
        ("certificate.pem", "certificate.pem", "certificate.pem is no private key in PEM: it contains none"),
        ("none.pem", "key.pem", "none.pem cannot be read: No such file"),
    ] {
        let config = format!("[tls]\ncertificate = {:?}\nkey = {:?}\n", path(certificate), path(key));
        std::fs::write(path("tls.toml"), config).unwrap();
        let arguments = ["serve", "--listen", "127.0.0.1:0", "--config", "tls.toml"];
        let (code, message) = run_failing(&arguments, directory.path());
        assert!(code == 1 && message.contains(expected), "{certificate} {key}: {code} {message}");
        // Neither as text nor as a list of bytes.
        let bytes = format!("{:?}", secret.as_bytes());
        assert!(!message.contains(secret) && !message.contains(bytes.trim_matches(['[', ']'])), "{message}");
    }
}

/// A proxy that is trusted says that clients use https, so that cookies are for https only. Another one cannot.
#[test]
fn scheme_of_a_trusted_proxy_is_believed() {
    for (proxies, is_believed) in [("[\"127.0.0.1\"]", true), ("[\"10.0.0.1\"]", false)] {
        let directory = temp_dir();
        let mut command = marketplace(&["serve", "--demo", "--listen", "127.0.0.1:0"], directory.path());
        command.env("MARKETPLACE_SERVER_TRUSTED_PROXIES", proxies);
        command.env("MARKETPLACE_TLS_HSTS_SECONDS", "60");
        let server = Server::spawn(command);
        let body = "key=mkt_demo_buyer";
        let request = format!(
            "POST /console/sign-in HTTP/1.1\r\nhost: {}\r\nx-forwarded-for: 198.51.100.1\r\nx-forwarded-proto: https\r\n\
             content-type: application/x-www-form-urlencoded\r\nsec-fetch-site: same-origin\r\ncontent-length: {}\r\n\
             connection: close\r\n\r\n{body}",
            server.1,
            body.len()
        );
        let response = send_plain(TcpStream::connect(&server.1).unwrap(), &request).to_ascii_lowercase();
        let cookie = response
            .lines()
            .find(|line| line.starts_with("set-cookie: "))
            .unwrap_or_else(|| panic!("{response}"));
        assert_eq!(cookie.contains("__host-") && cookie.contains("; secure"), is_believed, "{cookie}");
        assert_eq!(response.contains("strict-transport-security: max-age=60"), is_believed, "{response}");
    }
}
