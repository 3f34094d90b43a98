//! Teams with what only operators read.

use marketplace_text::equality_key;

use super::{
    Filter::{Custom, Equals},
    Records,
};

/// Teams.
pub const TEAMS: Records = Records {
    name: "team",
    columns: &["t.uuid AS id, t.name,
         iif(t.is_vendor, iif(t.is_buyer, '[\"vendor\", \"buyer\"]', '[\"vendor\"]'), iif(t.is_buyer, '[\"buyer\"]', '[]'))
             AS roles,
         t.tier, t.nda_accepted_at, t.avatar_url, t.payout_setup, t.created_at, t.closed_at"],
    tables: &["teams t"],
    row_id: "t.id",
    id: "t.uuid",
    condition: None,
    filters: &[
        (
            "name",
            Custom(|query, value, _| query.filter("t.name_key = ?", value.as_str().map(equality_key))),
        ),
        (
            "role",
            Custom(|query, value, _| {
                query.when(if value == "vendor" { "t.is_vendor = 1" } else { "t.is_buyer = 1" })
            }),
        ),
        ("closed", Equals("(t.closed_at IS NOT NULL)")),
    ],
};
