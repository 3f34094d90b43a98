//! Purchases with both of their parties, as operators see them.

use super::{
    Filter::{Equals, FromDay, RefersTo, UntilDay},
    Records,
};

/// Purchases. The limit of the assets is that of a selection, so a selection is always complete.
pub const PURCHASES: Records = Records {
    name: "purchase",
    columns: &[
        "p.uuid AS id, b.uuid AS team_id, v.uuid AS vendor_team_id, l.uuid AS listing_id, p.kind, p.status,
         p.pay_with, p.exclusive, p.price_cents AS price, p.buyer_fee_cents AS buyer_fee,
         p.platform_fee_cents AS platform_fee, p.price_cents + p.buyer_fee_cents AS total,
         p.price_cents - p.platform_fee_cents AS net, 'USD' AS currency, p.scope ->> 'mode' AS scope,
         (SELECT count(*) FROM purchase_assets s WHERE s.purchase = p.id) AS asset_count,
         (SELECT json_group_array(lower(hex(x.uuid))) FROM (
             SELECT a.uuid FROM purchase_assets s JOIN assets a ON a.id = s.asset
             WHERE s.purchase = p.id ORDER BY s.asset LIMIT 200) x) AS asset_ids,
         o.uuid AS offer_id, p.agreement_document AS agreement_document_id, p.agreement_signed_at,
         p.created_at, d.due_at AS expires_at, p.paid_at, p.cancelled_at, p.refunded_at",
    ],
    tables: &["purchases p LEFT JOIN listings l ON l.id = p.listing LEFT JOIN teams b ON b.id = p.buyer
         LEFT JOIN teams v ON v.id = l.team LEFT JOIN offers o ON o.id = p.offer
         LEFT JOIN due_steps d ON d.kind = 'purchase_expires' AND d.subject = p.id"],
    row_id: "p.id",
    id: "p.uuid",
    condition: None,
    filters: &[
        ("team_id", RefersTo("p.buyer", "teams")),
        ("vendor_team_id", RefersTo("l.team", "teams")),
        ("listing_id", RefersTo("p.listing", "listings")),
        ("status", Equals("p.status")),
        ("kind", Equals("p.kind")),
        ("paid_from", FromDay("+p.paid_at")),
        ("paid_until", UntilDay("+p.paid_at")),
    ],
};
