//! What settings require of each other.

use super::settings::{BlobKind, Settings};

/// Something that is wrong with several settings together.
pub(super) struct Contradiction {
    /// The settings. The first one that was set is the origin of the error.
    pub(super) keys: &'static [&'static str],
    /// What is wrong, and what to do.
    pub(super) message: String,
}

/// Returns the first contradiction.
pub(super) fn find_contradiction(settings: &Settings) -> Option<Contradiction> {
    find_missing_of_s3(settings).or_else(|| find_missing_of_replication(settings)).or_else(|| find_missing_of_tls(settings)).or_else(|| find_loop(settings)).or_else(|| {
        let (body, memory) = (settings.server.max_body_bytes, u64::from(settings.limits.memory_mb) << 20);
        let (readings, started) = (settings.jobs.readings, settings.jobs.started);
        let (file, repository) = (settings.repositories.max_file_bytes, settings.repositories.max_bytes);
        [
            (
                memory > 0 && body > memory / 4,
                &["server.max_body_bytes", "limits.memory_mb"][..],
                format!(
                    "server.max_body_bytes is {body}, but a team can use a quarter of limits.memory_mb, which is {}; lower \
                     the first, or raise the second to {}",
                    memory / 4,
                    (4 * body).div_ceil(1 << 20)
                ),
            ),
            (
                readings > started,
                &["jobs.readings", "jobs.started"],
                format!("jobs.readings is {readings}, but jobs.started, which includes them, is {started}; raise jobs.started"),
            ),
            (
                file > repository,
                &["repositories.max_file_bytes", "repositories.max_bytes"],
                format!(
                    "repositories.max_file_bytes is {file}, but a repository can have only repositories.max_bytes, {repository}; \
                     lower the first, or raise the second"
                ),
            ),
        ]
        .into_iter()
        .find(|(is_wrong, ..)| *is_wrong)
        .map(|(_, keys, message)| Contradiction { keys, message })
    })
}

/// Returns an error if the server would replicate a database whose commits are not counted.
fn find_missing_of_replication(settings: &Settings) -> Option<Contradiction> {
    let replication = &settings.replication;
    let is_missing = !replication.destination.is_empty() && !replication.litestream;
    is_missing.then(|| Contradiction {
        keys: &["replication.destination", "replication.litestream"],
        message: "replication.destination is set, but replication.litestream is not; set it to true"
            .to_owned(),
    })
}

/// Returns an error if a redirect would lead to itself.
fn find_loop(settings: &Settings) -> Option<Contradiction> {
    let is_loop = settings.tls.redirect_listen.is_some() && settings.server.public_url.starts_with("http://");
    is_loop.then(|| Contradiction {
        keys: &["tls.redirect_listen", "server.public_url"],
        message:
            "tls.redirect_listen redirects to server.public_url, which begins with http; let it begin with https"
                .to_owned(),
    })
}

/// Returns an error if TLS is configured incompletely.
fn find_missing_of_tls(settings: &Settings) -> Option<Contradiction> {
    let tls = &settings.tls;
    let (keys, message): (&[&str], _) = match (tls.certificate.is_empty(), tls.key.is_empty()) {
        (false, true) => (
            &["tls.certificate"],
            "tls.key is empty, but tls.certificate is set; set it to the file with the private key",
        ),
        (true, false) => (
            &["tls.key"],
            "tls.certificate is empty, but tls.key is set; set it to the file with the certificate",
        ),
        (true, true) if tls.redirect_listen.is_some() => (
            &["tls.redirect_listen"],
            "tls.redirect_listen is set, but there is no TLS to redirect to; set tls.certificate and tls.key",
        ),
        _ => return None,
    };
    Some(Contradiction { keys, message: message.to_owned() })
}

/// Returns what a store for uploads lacks that is not the data directory.
fn find_missing_of_s3(settings: &Settings) -> Option<Contradiction> {
    let blobs = &settings.blobs;
    let values = [
        ("blobs.bucket", blobs.bucket.is_empty(), "the name of a bucket, such as \"market-uploads\""),
        ("blobs.access_key_id", blobs.access_key_id.is_empty(), "the ID of an access key"),
        (
            "blobs.secret_access_key",
            blobs.secret_access_key.reveal().is_none(),
            "the secret of the access key",
        ),
    ];
    let (key, _, what) =
        values.into_iter().find(|(_, is_empty, _)| blobs.kind == BlobKind::S3 && *is_empty)?;
    let message = format!("{key} is empty, but blobs.kind is \"s3\"; set it to {what}");
    Some(Contradiction { keys: &["blobs.kind"], message })
}
