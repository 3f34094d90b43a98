//! Who may do what: a key becomes a proof, and operations that need one take it as an argument.
//!
//! Proofs can be made here only, so an operation that asks for one cannot be reached without the check.

use std::sync::Arc;

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

    /// Refuses a team in front of the gate, unless the listing of this id is its own.
    pub fn open_or_own(&self, reader: &Reader, listing: uuid::Uuid) -> Result<()> {
        if self.gate.is_open {
            return Ok(());
        }
        match store::listings::find(reader.rows, listing)? {
            Some(listing) if listing.team == self.member.number() => Ok(()),
            _ => Err(self.gate.refusal()),
        }
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
