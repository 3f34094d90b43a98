//! Payments that are made outside the marketplace: by buyers, for purchases and credits, and to vendors. A report on how a
//! payment ended can state the amount, which must match. A report with an amount can be repeated.

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
    store::Reader,
};

/// The amount that a report states; none if it states no amount.
#[derive(Clone, Copy, Debug)]
pub struct StatedAmount(Option<Cents>);

/// What a report has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The payment has ended as reported.
    Changed,
    /// Nothing: the payment had ended in this way before.
    Repeated,
}

/// A way in which payments of one kind end.
#[derive(Debug)]
pub struct PaymentResolution {
    /// Returns the amount of a payment, and whether it has already ended in this way.
    find: fn(&Reader, Platform, Uuid) -> Result<(Cents, bool)>,
    /// Ends a payment that is pending. Fails if it has ended.
    end: fn(&mut Writer, Platform, Actor, Uuid) -> Result<()>,
}

/// The total of a purchase was paid.
pub const PURCHASE_PAID: PaymentResolution = PaymentResolution {
    find: |rows, platform, id| {
        let found = purchases::find(rows, platform, id)?;
        Ok((found.charges.total(), found.status == PurchaseStatus::Completed))
    },
    end: |writer, platform, actor, id| purchases::complete(writer, platform, actor, id).map(drop),
};

/// The total of a purchase will not be paid.
pub const PURCHASE_CANCELLED: PaymentResolution = PaymentResolution {
    find: |rows, platform, id| {
        let found = purchases::find(rows, platform, id)?;
        Ok((found.charges.total(), found.status == PurchaseStatus::Cancelled))
    },
    end: purchases::cancel,
};

/// Credits were paid.
pub const CREDITS_PAID: PaymentResolution = PaymentResolution {
    find: |rows, platform, id| {
        let found = credit_purchases::find(rows, platform, id)?;
        Ok((found.amount, found.status == CreditPurchaseStatus::Completed))
    },
    end: |writer, platform, actor, id| credit_purchases::complete(writer, platform, actor, id).map(drop),
};

/// Credits will not be paid.
pub const CREDITS_REJECTED: PaymentResolution = PaymentResolution {
    find: |rows, platform, id| {
        let found = credit_purchases::find(rows, platform, id)?;
        Ok((found.amount, found.status == CreditPurchaseStatus::Rejected))
    },
    end: |writer, platform, actor, id| credit_purchases::reject(writer, platform, actor, id).map(drop),
};

/// A withdrawal was paid.
pub const WITHDRAWAL_PAID: PaymentResolution = PaymentResolution {
    find: |rows, platform, id| {
        let found = withdrawals::find(rows, platform, id)?;
        Ok((found.amount, found.status == WithdrawalStatus::Paid))
    },
    end: |writer, platform, actor, id| withdrawals::mark_paid(writer, platform, actor, id).map(drop),
};

/// A withdrawal could not be paid.
pub const WITHDRAWAL_FAILED: PaymentResolution = PaymentResolution {
    find: |rows, platform, id| {
        let found = withdrawals::find(rows, platform, id)?;
        Ok((found.amount, found.status == WithdrawalStatus::Failed))
    },
    end: |writer, platform, actor, id| withdrawals::mark_failed(writer, platform, actor, id).map(drop),
};

impl StatedAmount {
    /// Takes an amount that an operator stated. Fails if the operator's key requires an amount, and none was stated.
    pub fn new(operator: &PaymentOperator, amount: Option<Cents>) -> Result<StatedAmount> {
        if amount.is_none() && operator.must_state_amounts() {
            let message = "With a key whose scope is `payments`, state the amount of the payment.";
            return Err(Error::invalid(Problem::body(&["amount"], "missing", message)));
        }
        Ok(StatedAmount(amount))
    }
}

/// Records how a payment ended. A report with an amount can be repeated. Without an amount, a payment that has ended is an error.
pub fn report(
    writer: &mut Writer,
    platform: Platform,
    actor: Actor,
    id: Uuid,
    (resolution, StatedAmount(stated)): (&PaymentResolution, StatedAmount),
) -> Result<Outcome> {
    if let Some(stated) = stated {
        let (due, is_already_resolved) = (resolution.find)(writer.rows, platform, id)?;
        if stated != due {
            let message = format!(
                "The stated amount is {stated}, but that of the payment is {due}. Check which payment it is."
            );
            return Err(Error::invalid(Problem::body(&["amount"], "value_error", message)));
        }
        if is_already_resolved {
            return Ok(Outcome::Repeated);
        }
    }
    (resolution.end)(writer, platform, actor, id)?;
    Ok(Outcome::Changed)
}
