//! Recognizes errors that are faults of the storage, and not of the stored data, by the type of any source.

use std::{error::Error as StdError, io, sync::Arc};

use rustix::io::Errno;

use crate::domain::error_sources::{BoxedError, sources};

/// The store of uploads failed, or could not be reached.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ObjectStoreFailed(pub BoxedError);

/// Whether a source means that the disk is full, or a disk quota is used up.
pub(super) fn is_full(source: &(dyn StdError + 'static)) -> bool {
    as_io_error(source).is_some_and(|error| {
        matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
    })
}

/// Whether a source means that files cannot be opened or written, or that the store of uploads cannot be used, for now.
pub(super) fn is_unavailable(source: &(dyn StdError + 'static)) -> bool {
    const ERRORS: [Errno; 4] = [Errno::MFILE, Errno::NFILE, Errno::ROFS, Errno::ACCESS];
    let number = as_io_error(source).and_then(Errno::from_io_error);
    number.is_some_and(|number| ERRORS.contains(&number)) || source.is::<ObjectStoreFailed>()
}

/// Whether a condition holds for an error or one of its sources.
pub(super) fn any(
    error: &(dyn StdError + 'static),
    condition: &dyn Fn(&(dyn StdError + 'static)) -> bool,
) -> bool {
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
