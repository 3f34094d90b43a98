//! Conversions of available earnings into credits.

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
        shapes::{Amount, Money, UtcTime},
    },
    store::records::ledger::CONVERSIONS,
    web::enum_value::EnumValue,
};

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
