//! What quotas limit.

use serde_json::{Value, json};

use super::{principals::PrincipalKind, uploads::KEEP_UNUSED_DAYS};

/// Name of the quota of uploads.
const UPLOAD_BYTES: &str = "upload_bytes";

/// The usage of a principal. The fields have the names of the quotas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Number of assets that are not deleted.
    pub assets: u64,
    /// Number of groups, including the default group.
    pub groups: u64,
    /// Size in bytes of all uploads, stored and planned.
    pub upload_bytes: u64,
    /// Number of stored uses of idempotency keys.
    pub idempotency_keys: u64,
    /// Size in bytes of the responses stored for them.
    pub idempotency_bytes: u64,
}

impl Usage {
    /// Returns the first quota that a change from `self` to `after` exceeds. A change that does not increase the
    /// usage of a quota cannot exceed it, even if the principal already exceeds `limits`. 0 means no limit.
    pub fn find_excess(&self, after: &Usage, limits: &Usage, kind: PrincipalKind) -> Option<QuotaExcess> {
        let holder = match kind {
            PrincipalKind::Team => "team",
            PrincipalKind::Operator => "operator key",
        };
        [
            ("assets", limits.assets, self.assets, after.assets),
            ("groups", limits.groups, self.groups, after.groups),
            (UPLOAD_BYTES, limits.upload_bytes, self.upload_bytes, after.upload_bytes),
            ("idempotency_keys", limits.idempotency_keys, self.idempotency_keys, after.idempotency_keys),
            ("idempotency_bytes", limits.idempotency_bytes, self.idempotency_bytes, after.idempotency_bytes),
        ]
        .into_iter()
        .find(|(_, limit, used, after)| *limit > 0 && after > limit && after > used)
        .map(|(quota, limit, used, after)| QuotaExcess {
            holder,
            quota,
            limit,
            used,
            requested: after - used,
        })
    }
}

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
    pub fn message(&self) -> String {
        let QuotaExcess { holder, quota, limit, used, requested } = self;
        let when = if *quota == UPLOAD_BYTES {
            format!(
                " (an upload counts until {KEEP_UNUSED_DAYS} days after its data was detached, or as long as a \
                 purchase contains it)"
            )
        } else {
            String::new()
        };
        format!(
            "The quota `{quota}` of your {holder} is used up: the limit is {limit}, the {holder} uses {used}, and \
             this request would add {requested}. Delete what you no longer need{when}, or ask the operator of this \
             server for a higher quota."
        )
    }

    /// Returns the numbers, for programs.
    pub fn details(&self) -> Value {
        let QuotaExcess { quota, limit, used, requested, .. } = self;
        json!({"quota": quota, "limit": limit, "used": used, "requested": requested})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_change_that_adds_exceeds_a_quota() {
        let limits = Usage { assets: 10, groups: 3, ..Usage::default() };
        let usage = |assets, groups| Usage { assets, groups, upload_bytes: 99, ..Usage::default() };
        assert_eq!(usage(8, 1).find_excess(&usage(10, 3), &limits, PrincipalKind::Team), None);
        assert_eq!(
            usage(8, 1).find_excess(&usage(11, 4), &limits, PrincipalKind::Team),
            Some(QuotaExcess { holder: "team", quota: "assets", limit: 10, used: 8, requested: 3 })
        );
        // The limit was lowered: what exists stays, and can be deleted.
        assert_eq!(usage(20, 1).find_excess(&usage(19, 2), &limits, PrincipalKind::Team), None);
        assert_eq!(
            usage(20, 1).find_excess(&usage(20, 4), &limits, PrincipalKind::Team).map(|excess| excess.quota),
            Some("groups")
        );
    }
}
