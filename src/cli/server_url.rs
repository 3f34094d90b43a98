//! URLs of servers on the command line.

use std::net::IpAddr;

use url::Url;

use super::{CommandError, print_note};

/// Parses the URL of a server. It may have a path, for a proxy that serves the marketplace below it, or end with the
/// prefix of the operator API. `key_source` is where the key belongs, which a URL must not contain.
pub fn parse(text: &str, key_source: &str) -> Result<Url, CommandError> {
    let problem = |problem: &str| CommandError::Usage(format!("the URL of the server {problem}: {text:?}"));
    let url = Url::parse(text.trim())
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https"))
        .ok_or_else(|| problem("must be complete and begin with http:// or https://"))?;
    if url.query().is_some() || url.fragment().is_some() {
        return Err(problem("must not have a query or a fragment"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        // The text is not repeated, since it contains a password.
        let message = format!("the URL of the server must not have a user name; use {key_source} instead");
        return Err(CommandError::Usage(message));
    }
    Ok(url)
}

/// Warns if keys would be sent to another computer unencrypted. `keys` says which, with a verb: "the keys are".
pub fn warn_if_unencrypted(url: &Url, keys: &str) {
    let host = url.host_str().unwrap_or_default();
    if url.scheme() == "http" && !is_loopback(host) {
        print_note(format_args!("warning: {keys} sent to {host} unencrypted; use an https URL"));
    }
}

/// Whether a host of a URL is this computer.
fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    address.map_or_else(
        |_| host == "localhost" || host.ends_with(".localhost"),
        |address| address.to_canonical().is_loopback(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_complete_and_have_no_credentials() {
        for url in ["http://127.0.0.1:8080", "https://example.com/market/", " http://[::1]:80 "] {
            assert!(parse(url, "X").is_ok(), "{url}");
        }
        for url in ["", "127.0.0.1:8080", "localhost:8080", "ftp://a", "http://", "http://a?b", "http://a#b"]
        {
            assert!(matches!(parse(url, "X"), Err(CommandError::Usage(_))), "{url}");
        }
        let message = parse("https://user:secret@example.com", "X").unwrap_err().to_string();
        assert!(message.contains("user name") && !message.contains("secret"), "{message}");
    }

    #[test]
    fn only_this_computer_is_loopback() {
        for host in ["127.0.0.1", "127.8.0.1", "[::1]", "[::ffff:127.0.0.1]", "localhost", "a.localhost"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["10.0.0.1", "[::2]", "example.com", "localhost.example.com", "127.0.0.1.example.com"] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
