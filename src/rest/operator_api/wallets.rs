//! Wallets of teams, with the changes that only concern them: adjustments, and conversions of earnings into credits.

use super::pages::{PageParams, TeamFilter};
use crate::{
    operations::wallet,
    rest::{
        operator_api::prelude::*,
        shapes::{SignedAmount, strings::Note},
    },
    store::records::{
        ledger::{ADJUSTMENTS, CONVERSIONS},
        wallets::WALLETS,
    },
};

/// Credits and earnings of a team.
#[derive(Debug, Object, Serialize, Deserialize)]
#[oai(rename = "Wallet")]
pub struct WalletOut {
    /// ID of the team.
    pub team_id: Uuid,
    /// Credits that the team can spend.
    pub credits: Money,
    /// Total earnings so far, net of platform fees and refunds; negative if refunds exceed sales.
    pub earnings_total: Money,
    /// Earnings that are still on hold after recent sales.
    pub earnings_pending: Money,
    /// Earnings that can be converted to credits or withdrawn now.
    pub earnings_available: Money,
    /// Currency of the amounts.
    pub currency: EnumValue<Currency>,
}

resource!(WalletOut: Uuid, WALLETS, "wallet", team_id, team_id);

page_of! {
    /// A page of wallets.
    WalletPage, WalletOut
}

#[routes(prefix = "/operator/v1", tag = Money)]
impl WalletsApi {
    /// List wallets
    ///
    /// Returns the wallets of all teams, those of the newest teams first.
    #[get("/wallets", routes::list(&["limit=2"]))]
    async fn list_wallets(call: Call<Operator>, query: Params<PageParams>) -> JsonResult<WalletPage> {
        pages::list_all(call, query).await
    }

    /// Get a wallet
    ///
    /// Returns the wallet of a team.
    #[get("/wallets/{team_id}", routes::get("teams"))]
    async fn get_wallet(call: Call<Operator>, team_id: Path<Uuid>) -> JsonResult<WalletOut> {
        resources::get(call, team_id.0).await
    }
}

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

/// A conversion of available earnings into credits.
#[derive(Debug, Object, Serialize, Deserialize)]
#[oai(rename = "Conversion")]
pub struct ConversionOut {
    /// ID of the conversion, and of its ledger entry.
    pub id: Uuid,
    /// ID of the team.
    pub team_id: Uuid,
    /// Earnings that became credits. There is no fee.
    pub amount: Money,
    /// Currency of the amount.
    pub currency: EnumValue<Currency>,
    /// Description of the ledger entry. The team sees it.
    pub description: String,
    /// Time of the conversion.
    pub created_at: UtcTime,
}

resource!(ConversionOut: Uuid, CONVERSIONS, "conversion", id, team_id);

page_of! {
    /// A page of conversions.
    ConversionPage, ConversionOut
}

/// A conversion to make in the name of a team.
#[derive(Debug, Object)]
pub struct ConversionIn {
    /// ID of the team.
    team_id: MaybeInvalid<Uuid>,
    /// Earnings to convert: at least 0.01, at most the available earnings.
    amount: MaybeInvalid<Amount>,
    /// Currency of the amount; US dollars if absent.
    currency: Option<EnumValue<Currency>>,
}

#[routes(prefix = "/operator/v1", tag = Money)]
impl ConversionsApi {
    /// List conversions
    ///
    /// Returns the conversions of all teams' earnings into credits, newest first.
    #[get("/conversions", routes::list(&["limit=2", "team_id=00000000-0000-0000-0000-000000000000"]))]
    async fn list_conversions(
        call: Call<Operator>,
        query: Params<ListQuery<TeamFilter>>,
    ) -> JsonResult<ConversionPage> {
        pages::list(call, query).await
    }

    /// Convert earnings
    ///
    /// Converts available earnings of a team into credits, in its name.
    #[post(
        "/conversions",
        routes::create(Actor::Team, &[EventType::WalletConverted])
            .with_conflicts(&[Code::InsufficientEarnings]),
    )]
    async fn create_conversion(
        change: Change,
        #[example(json!({"team_id": DEMO_TEAM, "amount": "100.00"}))] body: Body<ConversionIn>,
    ) -> JsonResult<ConversionOut, 201> {
        changes::post_body(change, body, |writer, platform, body: ConversionIn| {
            let team = references::team(writer.rows, "team_id", body.team_id.into_valid()?)?;
            let (vendor, amount) = (platform.vendor(team)?, body.amount.into_valid()?.0);
            wallet::convert(writer, &vendor, Actor::Team, amount).map(|change| change.entry)
        })
        .await
    }

    /// Get a conversion
    ///
    /// Returns a conversion of earnings into credits.
    #[get(
        "/conversions/{conversion_id}",
        routes::read(Contract::new(Target::LedgerEntryOf("credit_conversion")))
    )]
    async fn get_conversion(call: Call<Operator>, conversion_id: Path<Uuid>) -> JsonResult<ConversionOut> {
        resources::get(call, conversion_id.0).await
    }
}
