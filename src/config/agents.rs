//! Settings of the agent server.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::string_enum::string_enum;

string_enum! {
    /// How much the output schemas of agents' tools say. A model reads all of them before it does anything.
    SchemaDetail {
        /// The names of the fields of a response.
        Shallow = "shallow",
        /// Also their types, and the fields of the items of lists.
        Full = "full",
    }
}

/// What agents get.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AgentSettings {
    /// Output schemas, unless a request asks for others.
    pub schemas: SchemaDetail,
    /// Maximum size of an answer in bytes of JSON, unless a call states another.
    pub max_answer_bytes: usize,
}

/// Sizes that an answer to an agent can be limited to, in bytes. A smaller one would have no room to say how to get the rest.
pub const ANSWER_BYTES: RangeInclusive<usize> = 4_000..=1_000_000;
