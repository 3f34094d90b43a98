//! Wallets of teams.

use poem_openapi::Object;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    pages::{self, PageParams, page_of},
    resources::{self, resource},
    routes::{self, routes},
};
use crate::{
    domain::money::Currency,
    operations::access::Operator,
    rest::{
        arguments::params::Params,
        json::JsonResult,
        route::{Call, Path},
        shapes::Money,
    },
    store::records::wallets::WALLETS,
    web::enum_value::EnumValue,
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
