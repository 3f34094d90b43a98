//! Why a database cannot be opened.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::error::{BoxedError, ErrorChain};

/// Reason why a database cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A newer version of the program created the database.
    #[error(
        "the database {path} was created by a newer version of marketplace; this is {this}, and the database needs {}, so \
         install that version, or point --data at another directory",
        .needed.as_deref().map_or_else(|| "a later one".to_owned(), |version| format!("{version} or a later one")),
        this = env!("CARGO_PKG_VERSION")
    )]
    NewerVersion {
        /// Path of the database file.
        path: PathBuf,
        /// The version that brought the database to its schema, if it is recorded.
        needed: Option<String>,
    },
    /// An older version of the program created the database, and it was opened read-only, so it cannot be
    /// migrated.
    #[error(
        "the database {0} was created by an older version of marketplace; run `marketplace reindex` on its directory once to bring it up to date"
    )]
    OlderVersion(PathBuf),
    /// The database does not exist, and was opened read-only, so it cannot be created. Contains the
    /// directory.
    #[error(
        "there is no market in {0}; create one with `marketplace serve --data {0}` or `marketplace seed`"
    )]
    Missing(PathBuf),
    /// The file cannot be opened, or it is not a database.
    #[error("cannot open the database {path}: {}", ErrorChain(.source.as_ref()))]
    Unusable {
        /// Path of the database file.
        path: PathBuf,
        /// The error of SQLite.
        source: BoxedError,
    },
}

impl OpenError {
    /// Fails unless there is a file at the path of a database. A lack of permissions does not mean that there is no file.
    pub fn require_file(path: &Path) -> Result<(), OpenError> {
        match path.metadata() {
            Ok(file) if file.is_file() => Ok(()),
            Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => {
                let message = format!("{cause}; run the command as the user that runs the server");
                Err(OpenError::unusable(path)(message))
            }
            _ => Err(OpenError::Missing(path.parent().unwrap_or(path).to_owned())),
        }
    }

    /// Returns a function that converts the cause of an [`OpenError::Unusable`].
    pub(super) fn unusable<E: Into<BoxedError>>(path: &Path) -> impl Fn(E) -> OpenError {
        move |source| OpenError::Unusable { path: path.to_owned(), source: source.into() }
    }
}
