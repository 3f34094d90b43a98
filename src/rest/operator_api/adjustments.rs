//! Adjustments: corrections of credits by the platform.

use poem_openapi::{Object, OpenApi};
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use super::{
    changes,
    pages::{self, ListQuery, TeamFilter, page_of},
    references,
    resources::{self, resource},
    routes::{self, DEMO_TEAM, routes},
};
use crate::{
    domain::{events::EventType, listings::Actor, money::Currency},
    error::Code,
    operations::{
        access::{ActingOperator, Operator},
        wallet,
    },
    rest::{
        enum_value::EnumValue,
        idempotent::Idempotent,
        json::JsonResult,
        params::Params,
        request_body::{Body, MaybeInvalid},
        route::{Call, Contract, Path, Target},
        shapes::{Money, SignedAmount, UtcTime, strings::Note},
    },
    store::records::ledger::ADJUSTMENTS,
};

/// A correction of a team's credits.
#[derive(Debug, Object, Serialize, Deserialize)]
#[oai(rename = "Adjustment")]
pub struct AdjustmentOut {
    /// ID of the adjustment, and of its ledger entry.
    pub id: Uuid,
    /// ID of the team.
    pub team_id: Uuid,
    /// Change of the credits; negative if they were deducted.
    pub amount: Money,
    /// Currency of the amount.
    pub currency: EnumValue<Currency>,
    /// What the adjustment is for. The team sees it.
    pub description: String,
    /// Time of the adjustment.
    pub created_at: UtcTime,
}

resource!(AdjustmentOut: Uuid, ADJUSTMENTS, "adjustment", id, team_id);

page_of! {
    /// A page of adjustments.
    AdjustmentPage, AdjustmentOut
}

/// An adjustment to make.
#[derive(Debug, Object)]
pub struct AdjustmentIn {
    /// ID of the team.
    team_id: MaybeInvalid<Uuid>,
    /// Credits to give, or to deduct if negative: at least 0.01, at most 10 billion. A deduction cannot exceed the credits.
    amount: MaybeInvalid<SignedAmount>,
    /// Currency of the amount; US dollars if absent.
    currency: Option<EnumValue<Currency>>,
    /// What the adjustment is for. The team sees it.
    description: MaybeInvalid<Note>,
}

routes! {
    /// `GET /operator/v1/adjustments`
    ListAdjustments: Operator = routes::list(
        "list_adjustments",
        &["limit=2", "team_id=00000000-0000-0000-0000-000000000000"],
    );
    /// `POST /operator/v1/adjustments`
    CreateAdjustment: ActingOperator = routes::create(
        "create_adjustment",
        || json!({"team_id": DEMO_TEAM, "amount": "-12.50", "description": "Booked twice"}),
        Actor::Platform,
        &[EventType::WalletCredited, EventType::WalletDebited],
    ).with_conflicts(&[Code::InsufficientCredits, Code::InsufficientEarnings]);
    /// `GET /operator/v1/adjustments/{adjustment_id}`
    GetAdjustment: Operator =
        routes::read("get_adjustment", Contract::new(Target::LedgerEntryOf("adjustment")));
}

pub struct AdjustmentsApi;

#[OpenApi(prefix_path = "/operator/v1", tag = "crate::rest::tags::Tag::Money")]
impl AdjustmentsApi {
    /// List adjustments
    ///
    /// Returns the corrections of teams' credits, newest first. Bought credits and charges of quality runs are not among
    /// them, although their ledger entries have the same type.
    #[oai(path = "/adjustments", method = "get", operation_id = "list_adjustments")]
    async fn list(
        &self,
        call: Call<ListAdjustments>,
        query: Params<ListQuery<TeamFilter>>,
    ) -> JsonResult<AdjustmentPage> {
        pages::list(call, query).await
    }

    /// Create an adjustment
    ///
    /// Gives credits to a team at the platform's expense, or deducts them.
    #[oai(path = "/adjustments", method = "post", operation_id = "create_adjustment")]
    async fn create(
        &self,
        call: Call<CreateAdjustment>,
        idempotent: Idempotent,
        body: Body<AdjustmentIn>,
    ) -> JsonResult<AdjustmentOut, 201> {
        changes::post_body(call, idempotent, body, |writer, platform, body: AdjustmentIn| {
            let team = references::team(writer.rows, "team_id", body.team_id.into_valid()?)?;
            let (amount, description) = (body.amount.into_valid()?.0, body.description.into_valid()?.0);
            let actor = Actor::Platform;
            wallet::adjust(writer, platform, actor, &team, amount, &description).map(|change| change.entry)
        })
        .await
    }

    /// Get an adjustment
    ///
    /// Returns a correction of a team's credits.
    #[oai(path = "/adjustments/:adjustment_id", method = "get", operation_id = "get_adjustment")]
    async fn get(
        &self,
        call: Call<GetAdjustment>,
        /// ID of the adjustment.
        adjustment_id: Path<Uuid>,
    ) -> JsonResult<AdjustmentOut> {
        resources::get(call, adjustment_id.0).await
    }
}
