//! Who may do what: a key becomes a proof, and operations that need one take it as an argument.
//!
//! Proofs can be made here only, so an operation that asks for one cannot be reached without the check.

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

/// Proof of a valid key.
#[derive(Clone, Debug)]
pub struct KeyHolder(Arc<Holder>);

/// Proof of a team with a marketplace role that has accepted the mutual NDA.
#[derive(Clone, Debug)]
pub struct Member(Arc<Holder>);

/// Proof of a member that sells.
#[derive(Clone, Debug)]
pub struct Vendor(Member);

/// Proof of a member that buys.
#[derive(Clone, Debug)]
pub struct Buyer(Member);

/// Proof of a member, with where it stands at the browse gate.
#[derive(Clone, Debug)]
pub struct Browser {
    member: Member,
    gate: Gate,
}

/// Whether a team may browse the whole catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    /// Listings that the team has in the catalog.
    pub published: u64,
    /// Listings that it would need, if it only sells.
    pub required: u64,
    /// Whether it may.
    pub is_open: bool,
}

impl KeyHolder {
    /// Who a key speaks for. A key that was met before costs no row.
    pub async fn admit(market: &Market, key: &str) -> Result<KeyHolder> {
        let now = market.clock().now();
        if let Some(remembered) = market.keyring().remembered(key, now) {
            return remembered.map(KeyHolder);
        }
        let (keys, key) = (market.clone(), key.to_owned());
        market.glance(move |reader| keys.keyring().find(reader.rows, &key, reader.now)).await.map(KeyHolder)
    }

    /// The team that the key speaks for.
    pub fn team(&self) -> &Team {
        &self.0.team
    }
}

impl Member {
    /// A key's team, if it has any marketplace role and has accepted the mutual NDA.
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

    /// The team.
    pub fn team(&self) -> &Team {
        &self.0.team
    }

    /// The team's row number.
    pub fn number(&self) -> TeamNumber {
        self.0.team.number
    }
}

impl Vendor {
    /// A key's team, if it sells and has accepted the mutual NDA.
    pub fn of(holder: KeyHolder) -> Result<Vendor> {
        if !holder.team().is_vendor {
            return Err(Error::RoleRequired("vendor"));
        }
        Member::of(holder).map(Vendor)
    }

    /// The team.
    pub fn team(&self) -> &Team {
        self.0.team()
    }

    /// The team's row number.
    pub fn number(&self) -> TeamNumber {
        self.0.number()
    }
}

impl Buyer {
    /// A key's team, if it buys and has accepted the mutual NDA.
    pub fn of(holder: KeyHolder) -> Result<Buyer> {
        if !holder.team().is_buyer {
            return Err(Error::RoleRequired("buyer"));
        }
        Member::of(holder).map(Buyer)
    }

    /// The team's row number.
    pub fn number(&self) -> TeamNumber {
        self.0.number()
    }
}

impl Gate {
    /// Where a team stands that has so many listings in the catalog.
    pub fn of(team: &Team, published: u64, required: u64) -> Gate {
        Gate { published, required, is_open: !team.is_gated() || published >= required }
    }

    /// The refusal of a team in front of the gate.
    pub const fn refusal(self) -> Error {
        Error::BrowseLocked { published: self.published, required: self.required }
    }
}

impl Browser {
    /// A member at the browse gate, whose published listings are counted now.
    pub fn of(member: Member, market: &Market) -> Browser {
        let required = market.settings().browse_gate.required_published;
        let published = market.snapshot().published_by(member.number().0 as u64);
        let gate = Gate::of(member.team(), published, required);
        Browser { member, gate }
    }

    /// The member.
    pub const fn member(&self) -> &Member {
        &self.member
    }

    /// Where it stands.
    pub const fn gate(&self) -> Gate {
        self.gate
    }

    /// Refuses a team in front of the gate.
    pub const fn open(&self) -> Result<()> {
        if self.gate.is_open { Ok(()) } else { Err(self.gate.refusal()) }
    }

    /// Whether the browse routes show the team a listing: one in the catalog, one of its own, or one that it has bought
    /// of.
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
    /// Refuses a team in front of the gate.
    pub fn of(browser: &Browser) -> Result<OpenBrowser> {
        browser.open().map(OpenBrowser)
    }
}

/// Proof of a team that may look at one listing, if the listing is there for it: in front of the gate, only its own.
#[derive(Clone, Debug)]
pub struct ListingBrowser {
    browser: Browser,
    /// The only listing that it may look at; any where there is none.
    only: Option<Uuid>,
}

impl ListingBrowser {
    /// Refuses a team in front of the gate, unless the listing of this id is its own.
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

    /// The team, as far as this listing goes.
    pub fn at(&self, listing: Uuid) -> Result<&Browser> {
        match self.only {
            Some(only) if only != listing => Err(self.browser.gate.refusal()),
            _ => Ok(&self.browser),
        }
    }
}

/// What decides who may see a listing.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// The listing.
    pub number: crate::domain::listings::ListingNumber,
    /// Its vendor.
    pub team: TeamNumber,
    /// Whether the market sees it.
    pub catalog_status: CatalogStatus,
}
