//! The data of events about the outbox itself.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::EventRowId;
use crate::{
    listings::CatalogStatus,
    offers::OfferStatus,
    opportunities::{BidStatus, OpportunityStatus},
    purchases::PurchaseStatus,
    time::Timestamp,
};

/// The oldest events that were removed together, and the state of the market at this event. A subscriber that
/// has missed some of them reads the lists of all resources, and then continues after this event.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OutboxTrimmedData {
    /// Number of days for which events are kept.
    pub keep_days: u32,
    /// Number of removed events.
    pub removed: u64,
    /// ID of the first removed event.
    #[schemars(with = "String")]
    pub first_id: EventId,
    /// Time of the first removed event.
    #[schemars(with = "String")]
    pub first_occurred_at: Timestamp,
    /// ID of the last removed event. Cursors before it have expired.
    #[schemars(with = "String")]
    pub last_id: EventId,
    /// Time of the last removed event.
    #[schemars(with = "String")]
    pub last_occurred_at: Timestamp,
    /// How many records there are at this event.
    pub records: RecordCounts,
}

/// How many records a market has.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct RecordCounts {
    /// Number of teams that are not closed.
    pub teams: u64,
    /// Number of assets that are not deleted.
    pub assets: u64,
    /// Number of listings by catalog status.
    pub listings: BTreeMap<CatalogStatus, u64>,
    /// Number of offers by status.
    pub offers: BTreeMap<OfferStatus, u64>,
    /// Number of purchases by status.
    pub purchases: BTreeMap<PurchaseStatus, u64>,
    /// Number of opportunities, for listings and for projects, by status.
    pub opportunities: BTreeMap<OpportunityStatus, u64>,
    /// Number of bids on project opportunities by status.
    pub project_bids: BTreeMap<BidStatus, u64>,
}

/// The ID of an event, as clients see it: `evt_` and 16 digits of its row ID. It is the place of the event in the
/// order of commits, so it is also a cursor: what follows the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventId(pub EventRowId);

impl EventId {
    /// Parses the text; `None` if it is not an ID.
    pub fn parse(text: &str) -> Option<EventId> {
        let digits = text.strip_prefix("evt_")?;
        let is_number = digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse().ok().map(EventRowId).map(EventId)).flatten()
    }
}

impl std::fmt::Display for EventId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "evt_{:016}", self.0.0)
    }
}

impl Serialize for EventId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_is_its_own_inverse_and_sorts_like_its_row() {
        for row_id in [0, 1, 42, 9_999_999_999_999_999] {
            let id = EventId(EventRowId(row_id));
            assert_eq!(EventId::parse(&id.to_string()), Some(id));
            assert_eq!(id.to_string().len(), 20);
        }
        for text in
            ["", "evt_", "evt_1", "evt_000000000000001", "evt_00000000000000001", "evt_+000000000000001"]
        {
            assert_eq!(EventId::parse(text), None, "{text}");
        }
        assert_eq!(EventId::parse("EVT_0000000000000001"), None);
    }
}
