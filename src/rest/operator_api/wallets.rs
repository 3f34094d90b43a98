//! Wallets of teams.

use poem_openapi::{Object, OpenApi};
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
        enum_value::EnumValue,
        json::JsonResult,
        params::Params,
        route::{Call, Path},
        shapes::Money,
    },
    store::records::wallets::WALLETS,
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

routes! {
    /// `GET /operator/v1/wallets`
    ListWallets: Operator = routes::list("list_wallets", &["limit=2"]);
    /// `GET /operator/v1/wallets/{team_id}`
    GetWallet: Operator = routes::get("get_wallet", "teams");
}

pub struct WalletsApi;

#[OpenApi(prefix_path = "/operator/v1", tag = "crate::rest::tags::Tag::Money")]
impl WalletsApi {
    /// List wallets
    ///
    /// Returns the wallets of all teams, those of the newest teams first.
    #[oai(path = "/wallets", method = "get", operation_id = "list_wallets")]
    async fn list(&self, call: Call<ListWallets>, query: Params<PageParams>) -> JsonResult<WalletPage> {
        pages::list_all(call, query).await
    }

    /// Get a wallet
    ///
    /// Returns the wallet of a team.
    #[oai(path = "/wallets/:team_id", method = "get", operation_id = "get_wallet")]
    async fn get(
        &self,
        call: Call<GetWallet>,
        /// ID of the team.
        team_id: Path<Uuid>,
    ) -> JsonResult<WalletOut> {
        resources::get(call, team_id.0).await
    }
}
