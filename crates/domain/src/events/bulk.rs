//! The limit of events of acts that change many records.

/// Maximum number of IDs that an event of a bulk act lists.
pub const MAX_LISTED_IDS: usize = 100;
