//! Offers, as operators see them.

use super::{
    Filter::{Equals, RefersTo},
    Records,
};

/// Offers.
pub const OFFERS: Records = Records {
    name: "offer",
    columns: &["o.uuid AS id, b.uuid AS team_id, v.uuid AS vendor_team_id, l.uuid AS listing_id,
         o.amount_cents AS amount, 'USD' AS currency, o.pay_with, o.status,
         (SELECT p.uuid FROM purchases p WHERE p.offer = o.id ORDER BY p.id DESC LIMIT 1) AS purchase_id,
         o.created_at, o.updated_at, d.due_at AS expires_at, o.decided_at"],
    tables: &["offers o LEFT JOIN listings l ON l.id = o.listing LEFT JOIN teams b ON b.id = o.buyer
         LEFT JOIN teams v ON v.id = l.team
         LEFT JOIN due_steps d ON d.kind = 'offer_expires' AND d.subject = o.id"],
    row_id: "o.id",
    id: "o.uuid",
    condition: None,
    filters: &[
        ("team_id", RefersTo("o.buyer", "teams")),
        ("vendor_team_id", RefersTo("l.team", "teams")),
        ("listing_id", RefersTo("o.listing", "listings")),
        ("status", Equals("o.status")),
    ],
};
