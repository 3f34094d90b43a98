//! Payments that are made outside the marketplace: by buyers, for purchases and credits, and to vendors. Whoever says how one
//! ended can state its amount, which must match, and can then say the same again.

use uuid::Uuid;

use super::{
    access::{PaymentOperator, Platform},
    credit_purchases, purchases, withdrawals,
};
use crate::{
    domain::{
        credit_purchases::CreditPurchaseStatus, listings::Actor, money::Cents, purchases::PurchaseStatus,
        withdrawals::WithdrawalStatus,
    },
    error::{Error, Problem, Result},
    market::Writer,
};

/// The amount that a payment is said to have; none if it was not stated.
#[derive(Clone, Copy, Debug)]
pub struct StatedAmount(Option<Cents>);

/// What came of saying how a payment ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The payment ended that way.
    Changed,
    /// It had ended that way before. Nothing was changed.
    Repeated,
}

impl StatedAmount {
    /// Takes an amount that an operator stated. Fails if the operator's key requires one.
    pub fn new(operator: &PaymentOperator, amount: Option<Cents>) -> Result<StatedAmount> {
        if amount.is_none() && operator.must_state_amounts() {
            let message = "With a key whose scope is `payments`, state the amount of the payment.";
            return Err(Error::invalid(Problem::body(&["amount"], "missing", message)));
        }
        Ok(StatedAmount(amount))
    }

    /// Compares the amount with that of the payment. Returns whether it is said again how the payment ended: without an amount,
    /// it is said for the first time.
    fn repeats(self, due: Cents, has_ended_so: bool) -> Result<bool> {
        match self.0 {
            None => Ok(false),
            Some(stated) if stated == due => Ok(has_ended_so),
            Some(stated) => {
                let message = format!(
                    "The stated amount is {stated}, but that of the payment is {due}. Check which payment it is."
                );
                Err(Error::invalid(Problem::body(&["amount"], "value_error", message)))
            }
        }
    }
}

/// Completes a pending purchase, whose total was paid.
pub fn complete_purchase(
    writer: &mut Writer,
    platform: Platform,
    actor: Actor,
    id: Uuid,
    amount: StatedAmount,
) -> Result<Outcome> {
    let found = purchases::find(writer.rows, platform, id)?;
    if amount.repeats(found.charges.total(), found.status == PurchaseStatus::Completed)? {
        return Ok(Outcome::Repeated);
    }
    purchases::complete(writer, platform, actor, id).map(|_| Outcome::Changed)
}

/// Cancels a pending purchase, whose total will not be paid.
pub fn cancel_purchase(
    writer: &mut Writer,
    platform: Platform,
    actor: Actor,
    id: Uuid,
    amount: StatedAmount,
) -> Result<Outcome> {
    let found = purchases::find(writer.rows, platform, id)?;
    if amount.repeats(found.charges.total(), found.status == PurchaseStatus::Cancelled)? {
        return Ok(Outcome::Repeated);
    }
    purchases::cancel(writer, platform, actor, id).map(|()| Outcome::Changed)
}

/// Completes a pending purchase of credits, which were paid.
pub fn complete_credit_purchase(
    writer: &mut Writer,
    platform: Platform,
    actor: Actor,
    id: Uuid,
    amount: StatedAmount,
) -> Result<Outcome> {
    let found = credit_purchases::find(writer.rows, platform, id)?;
    if amount.repeats(found.amount, found.status == CreditPurchaseStatus::Completed)? {
        return Ok(Outcome::Repeated);
    }
    credit_purchases::complete(writer, platform, actor, id).map(|_| Outcome::Changed)
}

/// Rejects a pending purchase of credits, which will not be paid.
pub fn reject_credit_purchase(
    writer: &mut Writer,
    platform: Platform,
    actor: Actor,
    id: Uuid,
    amount: StatedAmount,
) -> Result<Outcome> {
    let found = credit_purchases::find(writer.rows, platform, id)?;
    if amount.repeats(found.amount, found.status == CreditPurchaseStatus::Rejected)? {
        return Ok(Outcome::Repeated);
    }
    credit_purchases::reject(writer, platform, actor, id).map(|_| Outcome::Changed)
}

/// Records that a requested withdrawal was paid.
pub fn mark_withdrawal_paid(
    writer: &mut Writer,
    platform: Platform,
    actor: Actor,
    id: Uuid,
    amount: StatedAmount,
) -> Result<Outcome> {
    let found = withdrawals::find(writer.rows, platform, id)?;
    if amount.repeats(found.amount, found.status == WithdrawalStatus::Paid)? {
        return Ok(Outcome::Repeated);
    }
    withdrawals::mark_paid(writer, platform, actor, id).map(|_| Outcome::Changed)
}

/// Records that a requested withdrawal could not be paid.
pub fn mark_withdrawal_failed(
    writer: &mut Writer,
    platform: Platform,
    actor: Actor,
    id: Uuid,
    amount: StatedAmount,
) -> Result<Outcome> {
    let found = withdrawals::find(writer.rows, platform, id)?;
    if amount.repeats(found.amount, found.status == WithdrawalStatus::Failed)? {
        return Ok(Outcome::Repeated);
    }
    withdrawals::mark_failed(writer, platform, actor, id).map(|_| Outcome::Changed)
}
