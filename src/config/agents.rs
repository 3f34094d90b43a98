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

string_enum! {
    /// How much the text of an answer says, next to its structured content. A client that gives both to its model pays
    /// for everything twice.
    TextDetail {
        /// The same as the structured content.
        Full = "full",
        /// One line.
        Short = "short",
    }
}

string_enum! {
    /// Tools of agents for one purpose, which can be selected together.
    Toolset {
        /// All tools of all toolsets. No tool is only in this one.
        All = "all",
        /// The team of the API key, its wallet, and its notifications.
        Account = "account",
        /// The catalog, with quality evidence and task previews.
        Catalog = "catalog",
        /// The team's purchases and offers.
        Purchases = "purchases",
        /// What the team looks for, and the bids on it.
        Requests = "requests",
        /// The inventory of the team, and estimations of repositories.
        Assets = "assets",
        /// Listings of the team.
        Listings = "listings",
        /// Quality runs of the team.
        Quality = "quality",
        /// Sales and earnings of the team.
        Sales = "sales",
        /// What buyers look for, and the team's bids on it.
        Opportunities = "opportunities",
    }
}

/// What agents get.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AgentSettings {
    /// Output schemas, unless a request asks for others.
    pub schemas: SchemaDetail,
    /// Text of answers, unless a request asks for another.
    pub text: TextDetail,
    /// Toolsets that agents have, unless a request selects others. If this and `tools` are empty, they have all.
    pub toolsets: Vec<Toolset>,
    /// Names of tools that agents have in addition to the toolsets.
    pub tools: Vec<String>,
    /// Maximum size of an answer in bytes of JSON, unless a call states another.
    pub max_answer_bytes: usize,
}

/// Sizes that an answer to an agent can be limited to, in bytes. A smaller one would have no room to say how to get the rest.
pub const ANSWER_BYTES: RangeInclusive<usize> = 4_000..=1_000_000;
