//! Teams (organizations) and their marketplace roles.

use uuid::Uuid;

pub use super::row_ids::TeamRowId;
use super::time::Timestamp;
use crate::string_enum::string_enum;

string_enum! {
    /// A marketplace role of a team.
    Role {
        /// Can offer data.
        Vendor = "vendor",
        /// Can browse and buy data.
        Buyer = "buyer",
    }
}

/// A team, reduced to what access control needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Team {
    /// Row ID of the team.
    pub row_id: TeamRowId,
    /// ID of the team (UUID).
    pub id: Uuid,
    /// Name of the team.
    pub name: String,
    /// Whether the team has the vendor role.
    pub is_vendor: bool,
    /// Whether the team has the buyer role.
    pub is_buyer: bool,
    /// Seller tier, 1 to 3.
    pub tier: u8,
    /// Time at which the team accepted the mutual NDA; `None` if it has not.
    pub nda_accepted_at: Option<Timestamp>,
    /// URL of the avatar image.
    pub avatar_url: Option<String>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time at which the team was closed; `None` unless closed.
    pub closed_at: Option<Timestamp>,
}

/// Returns the marketplace roles that a team has.
pub fn roles(is_vendor: bool, is_buyer: bool) -> Vec<Role> {
    let roles = [(is_vendor, Role::Vendor), (is_buyer, Role::Buyer)];
    roles.into_iter().filter_map(|(has, role)| has.then_some(role)).collect()
}

impl Team {
    /// Returns the roles of the team.
    pub fn roles(&self) -> Vec<Role> {
        roles(self.is_vendor, self.is_buyer)
    }

    /// Whether the browse gate applies to the team: it has the vendor role and not the buyer role.
    pub const fn has_browse_gate(&self) -> bool {
        self.is_vendor && !self.is_buyer
    }
}
