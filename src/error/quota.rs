//! The error for a quota that is used up.

use serde_json::{Value, json};

/// A quota that a request exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotaExcess {
    /// Whose quota it is, such as `team`.
    pub holder: &'static str,
    /// Name of the quota.
    pub quota: &'static str,
    /// What the holder may use.
    pub limit: u64,
    /// What the holder used before the request.
    pub used: u64,
    /// What the request would have added.
    pub requested: u64,
}

impl QuotaExcess {
    /// Returns the message for the client.
    pub(super) fn message(&self) -> String {
        let QuotaExcess { holder, quota, limit, used, requested } = self;
        format!(
            "The quota `{quota}` of your {holder} is used up: the limit is {limit}, the {holder} uses {used}, and \
             this request would add {requested}. Delete what you no longer need, or ask the operator of this \
             server for a higher quota."
        )
    }

    /// Returns the numbers, for programs.
    pub(super) fn details(&self) -> Value {
        let QuotaExcess { quota, limit, used, requested, .. } = self;
        json!({"quota": quota, "limit": limit, "used": used, "requested": requested})
    }
}
