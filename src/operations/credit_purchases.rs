//! Purchases of credits: requested by a team, and completed by the platform when it was paid outside the marketplace.
//! The ledger has an entry of those that are completed.

use uuid::Uuid;

use super::{
    access::{Member, Platform},
    ledger, quotas, wallet,
};
use crate::{
    domain::{
        collections::Collection,
        credit_purchases::{
            CreditPurchaseOperation, CreditPurchaseStatus, MAX_PENDING, MAX_REQUESTED_AMOUNT,
        },
        events::{CreditPurchaseData, EventData},
        ledger::Transfer,
        listings::Actor,
        money::{CURRENCY, Cents, MAX_AMOUNT},
        state_machine::StateMachine,
        teams::TeamRowId,
    },
    error::{Error, Result},
    market::Writer,
    store::{
        self,
        credit_purchases::{CreditPurchase, NewCreditPurchase},
    },
};

/// Buys credits for a team, which were paid. They can be spent at once.
pub fn create(writer: &mut Writer, member: &Member, actor: Actor, amount: Cents) -> Result<CreditPurchase> {
    wallet::check_amount(amount, MAX_AMOUNT)?;
    let requested = insert(writer, member, amount)?;
    post(writer, &requested, actor, CreditPurchaseStatus::Completed)
}

/// Requests credits, at most [`MAX_REQUESTED_AMOUNT`]. A team can have at most [`MAX_PENDING`] pending requests.
pub fn request(writer: &mut Writer, member: &Member, actor: Actor, amount: Cents) -> Result<CreditPurchase> {
    wallet::check_amount(amount, MAX_REQUESTED_AMOUNT)?;
    let used = store::credit_purchases::count_pending(writer.rows, member.team_row_id())?;
    quotas::check_one_more("team", ("pending_credit_purchases", MAX_PENDING), used)?;
    let requested = insert(writer, member, amount)?;
    emit(writer, &requested, actor, EventData::CreditPurchaseRequested)?;
    Ok(requested)
}

/// Returns the credit purchase with this ID, of any team.
pub fn find(rows: &store::Reader, _platform: Platform, id: Uuid) -> Result<CreditPurchase> {
    find_stored(rows, id)
}

/// Completes a requested purchase, which was paid: adds its credits, which can be spent at once. A team that was closed
/// has no pending ones.
pub fn complete(writer: &mut Writer, platform: Platform, actor: Actor, id: Uuid) -> Result<CreditPurchase> {
    let found = find(writer.rows, platform, id)?;
    let status = found.status.check(CreditPurchaseOperation::Complete)?;
    post(writer, &found, actor, status)
}

/// Rejects a requested purchase. No credits are added.
pub fn reject(writer: &mut Writer, platform: Platform, actor: Actor, id: Uuid) -> Result<CreditPurchase> {
    let found = find(writer.rows, platform, id)?;
    end(writer, &found, actor, CreditPurchaseOperation::Reject, EventData::CreditPurchaseRejected)
}

/// Cancels a purchase that the team requested, and that is pending.
pub fn cancel(writer: &mut Writer, member: &Member, actor: Actor, id: Uuid) -> Result<CreditPurchase> {
    let found = find_stored(writer.rows, id)?;
    if found.team != member.team_row_id() {
        return Err(not_found());
    }
    end(writer, &found, actor, CreditPurchaseOperation::Cancel, EventData::CreditPurchaseCancelled)
}

/// Cancels all pending purchases of a team that closes. Returns their number.
pub fn cancel_all(writer: &mut Writer, _: Platform, actor: Actor, team: TeamRowId) -> Result<u64> {
    let pending = store::credit_purchases::list_pending(writer.rows, team)?;
    for found in &pending {
        end(writer, found, actor, CreditPurchaseOperation::Cancel, EventData::CreditPurchaseCancelled)?;
    }
    Ok(pending.len() as u64)
}

fn insert(writer: &Writer, member: &Member, amount: Cents) -> Result<CreditPurchase> {
    let new = NewCreditPurchase {
        id: writer.new_id(Collection::CreditPurchases),
        team: member.team_row_id(),
        amount,
        requested_by: member.key_id(),
        created_at: writer.now,
    };
    store::credit_purchases::insert(writer.rows, &new)?;
    store::credit_purchases::find(writer.rows, new.id)?
        .ok_or_else(|| Error::internal("the purchase of credits was not stored"))
}

/// Posts the credits of a pending purchase, and completes it.
fn post(
    writer: &Writer,
    pending: &CreditPurchase,
    actor: Actor,
    status: CreditPurchaseStatus,
) -> Result<CreditPurchase> {
    let CreditPurchase { row_id, id, team, amount, .. } = *pending;
    let description = "Purchase of credits";
    let transfer = Transfer::credit_purchase(team, amount);
    let posted = ledger::post_transfer(writer, &transfer, description)?;
    store::credit_purchases::decide(writer.rows, row_id, status, Some(posted.row_id), writer.now)?;
    wallet::record(writer, team, actor, &posted, &transfer, description, Some(id))?;
    Ok(CreditPurchase { status, decided_at: Some(writer.now), ..pending.clone() })
}

/// Ends a requested purchase without credits.
fn end(
    writer: &Writer,
    found: &CreditPurchase,
    actor: Actor,
    operation: CreditPurchaseOperation,
    event: fn(CreditPurchaseData) -> EventData,
) -> Result<CreditPurchase> {
    let status = found.status.check(operation)?;
    store::credit_purchases::decide(writer.rows, found.row_id, status, None, writer.now)?;
    let ended = CreditPurchase { status, decided_at: Some(writer.now), ..found.clone() };
    emit(writer, &ended, actor, event)?;
    Ok(ended)
}

fn find_stored(rows: &store::Reader, id: Uuid) -> Result<CreditPurchase> {
    store::credit_purchases::find(rows, id)?.ok_or_else(not_found)
}

fn not_found() -> Error {
    Error::not_found("credit purchase")
}

/// Emits the event of a purchase that added no credits.
fn emit(
    writer: &Writer,
    purchase: &CreditPurchase,
    actor: Actor,
    event: fn(CreditPurchaseData) -> EventData,
) -> Result<()> {
    let data = CreditPurchaseData {
        credit_purchase_id: purchase.id,
        actor,
        status: purchase.status,
        amount: purchase.amount.to_string(),
        currency: CURRENCY,
    };
    writer.emit(Some(purchase.team), purchase.id, &event(data))
}
