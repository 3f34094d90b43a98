//! Which errors are faults of the storage, rather than of what is stored.

use std::{error::Error as StdError, io, sync::Arc};

use rustix::io::Errno;

use super::{BoxedError, Error, sources};

/// The store of uploads failed, or could not be reached.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ObjectStoreFailed(pub BoxedError);

/// Whether an error or one of its sources means that the disk is full, or a disk quota is used up.
pub(super) fn is_full(error: &(dyn StdError + 'static)) -> bool {
    let is_full =
        |error: &io::Error| matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
    any(error, &|source| match as_io_error(source) {
        Some(error) => is_full(error),
        None => as_error(source).is_some_and(|error| matches!(error, Error::StorageFull { .. })),
    })
}

/// Whether an error or one of its sources means that files cannot be opened or written, or that the store of uploads cannot be
/// used, for now.
pub(super) fn is_unavailable(error: &(dyn StdError + 'static)) -> bool {
    const ERRORS: [Errno; 6] =
        [Errno::MFILE, Errno::NFILE, Errno::ROFS, Errno::ACCESS, Errno::PERM, Errno::NOMEM];
    any(error, &|source| match as_io_error(source) {
        Some(error) => Errno::from_io_error(error).is_some_and(|error| ERRORS.contains(&error)),
        None => {
            source.is::<ObjectStoreFailed>()
                || as_error(source).is_some_and(|error| matches!(error, Error::StorageUnavailable { .. }))
        }
    })
}

/// Whether a condition holds for an error or one of its sources.
fn any(error: &(dyn StdError + 'static), condition: &dyn Fn(&(dyn StdError + 'static)) -> bool) -> bool {
    sources(error).any(|source| {
        // `source` of an `io::Error` skips the error that it wraps.
        let wrapped = as_io_error(source).and_then(io::Error::get_ref);
        condition(source) || wrapped.is_some_and(|wrapped| any(wrapped, condition))
    })
}

fn as_io_error<'e>(source: &'e (dyn StdError + 'static)) -> Option<&'e io::Error> {
    let shared = || source.downcast_ref::<Arc<io::Error>>().map(AsRef::as_ref);
    source.downcast_ref::<io::Error>().or_else(shared)
}

fn as_error<'e>(source: &'e (dyn StdError + 'static)) -> Option<&'e Error> {
    source.downcast_ref::<Error>().or_else(|| source.downcast_ref::<Arc<Error>>().map(AsRef::as_ref))
}
