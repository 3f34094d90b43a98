//! Checks settings that only the network can confirm. A server does this once, at its start, and logs problems.

use std::{
    net::{TcpStream, ToSocketAddrs},
    path::Path,
    thread,
    time::Duration,
};

use url::Url;

use crate::{
    blobs::S3,
    config::{BlobKind, RepositorySettings, Settings},
    error::ErrorChain,
    market::Market,
};

/// How long a host may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Logs a warning for each directory, host, and store of the settings that cannot be used. Checks that need the network run on
/// a thread, so the start does not wait for them.
pub fn check(market: &Market) {
    warn_of_missing_directories(market.settings());
    let hosts = hosts(market.settings());
    let blobs = market.settings().blobs.clone();
    if hosts.is_empty() && blobs.kind == BlobKind::Local {
        return;
    }
    let work = move || {
        if blobs.kind == BlobKind::S3
            && let Err(cause) = S3::check_access(&blobs)
        {
            let (cause, key) = (ErrorChain(&cause).to_string(), "blobs.endpoint");
            tracing::warn!(key, cause, "the store for uploads cannot be used, so uploads are going to fail");
        }
        for (key, url) in hosts {
            if let Err(cause) = connect(&url) {
                tracing::warn!(key, %url, cause, "the host cannot be reached, so linking repositories is going to fail");
            }
        }
    };
    if let Err(cause) = thread::Builder::new().name("reachability".to_owned()).spawn(work) {
        tracing::warn!(%cause, "cannot start the thread that tries hosts");
    }
}

/// Logs a warning for each directory of local repositories that does not exist.
fn warn_of_missing_directories(settings: &Settings) {
    for (key, url) in repository_urls(&settings.repositories) {
        if url.strip_prefix("file://").is_some_and(|path| !Path::new(path).is_dir()) {
            tracing::warn!(key, url, "there is no such directory, so no repository can be linked from it");
        }
    }
}

/// Returns the hosts that the settings name, with their keys. The public hosts, which are the defaults, need no trial.
fn hosts(settings: &Settings) -> Vec<(&'static str, Url)> {
    let defaults = Settings::default();
    let named = repository_urls(&settings.repositories)
        .into_iter()
        .zip(repository_urls(&defaults.repositories))
        .filter(|((_, url), (_, default))| url != default)
        .filter_map(|((key, url), _)| Some((key, Url::parse(url).ok()?)));
    named.filter(|(_, url)| url.scheme() != "file").collect()
}

fn repository_urls(settings: &RepositorySettings) -> [(&'static str, &str); 6] {
    [
        ("repositories.github_url", &settings.github_url),
        ("repositories.gitlab_url", &settings.gitlab_url),
        ("repositories.bitbucket_url", &settings.bitbucket_url),
        ("repositories.github_api_url", &settings.github_api_url),
        ("repositories.gitlab_api_url", &settings.gitlab_api_url),
        ("repositories.bitbucket_api_url", &settings.bitbucket_api_url),
    ]
}

fn connect(url: &Url) -> Result<(), String> {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let port = url.port_or_known_default().unwrap_or_default();
    let addresses = (host, port).to_socket_addrs().map_err(|cause| cause.to_string())?;
    let mut last = "the host has no address".to_owned();
    for address in addresses {
        match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
            Ok(_) => return Ok(()),
            Err(cause) => last = cause.to_string(),
        }
    }
    Err(last)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn only_hosts_that_the_settings_name_are_tried() {
        let mut settings = Settings::default();
        assert!(hosts(&settings).is_empty());
        settings.repositories.github_url = "file:///srv".to_owned();
        settings.repositories.gitlab_url = "http://127.0.0.1:1".to_owned();
        settings.repositories.gitlab_api_url = String::new();
        let keys: Vec<&str> = hosts(&settings).into_iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["repositories.gitlab_url"]);
    }

    #[test]
    fn connection_says_why_it_failed() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = Url::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
        assert_eq!(connect(&url), Ok(()));
        drop(listener);
        assert!(connect(&url).unwrap_err().contains("refused"));
    }
}
