//! Errors of the marketplace: stable error codes, and messages that say what was wrong and what to do next.
//!
//! This module is independent of the transport. `rest/problem.rs` maps errors to HTTP responses.

mod codes;
mod messages;
mod sentences;
mod storage;

use std::{borrow::Cow, error::Error as StdError, fmt, sync::Arc};

pub use self::{
    codes::{Code, GoneCode, StateCode},
    sentences::is_sentence,
    storage::ObjectStoreFailed,
};
use crate::domain::{
    aggregation::TooLarge, error_sources::ErrorWithSource, state_machine::InvalidTransition,
};
pub use crate::domain::{
    error_sources::{BoxedError, ErrorChain, sources},
    excerpt::{beginning, excerpt, quoted},
    name_lists::{MAX_NAMED, NameList, name_of},
    problem::{LocSegment, MAX_PROBLEMS, Problem},
    quotas::QuotaExcess,
};

/// The result of an operation of the marketplace.
pub type Result<T> = std::result::Result<T, Error>;

/// Seconds after which a client should retry a request that failed because the disk is full.
const STORAGE_RETRY_SECONDS: u64 = 60;

/// Seconds after which a client should retry a request for which the server could not use its storage.
const UNAVAILABLE_RETRY_SECONDS: u64 = 30;

/// Seconds after which a client should retry a write that failed because another process writes for long.
const LOCKED_RETRY_SECONDS: u64 = 5;

/// Seconds after which a client should retry a change during maintenance.
const MAINTENANCE_RETRY_SECONDS: u64 = 60;

/// Seconds after which a client should retry a search while the index is being rebuilt, and if nothing rebuilds it yet.
const INDEX_RETRY_SECONDS: u64 = 5;
const DAMAGED_INDEX_RETRY_SECONDS: u64 = 60;

/// Why an operation failed.
#[derive(Debug)]
pub enum Error {
    /// The request as a whole is malformed. The message says what to send instead.
    Malformed(String),
    /// The cursor is forged, truncated, or was issued for a different request.
    InvalidCursor,
    /// The header `Last-Event-ID` names no event at which a stream can begin.
    InvalidLastEventId,
    /// The API key is missing or invalid. The message says why.
    Unauthorized(String),
    /// The team lacks a marketplace role. Holds the roles that suffice.
    RoleRequired(&'static str),
    /// The operation is for teams, and the key is that of an operator.
    TeamKeyRequired,
    /// The operation is for operators, and the key is that of a team.
    OperatorRequired,
    /// The API key is only for signing in to the console.
    ApiScopeRequired,
    /// The API key is only for programs, and nobody can sign in to the console with it.
    ConsoleScopeRequired,
    /// The team has not accepted the mutual NDA.
    NdaRequired,
    /// The team has too few published listings to pass the browse gate.
    BrowseLocked {
        /// Number of published listings that the team has.
        published: u64,
        /// Number of published listings that the team needs.
        required: u64,
    },
    /// The request is for a host that is not known to be this server. The message says what to do.
    Misdirected(String),
    /// No team may do this. The message says why, and what to do instead.
    Forbidden(String),
    /// The resource does not exist, or the caller cannot access it. Holds its description, such as `listing`, or
    /// whole sentences.
    NotFound(String),
    /// No route matches the path. Holds the pages that document the routes; empty if the server has not named
    /// them.
    UnknownPath(String),
    /// The world does not exist, or has ended. Holds its name.
    WorldNotFound(String),
    /// The path does not support the request method. Holds the supported methods.
    MethodNotAllowed(Vec<String>),
    /// The request body did not arrive in time, or too slowly. The message says how fast to send it.
    RequestTimeout(String),
    /// The resource already exists or is in use. The message says which, and what to do.
    Conflict(String),
    /// The current state does not allow the operation. The code says why; the message says what to do.
    InvalidState(StateCode, String),
    /// The resource is no longer available. The code says why; the message says what to do.
    Gone(GoneCode, String),
    /// The request would exceed a quota.
    QuotaExceeded(QuotaExcess),
    /// Part numbers of an upload that are missing, or that the request does not list with their ETags.
    PartsMissing(Vec<u32>),
    /// The current state does not allow the transition.
    InvalidTransition {
        /// The current state.
        from: &'static str,
        /// The transitions that this state allows.
        allowed: Vec<&'static str>,
    },
    /// The record is not in the state that `If-Match` of the request requires.
    PreconditionFailed,
    /// The request body is too large.
    PayloadTooLarge {
        /// Maximum size of the body in bytes.
        max_bytes: u64,
    },
    /// The request body has content codings that the server does not decode. Holds their names.
    UnsupportedCoding(String),
    /// The request contains invalid values. Holds every problem found.
    Invalid(Vec<Problem>),
    /// The team or the client address has exceeded a rate limit.
    RateLimited {
        /// Description of the budget, for instance its name and its requests per minute.
        budget: String,
        /// Seconds until the next request is allowed.
        retry_seconds: u64,
    },
    /// The server is already processing the maximum number of requests.
    AtCapacity {
        /// Seconds after which the client should retry.
        retry_seconds: u64,
    },
    /// The response was not ready in time. The operation continues in the background.
    ResponseTimeout {
        /// Seconds after which the client should check for the result.
        retry_seconds: u64,
    },
    /// What was requested is being prepared in the background. Holds what that is, such as `bundle`.
    BeingPrepared {
        /// What is being prepared.
        what: &'static str,
        /// Seconds after which the client should retry.
        retry_seconds: u64,
    },
    /// The disk of the server has no space for the request. Nothing was changed.
    StorageFull {
        /// Seconds after which the client should retry.
        retry_seconds: u64,
    },
    /// The server cannot use its storage: it is read-only, no file can be opened, or the object store fails.
    StorageUnavailable {
        /// Seconds after which the client should retry.
        retry_seconds: u64,
    },
    /// Another process writes to the database for longer than a write waits for that. Nothing was changed.
    DatabaseLocked {
        /// Seconds after which the client should retry.
        retry_seconds: u64,
    },
    /// The search index has failed. Nothing was changed.
    IndexUnavailable {
        /// Whether this process is rebuilding it.
        is_rebuilding: bool,
        /// Seconds after which the client should retry.
        retry_seconds: u64,
    },
    /// The market is being maintained, and teams change nothing meanwhile.
    Maintenance {
        /// What the operator says about it.
        text: String,
        /// Seconds after which the client should retry.
        retry_seconds: u64,
    },
    /// An internal error. Its source is logged with all causes, and never sent to the client.
    Internal(BoxedError),
}

impl Error {
    /// Creates an [`Error::Invalid`] with a single problem.
    pub fn invalid(problem: Problem) -> Error {
        Error::Invalid(vec![problem])
    }

    /// Creates an [`Error::NotFound`]. `what` names what was looked up, such as `listing`.
    pub fn not_found(what: impl fmt::Display) -> Error {
        Error::NotFound(what.to_string())
    }

    /// Creates an [`Error::StorageFull`].
    pub const fn storage_full() -> Error {
        Error::StorageFull { retry_seconds: STORAGE_RETRY_SECONDS }
    }

    /// Creates an [`Error::StorageUnavailable`].
    pub const fn storage_unavailable() -> Error {
        Error::StorageUnavailable { retry_seconds: UNAVAILABLE_RETRY_SECONDS }
    }

    /// Creates an [`Error::DatabaseLocked`].
    pub const fn database_locked() -> Error {
        Error::DatabaseLocked { retry_seconds: LOCKED_RETRY_SECONDS }
    }

    /// Creates an [`Error::IndexUnavailable`].
    pub const fn index_unavailable(is_rebuilding: bool) -> Error {
        let retry_seconds = if is_rebuilding { INDEX_RETRY_SECONDS } else { DAMAGED_INDEX_RETRY_SECONDS };
        Error::IndexUnavailable { is_rebuilding, retry_seconds }
    }

    /// Creates an [`Error::Maintenance`].
    pub const fn maintenance(text: String) -> Error {
        Error::Maintenance { text, retry_seconds: MAINTENANCE_RETRY_SECONDS }
    }

    /// Whether a fault of the storage, or a long write of another process, is the cause, whatever was requested. It passes.
    pub const fn is_fault_of_storage(&self) -> bool {
        matches!(
            self,
            Error::StorageFull { .. } | Error::StorageUnavailable { .. } | Error::DatabaseLocked { .. }
        )
    }

    /// Creates an [`Error::Internal`] from an error or a text. If a source of the error is a full disk, the
    /// error is an [`Error::StorageFull`]; if it is another fault of the storage that will pass, it is an
    /// [`Error::StorageUnavailable`].
    pub fn internal(source: impl Into<BoxedError>) -> Error {
        let source = source.into();
        let is = |source: &(dyn StdError + 'static), is_fault: fn(&Error) -> bool| {
            let shared = || source.downcast_ref::<Arc<Error>>().map(AsRef::as_ref);
            source.downcast_ref::<Error>().or_else(shared).is_some_and(is_fault)
        };
        let is_full = |error: &Error| matches!(error, Error::StorageFull { .. });
        if storage::any(source.as_ref(), &|source| storage::is_full(source) || is(source, is_full)) {
            tracing::error!(cause = %ErrorChain(source.as_ref()), "the disk is full");
            return Error::storage_full();
        }
        let is_out = |error: &Error| matches!(error, Error::StorageUnavailable { .. });
        if storage::any(source.as_ref(), &|source| storage::is_unavailable(source) || is(source, is_out)) {
            tracing::error!(cause = %ErrorChain(source.as_ref()), "the storage is unavailable");
            return Error::storage_unavailable();
        }
        Error::Internal(source)
    }

    /// Creates an [`Error::Internal`] with a message that says what failed because of `source`.
    pub fn internal_with_source(
        message: impl Into<Cow<'static, str>>,
        source: impl Into<BoxedError>,
    ) -> Error {
        Error::internal(ErrorWithSource { message: message.into(), source: source.into() })
    }

    /// Returns the stable code of the error. [`Error::Invalid`] has none; it lists its problems instead.
    pub fn code(&self) -> Option<Code> {
        Some(match self {
            Error::Malformed(_) | Error::Misdirected(_) | Error::UnsupportedCoding(_) => Code::BadRequest,
            Error::InvalidCursor | Error::InvalidLastEventId => Code::InvalidCursor,
            Error::Unauthorized(_) => Code::Unauthorized,
            Error::RoleRequired(_) | Error::TeamKeyRequired => Code::MarketplaceRoleRequired,
            Error::OperatorRequired => Code::OperatorRequired,
            Error::NdaRequired => Code::NdaRequired,
            Error::BrowseLocked { .. } => Code::ListingBrowseLocked,
            Error::Forbidden(_) | Error::ApiScopeRequired | Error::ConsoleScopeRequired => Code::Forbidden,
            Error::NotFound(_) | Error::UnknownPath(_) => Code::NotFound,
            Error::WorldNotFound(_) => Code::WorldNotFound,
            Error::MethodNotAllowed(_) => Code::MethodNotAllowed,
            Error::RequestTimeout(_) => Code::RequestTimeout,
            Error::Conflict(_) => Code::Conflict,
            Error::InvalidState(code, _) => (*code).into(),
            Error::Gone(code, _) => (*code).into(),
            Error::PartsMissing(_) => Code::PartsMissing,
            Error::QuotaExceeded(_) => Code::QuotaExceeded,
            Error::StorageFull { .. } => Code::StorageFull,
            Error::InvalidTransition { .. } => Code::InvalidTransition,
            Error::PreconditionFailed => Code::PreconditionFailed,
            Error::PayloadTooLarge { .. } => Code::PayloadTooLarge,
            Error::RateLimited { .. } => Code::RateLimited,
            Error::AtCapacity { .. }
            | Error::ResponseTimeout { .. }
            | Error::BeingPrepared { .. }
            | Error::StorageUnavailable { .. }
            | Error::DatabaseLocked { .. }
            | Error::IndexUnavailable { .. }
            | Error::Maintenance { .. } => Code::AtCapacity,
            Error::Internal(_) => Code::InternalError,
            Error::Invalid(_) => return None,
        })
    }
}

/// Returns why the state of records refuses what was checked; `None` if it does not. Fails if the check failed for any other
/// reason.
pub fn refusal<T>(checked: Result<T>) -> Result<Option<String>> {
    match checked {
        Ok(_) => Ok(None),
        Err(Error::Conflict(message) | Error::InvalidState(_, message)) => Ok(Some(message)),
        Err(error) => Err(error),
    }
}

impl From<InvalidTransition> for Error {
    fn from(InvalidTransition { from, allowed }: InvalidTransition) -> Error {
        Error::InvalidTransition { from, allowed }
    }
}

impl From<TooLarge> for Error {
    fn from(_: TooLarge) -> Error {
        let message = "There are too many groups or records. Filter the list, or group by something else.";
        Error::invalid(Problem::query("group_by", "value_error", message))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // The chain of sources has the details.
            Error::Internal(_) => f.write_str("internal error"),
            // Without the code, which is for programs; operators and logs see this text.
            other => f.write_str(&other.message()),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Error::Internal(source) => Some(source.as_ref()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use serde_json::json;

    use super::*;
    use crate::string_enum::StringEnum;

    #[test]
    fn internal_error_keeps_its_source() {
        let closed = std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        let error = Error::internal_with_source("cannot write the file", closed);
        let found = sources(&error).find_map(|source| source.downcast_ref::<std::io::Error>());
        assert_eq!(found.map(std::io::Error::kind), Some(std::io::ErrorKind::BrokenPipe));
        assert_eq!(ErrorChain(&error).to_string(), "internal error: cannot write the file: broken pipe");
        assert_eq!(error.code(), Some(Code::InternalError));
        assert!(!error.message().contains("pipe"), "{}", error.message());
    }

    #[test]
    fn one_thing_is_not_written_in_the_plural() {
        let locked = |published| Error::BrowseLocked { published, required: 3 }.message();
        assert!(locked(1).starts_with("Your team has 1 published listing and needs 3 to"), "{}", locked(1));
        assert!(locked(2).starts_with("Your team has 2 published listings and"), "{}", locked(2));
        let late = |retry_seconds| Error::AtCapacity { retry_seconds }.message();
        assert!(late(1).ends_with("in 1 second.") && late(5).ends_with("in 5 seconds."), "{}", late(1));
    }

    #[test]
    fn full_disk_is_recognized_by_the_type_of_any_source() {
        use std::io::Write;
        let write_to_full_disk = || std::fs::File::create("/dev/full").unwrap().write_all(b"x").unwrap_err();
        let codes = [
            Error::internal(write_to_full_disk()),
            Error::internal_with_source("cannot write the file", write_to_full_disk()),
            Error::internal(io::Error::other(write_to_full_disk())),
            Error::internal_with_source("index", Arc::new(write_to_full_disk())),
            Error::internal(Error::internal(write_to_full_disk())),
            Error::internal_with_source("index", Arc::new(Error::storage_full())),
        ]
        .map(|error| error.code());
        assert_eq!(codes, [Some(Code::StorageFull); 6]);
        assert_eq!(Error::internal("no storage space").code(), Some(Code::InternalError), "not by its text");
    }

    #[test]
    fn faults_of_the_storage_are_recognized_by_the_type_of_any_source() {
        use rustix::io::Errno;
        let os_error = |errno: Errno| io::Error::from(errno);
        let is_unavailable = |error: Error| matches!(error, Error::StorageUnavailable { .. });
        for errno in [Errno::MFILE, Errno::NFILE, Errno::ROFS, Errno::ACCESS] {
            assert!(is_unavailable(Error::internal(os_error(errno))), "{errno}");
            assert!(
                is_unavailable(Error::internal_with_source("index", Arc::new(os_error(errno)))),
                "{errno}"
            );
        }
        let failed = || io::Error::other(ObjectStoreFailed("status 503".into()));
        assert!(is_unavailable(Error::internal(failed())));
        assert!(is_unavailable(Error::internal_with_source("cannot read the upload", failed())));
        // The last ones are of sockets and processes.
        for errno in [Errno::NOENT, Errno::IO, Errno::CONNREFUSED, Errno::PERM, Errno::NOMEM] {
            assert!(!is_unavailable(Error::internal(os_error(errno))), "{errno}");
        }
        assert!(!is_unavailable(Error::internal("permission denied")), "not by its text");
    }

    #[test]
    fn details_say_why_a_server_with_capacity_is_at_capacity() {
        let reason = |error: Error| {
            assert_eq!(error.code(), Some(Code::AtCapacity));
            error.details().map(|details| details["reason"].clone())
        };
        let preparing = Error::BeingPrepared { what: "bundle", retry_seconds: 1 };
        assert_eq!(reason(preparing), Some(json!("being_prepared")));
        assert_eq!(reason(Error::database_locked()), Some(json!("database_locked")));
        assert_eq!(reason(Error::storage_unavailable()), Some(json!("storage_unavailable")));
        assert_eq!(reason(Error::index_unavailable(true)), Some(json!("index_unavailable")));
        assert_eq!(reason(Error::index_unavailable(false)), Some(json!("index_unavailable")));
        assert_eq!(reason(Error::maintenance("Later.".to_owned())), Some(json!("maintenance")));
        assert_eq!(reason(Error::AtCapacity { retry_seconds: 1 }), None);
    }

    #[test]
    fn chain_leaves_out_repeated_texts() {
        let twice = Error::internal(Error::internal("the secret was not stored"));
        assert_eq!(ErrorChain(&twice).to_string(), "internal error: the secret was not stored");
        assert!(std::error::Error::source(&Error::InvalidCursor).is_none());
    }

    #[test]
    fn codes_of_states_are_the_documented_ones() {
        let error = Error::InvalidState(StateCode::DataAttached, "Detach the data.".to_owned());
        assert_eq!(error.code().unwrap().as_str(), "data_attached");
        assert_eq!(error.to_string(), "Detach the data.");
        let error = Error::Gone(GoneCode::GrantExpired, "Ask for another one.".to_owned());
        assert_eq!(error.code().unwrap().as_str(), "grant_expired");
    }
}
