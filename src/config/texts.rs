//! Rules for the texts of settings. Each rule returns the problem with a text, and the right form.
//!
//! An error repeats the text unless it may contain a secret.

use std::fmt::Write;

use tracing_subscriber::EnvFilter;
use url::Url;

use super::listen::is_host_without_port;
use crate::domain::texts::{self, TextRule};

/// Checks a text, or each text of a list.
type Rule = fn(&str) -> Result<(), String>;

/// The settings that are texts or lists of texts, unless their type alone says what they can be.
pub(super) const RULES: [(&str, Rule); 43] = [
    ("server.public_url", |text| optional(text, public_url)),
    ("server.cors_origins", origin),
    ("server.trusted_hosts", host),
    ("tls.certificate", |text| optional(text, path_of_file)),
    ("tls.key", |text| optional(text, path_of_file)),
    ("contact.name", printable),
    ("contact.url", |text| optional(text, http_page)),
    ("contact.email", |text| optional(text, email)),
    ("data.folder", path),
    ("blobs.endpoint", |text| optional(text, http_url)),
    ("blobs.region", region),
    ("blobs.bucket", |text| optional(text, bucket)),
    ("blobs.prefix", key_prefix),
    ("blobs.access_key_id", secret),
    ("blobs.secret_access_key", secret),
    ("backups.endpoint", |text| optional(text, http_url)),
    ("backups.region", |text| optional(text, region)),
    ("backups.access_key_id", secret),
    ("backups.secret_access_key", secret),
    ("replication.destination", |text| optional(text, replica_source)),
    ("replica.primary_url", |text| optional(text, http_url)),
    ("replica.source", |text| optional(text, replica_source)),
    ("replica.litestream", path_of_file),
    ("repositories.github_url", repository_url),
    ("repositories.gitlab_url", repository_url),
    ("repositories.bitbucket_url", repository_url),
    ("repositories.github_api_url", |text| optional(text, http_url)),
    ("repositories.gitlab_api_url", |text| optional(text, http_url)),
    ("repositories.bitbucket_api_url", |text| optional(text, http_url)),
    ("repositories.github_token", secret),
    ("repositories.gitlab_token", secret),
    ("repositories.bitbucket_token", secret),
    ("agents.tools", tool_name),
    ("console.nda_file", |text| optional(text, path_of_file)),
    ("console.invoice_text", lines),
    ("console.banner", announcement),
    ("maintenance.text", |text| checked(texts::ANNOUNCEMENT, text)),
    ("console.terms_url", |text| optional(text, http_page)),
    ("console.privacy_url", |text| optional(text, http_page)),
    ("console.contact", |text| optional(text, page_or_email)),
    ("review.templates", note),
    ("log.filter", log_filter),
    ("agents.toolsets", printable),
];

/// Levels of log filters.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Maximum length of a text of several lines, in bytes.
const MAX_LINES_BYTES: usize = 4000;

/// Maximum length of a prefix of object keys, in bytes. A key has at most 1,024.
const MAX_PREFIX_BYTES: usize = 512;

fn optional(text: &str, rule: Rule) -> Result<(), String> {
    if text.is_empty() { Ok(()) } else { rule(text) }
}

/// Returns the message about a text that has another form.
fn not(what: &str, text: &str, right_form: &str) -> Result<(), String> {
    let shown = if text.contains('@') { String::new() } else { format!(", but is {text:?}") };
    Err(format!("must be {what}{shown}; write it as {right_form:?}"))
}

/// A base URL, to which paths are appended.
fn http_url(text: &str) -> Result<(), String> {
    let Some(url) = parse_http(text) else {
        return not("a URL with http:// or https://", text, &with_scheme(text));
    };
    without_extras(text, &url)
}

/// The base URL of links. Its path is also that of cookies, a part of headers, and of commands that people copy.
fn public_url(text: &str) -> Result<(), String> {
    http_url(text)?;
    let Some(url) = parse_http(text) else { return Ok(()) };
    let (_, rest) = text.split_once("://").unwrap_or_default();
    let path = rest.find(['/', '\\']).map_or("", |start| &rest[start..]).trim_end_matches('/');
    let mut right = String::new();
    for segment in url.path().split('/').filter(|segment| !segment.is_empty()) {
        right.push('/');
        push_encoded(segment, &mut right);
    }
    if text.is_ascii() && path == right {
        return Ok(());
    }
    let what = "a URL in ASCII, whose path has only letters, digits, and the characters `-._~%+:@=,` between single slashes";
    not(what, text, &format!("{}{right}", url.origin().ascii_serialization()))
}

/// Adds a segment to a path, and encodes what a cookie, a header, or a command would not take as a part of it.
fn push_encoded(segment: &str, path: &mut String) {
    for byte in segment.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~%+:@=,".contains(&byte) {
            path.push(char::from(byte));
        } else {
            // Writing to a `String` does not fail.
            let _ = write!(path, "%{byte:02X}");
        }
    }
}

/// The address of a page, which may have a query.
fn http_page(text: &str) -> Result<(), String> {
    match parse_http(text) {
        Some(_) => Ok(()),
        None => not("the address of a page with http:// or https://", text, &with_scheme(text)),
    }
}

fn parse_http(text: &str) -> Option<Url> {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"))?;
    // The library accepts more slashes, spaces at the ends, and quotes, which some programs leave around variables.
    let is_foreign = |char: char| char.is_whitespace() || char.is_control() || char == '"';
    let is_exact = !rest.starts_with('/') && !text.contains(is_foreign);
    Url::parse(text).ok().filter(|_| is_exact)
}

fn without_extras(text: &str, url: &Url) -> Result<(), String> {
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must not contain a user name or a password; set the key or the token instead".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        let end = text.find(['?', '#']).unwrap_or(text.len());
        return not("a URL without a query and a fragment", text, &text[..end]);
    }
    Ok(())
}

/// Returns a URL for a text without a scheme, with another one, or in quotes.
fn with_scheme(text: &str) -> String {
    let text = text.trim_matches(|char: char| char.is_whitespace() || char == '"' || char == '\'');
    if !text.contains('@') && parse_http(text).is_some() {
        return text.to_owned();
    }
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest).trim().trim_start_matches('/');
    let host = rest.split(['/', ':']).next().unwrap_or_default();
    let is_address = host.parse::<std::net::IpAddr>().is_ok() || host == "localhost" || rest.starts_with('[');
    let url = format!("{}://{rest}", if is_address { "http" } else { "https" });
    if !rest.contains('@') && parse_http(&url).is_some() { url } else { "https://example.com".to_owned() }
}

/// A Web origin; `*` for all.
fn origin(text: &str) -> Result<(), String> {
    let what = "a Web origin: a scheme, a host, and a port if it is not the usual one";
    let Some(url) = parse_http(text) else {
        return if text == "*" { Ok(()) } else { not(what, text, &with_scheme(text)) };
    };
    let origin = url.origin().ascii_serialization();
    if text.strip_suffix('/').unwrap_or(text) == origin { Ok(()) } else { not(what, text, &origin) }
}

/// A host of this server, by which clients may reach it.
fn host(text: &str) -> Result<(), String> {
    if is_host_without_port(text) {
        return Ok(());
    }
    not("a host name or an IP address without scheme and port", text, "market.example")
}

/// A base URL of repositories.
fn repository_url(text: &str) -> Result<(), String> {
    let Some(path) = text.strip_prefix("file://") else {
        let Some(url) = parse_http(text) else {
            return not("a URL with https://, http://, or file://", text, &with_scheme(text));
        };
        return without_extras(text, &url);
    };
    if path.starts_with('/') && path.len() > 1 && !path.contains(char::is_control) {
        return Ok(());
    }
    not("the URL of an absolute directory", text, &format!("file:///{}", path.trim_start_matches(['.', '/'])))
}

fn email(text: &str) -> Result<(), String> {
    let is_email = text.split_once('@').is_some_and(|(name, domain)| {
        !name.is_empty() && !domain.is_empty() && !domain.contains(['@', '"', '\''])
    });
    if is_email && !text.contains(|char: char| char.is_whitespace() || char.is_control()) {
        return Ok(());
    }
    Err(format!("must be an email address, but is {text:?}; write it as \"api@example.com\""))
}

/// The address of a page, or `mailto:` with an email address.
fn page_or_email(text: &str) -> Result<(), String> {
    match text.strip_prefix("mailto:") {
        Some(address) => email(address),
        None if text.contains('@') && !text.contains("://") => {
            not("an address that begins with mailto: or https://", "@", "mailto:help@example.com")
        }
        None => http_page(text),
    }
}

/// A note to a vendor, or its beginning.
fn note(text: &str) -> Result<(), String> {
    checked(texts::NOTE, text)
}

fn checked(rule: TextRule, text: &str) -> Result<(), String> {
    rule.find_fault(text).map_or(Ok(()), |(_, fault)| Err(fault))
}

/// A text that may have several lines.
fn lines(text: &str) -> Result<(), String> {
    if text.len() > MAX_LINES_BYTES {
        return Err(format!("must have at most {MAX_LINES_BYTES} bytes, but has {}", text.len()));
    }
    if text.contains(|char: char| char.is_control() && char != '\n') {
        return Err("must contain no control characters except line breaks".to_owned());
    }
    Ok(())
}

/// A text that is shown above pages.
fn announcement(text: &str) -> Result<(), String> {
    checked(TextRule { min: 0, ..texts::ANNOUNCEMENT }, text)
}

fn printable(text: &str) -> Result<(), String> {
    if text.contains(char::is_control) {
        return Err(format!("must be one line without control characters, but is {text:?}"));
    }
    Ok(())
}

fn path(text: &str) -> Result<(), String> {
    if text.is_empty() || text.contains('\0') {
        return not("the path of a directory", text, "data");
    }
    independent_of_a_shell(text)
}

fn path_of_file(text: &str) -> Result<(), String> {
    if text.contains('\0') {
        return not("the path of a file", text, "nda.md");
    }
    independent_of_a_shell(text)
}

/// A path that does not depend on a shell, which replaces `~` and variables, and removes quotes. Elsewhere, such as in the file of
/// `docker run --env-file`, they would be in the name of a new directory.
fn independent_of_a_shell(text: &str) -> Result<(), String> {
    match text.chars().next() {
        Some(start @ ('~' | '$')) => {
            let rest = text.find('/').map_or("", |slash| &text[slash..]);
            not(&format!("a path that does not begin with {start}"), text, &format!("/home/ann{rest}"))
        }
        Some(quote @ ('"' | '\'')) => not("a path without quotes around it", text, text.trim_matches(quote)),
        _ => Ok(()),
    }
}

/// Where Litestream finds a database.
fn replica_source(text: &str) -> Result<(), String> {
    let right_form = "s3://bucket/prefix";
    let Ok(url) = Url::parse(text) else { return not("a URL", text, right_form) };
    let is_source = match url.scheme() {
        "s3" => url.host_str().is_some_and(|name| bucket(name).is_ok()) && url.query().is_none(),
        "file" => url.to_file_path().is_ok(),
        _ => false,
    };
    if is_source && url.username().is_empty() {
        Ok(())
    } else {
        not("a URL with s3:// or file:///", text, right_form)
    }
}

fn region(text: &str) -> Result<(), String> {
    let is_region = (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if is_region { Ok(()) } else { not("the name of a region", text, "us-east-1") }
}

fn bucket(text: &str) -> Result<(), String> {
    let is_bucket = (3..=255).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte))
        && text.starts_with(|char: char| char.is_ascii_alphanumeric());
    if is_bucket {
        return Ok(());
    }
    not("the name of a bucket: 3 or more letters, digits, periods, and hyphens", text, "market-uploads")
}

fn key_prefix(text: &str) -> Result<(), String> {
    let has_empty_part = text.starts_with('/') || text.split('/').any(|part| matches!(part, "." | ".."));
    if text.len() > MAX_PREFIX_BYTES
        || has_empty_part
        || text.contains("//")
        || text.contains(char::is_control)
    {
        let parts: Vec<&str> = text.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect();
        let right_form = parts.join("/").replace(char::is_control, "");
        let right_form = if right_form.len() > MAX_PREFIX_BYTES { "market".to_owned() } else { right_form };
        return not("a prefix of keys, which does not begin with a slash", text, &format!("{right_form}/"));
    }
    Ok(())
}

/// A key or a token, which is sent in a header.
fn secret(text: &str) -> Result<(), String> {
    if text.len() > 1 && ['"', '\''].iter().any(|quote| text.starts_with(*quote) && text.ends_with(*quote)) {
        return Err("must have no quotes around it".to_owned());
    }
    if text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(());
    }
    Err("must contain only visible ASCII characters, and no spaces or line breaks".to_owned())
}

fn tool_name(text: &str) -> Result<(), String> {
    let is_name = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    if is_name { Ok(()) } else { not("names of tools", text, "list_listings") }
}

fn log_filter(text: &str) -> Result<(), String> {
    const RIGHT_FORM: &str = "info,marketplace::search=debug";
    for directive in text.split(',').map(str::trim) {
        let is_level = LEVELS.iter().any(|level| directive.eq_ignore_ascii_case(level));
        // A level that is misspelled would be the name of a module.
        let names_module = directive.contains(['=', '['])
            || directive.starts_with("marketplace")
            || directive.contains("::");
        if !is_level && !names_module {
            return not(
                "levels (off, error, warn, info, debug, trace), optionally by module",
                text,
                RIGHT_FORM,
            );
        }
    }
    match EnvFilter::try_new(text) {
        Ok(_) => Ok(()),
        Err(cause) => Err(format!("is not a log filter: {cause}; write it as {RIGHT_FORM:?}")),
    }
}
