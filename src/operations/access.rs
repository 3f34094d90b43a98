//! Access control: an API key becomes a proof of access, and operations take the proof that they require as
//! an argument.
//!
//! Only this module can create proofs, so an operation that requires one cannot run without the check.

mod keys;
mod platform;
pub mod sessions;

use std::sync::Arc;

use uuid::Uuid;

use crate::{
    domain::{
        listings::CatalogStatus,
        principals::Principal,
        teams::{Team, TeamRowId},
    },
    error::{Error, Result, quoted},
    market::{Market, Reader, Requester},
    store,
};

pub use keys::{
    ActingOperator, ActingProof, Authenticated, AuthenticatedTeam, Operator, PaymentOperator, PaymentReader,
    PrincipalProof, ReadingProof,
};
pub use platform::Platform;

/// A proof of the right to act for a team.
pub trait TeamProof {
    /// Returns the row ID of the team.
    fn team_row_id(&self) -> TeamRowId;
}

/// Who acts for a team.
#[derive(Clone, Debug)]
enum TeamAccess {
    Key(AuthenticatedTeam),
    Platform(Arc<Team>),
}

/// Declares proofs of the right to act for a team.
macro_rules! team_proofs {
    ($($(#[$meta:meta])* $name:ident),+ $(,)?) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Debug)]
            pub struct $name(TeamAccess);

            impl $name {
                /// Returns the team.
                pub fn team(&self) -> &Team {
                    match &self.0 {
                        TeamAccess::Key(authenticated) => authenticated.team(),
                        TeamAccess::Platform(team) => team,
                    }
                }

                /// Returns the row ID of the team.
                pub fn team_row_id(&self) -> TeamRowId {
                    self.team().row_id
                }

                /// Returns the proof of the key with which the team itself acts; `None` if the platform acts in its
                /// name.
                pub const fn authenticated(&self) -> Option<&AuthenticatedTeam> {
                    match &self.0 {
                        TeamAccess::Key(authenticated) => Some(authenticated),
                        TeamAccess::Platform(_) => None,
                    }
                }

                /// Returns the ID of the key with which the team acts; `None` if the platform acts in its name.
                pub fn key_id(&self) -> Option<Uuid> {
                    match &self.0 {
                        TeamAccess::Key(authenticated) => authenticated.key_id(),
                        TeamAccess::Platform(_) => None,
                    }
                }

                /// Returns the requester of the team's reads and writes.
                pub fn requester(&self) -> Requester {
                    match &self.0 {
                        TeamAccess::Key(authenticated) => authenticated.requester(),
                        TeamAccess::Platform(_) => Requester::process(),
                    }
                }
            }

            impl TeamProof for $name {
                fn team_row_id(&self) -> TeamRowId {
                    self.team_row_id()
                }
            }
        )+
    };
}

team_proofs! {
    /// Proof of the right to act for a team that has a marketplace role and has accepted the mutual NDA: the team
    /// itself, or the platform in its name.
    Member,
    /// Proof of the right to act for a vendor team: a member with the vendor role, or the platform in its name.
    Vendor,
    /// Proof of the right to act for a buyer team: a member with the buyer role, or the platform in its name.
    Buyer,
}

/// Proof of a valid API key of a team that has accepted the mutual NDA, with any roles.
#[derive(Clone, Debug)]
pub struct TeamWithNda(AuthenticatedTeam);

impl TeamWithNda {
    /// Checks that the team has accepted the mutual NDA.
    pub fn authorize(authenticated: AuthenticatedTeam) -> Result<TeamWithNda> {
        check_nda(authenticated.team())?;
        Ok(TeamWithNda(authenticated))
    }

    /// Returns the proof of the team's key.
    pub const fn authenticated(&self) -> &AuthenticatedTeam {
        &self.0
    }
}

/// Proof of a member, with its state at the browse gate.
#[derive(Clone, Debug)]
pub struct CatalogViewer {
    member: Member,
    gate: BrowseGate,
}

/// The browse gate: whether a team may browse the whole catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrowseGate {
    /// Number of published listings of the team.
    pub published_count: u64,
    /// Number of published listings that a vendor without the buyer role needs.
    pub required_count: u64,
    /// Whether the team may browse the whole catalog.
    pub is_open: bool,
}

impl Member {
    /// Checks that the team has a marketplace role and has accepted the mutual NDA.
    pub fn authorize(authenticated: AuthenticatedTeam) -> Result<Member> {
        check_any_role(authenticated.team())?;
        check_nda(authenticated.team())?;
        Ok(Member(TeamAccess::Key(authenticated)))
    }
}

impl Vendor {
    /// Checks that the team has the vendor role and has accepted the mutual NDA.
    pub fn authorize(authenticated: AuthenticatedTeam) -> Result<Vendor> {
        check_vendor_role(authenticated.team())?;
        Ok(Vendor(Member::authorize(authenticated)?.0))
    }
}

impl Operator {
    /// Returns the proof that the operator decides for the platform.
    pub const fn platform(&self) -> Platform {
        Platform(())
    }
}

impl ActingOperator {
    /// Returns the proof that the operator decides for the platform.
    pub const fn platform(&self) -> Platform {
        Platform(())
    }
}

impl PrincipalProof for Vendor {
    fn principal(&self) -> Principal {
        Principal::Team(self.team_row_id())
    }

    fn requester(&self) -> Requester {
        self.requester()
    }
}

impl Platform {
    /// Returns the proof to act in the name of a team, whether or not the team could act itself. Fails if the
    /// team was closed.
    pub fn vendor(self, team: Team) -> Result<Vendor> {
        check_open(&team)?;
        Ok(self.vendor_even_if_closed(team))
    }

    /// Returns the proof to act in the name of a vendor. The team needs the vendor role and the NDA, as if it acted
    /// itself.
    pub fn eligible_vendor(self, team: Team) -> Result<Vendor> {
        check_open(&team)?;
        check_vendor_role(&team)?;
        check_nda(&team)?;
        Ok(self.vendor_even_if_closed(team))
    }

    /// Returns the proof to pay the earnings of a team. Unlike [`Platform::vendor`], it exists for a closed team,
    /// too, because its earnings stay payable.
    pub fn vendor_even_if_closed(self, team: Team) -> Vendor {
        Vendor(TeamAccess::Platform(Arc::new(team)))
    }

    /// Returns the proof to act in the name of a member. The team needs a role and the NDA, as if it acted itself.
    pub fn member(self, team: Team) -> Result<Member> {
        check_open(&team)?;
        check_any_role(&team)?;
        check_nda(&team)?;
        Ok(Member(TeamAccess::Platform(Arc::new(team))))
    }

    /// Returns the proof to act in the name of a buyer. The team needs the buyer role and the NDA, as if it
    /// acted itself.
    pub fn buyer(self, team: Team) -> Result<Buyer> {
        check_open(&team)?;
        check_buyer_role(&team)?;
        check_nda(&team)?;
        Ok(Buyer(TeamAccess::Platform(Arc::new(team))))
    }

    /// Returns the proof to end, in the name of a team, what it has begun as a buyer. Unlike [`Platform::buyer`], it
    /// exists for a team that no longer has the buyer role, too; operations that begin something refuse it. Fails if
    /// the team was closed.
    pub fn former_buyer(self, team: Team) -> Result<Buyer> {
        check_open(&team)?;
        Ok(self.buyer_even_if_closed(team))
    }

    /// Returns the proof to decide, in the name of a team, about bids on its projects. Unlike [`Platform::former_buyer`], it exists
    /// for a closed team, too: vendors whose bids it had accepted still deliver, and somebody has to accept that.
    pub fn buyer_even_if_closed(self, team: Team) -> Buyer {
        Buyer(TeamAccess::Platform(Arc::new(team)))
    }

    /// Returns the proof to act in the name of the team that sells a listing.
    pub fn vendor_of_listing(self, rows: &store::Reader, listing: Uuid) -> Result<Vendor> {
        let found = store::teams::find_vendor_of_listing(rows, listing)?;
        self.vendor(found.ok_or_else(|| Error::not_found("listing"))?)
    }

    /// Returns the proof to see one listing as buyers see it, in the vendor's preview. The state of the vendor does not matter.
    pub fn viewer_of_listing(self, rows: &store::Reader, listing: Uuid) -> Result<ListingViewer> {
        let found = store::teams::find_vendor_of_listing(rows, listing)?;
        let team = found.ok_or_else(|| Error::not_found("listing"))?;
        // It is for one listing only, so the gate does not matter.
        let gate = BrowseGate { published_count: 0, required_count: 0, is_open: false };
        let member = Member(TeamAccess::Platform(Arc::new(team)));
        Ok(ListingViewer { viewer: CatalogViewer { member, gate }, only_listing: Some(listing) })
    }
}

impl Buyer {
    /// Checks that the team has the buyer role and has accepted the mutual NDA.
    pub fn authorize(authenticated: AuthenticatedTeam) -> Result<Buyer> {
        check_buyer_role(authenticated.team())?;
        Ok(Buyer(Member::authorize(authenticated)?.0))
    }

    /// Fails if the team does not have the buyer role and the mutual NDA now. Operations that begin something check
    /// it, since [`Platform::former_buyer`] does not.
    pub fn check_is_current(&self) -> Result<()> {
        check_buyer_role(self.team())?;
        check_nda(self.team())
    }
}

/// Fails if the team was closed.
pub(super) fn check_open(team: &Team) -> Result<()> {
    let Some(closed_at) = team.closed_at else { return Ok(()) };
    let message = format!(
        "The team {} was closed at {closed_at}. Nothing can be changed or created for it; its earnings stay \
         payable.",
        quoted(&team.name)
    );
    Err(Error::Conflict(message))
}

fn check_any_role(team: &Team) -> Result<()> {
    if team.is_vendor || team.is_buyer { Ok(()) } else { Err(Error::RoleRequired("vendor or buyer")) }
}

fn check_vendor_role(team: &Team) -> Result<()> {
    if team.is_vendor { Ok(()) } else { Err(Error::RoleRequired("vendor")) }
}

fn check_buyer_role(team: &Team) -> Result<()> {
    if team.is_buyer { Ok(()) } else { Err(Error::RoleRequired("buyer")) }
}

fn check_nda(team: &Team) -> Result<()> {
    if team.nda_accepted_at.is_some() { Ok(()) } else { Err(Error::NdaRequired) }
}

impl BrowseGate {
    /// Computes the gate of a team from its number of published listings.
    pub fn new(team: &Team, published: u64, required: u64) -> BrowseGate {
        BrowseGate {
            published_count: published,
            required_count: required,
            is_open: !team.has_browse_gate() || published >= required,
        }
    }

    /// Returns the error for a team whose gate is closed.
    pub const fn locked_error(self) -> Error {
        Error::BrowseLocked { published: self.published_count, required: self.required_count }
    }
}

impl CatalogViewer {
    /// Computes the browse gate of a member. Counts its published listings in the current index.
    pub fn new(member: Member, market: &Market) -> Result<CatalogViewer> {
        let required = market.settings().browse_gate.required_published;
        let published = market.search_index().active_count(member.team_row_id().0 as u64)?;
        let gate = BrowseGate::new(member.team(), published, required);
        Ok(CatalogViewer { member, gate })
    }

    /// Returns the member.
    pub const fn member(&self) -> &Member {
        &self.member
    }

    /// Returns the requester of the team's reads and writes.
    pub fn requester(&self) -> Requester {
        self.member.requester()
    }

    /// Returns the browse gate of the member.
    pub const fn gate(&self) -> BrowseGate {
        self.gate
    }

    /// Fails if the browse gate is closed.
    pub const fn require_open(&self) -> Result<()> {
        if self.gate.is_open { Ok(()) } else { Err(self.gate.locked_error()) }
    }

    /// Whether the browse routes show a listing to the team: it is published, it belongs to the team, or the
    /// team has purchased it or a part of it.
    pub fn can_view(&self, reader: &Reader, listing: &ListingVisibility) -> Result<bool> {
        if listing.catalog_status == CatalogStatus::Published || listing.vendor == self.member.team_row_id() {
            return Ok(true);
        }
        let level = store::purchases::purchase_level(reader.rows, self.member.team_row_id(), listing.row_id)?;
        Ok(level != store::purchases::PurchaseLevel::Nothing)
    }
}

/// Proof of a team that may browse the whole catalog.
#[derive(Clone, Debug)]
pub struct FullCatalogViewer(CatalogViewer);

impl FullCatalogViewer {
    /// Fails if the browse gate is closed.
    pub fn authorize(viewer: CatalogViewer) -> Result<FullCatalogViewer> {
        viewer.require_open()?;
        Ok(FullCatalogViewer(viewer))
    }

    /// Returns the viewer, whose gate is open.
    pub const fn viewer(&self) -> &CatalogViewer {
        &self.0
    }

    /// Returns the requester of the team's reads and writes.
    pub fn requester(&self) -> Requester {
        self.0.requester()
    }
}

/// Proof of a team that may view one listing, if it exists for the team. While the gate is closed, only its
/// own listing.
#[derive(Clone, Debug)]
pub struct ListingViewer {
    viewer: CatalogViewer,
    /// ID of the only listing that the team may view; `None` if it may view any.
    only_listing: Option<Uuid>,
}

impl ListingViewer {
    /// Fails if the browse gate is closed, unless the listing with this ID belongs to the team.
    pub async fn authorize(
        viewer: CatalogViewer,
        market: &Market,
        listing: Option<Uuid>,
    ) -> Result<ListingViewer> {
        if viewer.gate.is_open {
            return Ok(ListingViewer { viewer, only_listing: None });
        }
        let error = viewer.gate.locked_error();
        let id = listing.ok_or(error)?;
        let found = market
            .read_inline(viewer.requester(), move |reader| store::listings::find(reader.rows, id))
            .await?;
        match found {
            Some(found) if found.team == viewer.member.team_row_id() => {
                Ok(ListingViewer { viewer, only_listing: Some(id) })
            }
            _ => Err(viewer.gate.locked_error()),
        }
    }

    /// Returns the requester of the team's reads and writes.
    pub fn requester(&self) -> Requester {
        self.viewer.requester()
    }

    /// Returns the viewer for this listing. Fails if the proof is for another listing.
    pub fn for_listing(&self, listing: Uuid) -> Result<&CatalogViewer> {
        match self.only_listing {
            Some(only) if only != listing => Err(self.viewer.gate.locked_error()),
            _ => Ok(&self.viewer),
        }
    }

    /// Returns the viewer if it may view any listing.
    pub fn for_any_listing(&self) -> Option<&CatalogViewer> {
        self.only_listing.is_none().then_some(&self.viewer)
    }
}

/// The facts that decide who may view a listing.
#[derive(Clone, Copy, Debug)]
pub struct ListingVisibility {
    /// Row ID of the listing.
    pub row_id: crate::domain::listings::ListingRowId,
    /// The team that sells the listing.
    pub vendor: TeamRowId,
    /// State of the listing in the catalog.
    pub catalog_status: CatalogStatus,
}
