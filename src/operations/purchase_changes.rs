//! The common parts of all changes of a purchase: the check of its status, and the events. A cancellation needs
//! only these.

use crate::{
    domain::{
        due_steps::StepKind,
        events::{EventData, PaymentData, PurchaseData},
        listings::Actor,
        money::CURRENCY,
        purchases::{PurchaseOperation, PurchaseStatus},
        state_machine::StateMachine,
        teams::TeamRowId,
    },
    error::Result,
    market::Writer,
    store::{self, purchases::PurchaseRow},
};

/// Returns the status of a purchase after an operation, or the error for one that its status does not allow.
pub fn check(purchase: &PurchaseRow, operation: PurchaseOperation) -> Result<PurchaseStatus> {
    Ok(purchase.status.check(operation)?)
}

/// Cancels a purchase that is not paid yet. If it comes from an offer, the offer stays accepted.
pub fn cancel(writer: &Writer, purchase: &PurchaseRow, actor: Actor) -> Result<()> {
    let status = check(purchase, PurchaseOperation::Cancel)?;
    store::purchases::set_cancelled(writer.rows, purchase.row_id, writer.now)?;
    writer.unschedule(StepKind::PurchaseExpires, purchase.row_id)?;
    emit_to_buyer(writer, &PurchaseRow { status, ..purchase.clone() }, actor, EventData::PurchaseCancelled)
}

/// Cancels all pending purchases of a team, because it is closed: those that it made, and those of its listings.
/// Returns their number.
pub fn cancel_all(writer: &Writer, team: TeamRowId, actor: Actor) -> Result<usize> {
    let purchases = store::purchases::list_pending_of(writer.rows, team)?;
    purchases.iter().try_for_each(|purchase| cancel(writer, purchase, actor))?;
    Ok(purchases.len())
}

/// Appends an event of a purchase for its buyer. `purchase` is as it is afterwards.
pub fn emit_to_buyer(
    writer: &Writer,
    purchase: &PurchaseRow,
    actor: Actor,
    event: fn(PurchaseData) -> EventData,
) -> Result<()> {
    let payment = PaymentData {
        price: purchase.charges.price.to_string(),
        buyer_fee: purchase.charges.buyer_fee.to_string(),
        pay_with: purchase.pay_with,
    };
    let data = PurchaseData { payment: Some(payment), ..data(purchase, actor) };
    writer.emit(Some(purchase.buyer), purchase.id, &event(data))
}

/// Appends an event of a sale for its vendor, which does not identify the buyer.
pub fn emit_to_vendor(
    writer: &Writer,
    purchase: &PurchaseRow,
    actor: Actor,
    event: fn(PurchaseData) -> EventData,
) -> Result<()> {
    let proceeds = Some(purchase.charges.proceeds().to_string());
    let data = PurchaseData { proceeds, ..data(purchase, actor) };
    writer.emit(Some(purchase.vendor), purchase.id, &event(data))
}

fn data(purchase: &PurchaseRow, actor: Actor) -> PurchaseData {
    PurchaseData {
        purchase_id: purchase.id,
        listing_id: purchase.listing_id,
        actor,
        status: purchase.status,
        purchase_kind: purchase.kind,
        payment: None,
        currency: CURRENCY,
        proceeds: None,
    }
}
