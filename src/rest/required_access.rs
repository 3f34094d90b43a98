//! The access that a route requires, as a value: for the agent tools and for the contract tests.

/// The access that a caller needs. Each is met by one of the proofs that implement
/// [`crate::rest::auth::Policy`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequiredAccess {
    /// A valid key.
    ValidKey,
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
}

/// Which teams see a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Every team, including those without a marketplace role.
    AllTeams,
    /// Every team with at least one marketplace role.
    TeamsWithRole,
    /// Teams with the vendor role.
    Vendors,
    /// Teams with the buyer role.
    Buyers,
}

impl RequiredAccess {
    /// Returns the teams that can have the access, apart from the NDA and the browse gate.
    pub const fn audience(self) -> Audience {
        match self {
            RequiredAccess::ValidKey => Audience::AllTeams,
            RequiredAccess::Member
            | RequiredAccess::MemberFirstPage
            | RequiredAccess::CatalogAccess
            | RequiredAccess::CatalogAccessOrOwner => Audience::TeamsWithRole,
            RequiredAccess::Vendor => Audience::Vendors,
            RequiredAccess::Buyer => Audience::Buyers,
        }
    }
}
