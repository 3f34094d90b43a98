//! The certificate of a server with TLS and its private key, which are read again when their files change.
//!
//! Only HTTP/1.1 is offered (ALPN), since the framing and the limits of this server are those of HTTP/1.1.

mod validity;

use std::{
    fs::{self, File},
    io::{self, Read},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use marketplace_text::encoding::without_byte_order_mark;
use tokio_rustls::rustls::{
    self, ServerConfig,
    crypto::ring,
    pki_types::{
        CertificateDer, PrivateKeyDer,
        pem::{self, PemObject},
    },
};

/// The only protocol that is offered.
const ALPN: &[u8] = b"http/1.1";

/// Maximum size in bytes of each file. A chain of certificates takes some kilobytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Minimum time between two checks of the files. A check happens when a client connects.
const CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// The reason why a certificate and its key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("{path} cannot be read: {cause}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// A file does not contain what it should.
    #[error("{path} is no {what} in PEM: {cause}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What it should contain.
        what: &'static str,
        /// Why it does not.
        cause: &'static str,
    },
    /// The key does not belong to the certificate, or one of them is of a kind that is not supported.
    #[error("the certificate {certificate} and the key {key} cannot be used together: {cause}")]
    Mismatch {
        /// The file with the certificate.
        certificate: PathBuf,
        /// The file with the key.
        key: PathBuf,
        /// Why.
        cause: rustls::Error,
    },
}

/// A certificate with its chain, and its private key.
#[derive(Debug)]
pub struct Certificates {
    certificate: PathBuf,
    key: PathBuf,
    state: Mutex<State>,
}

/// The pair of certificate and key for new connections.
#[derive(Debug)]
pub struct NewPair {
    pair: Pair,
    read: Option<[FileState; 2]>,
}

#[derive(Debug)]
struct Pair {
    config: Arc<ServerConfig>,
    /// The end of the validity of the certificate, in seconds of Unix time.
    valid_until: Option<i64>,
}

#[derive(Debug)]
struct State {
    /// The pair in use.
    pair: Pair,
    /// The states of the files when they were last read, even if they cannot be used. `None` if one could not be read:
    /// the cause may pass without changing them.
    read: Option<[FileState; 2]>,
    /// The time at which their states were last compared with these.
    checked_at: Instant,
    /// The reason why the files cannot be used as they are now. The previous pair is used meanwhile.
    failure: Option<String>,
}

/// The properties that change when a file changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileState {
    device: u64,
    inode: u64,
    size: u64,
    modified_at: (i64, i64),
    /// Also changes with the permissions, since a file that could not be read may become readable.
    changed_at: (i64, i64),
}

impl Certificates {
    /// Reads the files.
    pub fn load(certificate: &Path, key: &Path) -> Result<Certificates, TlsError> {
        let read = states([certificate, key]);
        let pair = read_pair(certificate, key)?;
        let state = State { pair, read, checked_at: Instant::now(), failure: None };
        Ok(Certificates {
            certificate: certificate.to_owned(),
            key: key.to_owned(),
            state: Mutex::new(state),
        })
    }

    /// Reads the files if they have changed since they were last read, or if they could not be used, without using them
    /// yet. Returns `None` if there is nothing new. [`Self::failure`] also returns the error until the files can be
    /// used.
    pub fn prepare(&self) -> Result<Option<NewPair>, TlsError> {
        // Taken before the files are read, so that a change meanwhile is seen later.
        let read = states([&self.certificate, &self.key]);
        {
            let mut state = self.lock();
            state.checked_at = Instant::now();
            if state.read == read && state.failure.is_none() {
                return Ok(None);
            }
        }
        match read_pair(&self.certificate, &self.key) {
            Ok(pair) => Ok(Some(NewPair { pair, read })),
            Err(error) => {
                self.keep_previous(&error, read);
                Err(error)
            }
        }
    }

    /// Records that the files with these states cannot be used.
    fn keep_previous(&self, error: &TlsError, read: Option<[FileState; 2]>) {
        let mut state = self.lock();
        let failure = error.to_string();
        // Logged once, although the files may be checked often.
        if state.failure.as_ref() != Some(&failure) {
            tracing::error!(%error, "certificate not replaced; the previous one stays in use");
        }
        let is_read = !matches!(error, TlsError::Unreadable { .. });
        (state.read, state.failure) = (read.filter(|_| is_read), Some(failure));
    }

    /// Uses a pair for new connections from now on.
    pub fn replace(&self, new: NewPair) {
        let mut state = self.lock();
        (state.pair, state.read, state.failure) = (new.pair, new.read, None);
        tracing::info!(certificate = %self.certificate.display(), "new certificate in use");
    }

    /// Uses the files if they have changed and can be used. Otherwise, the previous pair stays in use.
    pub fn reload_if_changed(&self) {
        let is_same = {
            let state = self.lock();
            state.read == states([&self.certificate, &self.key])
        };
        // The failure is kept, and logged.
        if !is_same && let Ok(Some(pair)) = self.prepare() {
            self.replace(pair);
        }
    }

    /// Returns why the files cannot be used as they are now; `None` if they are in use.
    pub fn failure(&self) -> Option<String> {
        self.lock().failure.clone()
    }

    /// Returns the end of the validity of the certificate in use, in seconds of Unix time. Checks the files first if the last
    /// check was a while ago. `None` if it is not known.
    pub async fn valid_until(this: &Arc<Certificates>) -> Option<i64> {
        Certificates::check_if_due(this).await;
        this.lock().pair.valid_until
    }

    /// Returns the configuration with the pair in use. Checks the files first if the last check was a while ago.
    pub(crate) async fn newest(this: &Arc<Certificates>) -> Arc<ServerConfig> {
        Certificates::check_if_due(this).await;
        Arc::clone(&this.lock().pair.config)
    }

    async fn check_if_due(this: &Arc<Certificates>) {
        let is_due = {
            let mut state = this.lock();
            let is_due = state.checked_at.elapsed() >= CHECK_INTERVAL;
            if is_due {
                // Other connections do not check at the same time.
                state.checked_at = Instant::now();
            }
            is_due
        };
        if is_due {
            let certificates = Arc::clone(this);
            // Fails if the process stops.
            let _ = tokio::task::spawn_blocking(move || certificates.reload_if_changed()).await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the states of both files; `None` if one is missing.
fn states(paths: [&Path; 2]) -> Option<[FileState; 2]> {
    let state = |path: &Path| {
        let file = fs::metadata(path).ok()?;
        Some(FileState {
            device: file.dev(),
            inode: file.ino(),
            size: file.size(),
            modified_at: (file.mtime(), file.mtime_nsec()),
            changed_at: (file.ctime(), file.ctime_nsec()),
        })
    };
    let [certificate, key] = paths.map(state);
    Some([certificate?, key?])
}

fn read_pair(certificate: &Path, key: &Path) -> Result<Pair, TlsError> {
    let malformed = |path: &Path, what: &'static str, cause: &pem::Error| TlsError::Malformed {
        path: path.to_owned(),
        what,
        cause: problem_with(cause),
    };
    let text = read_file(certificate)?;
    let chain: Result<Vec<CertificateDer>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let chain =
        chain.and_then(|chain| if chain.is_empty() { Err(pem::Error::NoItemsFound) } else { Ok(chain) });
    let chain = chain.map_err(|cause| malformed(certificate, "certificate", &cause))?;
    let text = read_file(key)?;
    if memchr::memmem::find(&text, b"ENCRYPTED").is_some() {
        let cause = "it is encrypted; write it without a passphrase";
        return Err(TlsError::Malformed { path: key.to_owned(), what: "private key", cause });
    }
    let private_key =
        PrivateKeyDer::from_pem_slice(&text).map_err(|cause| malformed(key, "private key", &cause))?;
    let valid_until = chain.iter().filter_map(|certificate| validity::end_of_validity(certificate)).min();
    // The cryptography is passed here, not installed for the whole process, so that the order of calls does not matter.
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, private_key));
    let mut config = config.map_err(|cause| TlsError::Mismatch {
        certificate: certificate.to_owned(),
        key: key.to_owned(),
        cause,
    })?;
    config.alpn_protocols = vec![ALPN.to_vec()];
    Ok(Pair { config: Arc::new(config), valid_until })
}

/// Returns the problem with a file in PEM. The texts of the library can repeat the file, which may be a private key.
const fn problem_with(cause: &pem::Error) -> &'static str {
    match cause {
        pem::Error::NoItemsFound => "it contains none",
        pem::Error::MissingSectionEnd { .. } => "the line with its end is missing",
        pem::Error::IllegalSectionStart { .. } => "the line with its beginning is damaged",
        pem::Error::Base64Decode(_) => "its text is damaged",
        _ => "it cannot be parsed",
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>, TlsError> {
    let read = || {
        // Opening a named pipe would wait for a writer.
        if !fs::metadata(path)?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        let mut bytes = Vec::new();
        File::open(path)?.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than 1 MB"));
        }
        Ok(without_byte_order_mark(&bytes).to_vec())
    };
    read().map_err(|cause| TlsError::Unreadable { path: path.to_owned(), cause })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As when the process has no descriptor left for a moment.
    #[test]
    fn files_that_could_not_be_read_are_read_again() {
        let directory = tempfile::tempdir().unwrap();
        let paths = ["certificate.pem", "key.pem"].map(|name| directory.path().join(name));
        let [certificate, key] = &paths;
        let write = || {
            let pair = rcgen::generate_simple_self_signed(["market.test".to_owned()]).unwrap();
            fs::write(certificate, pair.cert.pem()).unwrap();
            fs::write(key, pair.signing_key.serialize_pem()).unwrap();
        };
        write();
        let certificates = Certificates::load(certificate, key).unwrap();
        let config = || Arc::clone(&certificates.lock().pair.config);
        let first = config();
        write();
        let error =
            TlsError::Unreadable { path: key.clone(), cause: io::Error::other("Too many open files") };
        certificates.keep_previous(&error, states([certificate, key]));
        assert!(certificates.failure().is_some() && Arc::ptr_eq(&config(), &first));
        certificates.reload_if_changed();
        assert_eq!(certificates.failure(), None);
        assert!(!Arc::ptr_eq(&config(), &first));
        // Files that were read are read again only after they have changed.
        let second = config();
        fs::write(key, "no key").unwrap();
        certificates.reload_if_changed();
        let failure = certificates.failure();
        assert!(failure.is_some() && certificates.lock().read == states([certificate, key]));
        assert!(Arc::ptr_eq(&config(), &second));
    }
}
