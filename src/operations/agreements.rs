//! Agreements: what buyer and vendor agreed on, as text. It is made when a purchase is completed, from the terms at the time of
//! the order, and never changes.

use uuid::Uuid;

use super::{
    access::{Buyer, Platform},
    proposed_sales::{self, Sale},
};
use crate::{
    config::Settings,
    domain::{
        agreements::{self, Deal, Signature, Terms},
        purchases::{Charges, ScopeMode},
    },
    error::{Error, Result},
    market::{Reader, Writer},
    store::{self, agreements::Agreement, purchases::PurchaseRow},
};

/// What a buyer agrees to with a sale.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The terms.
    pub terms: Terms,
    /// What the sale costs.
    pub charges: Charges,
    /// The terms and the amounts as text, as the agreement will state them.
    pub text: String,
    /// SHA-256 digest of everything that must not change until the buyer confirms: the text, the list of assets, their data, and
    /// what a sample has of them.
    pub digest: String,
}

/// Returns what a buyer agrees to with a sale that is made now.
pub fn propose(rows: &store::Reader, settings: &Settings, sale: &Sale) -> Result<Proposal> {
    let is_of_sample = sale.scope.mode == ScopeMode::Sample;
    let (mut terms, asset_changes) =
        store::agreements::find_terms(rows, sale.listing.row_id, sale.buyer, is_of_sample)?;
    if sale.scope.mode == ScopeMode::Selection {
        terms.asset_count = sale.scope.asset_ids.len() as u64;
    }
    let charges = proposed_sales::charges(settings, sale.price);
    let deal = Deal {
        kind: sale.kind,
        scope: &sale.scope,
        charges,
        pay_with: sale.pay_with,
        is_exclusive: sale.is_exclusive(),
    };
    let text = agreements::render_terms(&terms, &deal);
    let digest = agreements::digest(&format!("{text}{asset_changes}"));
    Ok(Proposal { terms, charges, text, digest })
}

/// Stores the terms that the buyer of a pending purchase agreed to, until the purchase is completed.
pub fn keep(writer: &Writer, purchase: &PurchaseRow, text: &str) -> Result<()> {
    store::agreements::insert_ordered_terms(writer.rows, purchase.row_id, text)
}

/// Returns the terms that the buyer of a completing purchase agreed to, and deletes them: the agreement will contain them.
pub fn take(writer: &Writer, purchase: &PurchaseRow) -> Result<String> {
    let terms = ordered_terms(writer.rows, purchase)?;
    store::agreements::delete_ordered_terms(writer.rows, purchase.row_id)?;
    Ok(terms)
}

/// Returns the terms that the buyer of a pending purchase agreed to. For orders from before these terms were stored, returns
/// the present terms.
pub fn ordered_terms(rows: &store::Reader, purchase: &PurchaseRow) -> Result<String> {
    if let Some(text) = store::agreements::find_ordered_terms(rows, purchase.row_id)? {
        return Ok(text);
    }
    let (terms, scope) = store::agreements::find_terms_of_purchase(rows, purchase.row_id)?;
    let deal = Deal {
        kind: purchase.kind,
        scope: &scope,
        charges: purchase.charges,
        pay_with: purchase.pay_with,
        is_exclusive: purchase.is_exclusive,
    };
    Ok(agreements::render_terms(&terms, &deal))
}

/// Makes the agreement of a purchase that completes now: the document with this ID, with the terms that the buyer agreed to.
pub fn sign(writer: &Writer, purchase: &PurchaseRow, terms: &str, document: Uuid) -> Result<()> {
    let signature = Signature { document, purchase: purchase.id, signed_at: writer.now };
    let text = agreements::render(terms, &signature);
    store::agreements::insert(writer.rows, purchase.row_id, &text, &agreements::digest(&text), writer.now)
}

/// Returns the agreement of a purchase of the team; `None` if it is not completed, or was before agreements were stored.
pub fn find(reader: &Reader, buyer: &Buyer, purchase: Uuid) -> Result<Option<Agreement>> {
    let found = store::purchases::find(reader.rows, purchase)?;
    let row = found.filter(|purchase| purchase.buyer == buyer.team_row_id());
    let row = row.ok_or_else(|| Error::not_found("purchase"))?;
    store::agreements::find(reader.rows, row.row_id)
}

/// Returns the agreement of any purchase. See [`find`].
pub fn find_of_any(rows: &store::Reader, _: Platform, purchase: Uuid) -> Result<Option<Agreement>> {
    let row = store::purchases::find(rows, purchase)?.ok_or_else(|| Error::not_found("purchase"))?;
    store::agreements::find(rows, row.row_id)
}
