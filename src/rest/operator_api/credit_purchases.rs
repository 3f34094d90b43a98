//! Purchases of credits.

use super::payments::{self, PaymentIn};
use crate::{
    domain::credit_purchases::CreditPurchaseStatus,
    operations::{
        access::{PaymentOperator, PaymentReader},
        credit_purchases, payments as payment_operations,
    },
    rest::operator_api::prelude::*,
    store::records::credit_purchases::CREDIT_PURCHASES,
};

/// A purchase of credits, paid outside the marketplace.
#[derive(Debug, Object, Serialize, Deserialize)]
#[oai(rename = "CreditPurchase")]
pub struct CreditPurchaseOut {
    /// ID of the purchase of credits.
    pub id: Uuid,
    /// ID of the team that bought credits.
    pub team_id: Uuid,
    /// The credits, and what they cost.
    pub amount: Money,
    /// Currency of the amount.
    pub currency: EnumValue<Currency>,
    /// State of the purchase.
    pub status: EnumValue<CreditPurchaseStatus>,
    /// ID of the ledger entry; null unless completed.
    pub ledger_entry_id: Option<Uuid>,
    /// ID of the team's key that requested it; null if an operator bought the credits.
    pub key_id: Option<Uuid>,
    /// Time at which it was made or requested.
    pub created_at: UtcTime,
    /// Time at which the credits were added; null unless completed.
    pub completed_at: Option<UtcTime>,
    /// Time at which it was completed, rejected, or canceled; null until then.
    pub decided_at: Option<UtcTime>,
}

resource!(CreditPurchaseOut: Uuid, CREDIT_PURCHASES, "credit_purchase", id, team_id);

page_of! {
    /// A page of purchases of credits.
    CreditPurchasePage, CreditPurchaseOut
}

/// What the list of purchases of credits can be filtered by.
#[derive(Debug, Object, Serialize)]
pub struct CreditPurchaseFilters {
    /// ID of the team.
    team_id: Option<Uuid>,
    /// State of the purchase.
    status: Option<EnumValue<CreditPurchaseStatus>>,
}

/// Credits to buy in the name of a team.
#[derive(Debug, Object)]
pub struct CreditPurchaseIn {
    /// ID of the team, which needs a marketplace role and the mutual NDA.
    team_id: MaybeInvalid<Uuid>,
    /// The credits, and what they cost: at least 0.01, at most 10 billion.
    amount: MaybeInvalid<Amount>,
    /// Currency of the amount; US dollars if absent.
    currency: Option<EnumValue<Currency>>,
}

#[routes(prefix = "/operator/v1", tag = Money)]
impl CreditPurchasesApi {
    /// List purchases of credits
    ///
    /// Returns the purchases of credits of all teams, newest first. Those that teams request are pending until you complete
    /// or reject them.
    /// A key with the scope `payments` is enough.
    #[get(
        "/credit-purchases",
        routes::list(&["status=pending", "team_id=00000000-0000-0000-0000-000000000000"]),
    )]
    async fn list_credit_purchases(
        call: Call<PaymentReader>,
        query: Params<ListQuery<CreditPurchaseFilters>>,
    ) -> JsonResult<CreditPurchasePage> {
        pages::list(call, query).await
    }

    /// Buy credits
    ///
    /// Records that a team has bought credits and paid for them outside the marketplace. They can be spent at once.
    #[post("/credit-purchases", routes::create(Actor::Team, &[EventType::WalletCredited]))]
    async fn create_credit_purchase(
        change: Change,
        #[example(json!({"team_id": DEMO_BUYER, "amount": "2500.00"}))] body: Body<CreditPurchaseIn>,
    ) -> JsonResult<CreditPurchaseOut, 201> {
        changes::post_body(change, body, |writer, platform, body: CreditPurchaseIn| {
            let team = references::team(writer.rows, "team_id", body.team_id.into_valid()?)?;
            let (member, amount) = (references::member(platform, team)?, body.amount.into_valid()?.0);
            credit_purchases::create(writer, &member, Actor::Team, amount).map(|purchase| purchase.id)
        })
        .await
    }

    /// Get a purchase of credits
    ///
    /// Returns a purchase of credits.
    /// A key with the scope `payments` is enough.
    #[get("/credit-purchases/{credit_purchase_id}", routes::get("credit_purchases"))]
    async fn get_credit_purchase(
        call: Call<PaymentReader>,
        /// ID of the purchase of credits.
        credit_purchase_id: Path<Uuid>,
    ) -> JsonResult<CreditPurchaseOut> {
        resources::get(call, credit_purchase_id.0).await
    }

    /// Complete a purchase of credits
    ///
    /// Records that a team has paid for the credits that it requested. They can be spent at once.
    /// A key with the scope `payments` is enough.
    #[post(
        "/credit-purchases/{credit_purchase_id}/complete",
        routes::transition("credit_purchases", Actor::Platform, &[EventType::WalletCredited]),
    )]
    async fn complete_credit_purchase(
        change: Change<PaymentOperator>,
        /// ID of the purchase of credits.
        credit_purchase_id: Path<Uuid>,
        #[example(json!({}))] body: Body<PaymentIn, false>,
    ) -> JsonResult<CreditPurchaseOut> {
        payments::decide(change, credit_purchase_id, body, &payment_operations::CREDITS_PAID).await
    }

    /// Reject a purchase of credits
    ///
    /// Rejects the credits that a team requested. None are added.
    /// A key with the scope `payments` is enough.
    #[post(
        "/credit-purchases/{credit_purchase_id}/reject",
        routes::transition("credit_purchases", Actor::Platform, &[EventType::CreditPurchaseRejected]),
    )]
    async fn reject_credit_purchase(
        change: Change<PaymentOperator>,
        /// ID of the purchase of credits.
        credit_purchase_id: Path<Uuid>,
        #[example(json!({}))] body: Body<PaymentIn, false>,
    ) -> JsonResult<CreditPurchaseOut> {
        payments::decide(change, credit_purchase_id, body, &payment_operations::CREDITS_REJECTED).await
    }
}
