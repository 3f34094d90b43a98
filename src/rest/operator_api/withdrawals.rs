//! Withdrawals of earnings.

use super::payments::{self, PaymentIn};
use crate::{
    domain::withdrawals::WithdrawalStatus,
    operations::{
        access::{PaymentOperator, PaymentReader},
        payments as payment_operations, withdrawals,
    },
    rest::operator_api::prelude::*,
    store::records::withdrawals::WITHDRAWALS,
};

/// A withdrawal of available earnings.
#[derive(Debug, Object, Serialize, Deserialize)]
#[oai(rename = "Withdrawal")]
pub struct WithdrawalOut {
    /// ID of the withdrawal.
    pub id: Uuid,
    /// ID of the team that withdraws earnings.
    pub team_id: Uuid,
    /// Amount of the withdrawal.
    pub amount: Money,
    /// Currency of the amount.
    pub currency: EnumValue<Currency>,
    /// State of the withdrawal.
    pub status: EnumValue<WithdrawalStatus>,
    /// ID of the ledger entry.
    pub ledger_entry_id: Uuid,
    /// ID of the ledger entry that posts the amount back; null unless failed.
    pub reversal_entry_id: Option<Uuid>,
    /// How to pay the team, as it was stated when the withdrawal was requested; null if it was not. A later change of the team's
    /// `payout_setup` does not affect this withdrawal, because a stolen key could have made it.
    pub payout_setup: Option<String>,
    /// Time of the request.
    pub requested_at: UtcTime,
    /// Time at which it was paid or failed; null until then.
    pub decided_at: Option<UtcTime>,
}

resource!(WithdrawalOut: Uuid, WITHDRAWALS, "withdrawal", id, team_id);

page_of! {
    /// A page of withdrawals.
    WithdrawalPage, WithdrawalOut
}

/// What the list of withdrawals can be filtered by.
#[derive(Debug, Object, Serialize)]
pub struct WithdrawalFilters {
    /// ID of the team.
    team_id: Option<Uuid>,
    /// State of the withdrawal.
    status: Option<EnumValue<WithdrawalStatus>>,
}

/// A withdrawal to request in the name of a team.
#[derive(Debug, Object)]
pub struct WithdrawalIn {
    /// ID of the team. A closed team can still withdraw its earnings.
    team_id: MaybeInvalid<Uuid>,
    /// Amount to withdraw: at least 0.01, at most the available earnings.
    amount: MaybeInvalid<Amount>,
    /// Currency of the amount; US dollars if absent.
    currency: Option<EnumValue<Currency>>,
}

#[routes(prefix = "/operator/v1", tag = Money)]
impl WithdrawalsApi {
    /// List withdrawals
    ///
    /// Returns the withdrawals of all teams, newest first.
    /// A key with the scope `payments` is enough.
    #[get(
        "/withdrawals",
        routes::list(&[
            "status=requested",
            "status=paid&limit=2",
            "team_id=00000000-0000-0000-0000-000000000000",
        ]),
    )]
    async fn list_withdrawals(
        call: Call<PaymentReader>,
        query: Params<ListQuery<WithdrawalFilters>>,
    ) -> JsonResult<WithdrawalPage> {
        pages::list(call, query).await
    }

    /// Request a withdrawal
    ///
    /// Requests a withdrawal in the name of a team. The amount leaves its available earnings at once. Pay it outside the
    /// marketplace, then mark it as paid; or mark it as failed.
    #[post(
        "/withdrawals",
        routes::create(Actor::Team, &[EventType::WithdrawalRequested])
            .with_conflicts(&[Code::InsufficientEarnings]),
    )]
    async fn create_withdrawal(
        change: Change,
        #[example(json!({"team_id": DEMO_TEAM, "amount": "250.00"}))] body: Body<WithdrawalIn>,
    ) -> JsonResult<WithdrawalOut, 201> {
        changes::post_body(change, body, |writer, platform, body: WithdrawalIn| {
            let team = references::team(writer.rows, "team_id", body.team_id.into_valid()?)?;
            let (vendor, amount) = (platform.vendor_even_if_closed(team), body.amount.into_valid()?.0);
            withdrawals::create(writer, &vendor, Actor::Team, amount).map(|withdrawal| withdrawal.id)
        })
        .await
    }

    /// Get a withdrawal
    ///
    /// Returns a withdrawal.
    /// A key with the scope `payments` is enough.
    #[get("/withdrawals/{withdrawal_id}", routes::get("withdrawals"))]
    async fn get_withdrawal(
        call: Call<PaymentReader>,
        withdrawal_id: Path<Uuid>,
    ) -> JsonResult<WithdrawalOut> {
        resources::get(call, withdrawal_id.0).await
    }

    /// Mark a withdrawal as paid
    ///
    /// Records that a requested withdrawal was paid.
    /// A key with the scope `payments` is enough.
    #[post(
        "/withdrawals/{withdrawal_id}/paid",
        routes::transition("withdrawals", Actor::Platform, &[EventType::WithdrawalPaid]),
    )]
    async fn mark_withdrawal_paid(
        change: Change<PaymentOperator>,
        withdrawal_id: Path<Uuid>,
        #[example(json!({}))] body: Body<PaymentIn, false>,
    ) -> JsonResult<WithdrawalOut> {
        payments::decide(change, withdrawal_id, body, &payment_operations::WITHDRAWAL_PAID).await
    }

    /// Mark a withdrawal as failed
    ///
    /// Records that a requested withdrawal could not be paid. The amount returns to the team's available earnings.
    /// A key with the scope `payments` is enough.
    #[post(
        "/withdrawals/{withdrawal_id}/failed",
        routes::transition("withdrawals", Actor::Platform, &[EventType::WithdrawalFailed]),
    )]
    async fn mark_withdrawal_failed(
        change: Change<PaymentOperator>,
        withdrawal_id: Path<Uuid>,
        #[example(json!({}))] body: Body<PaymentIn, false>,
    ) -> JsonResult<WithdrawalOut> {
        payments::decide(change, withdrawal_id, body, &payment_operations::WITHDRAWAL_FAILED).await
    }
}
