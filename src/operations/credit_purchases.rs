//! Purchases of credits, which complete at once.

use uuid::Uuid;

use super::{
    access::{Member, Platform},
    ledger, wallet,
};
use crate::{
    domain::{
        collections::Collection,
        credit_purchases::CreditPurchaseStatus,
        ledger::Transfer,
        listings::Actor,
        money::{Cents, MAX_AMOUNT},
    },
    error::{Error, Result},
    market::Writer,
    store::{self, credit_purchases::CreditPurchase},
};

/// Buys credits for a team. They are paid outside the marketplace, and can be spent at once.
pub fn create(writer: &mut Writer, member: &Member, actor: Actor, amount: Cents) -> Result<CreditPurchase> {
    wallet::check_amount(amount, MAX_AMOUNT)?;
    let (team, description) = (member.team_row_id(), "Purchase of credits");
    let transfer = Transfer::credit_purchase(team, amount);
    let posted = ledger::post_transfer(writer, &transfer, description)?;
    let purchase = CreditPurchase {
        id: writer.new_id(Collection::CreditPurchases),
        team,
        amount,
        status: CreditPurchaseStatus::Completed,
        created_at: writer.now,
        completed_at: writer.now,
    };
    store::credit_purchases::insert(writer.rows, &purchase, posted.row_id)?;
    wallet::record(writer, team, actor, &posted, &transfer, description, Some(purchase.id))?;
    Ok(purchase)
}

/// Returns the credit purchase with this ID, whichever team it belongs to.
pub fn find(rows: &store::Reader, _platform: Platform, id: Uuid) -> Result<CreditPurchase> {
    store::credit_purchases::find(rows, id)?.ok_or_else(|| Error::not_found("credit purchase"))
}
