//! Withdrawals of earnings.

use poem_openapi::{Object, OpenApi};
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use super::{
    changes,
    pages::{self, ListQuery, page_of},
    references,
    resources::{self, resource},
    routes::{self, DEMO_TEAM, routes},
};
use crate::{
    domain::{events::EventType, listings::Actor, money::Currency, withdrawals::WithdrawalStatus},
    error::Code,
    operations::{
        access::{ActingOperator, Operator},
        withdrawals,
    },
    rest::{
        enum_value::EnumValue,
        idempotent::Idempotent,
        json::JsonResult,
        params::Params,
        request_body::{Body, MaybeInvalid},
        route::{Call, Path},
        shapes::{Amount, Money, UtcTime},
    },
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

routes! {
    /// `GET /operator/v1/withdrawals`
    ListWithdrawals: Operator = routes::list(
        "list_withdrawals",
        &["status=requested", "status=paid&limit=2", "team_id=00000000-0000-0000-0000-000000000000"],
    );
    /// `POST /operator/v1/withdrawals`
    CreateWithdrawal: ActingOperator = routes::create(
        "create_withdrawal",
        || json!({"team_id": DEMO_TEAM, "amount": "250.00"}),
        Actor::Team,
        &[EventType::WithdrawalRequested],
    ).with_conflicts(&[Code::InsufficientEarnings]);
    /// `GET /operator/v1/withdrawals/{withdrawal_id}`
    GetWithdrawal: Operator = routes::get("get_withdrawal", "withdrawals");
    /// `POST /operator/v1/withdrawals/{withdrawal_id}/paid`
    MarkWithdrawalPaid: ActingOperator = routes::post(
        "mark_withdrawal_paid",
        "withdrawals",
        Actor::Platform,
        &[EventType::WithdrawalPaid],
    ).with_conflicts(&[Code::InvalidTransition]);
    /// `POST /operator/v1/withdrawals/{withdrawal_id}/failed`
    MarkWithdrawalFailed: ActingOperator = routes::post(
        "mark_withdrawal_failed",
        "withdrawals",
        Actor::Platform,
        &[EventType::WithdrawalFailed],
    ).with_conflicts(&[Code::InvalidTransition]);
}

pub struct WithdrawalsApi;

#[OpenApi(prefix_path = "/operator/v1", tag = "crate::rest::tags::Tag::Money")]
impl WithdrawalsApi {
    /// List withdrawals
    ///
    /// Returns the withdrawals of all teams, newest first.
    #[oai(path = "/withdrawals", method = "get", operation_id = "list_withdrawals")]
    async fn list(
        &self,
        call: Call<ListWithdrawals>,
        query: Params<ListQuery<WithdrawalFilters>>,
    ) -> JsonResult<WithdrawalPage> {
        pages::list(call, query).await
    }

    /// Request a withdrawal
    ///
    /// Requests a withdrawal in the name of a team. The amount leaves its available earnings at once. Pay it outside the
    /// marketplace, then mark it as paid; or mark it as failed.
    #[oai(path = "/withdrawals", method = "post", operation_id = "create_withdrawal")]
    async fn create(
        &self,
        call: Call<CreateWithdrawal>,
        idempotent: Idempotent,
        body: Body<WithdrawalIn>,
    ) -> JsonResult<WithdrawalOut, 201> {
        changes::post_body(call, idempotent, body, |writer, platform, body: WithdrawalIn| {
            let team = references::team(writer.rows, "team_id", body.team_id.into_valid()?)?;
            let (vendor, amount) = (platform.vendor_even_if_closed(team), body.amount.into_valid()?.0);
            withdrawals::create(writer, &vendor, Actor::Team, amount).map(|withdrawal| withdrawal.id)
        })
        .await
    }

    /// Get a withdrawal
    ///
    /// Returns a withdrawal.
    #[oai(path = "/withdrawals/:withdrawal_id", method = "get", operation_id = "get_withdrawal")]
    async fn get(
        &self,
        call: Call<GetWithdrawal>,
        /// ID of the withdrawal.
        withdrawal_id: Path<Uuid>,
    ) -> JsonResult<WithdrawalOut> {
        resources::get(call, withdrawal_id.0).await
    }

    /// Mark a withdrawal as paid
    ///
    /// Records that a requested withdrawal was paid.
    #[oai(path = "/withdrawals/:withdrawal_id/paid", method = "post", operation_id = "mark_withdrawal_paid")]
    async fn mark_paid(
        &self,
        call: Call<MarkWithdrawalPaid>,
        idempotent: Idempotent,
        /// ID of the withdrawal.
        withdrawal_id: Path<Uuid>,
    ) -> JsonResult<WithdrawalOut> {
        let id = withdrawal_id.0;
        changes::post(call, idempotent, move |writer, platform| {
            withdrawals::mark_paid(writer, platform, Actor::Platform, id).map(|_| id)
        })
        .await
    }

    /// Mark a withdrawal as failed
    ///
    /// Records that a requested withdrawal could not be paid. The amount returns to the team's available earnings.
    #[oai(
        path = "/withdrawals/:withdrawal_id/failed",
        method = "post",
        operation_id = "mark_withdrawal_failed"
    )]
    async fn mark_failed(
        &self,
        call: Call<MarkWithdrawalFailed>,
        idempotent: Idempotent,
        /// ID of the withdrawal.
        withdrawal_id: Path<Uuid>,
    ) -> JsonResult<WithdrawalOut> {
        let id = withdrawal_id.0;
        changes::post(call, idempotent, move |writer, platform| {
            withdrawals::mark_failed(writer, platform, Actor::Platform, id).map(|_| id)
        })
        .await
    }
}
