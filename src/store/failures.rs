//! What the errors of the database mean.

use rusqlite::ffi;

use crate::error::{self, Error, ErrorChain};

/// Error codes that occur when a file system becomes read-only while files are open. They do not include failed reads, which
/// indicate damaged data.
const FAILED_WRITES: [i32; 8] = [
    ffi::SQLITE_IOERR_WRITE,
    ffi::SQLITE_IOERR_FSYNC,
    ffi::SQLITE_IOERR_DIR_FSYNC,
    ffi::SQLITE_IOERR_TRUNCATE,
    ffi::SQLITE_IOERR_DELETE,
    ffi::SQLITE_IOERR_LOCK,
    ffi::SQLITE_IOERR_SHMOPEN,
    ffi::SQLITE_IOERR_SHMLOCK,
];

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Error {
        let code = error.sqlite_error().map(|failure| failure.extended_code);
        // The second code is for the shared memory of the write-ahead log, which is a file, too.
        if matches!(code, Some(ffi::SQLITE_FULL | ffi::SQLITE_IOERR_SHMSIZE)) {
            tracing::error!(cause = %ErrorChain(&error), "the disk is full");
            return Error::storage_full();
        }
        if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) {
            tracing::warn!("another process writes to the database for long");
            return Error::database_locked();
        }
        let cannot_use = [rusqlite::ErrorCode::ReadOnly, rusqlite::ErrorCode::CannotOpen];
        if error.sqlite_error_code().is_some_and(|code| cannot_use.contains(&code))
            || code.is_some_and(|code| FAILED_WRITES.contains(&code))
        {
            tracing::error!(cause = %ErrorChain(&error), "the database cannot be written");
            return Error::storage_unavailable();
        }
        Error::internal_with_source("database", error)
    }
}

/// Whether an operation failed because the database did, for instance because a file could not be read. A
/// violated constraint is an error of the operation.
pub fn has_failed(error: &Error) -> bool {
    error::sources(error).filter_map(|source| source.downcast_ref::<rusqlite::Error>()).any(|failure| {
        failure.sqlite_error_code().is_some_and(|code| code != rusqlite::ErrorCode::ConstraintViolation)
    })
}

/// Whether an operation failed because a stored value is not of the form that it must have.
pub fn is_unreadable(error: &(dyn std::error::Error + 'static)) -> bool {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error};
    error::sources(error).filter_map(|source| source.downcast_ref()).any(|failure| {
        matches!(
            failure,
            FromSqlConversionFailure(..)
                | IntegralValueOutOfRange(..)
                | InvalidColumnType(..)
                | Utf8Error(..)
        )
    })
}

/// Whether an error says that the file of the database is damaged.
pub fn is_damage(error: &(dyn std::error::Error + 'static)) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    error::sources(error).any(|source| {
        let code = source.downcast_ref::<rusqlite::Error>().and_then(rusqlite::Error::sqlite_error_code);
        matches!(code, Some(DatabaseCorrupt | NotADatabase))
    })
}

/// Whether an error is caused by the machine, such as a full disk, and not by the data.
pub fn is_of_machine(error: &(dyn std::error::Error + 'static)) -> bool {
    use rusqlite::ErrorCode;
    const CODES: [ErrorCode; 8] = [
        ErrorCode::CannotOpen,
        ErrorCode::DatabaseBusy,
        ErrorCode::DatabaseLocked,
        ErrorCode::DiskFull,
        ErrorCode::OutOfMemory,
        ErrorCode::PermissionDenied,
        ErrorCode::ReadOnly,
        ErrorCode::SystemIoFailure,
    ];
    error::sources(error).any(|source| {
        let code = source.downcast_ref::<rusqlite::Error>().and_then(rusqlite::Error::sqlite_error_code);
        source.is::<std::io::Error>() || code.is_some_and(|code| CODES.contains(&code))
    })
}

/// Whether an insertion failed because the value of a unique column is taken.
pub fn is_unique_violation(error: &Error) -> bool {
    error::sources(error).filter_map(|source| source.downcast_ref::<rusqlite::Error>()).any(|error| {
        matches!(
            error.sqlite_error().map(|failure| failure.extended_code),
            Some(ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY)
        )
    })
}
