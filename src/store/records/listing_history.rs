//! The history of a listing, as operators see it.

use super::{Filter::BelongsTo, Records};

/// Events in the histories of listings. The number of an event increases with the commits.
pub const LISTING_HISTORY: Records = Records {
    name: "event of the history",
    columns: &["h.id AS number, h.event AS event_type, h.actor, h.occurred_at, h.from_stage AS from_status,
         h.to_stage AS to_status"],
    tables: &["listing_history h"],
    row_id: "h.id",
    id: "h.id",
    condition: None,
    filters: &[("listing_id", BelongsTo("h.listing", "listings", "listing"))],
};
