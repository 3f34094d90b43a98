//! Wallets of teams.

use poem_openapi::Object;
use serde::Serialize;
use uuid::Uuid;

use super::{
    pages::{self, PageParams, page_of},
    resources::{self, Resource, subject},
    routes::{self, routes},
};
use crate::{
    domain::money::Currency,
    market::CheckContext,
    operations::access::Operator,
    rest::{
        enum_value::EnumValue,
        json::JsonResult,
        params::Params,
        route::{Call, Path},
        shapes::Money,
    },
    store::records::wallets::WalletRecord,
};

/// Credits and earnings of a team.
#[derive(Debug, Object, Serialize)]
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

subject!(WalletOut, "wallet", team_id, team_id);

impl Resource for WalletOut {
    type Record = WalletRecord;

    fn new(WalletRecord { team, balances }: WalletRecord, _: &CheckContext) -> WalletOut {
        WalletOut {
            team_id: team,
            credits: Money(balances.credits),
            earnings_total: Money(balances.earned),
            earnings_pending: Money(balances.pending),
            earnings_available: Money(balances.available),
            currency: EnumValue(Currency::Usd),
        }
    }
}

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
        pages::list::<WalletOut, _>(call, query.0, &(), ()).await
    }

    /// Get a wallet
    ///
    /// Returns the wallet of a team.
    #[get("/wallets/{team_id}", routes::get("teams"))]
    async fn get_wallet(call: Call<Operator>, team_id: Path<Uuid>) -> JsonResult<WalletOut> {
        resources::get(call, team_id.0).await
    }
}
