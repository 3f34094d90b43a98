//! A team's wallet.

use std::sync::Arc;

use poem::web::Data;
use poem_openapi::{Object, OpenApi};
use serde::Serialize;

use crate::{
    operations::{access::Member, wallet},
    rest::{
        App,
        auth::Access,
        params::{NoParams, Params},
        raw::{Answer, Raw},
    },
};

/// What a team has earned, in US dollars with two decimals.
#[derive(Debug, Object, Serialize)]
pub struct Earnings {
    /// Everything so far, net of fees and refunds.
    #[oai(validator(pattern = r"^-?\d+\.\d{2}$"))]
    pub total: String,
    /// The part of it that is held back for some days.
    #[oai(validator(pattern = r"^-?\d+\.\d{2}$"))]
    pub pending: String,
    /// What can be converted to credits or withdrawn now.
    #[oai(validator(pattern = r"^-?\d+\.\d{2}$"))]
    pub available: String,
}

/// A team's wallet.
#[derive(Debug, Object, Serialize)]
pub struct Wallet {
    /// Credits to spend, in US dollars with two decimals.
    #[oai(validator(pattern = r"^-?\d+\.\d{2}$"))]
    pub credits_balance: String,
    /// What the team has earned.
    pub earnings: Earnings,
    /// Always `USD`.
    #[oai(validator(pattern = "^USD$"))]
    pub currency: String,
}

pub struct WalletApi;

#[OpenApi(prefix_path = "/v2", tag = "super::super::Tag::Account")]
impl WalletApi {
    /// Wallet
    ///
    /// The team's credits, and what it has earned from sales: in all, held back, and available.
    #[oai(path = "/wallet", method = "get", operation_id = "get_wallet")]
    async fn wallet(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Member>,
        _query: Params<NoParams>,
    ) -> Answer<Wallet> {
        let balances = app.market().glance(move |reader| wallet::balances(reader, &access.0)).await?;
        let earnings = Earnings {
            total: balances.earned.to_string(),
            pending: balances.pending.to_string(),
            available: balances.available.to_string(),
        };
        Ok(Raw::of(&Wallet {
            credits_balance: balances.credits.to_string(),
            earnings,
            currency: "USD".to_owned(),
        }))
    }
}
