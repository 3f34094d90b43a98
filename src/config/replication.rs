//! Settings of replicas, and of the primary that has some.

use serde::{Deserialize, Serialize};

/// How the database of a primary is replicated.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ReplicationSettings {
    /// Whether Litestream replicates it: commits are counted, and checkpoints are left to Litestream.
    pub litestream: bool,
    /// Where the server lets Litestream replicate to: `s3://bucket/prefix` or `file:///directory`. Empty if the server does not
    /// run Litestream.
    pub destination: String,
}

/// How a replica gets its database, and where its primary is.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ReplicaSettings {
    /// Base URL of the primary, to which writes are forwarded.
    pub primary_url: String,
    /// Where Litestream replicates the database of the primary to: `s3://bucket/prefix` or `file:///directory`.
    pub source: String,
    /// The program of Litestream: a path, or a name in the path of programs.
    pub litestream: String,
    /// Maximum number of requests that are forwarded at the same time.
    pub max_forwarded: u32,
}
