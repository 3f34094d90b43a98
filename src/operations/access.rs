//! Access control: an API key becomes a proof of access, and operations take the proof that they require as
//! an argument.
//!
//! Only this module can create proofs, so an operation that requires one cannot run without the check.

use std::sync::Arc;

use uuid::Uuid;

use crate::{
    domain::{
        listings::CatalogStatus,
        teams::{Team, TeamNumber},
    },
    error::{Error, Result},
    market::{Holder, Market, Reader},
    store,
};

/// Proof of a valid API key.
#[derive(Clone, Debug)]
pub struct KeyHolder(Arc<Holder>);

/// Proof of a team that has a marketplace role and has accepted the mutual NDA.
#[derive(Clone, Debug)]
pub struct Member(Arc<Holder>);

/// Proof of a member with the vendor role.
#[derive(Clone, Debug)]
pub struct Vendor(Member);

/// Proof of a member with the buyer role.
#[derive(Clone, Debug)]
pub struct Buyer(Member);

/// Proof of a member, with its state at the browse gate.
#[derive(Clone, Debug)]
pub struct Browser {
    member: Member,
    gate: Gate,
}

/// The browse gate: whether a team may browse the whole catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    /// Number of published listings of the team.
    pub published: u64,
    /// Number of published listings that a vendor without the buyer role needs.
    pub required: u64,
    /// Whether the team may browse the whole catalog.
    pub is_open: bool,
}

impl KeyHolder {
    /// Authenticates an API key. A cached key costs no database read.
    pub async fn admit(market: &Market, key: &str) -> Result<KeyHolder> {
        let now = market.clock().now();
        if let Some(remembered) = market.keyring().remembered(key, now) {
            return remembered.map(KeyHolder);
        }
        let (keys, key) = (market.clone(), key.to_owned());
        market.glance(move |reader| keys.keyring().find(reader.rows, &key, reader.now)).await.map(KeyHolder)
    }

    /// Returns the team that the key belongs to.
    pub fn team(&self) -> &Team {
        &self.0.team
    }
}

impl Member {
    /// Checks that the team has a marketplace role and has accepted the mutual NDA.
    pub fn of(holder: KeyHolder) -> Result<Member> {
        let team = holder.team();
        if !team.is_vendor && !team.is_buyer {
            return Err(Error::RoleRequired("vendor or buyer"));
        }
        if team.nda_accepted_at.is_none() {
            return Err(Error::NdaRequired);
        }
        Ok(Member(holder.0))
    }

    /// Returns the team.
    pub fn team(&self) -> &Team {
        &self.0.team
    }

    /// Returns the row ID of the team.
    pub fn number(&self) -> TeamNumber {
        self.0.team.number
    }
}

impl Vendor {
    /// Checks that the team has the vendor role and has accepted the mutual NDA.
    pub fn of(holder: KeyHolder) -> Result<Vendor> {
        if !holder.team().is_vendor {
            return Err(Error::RoleRequired("vendor"));
        }
        Member::of(holder).map(Vendor)
    }

    /// Returns the team.
    pub fn team(&self) -> &Team {
        self.0.team()
    }

    /// Returns the row ID of the team.
    pub fn number(&self) -> TeamNumber {
        self.0.number()
    }
}

impl Buyer {
    /// Checks that the team has the buyer role and has accepted the mutual NDA.
    pub fn of(holder: KeyHolder) -> Result<Buyer> {
        if !holder.team().is_buyer {
            return Err(Error::RoleRequired("buyer"));
        }
        Member::of(holder).map(Buyer)
    }

    /// Returns the row ID of the team.
    pub fn number(&self) -> TeamNumber {
        self.0.number()
    }
}

impl Gate {
    /// Computes the gate of a team from its number of published listings.
    pub fn of(team: &Team, published: u64, required: u64) -> Gate {
        Gate { published, required, is_open: !team.is_gated() || published >= required }
    }

    /// Returns the error for a team whose gate is closed.
    pub const fn refusal(self) -> Error {
        Error::BrowseLocked { published: self.published, required: self.required }
    }
}

impl Browser {
    /// Computes the browse gate of a member. Counts its published listings in the current index.
    pub fn of(member: Member, market: &Market) -> Browser {
        let required = market.settings().browse_gate.required_published;
        let published = market.snapshot().published_by(member.number().0 as u64);
        let gate = Gate::of(member.team(), published, required);
        Browser { member, gate }
    }

    /// Returns the member.
    pub const fn member(&self) -> &Member {
        &self.member
    }

    /// Returns the browse gate of the member.
    pub const fn gate(&self) -> Gate {
        self.gate
    }

    /// Fails if the browse gate is closed.
    pub const fn open(&self) -> Result<()> {
        if self.gate.is_open { Ok(()) } else { Err(self.gate.refusal()) }
    }

    /// Whether the browse routes show a listing to the team: it is published, it belongs to the team, or the
    /// team has purchased it or a part of it.
    pub fn may_see(&self, reader: &Reader, listing: &Seen) -> Result<bool> {
        if listing.catalog_status == CatalogStatus::Published || listing.team == self.member.number() {
            return Ok(true);
        }
        let bought = store::deals::bought(reader.rows, self.member.number(), listing.number)?;
        Ok(bought != store::deals::Bought::Nothing)
    }
}

/// Proof of a team that may browse the whole catalog.
#[derive(Clone, Debug)]
pub struct OpenBrowser(());

impl OpenBrowser {
    /// Fails if the browse gate is closed.
    pub fn of(browser: &Browser) -> Result<OpenBrowser> {
        browser.open().map(OpenBrowser)
    }
}

/// Proof of a team that may view one listing, if it exists for the team. While the gate is closed, only its
/// own listing.
#[derive(Clone, Debug)]
pub struct ListingBrowser {
    browser: Browser,
    /// ID of the only listing that the team may view; `None` if it may view any.
    only: Option<Uuid>,
}

impl ListingBrowser {
    /// Fails if the browse gate is closed, unless the listing with this ID belongs to the team.
    pub async fn of(browser: Browser, market: &Market, listing: Option<Uuid>) -> Result<ListingBrowser> {
        if browser.gate.is_open {
            return Ok(ListingBrowser { browser, only: None });
        }
        let refusal = browser.gate.refusal();
        let id = listing.ok_or(refusal)?;
        let found = market.glance(move |reader| store::listings::find(reader.rows, id)).await?;
        match found {
            Some(found) if found.team == browser.member.number() => {
                Ok(ListingBrowser { browser, only: Some(id) })
            }
            _ => Err(browser.gate.refusal()),
        }
    }

    /// Returns the viewer for this listing. Fails if the proof is for another listing.
    pub fn at(&self, listing: Uuid) -> Result<&Browser> {
        match self.only {
            Some(only) if only != listing => Err(self.browser.gate.refusal()),
            _ => Ok(&self.browser),
        }
    }
}

/// The facts that decide who may view a listing.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Row ID of the listing.
    pub number: crate::domain::listings::ListingNumber,
    /// The team that sells the listing.
    pub team: TeamNumber,
    /// State of the listing in the catalog.
    pub catalog_status: CatalogStatus,
}
