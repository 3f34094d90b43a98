//! Entries of the ledger with their postings, as operators see them, and the adjustments and conversions among them.

use super::{
    Filter::{Custom, FromDay, MatchesId, RefersTo, UntilDay},
    Records,
    filters::{id, parameter},
};

/// Entries of the ledger.
pub const LEDGER_ENTRIES: Records = Records {
    name: "ledger entry",
    columns: &["e.uuid AS id, e.entry_type, e.description, p.uuid AS purchase_id, c.uuid AS credit_purchase_id,
         coalesce(w.uuid, r.uuid) AS withdrawal_id,
         (SELECT json_group_array(json_object('account', x.account, 'team_id', x.team, 'amount', x.cents)) FROM (
             SELECT s.account, iif(t.id IS NULL, NULL, lower(hex(t.uuid))) AS team, s.cents
             FROM ledger_postings s LEFT JOIN teams t ON t.id = s.team
             WHERE s.entry = e.id ORDER BY s.account) x) AS postings,
         (SELECT json_group_array(json_array(x.account, x.name, x.cents)) FROM (
             SELECT s.account, t.name, s.cents FROM ledger_postings s LEFT JOIN teams t ON t.id = s.team
             WHERE s.entry = e.id ORDER BY s.account) x) AS sides,
         'USD' AS currency, e.created_at, e.available_at"],
    tables: &["ledger_entries e LEFT JOIN purchases p ON p.id = e.purchase
         LEFT JOIN credit_purchases c ON c.entry = e.id LEFT JOIN withdrawals w ON w.entry = e.id
         LEFT JOIN withdrawals r ON r.reversal = e.id"],
    row_id: "e.id",
    id: "e.uuid",
    condition: None,
    filters: &[
        (
            "team_id",
            MatchesId("e.id IN (SELECT entry FROM ledger_postings WHERE team = (SELECT id FROM teams WHERE uuid = ?))"),
        ),
        ("purchase_id", RefersTo("e.purchase", "purchases")),
        ("created_from", FromDay("+e.created_at")),
        ("created_until", UntilDay("+e.created_at")),
        (
            "entry_type",
            Custom(|query, value, filters| {
                // Together with another filter, only the index of that one is useful, which the unary plus ensures.
                let has_other_index = filters.is_set("team_id") || filters.is_set("purchase_id");
                let condition = if has_other_index { "+e.entry_type = ?" } else { "e.entry_type = ?" };
                query.filter(condition, parameter(value))
            }),
        ),
    ],
};

const CREDITS_COLUMNS: &str =
    "e.uuid AS id, t.uuid AS team_id, s.cents AS amount, 'USD' AS currency, e.description, e.created_at";

/// Corrections of credits by the platform.
pub const ADJUSTMENTS: Records = Records {
    name: "adjustment",
    columns: &[CREDITS_COLUMNS],
    tables: &[
        "adjustments s LEFT JOIN ledger_entries e ON e.id = s.entry LEFT JOIN teams t ON t.id = s.team",
    ],
    row_id: "s.entry",
    id: "e.uuid",
    condition: None,
    filters: &[("team_id", RefersTo("s.team", "teams"))],
};

/// Conversions of available earnings into credits.
pub const CONVERSIONS: Records = Records {
    name: "conversion",
    columns: &[CREDITS_COLUMNS],
    tables: &["ledger_entries e JOIN ledger_postings s ON s.entry = e.id AND s.account = 'credits'
         JOIN teams t ON t.id = s.team"],
    row_id: "e.id",
    id: "e.uuid",
    condition: Some("e.entry_type = 'credit_conversion'"),
    filters: &[(
        "team_id",
        Custom(|query, value, _| {
            let query = query.with_tables(OF_TEAM, "e.id");
            if value.is_array() {
                let is_one = "t.uuid IN (SELECT unhex(replace(value, '-', '')) FROM json_each(?))";
                return query.filter(is_one, value.to_string());
            }
            query.filter("t.uuid = ?", id(value))
        }),
    )],
};

/// The tables of the conversions of a team. Its postings come first, since the index of the type has the entries of all teams.
const OF_TEAM: &[&str] = &["teams t CROSS JOIN ledger_postings s ON s.team = t.id AND s.account = 'credits'
     CROSS JOIN ledger_entries e ON e.id = s.entry"];
