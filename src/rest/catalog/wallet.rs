//! Wallet of a team.

use crate::{
    domain::money::CURRENCY,
    operations::{access::Member, wallet},
    rest::prelude::*,
};

/// Earnings of a team from sales, in US dollars.
#[derive(Debug, Object, Serialize)]
pub struct Earnings {
    /// Total earnings, net of platform fees and refunds. Two decimals; negative if refunds exceed sales.
    #[oai(validator(pattern = r"^-?\d+\.\d{2}$"))]
    pub total: String,
    /// Part of the total that is still on hold after recent sales. Two decimals.
    #[oai(validator(pattern = r"^-?\d+\.\d{2}$"))]
    pub pending: String,
    /// Amount that can be converted to credits or withdrawn now. Two decimals.
    #[oai(validator(pattern = r"^-?\d+\.\d{2}$"))]
    pub available: String,
}

/// Credits and earnings of a team.
#[derive(Debug, Object, Serialize)]
pub struct Wallet {
    /// Credits that the team can spend, in US dollars with two decimals.
    #[oai(validator(pattern = r"^-?\d+\.\d{2}$"))]
    pub credits_balance: String,
    /// Earnings from sales.
    pub earnings: Earnings,
    /// Currency of all amounts. Always `USD`.
    #[oai(validator(pattern = "^USD$"))]
    pub currency: String,
}

#[routes(prefix = "/v2", tag = Account)]
impl WalletApi {
    /// Get the wallet
    ///
    /// Returns the team's credits, and its earnings from sales: total, pending and available.
    #[get(
        "/wallet",
        RouteAttributes::read(
            Tool::record(ToolText::new(
                Toolset::Account,
                "get_wallet",
                "Wallet",
                "The team's credits and earnings, in US dollars: `total` ever earned net of \
                 fees, `pending` on hold, `available` to convert or withdraw.",
            )),
            Contract::new(Target::None).with_misspelled("currency=USD", ""),
        ),
    )]
    async fn get_wallet(call: Call<Member>) -> JsonResult<Wallet> {
        Json::read_inline(&call.served, call.access.requester(), move |reader| {
            let balances = wallet::balances(reader, &call.access)?;
            let earnings = Earnings {
                total: balances.earned.to_string(),
                pending: balances.pending.to_string(),
                available: balances.available.to_string(),
            };
            let credits_balance = balances.credits.to_string();
            Ok(Wallet { credits_balance, earnings, currency: CURRENCY.to_owned() })
        })
        .await
    }
}
