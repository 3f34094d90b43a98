//! Summaries of what a team has spent and earned.

use super::filters::{RecordConditions, SpendingFilters, SubjectFilters};
use crate::{
    domain::money::CURRENCY,
    operations::{
        access::Buyer,
        money_summaries::{self, EarningsSummary},
    },
    rest::prelude::*,
    store::money_summaries::{Earned, Release, Spent, SummarizedListing},
};

/// What was paid for several purchases, in US dollars.
#[derive(Debug, Object, Serialize)]
pub struct SpentOut {
    /// Month of the checkouts, kind of purchase, or title of the listing; absent in the total.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// ID of the listing; only by listing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listing_id: Option<Uuid>,
    /// Number of purchases.
    pub purchases: u64,
    /// Prices before fees.
    pub price: f64,
    /// Fees that the team paid in addition.
    pub fees: f64,
    /// Prices plus fees.
    pub total: f64,
}

impl SpentOut {
    fn new(name: Option<String>, listing_id: Option<Uuid>, spent: &Spent) -> SpentOut {
        SpentOut {
            name,
            listing_id,
            purchases: spent.purchases,
            price: spent.price.dollars(),
            fees: spent.fees.dollars(),
            total: spent.paid().dollars(),
        }
    }
}

/// What a team has spent.
#[derive(Debug, Object, Serialize)]
pub struct SpendingOut {
    /// All purchases.
    pub total: SpentOut,
    /// By month of the checkout, earliest first.
    pub by_month: Vec<SpentOut>,
    /// By kind of purchase.
    pub by_kind: Vec<SpentOut>,
    /// By listing, the largest amounts first, at most 1,000.
    pub by_listing: Vec<SpentOut>,
    /// Number of all these listings.
    pub listings: u64,
    /// Currency of the amounts. Always `USD`.
    #[oai(validator(pattern = "^USD$"))]
    pub currency: String,
}

/// What several entries added to earnings, in US dollars. Deductions are negative.
#[derive(Debug, Object, Serialize)]
pub struct EarnedOut {
    /// Month of the entries, kind, or title of the listing; absent in the total.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// ID of the listing; only by listing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listing_id: Option<Uuid>,
    /// Number of completed sales, with free samples and without those that were refunded.
    pub sales: u64,
    /// Prices of the sales.
    pub gross: f64,
    /// Fees of the platform.
    pub fees: f64,
    /// Refunds.
    pub refunds: f64,
    /// Gross with fees and refunds deducted.
    pub net: f64,
    /// Conversions to credits, and withdrawals.
    pub used: f64,
}

impl EarnedOut {
    fn new(name: Option<String>, listing_id: Option<Uuid>, earned: &Earned) -> EarnedOut {
        EarnedOut {
            name,
            listing_id,
            sales: earned.sales,
            gross: earned.gross.dollars(),
            fees: earned.fees.dollars(),
            refunds: earned.refunds.dollars(),
            net: earned.net().dollars(),
            used: earned.used.dollars(),
        }
    }
}

/// Earnings that become available at the same time.
#[derive(Debug, Object, Serialize)]
pub struct ReleaseOut {
    /// Time at which they become available.
    pub at: UtcTime,
    /// Their amount in US dollars.
    pub amount: f64,
}

impl From<&Release> for ReleaseOut {
    fn from(release: &Release) -> ReleaseOut {
        ReleaseOut { at: release.at.into(), amount: release.amount.dollars() }
    }
}

/// What a team has earned, and what becomes available when.
#[derive(Debug, Object, Serialize)]
pub struct EarningsSummaryOut {
    /// All entries.
    pub total: EarnedOut,
    /// By month of the entries, earliest first.
    pub by_month: Vec<EarnedOut>,
    /// By kind of purchase; entries that belong to no purchase, by their type.
    pub by_kind: Vec<EarnedOut>,
    /// By listing, the largest amounts first, at most 1,000.
    pub by_listing: Vec<EarnedOut>,
    /// Number of all these listings.
    pub listings: u64,
    /// Earnings that can be converted or withdrawn now, in US dollars.
    pub available: f64,
    /// Earnings on hold, in US dollars.
    pub pending: f64,
    /// The first release of earnings on hold; null if none are on hold.
    pub next_release: Option<ReleaseOut>,
    /// The releases of earnings on hold, earliest first, at most 12.
    pub releases: Vec<ReleaseOut>,
    /// Currency of the amounts. Always `USD`.
    #[oai(validator(pattern = "^USD$"))]
    pub currency: String,
}

impl From<EarningsSummary> for EarningsSummaryOut {
    fn from(summary: EarningsSummary) -> EarningsSummaryOut {
        let by_name = |groups: Vec<(String, Earned)>| {
            groups.into_iter().map(|(name, earned)| EarnedOut::new(Some(name), None, &earned)).collect()
        };
        let by_listing = |(SummarizedListing { id, title }, earned): (SummarizedListing, Earned)| {
            EarnedOut::new(Some(title), Some(id), &earned)
        };
        EarningsSummaryOut {
            total: EarnedOut::new(None, None, &summary.total),
            by_month: by_name(summary.by_month),
            by_kind: by_name(summary.by_kind),
            by_listing: summary.by_listing.0.into_iter().map(by_listing).collect(),
            listings: summary.by_listing.1,
            available: summary.balances.available.dollars(),
            pending: summary.balances.pending.dollars(),
            next_release: summary.releases.first().map(ReleaseOut::from),
            releases: summary.releases.iter().map(ReleaseOut::from).collect(),
            currency: CURRENCY.to_owned(),
        }
    }
}

#[routes(prefix = "/agents/v1", tag = Money)]
impl MoneyApi {
    /// Summarize spending
    ///
    /// Returns what the team has spent on completed purchases, by month, kind, and listing.
    #[get(
        "/spending",
        RouteAttributes::read(
            Tool::record(
                ToolText::new(
                    Toolset::Purchases,
                    "get_spending",
                    "Spending",
                    "What the team paid for completed purchases: in total, by month of the checkout, by kind, and by \
                     listing. Refunded ones only if `status` names them.",
                )
                .with_parameters(&[
                    ("since", "First day of checkout, as in 2026-03-01."),
                    ("until", "Last day of checkout."),
                    ("kind", "Kinds of purchase."),
                    ("status", "States; default: completed."),
                ])
                .with_row(&[
                    "total",
                    "by_month.name",
                    "by_month.purchases",
                    "by_month.total",
                    "by_kind.name",
                    "by_kind.purchases",
                    "by_kind.total",
                    "by_listing[0:5].name",
                    "by_listing[0:5].listing_id",
                    "by_listing[0:5].purchases",
                    "by_listing[0:5].total",
                    "listings",
                ]),
            ),
            Contract::new(Target::None),
        )
        .with_budget(Budget::Purchases),
    )]
    async fn get_spending(call: Call<Buyer>, query: Params<SpendingFilters>) -> JsonResult<SpendingOut> {
        let filter = query.0.into_filter()?;
        Json::read(&call.served, call.access.requester(), move |reader| {
            let spending = money_summaries::spending(reader, &call.access, &filter)?;
            let by_name = |groups: Vec<(String, Spent)>| {
                groups.into_iter().map(|(name, spent)| SpentOut::new(Some(name), None, &spent)).collect()
            };
            let by_listing = |(listing, spent): (SummarizedListing, Spent)| {
                SpentOut::new(Some(listing.title), Some(listing.id), &spent)
            };
            Ok(SpendingOut {
                total: SpentOut::new(None, None, &spending.total),
                by_month: by_name(spending.by_month),
                by_kind: by_name(spending.by_kind),
                by_listing: spending.by_listing.0.into_iter().map(by_listing).collect(),
                listings: spending.by_listing.1,
                currency: CURRENCY.to_owned(),
            })
        })
        .await
    }

    /// Summarize earnings
    ///
    /// Returns what the team has earned, by month, kind, and listing, and when earnings on hold become available.
    #[get(
        "/earnings-summary",
        RouteAttributes::read(
            Tool::record(
                ToolText::new(
                    Toolset::Sales,
                    "get_earnings_summary",
                    "Earnings summary",
                    "What the team earned: in total, by month, by kind, and by listing. `net` is gross with fees and \
                     refunds deducted. Earnings of a sale stay `pending` for some days; `next_release` is when the \
                     first of them become `available`, and how much. `used` was converted to credits or withdrawn. `sales` \
                     counts as list_sales does.",
                )
                .with_row(&[
                    "total",
                    "by_month.name",
                    "by_month.sales",
                    "by_month.net",
                    "by_month.used",
                    "by_kind.name",
                    "by_kind.sales",
                    "by_kind.net",
                    "by_kind.used",
                    "by_listing[0:5].name",
                    "by_listing[0:5].listing_id",
                    "by_listing[0:5].sales",
                    "by_listing[0:5].net",
                    "listings",
                    "available",
                    "pending",
                    "next_release",
                ]),
            ),
            Contract::new(Target::None),
        ),
    )]
    async fn get_earnings_summary(
        call: Call<Vendor>,
        query: Params<SubjectFilters>,
    ) -> JsonResult<EarningsSummaryOut> {
        let filter = query.0.into_filter()?;
        Json::read(&call.served, call.access.requester(), move |reader| {
            money_summaries::earnings(reader, &call.access, &filter).map(EarningsSummaryOut::from)
        })
        .await
    }
}
