//! The access that a route requires, as a value: for the agent tools and for the contract tests.

use crate::domain::principals::PrincipalKind;

/// The access that a caller needs. Each is met by one of the proofs that implement
/// [`crate::web::auth::Policy`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequiredAccess {
    /// A valid key of a team or of an operator. Used only by pages of the web app.
    AnyKey,
    /// A valid key of a team.
    ValidKey,
    /// A valid key of a team that has accepted the mutual NDA, with any roles. Used only by pages of the web app.
    TeamWithNda,
    /// A marketplace role and the mutual NDA.
    Member,
    /// As `Member`. While the catalog is locked for the team, it only gets the first page without filters.
    MemberFirstPage,
    /// As `Member`, and the catalog is not locked for the team.
    CatalogAccess,
    /// As `Member`, and the catalog is not locked for the team, or the team owns the listing.
    CatalogAccessOrOwner,
    /// The vendor role and the mutual NDA.
    Vendor,
    /// The buyer role and the mutual NDA.
    Buyer,
    /// An operator key.
    Operator,
    /// An operator key that permits changes.
    ActingOperator,
}

/// Who sees a tool, or a page. Agents act for teams, so operators see no tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Teams and operators.
    Everyone,
    /// Every team, including those without a marketplace role.
    AllTeams,
    /// Every team with at least one marketplace role.
    TeamsWithRole,
    /// Teams with the vendor role.
    Vendors,
    /// Teams with the buyer role.
    Buyers,
    /// Operators of the marketplace.
    Operators,
}

impl RequiredAccess {
    /// Returns the kind of keys that can have the access.
    pub const fn key_kind(self) -> PrincipalKind {
        match self {
            RequiredAccess::AnyKey
            | RequiredAccess::ValidKey
            | RequiredAccess::TeamWithNda
            | RequiredAccess::Member
            | RequiredAccess::MemberFirstPage
            | RequiredAccess::CatalogAccess
            | RequiredAccess::CatalogAccessOrOwner
            | RequiredAccess::Vendor
            | RequiredAccess::Buyer => PrincipalKind::Team,
            RequiredAccess::Operator | RequiredAccess::ActingOperator => PrincipalKind::Operator,
        }
    }

    /// Returns who can have the access, apart from the NDA and the browse gate.
    pub const fn audience(self) -> Audience {
        match self {
            RequiredAccess::AnyKey => Audience::Everyone,
            RequiredAccess::ValidKey | RequiredAccess::TeamWithNda => Audience::AllTeams,
            RequiredAccess::Member
            | RequiredAccess::MemberFirstPage
            | RequiredAccess::CatalogAccess
            | RequiredAccess::CatalogAccessOrOwner => Audience::TeamsWithRole,
            RequiredAccess::Vendor => Audience::Vendors,
            RequiredAccess::Buyer => Audience::Buyers,
            RequiredAccess::Operator | RequiredAccess::ActingOperator => Audience::Operators,
        }
    }
}
