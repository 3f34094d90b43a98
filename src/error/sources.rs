//! Sources of errors: causes are kept as values, and joined to one line only for logs and operators.

use std::{borrow::Cow, error::Error as StdError, fmt, io, sync::Arc};

use super::Error;

/// Any error that can be the source of an internal error.
pub type BoxedError = Box<dyn StdError + Send + Sync>;

/// An error that says what failed, and keeps why.
#[derive(Debug)]
pub(super) struct ErrorWithSource {
    pub(super) message: Cow<'static, str>,
    pub(super) source: BoxedError,
}

impl fmt::Display for ErrorWithSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl StdError for ErrorWithSource {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(self.source.as_ref())
    }
}

/// Returns an error and its sources, outermost first.
pub fn sources<'e>(
    error: &'e (dyn StdError + 'static),
) -> impl Iterator<Item = &'e (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |error: &&'e (dyn StdError + 'static)| (*error).source())
}

/// Whether an error or one of its sources means that the disk is full, or a disk quota is used up.
pub(super) fn is_storage_full(error: &(dyn StdError + 'static)) -> bool {
    sources(error).any(|source| {
        let io_error = source
            .downcast_ref::<io::Error>()
            .or_else(|| source.downcast_ref::<Arc<io::Error>>().map(AsRef::as_ref));
        let error =
            source.downcast_ref::<Error>().or_else(|| source.downcast_ref::<Arc<Error>>().map(AsRef::as_ref));
        match (io_error, error) {
            (Some(error), _) => {
                // `source` of an `io::Error` skips the error that it wraps.
                matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
                    || error.get_ref().is_some_and(|wrapped| is_storage_full(wrapped))
            }
            (None, Some(error)) => matches!(error, Error::StorageFull { .. }),
            (None, None) => false,
        }
    })
}

/// Displays an error and its sources on one line, for logs and operators: `message: cause: cause of that`.
#[derive(Clone, Copy, Debug)]
pub struct ErrorChain<'e>(pub &'e (dyn StdError + 'static));

impl fmt::Display for ErrorChain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut previous = self.0.to_string();
        f.write_str(&previous)?;
        for source in sources(self.0).skip(1) {
            // Some libraries repeat the text of the source in their own.
            let text = source.to_string();
            if !previous.contains(&text) {
                write!(f, ": {text}")?;
                previous = text;
            }
        }
        Ok(())
    }
}
