//! What a fault is for, and what it does.

use marketplace_text::equality_key;
use uuid::Uuid;

use crate::{
    domain::{events::EventType, jobs::JobKind, teams::Team},
    string_enum::string_enum,
    worlds::journal::{OperationName, WorldApi},
};

/// What a fault is for, and what it does there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultRule {
    /// Changes how requests are answered.
    Requests(RequestMatch, RequestEffect),
    /// Lets jobs fail, of one kind or of all.
    Jobs(Option<JobKind>),
    /// Makes a host of repositories unreachable.
    Host(String),
    /// Changes what becomes of messages to webhooks.
    Webhooks(WebhookMatch, WebhookEffect),
}

/// Which requests a fault is for. Everything that is given must fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestMatch {
    /// ID of the operation in the documents.
    pub operation: Option<String>,
    /// An API that has the operation.
    pub api: Option<WorldApi>,
    /// Path in the world.
    pub path: Option<TextPattern>,
    /// ID or name of the team whose key the request has.
    pub team: Option<String>,
}

/// Which messages a fault is for. Everything that is given must fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebhookMatch {
    /// URL of the webhook.
    pub url: Option<TextPattern>,
    /// Type of the event.
    pub event_type: Option<EventType>,
}

/// A text, or, with a `*` at its end, what texts begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPattern(pub String);

/// What a request is, as faults see it.
#[derive(Clone, Copy, Debug)]
pub struct RequestFacts<'a> {
    /// The documented operation; `None` for other paths.
    pub operation: Option<&'a OperationName>,
    /// Path in the world.
    pub path: &'a str,
    /// The team whose key the request has.
    pub team: Option<&'a Team>,
}

/// What a fault does to a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestEffect {
    /// How the request is answered, without being executed.
    pub answer: Option<FaultAnswer>,
    /// Milliseconds by which the response is delayed, at least and at most.
    pub delay_ms: Option<(u32, u32)>,
    /// Rate at which the body of the response is sent.
    pub body_bytes_per_second: Option<u32>,
    /// Where the response ends early.
    pub interruption: Option<Interruption>,
}

/// How a request is answered instead of being executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultAnswer {
    /// HTTP status.
    pub status: u16,
    /// Error code; none for success, and for status 422.
    pub code: Option<String>,
}

/// How a response ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interruption {
    /// The connection is closed.
    Cut(CutPlace),
    /// Nothing more is sent.
    Stall,
}

string_enum! {
    /// Where a connection is closed.
    CutPlace {
        /// Before the request is executed.
        Before = "before",
        /// In the middle of the head of the response.
        Headers = "headers",
        /// In the middle of the body of the response.
        Body = "body",
        /// After the request was executed, before any of the response is sent.
        AfterWrite = "after_write",
    }
}

/// What a fault does to a message to a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookEffect {
    /// The webhook answers with this status.
    Answer(u16),
    /// The webhook does not get it, as if there were no connection.
    Lose,
    /// The webhook gets it twice.
    Duplicate,
}

impl TextPattern {
    /// Whether a text is this one, or begins with it.
    pub fn matches(&self, text: &str) -> bool {
        match self.prefix() {
            Some(prefix) => text.starts_with(prefix),
            None => self.0 == text,
        }
    }

    /// Returns what texts begin with; none if the whole text is given.
    pub fn prefix(&self) -> Option<&str> {
        self.0.strip_suffix('*')
    }
}

impl RequestMatch {
    pub(super) fn fits(&self, request: RequestFacts) -> bool {
        self.operation.as_deref().is_none_or(|id| request.operation.is_some_and(|of| of.id == id))
            && self.api.is_none_or(|api| request.operation.is_some_and(|of| of.is_of(api)))
            && self.path.as_ref().is_none_or(|path| path.matches(request.path))
            && self.team.as_deref().is_none_or(|team| request.team.is_some_and(|own| is_team(own, team)))
    }
}

impl WebhookMatch {
    pub(super) fn fits(&self, url: &str, event_type: EventType) -> bool {
        self.url.as_ref().is_none_or(|pattern| pattern.matches(url))
            && self.event_type.is_none_or(|expected| expected == event_type)
    }
}

/// Whether a text is the ID or the name of a team.
fn is_team(team: &Team, text: &str) -> bool {
    Uuid::try_parse(text).is_ok_and(|id| id == team.id) || equality_key(text) == equality_key(&team.name)
}
