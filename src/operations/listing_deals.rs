//! A buyer's purchases of a listing, and its options: buy the listing, its sample, or some of its assets, or bid on it.

use uuid::Uuid;

use super::{
    access::Buyer,
    exclusivity, listings,
    offers::{self, Obstacle},
    purchases::{self, PurchaseInput},
    selections,
};
use crate::{
    domain::{
        listings::DeliveryMethod,
        money::Cents,
        purchases::{PayWith, PurchaseKind},
        time::Timestamp,
    },
    error::{Error, Result, refusal},
    market::Reader,
    store::{
        self, listing_quality::EvidenceCheck, listings::ListingRow, offers::SubmittedOffer,
        purchases::ListingPurchase,
    },
};

/// Maximum number of purchases of a listing that are returned, the newest. A team can have any number that were canceled.
const MAX_PURCHASES: u32 = 20;

/// Number of assets of a listing, from the first one, in which assets without data are counted.
pub const MAX_FIRST_ASSETS: u32 = 1_000;

/// A buyer's purchases and bids on a listing, and its options.
#[derive(Clone, Debug)]
pub struct ListingDeals {
    /// Title of the listing.
    pub title: String,
    /// Time at which the market certified the listing; `None` if it has not.
    pub certified_at: Option<Timestamp>,
    /// The quality checks of its assets, as buyers see them.
    pub checks: Vec<EvidenceCheck>,
    /// Price of the listing before fees; `None` if it has no fixed price.
    pub price: Option<Cents>,
    /// The team's purchases of the listing, newest first.
    pub purchases: Vec<ListingPurchase>,
    /// The team's submitted offer on the listing.
    pub bid: Option<SubmittedOffer>,
    /// Why the vendor cannot accept this offer now; `None` if nothing is known, or if there is none.
    pub obstacle: Option<Obstacle>,
    /// Whether the listing accepts bids.
    pub accepts_bids: bool,
    /// Whether the listing is sold once, exclusively.
    pub is_exclusive: bool,
    /// Number of assets of which the market has no data, so that only their descriptions can be downloaded. Further assets than the
    /// first ones are not counted.
    pub without_data: u64,
    /// Number of assets, from the first one, in which assets without data are counted.
    pub first_assets: u64,
    /// How the vendor delivers, and within how many days.
    pub delivery: Option<(DeliveryMethod, u32)>,
    /// Whether the team can buy the listing, and its price.
    pub whole: Offered,
    /// Whether the team can buy the sample, and its price.
    pub sample: Offered,
    /// Whether the team can buy selected assets. Assets without an asking price are only sold together with the others.
    pub selection: Offered,
    /// Whether the listing has several assets, so that there is something to select.
    pub has_choice: bool,
    /// Whether the team can bid now; the amount is the price of the listing, if it has one.
    pub bid_possible: Offered,
}

/// Whether something can be done now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Offered {
    /// It can, at this price before fees if there is one.
    Now(Option<Cents>),
    /// It cannot. Says why, and what helps.
    Refused(String),
}

impl Offered {
    /// Whether it can be done now.
    pub const fn is_possible(&self) -> bool {
        matches!(self, Offered::Now(_))
    }
}

/// Returns what a team has of a listing that it may see, and what it can do with it. A fixed number of statements.
pub fn find(reader: &Reader, buyer: &Buyer, listing: Uuid) -> Result<ListingDeals> {
    let rows = reader.rows;
    let row = store::listings::find(rows, listing)?.ok_or_else(|| Error::not_found("listing"))?;
    let team = buyer.team_row_id();
    let on_sale = refusal(listings::find_on_sale(rows, buyer, listing))?;
    let offered = |kind| match &on_sale {
        Some(reason) => Ok(Offered::Refused(reason.clone())),
        None => offered(rows, buyer, &row, kind),
    };
    let (whole, sample) = (offered(PurchaseKind::Full)?, offered(PurchaseKind::Sample)?);
    let purchases = store::purchases::list_of_listing(rows, team, row.row_id, MAX_PURCHASES)?;
    let bid = store::offers::find_submitted_offer(rows, team, row.row_id)?;
    let obstacle = bid.map(|bid| offers::find_obstacle(reader, buyer, bid.id)).transpose()?.flatten();
    let selection = selection(&row, &whole);
    let has_choice = selections::has_choice(rows, &row)?;
    let sold = refusal(exclusivity::check_bids(rows, &row))?;
    let bid_possible = bidding(&row, (on_sale, sold), &purchases, bid.as_ref());
    let checks = store::listing_quality::list_evidence_of(rows, &[row.row_id])?.remove(&row.row_id);
    let (without_data, first_assets) =
        store::listing_assets::count_without_data(rows, row.row_id, MAX_FIRST_ASSETS)?;
    Ok(ListingDeals {
        certified_at: row.certified_at,
        checks: checks.unwrap_or_default(),
        price: row.price,
        title: row.title,
        accepts_bids: row.accepts_bids,
        is_exclusive: row.is_exclusive,
        without_data,
        first_assets,
        delivery: store::listings::find_fields(rows, row.row_id)?.delivery,
        selection,
        has_choice,
        bid_possible,
        whole,
        sample,
        purchases,
        bid,
        obstacle,
    })
}

/// Whether a team can buy a listing on sale, or its sample.
fn offered(rows: &store::Reader, buyer: &Buyer, listing: &ListingRow, kind: PurchaseKind) -> Result<Offered> {
    let input = PurchaseInput { listing: listing.id, kind, asset_ids: None, pay_with: PayWith::Credits };
    let sale = purchases::checked_sale(rows, buyer, listing, &input, None);
    let price = sale.as_ref().map(|sale| sale.price).ok();
    let refused = refusal(sale)?;
    Ok(refused.map_or(Offered::Now(price), Offered::Refused))
}

fn selection(listing: &ListingRow, whole: &Offered) -> Offered {
    if whole.is_possible() && listing.is_exclusive {
        return Offered::Refused("The listing is only sold as a whole.".to_owned());
    }
    match whole {
        // The price depends on what is selected.
        Offered::Now(_) => Offered::Now(None),
        Offered::Refused(reason) => Offered::Refused(reason.clone()),
    }
}

/// Whether a team can bid on a listing, which may not be on sale, or whose assets may have been sold otherwise.
fn bidding(
    listing: &ListingRow,
    (on_sale, sold): (Option<String>, Option<String>),
    purchases: &[ListingPurchase],
    bid: Option<&SubmittedOffer>,
) -> Offered {
    let owns = purchases.iter().any(|purchase| purchase.status.is_in_effect() && purchase.kind.is_of_data());
    let refused = if let Some(reason) = on_sale {
        reason
    } else if !listing.accepts_bids {
        "The listing does not accept bids.".to_owned()
    } else if bid.is_some() {
        "The team already has a submitted bid on this listing. Change or withdraw that one.".to_owned()
    } else if owns {
        "The team already has a purchase of this listing that is pending or completed.".to_owned()
    } else if let Some(reason) = sold {
        reason
    } else {
        return Offered::Now(listing.price);
    };
    Offered::Refused(refused)
}
