//! Sales of a vendor: purchases that were paid, without the buyer.

use uuid::Uuid;

use super::{Filter, FromRow, Records, TeamRecord, TeamRecords};
use crate::domain::{
    money::Cents,
    purchases::{PaidStatus, PurchaseKind, ScopeMode},
    time::Timestamp,
};

/// A sale, as its vendor sees it. It has neither the buyer, nor the buyer's fee, nor how the buyer paid.
#[derive(Clone, Debug, FromRow)]
pub struct TeamSale {
    /// ID of the sale.
    pub id: Uuid,
    /// ID of the listing.
    pub listing: Uuid,
    /// Title of the listing that the buyer agreed to, or else the present one.
    pub listing_title: String,
    /// Kind of purchase.
    pub kind: PurchaseKind,
    /// Whether it was refunded.
    pub status: PaidStatus,
    /// Whether it was an exclusive sale.
    pub is_exclusive: bool,
    /// Whether it covers all assets of the listing, a sample of them, or selected ones.
    pub scope: ScopeMode,
    /// Number of assets that it covers.
    pub assets: u64,
    /// Price before fees.
    pub price: Cents,
    /// Fee that the platform deducts from the price.
    pub platform_fee: Cents,
    /// ID of the accepted offer; `None` unless it is a sale by an accepted bid.
    pub offer: Option<Uuid>,
    /// Time of payment.
    pub paid_at: Timestamp,
    /// Time at which the hold of the earnings ends; `None` for a free sample.
    pub available_at: Option<Timestamp>,
    /// The remaining earnings on hold; `None` if the hold has ended.
    pub held: Option<Cents>,
    /// What refunds have taken from the hold.
    pub taken: Cents,
    /// Time of the refund; `None` unless refunded.
    pub refunded_at: Option<Timestamp>,
}

impl TeamSale {
    /// Returns the vendor's share of the price, which a refund takes back.
    pub const fn share(&self) -> Cents {
        Cents(self.price.0 - self.platform_fee.0)
    }

    /// Returns the vendor's earnings from the sale: zero after a refund.
    pub const fn earnings(&self) -> Cents {
        match self.status {
            PaidStatus::Completed => self.share(),
            PaidStatus::Refunded => Cents(0),
        }
    }

    /// Whether refunds of other sales have taken all earnings from the hold.
    pub fn is_used_up(&self) -> bool {
        self.status == PaidStatus::Completed && self.taken.0 > 0 && self.taken >= self.share()
    }

    /// Returns the time from which earnings of the sale can be used; `None` if there are none, or if refunds have taken them.
    pub fn available_from(&self) -> Option<Timestamp> {
        self.available_at.filter(|_| self.status == PaidStatus::Completed && !self.is_used_up())
    }
}

/// The title in the agreement.
const TITLE: &str = "coalesce(agreed_title(agreed.text), l.title)";

impl TeamRecord for TeamSale {
    /// `text` is a part of this title, and `since` and `end` are microseconds. The unary pluses keep SQLite from using
    /// the indexes of statuses, kinds, and payments, which contain the purchases of all teams.
    const LIST: &'static TeamRecords = &Records {
        name: "sale",
        columns: &[
            "p.uuid AS id, l.uuid AS listing,",
            TITLE,
            "AS listing_title, p.kind, p.status, p.exclusive AS is_exclusive,
             p.scope ->> 'mode' AS scope,
             (SELECT count(*) FROM purchase_assets a WHERE a.purchase = p.id) AS assets,
             p.price_cents AS price, p.platform_fee_cents AS platform_fee, o.uuid AS offer, p.paid_at,
             (SELECT max(e.available_at) FROM ledger_entries e WHERE e.purchase = p.id AND e.entry_type <> 'refund')
                 AS available_at,
             (SELECT sum(h.remaining_cents) FROM ledger_entries e JOIN earnings_holds h ON h.entry = e.id
                 WHERE e.purchase = p.id) AS held,
             (SELECT coalesce(sum(u.cents), 0) FROM ledger_entries e JOIN earnings_hold_uses u ON u.hold = e.id
                 WHERE e.purchase = p.id) AS taken,
             p.refunded_at",
        ],
        tables: &["purchases p JOIN listings l ON l.id = p.listing LEFT JOIN offers o ON o.id = p.offer
             LEFT JOIN agreements agreed ON agreed.purchase = p.id"],
        row_id: "p.id",
        id: "p.uuid",
        condition: Some("+p.status IN ('completed', 'refunded')"),
        filters: &[
            ("status", Filter::OneOf("+p.status")),
            ("kind", Filter::OneOf("+p.kind")),
            ("listing", Filter::RefersTo("p.listing", "listings")),
            ("text", Filter::Contains(TITLE)),
            ("since", Filter::Matches("p.paid_at >= ?")),
            ("end", Filter::Matches("p.paid_at < ?")),
        ],
    }
    .of_team("l.team")
    .sorted_by("+p.paid_at");
}
