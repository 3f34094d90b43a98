//! The one vocabulary of failure: what can go wrong in the marketplace, with stable codes and words that say what to do.
//!
//! Knows no transport; `rest/problem.rs` alone turns it into HTTP.

use std::fmt;

use serde_json::{Value, json};

use crate::domain::vocabulary::{Vocabulary, vocabulary};

/// Parts that a message names at most; the details name all.
const MAX_SHOWN: usize = 10;

/// What an operation answers.
pub type Result<T> = std::result::Result<T, Error>;

vocabulary! {
    /// The stable, machine-readable name of a failure.
    Code {
        /// The request could not be read.
        BadRequest = "bad_request",
        /// The cursor was not made for this request.
        InvalidCursor = "invalid_cursor",
        /// Credentials are missing or do not count.
        Unauthorized = "unauthorized",
        /// The team has no marketplace role that allows this.
        MarketplaceRoleRequired = "marketplace_role_required",
        /// The team has not accepted the mutual NDA.
        NdaRequired = "nda_required",
        /// The team has too few published listings to browse.
        ListingBrowseLocked = "listing_browse_locked",
        /// The team may not do this.
        Forbidden = "forbidden",
        /// There is no such thing for the caller.
        NotFound = "not_found",
        /// The path exists, for other methods.
        MethodNotAllowed = "method_not_allowed",
        /// It exists already, or its state forbids this.
        Conflict = "conflict",
        /// The state does not lead there.
        InvalidTransition = "invalid_transition",
        /// Data is linked to the asset, and must be detached first.
        DataAttached = "data_attached",
        /// No data is linked to the asset.
        DataNotAttached = "data_not_attached",
        /// The asset stands on a listing in review or in the catalog.
        AssetInUse = "asset_in_use",
        /// The default group stays.
        DefaultGroup = "default_group",
        /// The group holds assets.
        GroupNotEmpty = "group_not_empty",
        /// The listing is in review, in the catalog or put away, and cannot be edited.
        ListingNotEditable = "listing_not_editable",
        /// A quality run of it has not ended.
        RunInProgress = "run_in_progress",
        /// The team's credits do not pay for it.
        InsufficientCredits = "insufficient_credits",
        /// A request with the same idempotency key is being answered.
        IdempotencyInFlight = "idempotency_in_flight",
        /// Parts of an upload are missing.
        PartsMissing = "parts_missing",
        /// The grant's time is over, or it was taken back.
        GrantExpired = "grant_expired",
        /// The grant was used.
        GrantConsumed = "grant_consumed",
        /// The body is too large.
        PayloadTooLarge = "payload_too_large",
        /// Too many requests.
        RateLimited = "rate_limited",
        /// The server failed.
        InternalError = "internal_error",
        /// The server is full.
        AtCapacity = "at_capacity",
    }
}

/// A step of the way to a faulty value: a name, or a place in a list.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(untagged)]
pub enum Step {
    /// A field's or parameter's name.
    Name(String),
    /// An index, from 0.
    Index(usize),
}

/// One thing that is wrong with a request's values.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    /// Where: `path`, `query`, `header` or `body`, then the way to the value.
    pub loc: Vec<Step>,
    /// What is wrong and what would be right.
    pub msg: String,
    /// The kind of fault, in the words that validation libraries of this ecosystem use.
    #[serde(rename = "type")]
    pub kind: &'static str,
}

impl Problem {
    /// A fault of a query parameter.
    pub fn query(name: &str, kind: &'static str, msg: impl Into<String>) -> Problem {
        Problem::at("query", name, kind, msg)
    }

    /// A fault of a path parameter.
    pub fn path(name: &str, kind: &'static str, msg: impl Into<String>) -> Problem {
        Problem::at("path", name, kind, msg)
    }

    /// The same fault of a value that stands deeper: behind these further steps from the place's beginning.
    #[must_use]
    pub fn within(mut self, way: &[Step]) -> Problem {
        self.loc.splice(1..1, way.iter().cloned());
        self
    }

    /// A fault of a header.
    pub fn header(name: &str, kind: &'static str, msg: impl Into<String>) -> Problem {
        Problem::at("header", name, kind, msg)
    }

    /// A fault in a body, by the names that lead to the value.
    pub fn body(way: &[&str], kind: &'static str, msg: impl Into<String>) -> Problem {
        let names = std::iter::once("body").chain(way.iter().copied());
        Problem { loc: names.map(|name| Step::Name(name.to_owned())).collect(), msg: msg.into(), kind }
    }

    fn at(place: &str, name: &str, kind: &'static str, msg: impl Into<String>) -> Problem {
        let loc = vec![Step::Name(place.to_owned()), Step::Name(name.to_owned())];
        Problem { loc, msg: msg.into(), kind }
    }
}

/// What went wrong.
#[derive(Debug)]
pub enum Error {
    /// Something is wrong with the request as a whole: what, and what to send instead.
    Malformed(String),
    /// The cursor was forged, cut, or made for another request.
    InvalidCursor,
    /// No key, or one that does not count: why.
    Unauthorized(String),
    /// The team lacks the role: which would do.
    RoleRequired(&'static str),
    /// The team has not accepted the mutual NDA.
    NdaRequired,
    /// The team is behind the browse gate.
    BrowseLocked {
        /// Listings that it has published.
        published: u64,
        /// Listings that it needs.
        required: u64,
    },
    /// It is not allowed, whoever asks: why, and what to do.
    Forbidden(String),
    /// There is no such thing, or the caller may not know of it: what was looked for.
    NotFound(String),
    /// Nothing is served at the path.
    UnknownPath,
    /// The path is served, with these methods only.
    MethodNotAllowed(Vec<String>),
    /// It exists already, or is in use: what, and what to do.
    Conflict(String),
    /// The state of things forbids it: the code that says which, and what to do.
    State(Code, String),
    /// It was there and is no more: the code that says why, and what to do.
    Gone(Code, String),
    /// Parts of an upload that are missing, or are others than those that were named.
    PartsMissing(Vec<u32>),
    /// A move that the state does not allow.
    InvalidTransition {
        /// The state.
        from: &'static str,
        /// The moves that it allows.
        allowed: Vec<&'static str>,
    },
    /// The body is larger than may be sent.
    PayloadTooLarge {
        /// Bytes that may be sent.
        most_bytes: u64,
    },
    /// Values that break their rules: every one of them.
    Invalid(Vec<Problem>),
    /// The team or the caller's address has spent its budget.
    RateLimited {
        /// The budget, in words.
        budget: String,
        /// Seconds until there is some again.
        retry_seconds: u64,
    },
    /// As many requests are running as the server takes.
    AtCapacity {
        /// Seconds after which to try again.
        retry_seconds: u64,
    },
    /// The answer took longer than it may; its work goes on.
    TooSlow {
        /// Seconds after which to look again.
        retry_seconds: u64,
    },
    /// The server's own fault; the cause goes to the log and never to the caller.
    Internal(String),
}

impl Error {
    /// A single faulty value.
    pub fn invalid(problem: Problem) -> Error {
        Error::Invalid(vec![problem])
    }

    /// Something that is not there for the caller.
    pub fn not_found(what: impl fmt::Display) -> Error {
        Error::NotFound(what.to_string())
    }

    /// A fault of the server, with its cause for the log.
    pub fn internal(cause: impl fmt::Display) -> Error {
        Error::Internal(cause.to_string())
    }

    /// The failure's stable name; [`Error::Invalid`] has none, since its body names each problem.
    pub fn code(&self) -> Option<Code> {
        Some(match self {
            Error::Malformed(_) => Code::BadRequest,
            Error::InvalidCursor => Code::InvalidCursor,
            Error::Unauthorized(_) => Code::Unauthorized,
            Error::RoleRequired(_) => Code::MarketplaceRoleRequired,
            Error::NdaRequired => Code::NdaRequired,
            Error::BrowseLocked { .. } => Code::ListingBrowseLocked,
            Error::Forbidden(_) => Code::Forbidden,
            Error::NotFound(_) | Error::UnknownPath => Code::NotFound,
            Error::MethodNotAllowed(_) => Code::MethodNotAllowed,
            Error::Conflict(_) => Code::Conflict,
            Error::State(code, _) | Error::Gone(code, _) => *code,
            Error::PartsMissing(_) => Code::PartsMissing,
            Error::InvalidTransition { .. } => Code::InvalidTransition,
            Error::PayloadTooLarge { .. } => Code::PayloadTooLarge,
            Error::RateLimited { .. } => Code::RateLimited,
            Error::AtCapacity { .. } | Error::TooSlow { .. } => Code::AtCapacity,
            Error::Internal(_) => Code::InternalError,
            Error::Invalid(_) => return None,
        })
    }

    /// What was wrong and what to do next, for the caller: never a cause, a path or a secret of the server.
    pub fn message(&self) -> String {
        match self {
            Error::Malformed(what)
            | Error::Unauthorized(what)
            | Error::Forbidden(what)
            | Error::Conflict(what)
            | Error::State(_, what)
            | Error::Gone(_, what) => what.clone(),
            Error::PartsMissing(missing) => {
                let shown: Vec<String> = missing.iter().take(MAX_SHOWN).map(u32::to_string).collect();
                let more = if missing.len() > MAX_SHOWN { ", and others" } else { "" };
                format!(
                    "Parts are missing, or are not the ones that were named: {}{more}. Send them, with addresses from \
                     `POST .../parts`, and complete the upload again.",
                    shown.join(", ")
                )
            }
            Error::InvalidCursor => {
                "The cursor does not belong to this request. Start again without `cursor`, and pass \
                 each `next_cursor` back with the same query, filters and sort."
                    .to_owned()
            }
            Error::RoleRequired(roles) => format!(
                "Your team needs the marketplace role {roles} for this. Ask the platform to add it, or use a key of a \
                 team that has it."
            ),
            Error::NdaRequired => {
                "Your team has not accepted the mutual NDA. Accept it in the team's settings, then \
                 try again."
                    .to_owned()
            }
            Error::BrowseLocked { published, required } => format!(
                "Browsing opens once your team has {required} published listings; it has {published}. Until then only \
                 the first page without filters is served."
            ),
            Error::NotFound(what) => format!("There is no {what} that your team can see."),
            Error::UnknownPath => {
                "Nothing is served at this path. The documents at /vendor/docs and /buyer/docs list the paths.".to_owned()
            }
            Error::MethodNotAllowed(allowed) => {
                format!("This path does not take that method. It takes {}.", allowed.join(", "))
            }
            Error::InvalidTransition { from, allowed } if allowed.is_empty() => {
                format!("Nothing can be done with it while it is {from}.")
            }
            Error::InvalidTransition { from, allowed } => {
                format!("It is {from}, which allows: {}.", allowed.join(", "))
            }
            Error::Invalid(problems) => {
                let all: Vec<&str> = problems.iter().map(|problem| problem.msg.as_str()).collect();
                all.join(" ")
            }
            Error::PayloadTooLarge { most_bytes } => {
                format!("The body is too large. Send {most_bytes} bytes at most.")
            }
            Error::RateLimited { budget, retry_seconds } => {
                format!("The {budget} is spent. Wait {}, then go on more slowly.", seconds(*retry_seconds))
            }
            Error::AtCapacity { retry_seconds } => {
                format!("The server takes no more requests just now. Try again in {}.", seconds(*retry_seconds))
            }
            Error::TooSlow { retry_seconds } => format!(
                "The answer took too long. What was asked for may still be carried out: look again in {}, and send a POST \
                 again only with the same `Idempotency-Key`.",
                seconds(*retry_seconds)
            ),
            Error::Internal(_) => {
                "Something failed on our side. Try again; if it goes on, quote the request id to the \
                 people who run this server."
                    .to_owned()
            }
        }
    }

    /// Facts for programs, where the failure has some.
    pub fn details(&self) -> Option<Value> {
        match self {
            Error::BrowseLocked { published, required } => {
                Some(json!({"published_count": published, "required_count": required}))
            }
            Error::InvalidTransition { from, allowed } => Some(json!({"from": from, "allowed": allowed})),
            Error::MethodNotAllowed(allowed) => Some(json!({"allowed": allowed})),
            Error::PartsMissing(missing) => Some(json!({"missing": missing})),
            // Tells a program that sending it again may do it twice.
            Error::TooSlow { .. } => Some(json!({"begun": true})),
            _ => None,
        }
    }
}

/// A time in words.
fn seconds(count: u64) -> String {
    if count == 1 { "a second".to_owned() } else { format!("{count} seconds") }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Internal(cause) => write!(f, "{cause}"),
            other => match other.code() {
                Some(code) => write!(f, "{} ({})", other.message(), code.word()),
                None => write!(f, "{}", other.message()),
            },
        }
    }
}

impl std::error::Error for Error {}
