//! Adjustments: corrections of credits by the platform.

use poem_openapi::Object;
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use super::{
    changes::{self, Change},
    pages::{self, ListQuery, TeamFilter, page_of},
    references,
    resources::{self, resource},
    routes::{self, DEMO_TEAM, routes},
};
use crate::{
    domain::{events::EventType, listings::Actor, money::Currency},
    error::Code,
    operations::{access::Operator, wallet},
    rest::{
        arguments::{
            params::Params,
            request_body::{Body, MaybeInvalid},
        },
        json::JsonResult,
        route::{Call, Contract, Path, Target},
        shapes::{Money, SignedAmount, UtcTime, strings::Note},
    },
    store::records::ledger::ADJUSTMENTS,
    web::enum_value::EnumValue,
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

#[routes(prefix = "/operator/v1", tag = Money)]
impl AdjustmentsApi {
    /// List adjustments
    ///
    /// Returns the corrections of teams' credits, newest first. Bought credits and charges of quality runs are not among
    /// them, although their ledger entries have the same type.
    #[get("/adjustments", routes::list(&["limit=2", "team_id=00000000-0000-0000-0000-000000000000"]))]
    async fn list_adjustments(
        call: Call<Operator>,
        query: Params<ListQuery<TeamFilter>>,
    ) -> JsonResult<AdjustmentPage> {
        pages::list(call, query).await
    }

    /// Create an adjustment
    ///
    /// Gives credits to a team at the platform's expense, or deducts them.
    #[post(
        "/adjustments",
        routes::create(Actor::Platform, &[EventType::WalletCredited, EventType::WalletDebited])
            .with_conflicts(&[Code::InsufficientCredits, Code::InsufficientEarnings]),
    )]
    async fn create_adjustment(
        change: Change,
        #[example(json!({
            "team_id": DEMO_TEAM,
            "amount": "-12.50",
            "description": "Booked twice",
        }))]
        body: Body<AdjustmentIn>,
    ) -> JsonResult<AdjustmentOut, 201> {
        changes::post_body(change, body, |writer, platform, body: AdjustmentIn| {
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
    #[get("/adjustments/{adjustment_id}", routes::read(Contract::new(Target::LedgerEntryOf("adjustment"))))]
    async fn get_adjustment(call: Call<Operator>, adjustment_id: Path<Uuid>) -> JsonResult<AdjustmentOut> {
        resources::get(call, adjustment_id.0).await
    }
}
