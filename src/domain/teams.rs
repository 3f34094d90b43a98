//! Organizations and what they may do in the market.

use uuid::Uuid;

use super::{time::Timestamp, vocabulary::vocabulary};

vocabulary! {
    /// What a team may do in the market.
    Role {
        /// Offers data.
        Vendor = "vendor",
        /// Looks for data.
        Buyer = "buyer",
    }
}

/// A team's row number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TeamNumber(pub i64);

/// An organization, as far as access needs to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Team {
    /// Its row number.
    pub number: TeamNumber,
    /// Its id.
    pub id: Uuid,
    /// Its name.
    pub name: String,
    /// Whether it sells.
    pub is_vendor: bool,
    /// Whether it buys.
    pub is_buyer: bool,
    /// Its seller tier, 1 to 3.
    pub tier: u8,
    /// When it accepted the mutual NDA.
    pub nda_accepted_at: Option<Timestamp>,
    /// Where its picture is.
    pub avatar_url: Option<String>,
    /// When it joined.
    pub created_at: Timestamp,
}

impl Team {
    /// Whether the browse gate may be shut for it: it sells and does nothing else.
    pub const fn is_gated(&self) -> bool {
        self.is_vendor && !self.is_buyer
    }
}
