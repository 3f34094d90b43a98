//! The parameters of a new world.

use toml::Value;

use super::{due_work::JobTiming, names::DEMO};
use crate::{
    domain::{row_ids::KeyRowId, time::Timestamp},
    string_enum::string_enum,
};

/// A world to create.
#[derive(Clone, Debug)]
pub struct NewWorld {
    /// Its name; `None` to generate one.
    pub name: Option<String>,
    /// Its source: `demo`, `empty`, `market`, or the name of a snapshot or of a world.
    pub source: String,
    /// The time at which it begins; `None` for the time of its source. Everything that is due until then is carried out first.
    pub now: Option<Timestamp>,
    /// Whether its clock runs as fast as the time of the machine.
    pub is_running: bool,
    /// The seed of its IDs and secrets; `None` to continue those of its source.
    pub seed: Option<u64>,
    /// Seconds of the machine's time that it exists; `None` if it does not end by itself.
    pub time_to_live: Option<i64>,
    /// Settings that differ from those of the server and of its source, by key.
    pub settings: Vec<(String, Value)>,
    /// Whether it has a port of its own.
    pub has_port: bool,
    /// When its jobs run.
    pub job_timing: JobTiming,
    /// Handling of the messages to its webhooks, besides storing them in the inbox.
    pub webhooks: WebhookMode,
    /// The operator key of the server that it is created with. Responses to the world's own operators are stored for it.
    pub creator: Option<KeyRowId>,
}

string_enum! {
    /// What becomes of the messages to the webhooks of a world.
    WebhookMode {
        /// They are only in the inbox of the world.
        Inbox = "inbox",
        /// They are in the inbox, and are sent as well.
        Send = "send",
    }
}

impl Default for NewWorld {
    fn default() -> NewWorld {
        NewWorld {
            name: None,
            source: DEMO.to_owned(),
            now: None,
            is_running: false,
            seed: None,
            time_to_live: None,
            settings: Vec::new(),
            has_port: false,
            job_timing: JobTiming::BeforeRequests,
            webhooks: WebhookMode::Inbox,
            creator: None,
        }
    }
}
