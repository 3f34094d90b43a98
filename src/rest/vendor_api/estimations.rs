//! Estimations: advisory quotes for a vendor's sources.

use super::asset_queries;
use crate::{
    domain::{
        assets::{Channel, Kind},
        estimations::{Bin, Estimation, EstimationColumn, EstimationStatus, Summary},
        filters::SortDirection,
    },
    operations::estimations,
    rest::{
        arguments::filter_entries::{self, EstimationFilters, FilterEntry},
        prelude::*,
        shapes::limit_offset::LimitOffset,
    },
};

/// Query parameters of the list of estimations.
#[derive(Debug, Object)]
pub struct EstimationsQuery {
    /// Limit and offset.
    #[oai(flatten)]
    page: LimitOffset,
    /// Conditions, all of which must hold, of the form `field:operator:value`. Operators are `is`, `is_not`
    /// and, for `name`, `contains`. Fields are `status`, `type`, `name`, `channel` and `inventory` (`added`
    /// or `not_added`).
    #[oai(default, validator(max_items = 20))]
    filter: Vec<FilterEntry<EstimationFilters>>,
    /// Column to sort by; omit it for newest first. Estimations without a value come last in both directions,
    /// and ties are newest first.
    sort: Option<EnumValue<EstimationColumn>>,
    /// Direction of `sort`; ignored without it.
    #[oai(default = "asset_queries::default_sort_direction")]
    sort_direction: EnumValue<SortDirection>,
}

/// Query parameters of the summary of estimations.
#[derive(Debug, Object)]
pub struct EstimationSummaryQuery {
    /// Conditions, all of which must hold, as in the list of estimations.
    #[oai(default, validator(max_items = 20))]
    filter: Vec<FilterEntry<EstimationFilters>>,
}

/// Query parameters of the latest estimations of assets.
#[derive(Debug, Object)]
pub struct LatestEstimationsQuery {
    /// IDs of assets, 1 to 200. Assets without an estimation of the team match nothing.
    #[oai(validator(min_items = 1, max_items = 200))]
    asset_id: Vec<Uuid>,
}

/// The source that an estimation is about.
#[derive(Debug, Object, Serialize)]
pub struct EstimationSource {
    /// Channel of the source.
    pub channel: EnumValue<Channel>,
    /// Full name of the repository, `owner/name`.
    pub repo_full_name: String,
}

/// A dated quote for one source as one kind of asset. Quotes are advisory and not binding.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Estimation")]
pub struct EstimationOut {
    /// ID of the estimation.
    pub id: Uuid,
    /// Kind of asset that the source would be sold as.
    pub sku_slug: EnumValue<Kind>,
    /// The estimated source.
    pub source: EstimationSource,
    /// Name of the estimation.
    pub name: String,
    /// State of the estimation.
    pub status: EnumValue<EstimationStatus>,
    /// Time of the request.
    pub created_at: UtcTime,
    /// Time of completion; null while the estimation is pending.
    pub completed_at: Option<UtcTime>,
    /// ID of the person who requested the estimation.
    pub created_by: Uuid,
    /// Reason of the failure; null if the estimation has not failed.
    pub failure_message: Option<String>,
    /// ID of the asset that was created from the source; null if there is none.
    pub inventory_asset_id: Option<Uuid>,
    /// Lower end of the quote, in US cents; null without a quote.
    pub quote_low_cents: Option<i64>,
    /// Upper end of the quote, in US cents; null without a quote.
    pub quote_high_cents: Option<i64>,
}

impl From<&Estimation> for EstimationOut {
    fn from(estimation: &Estimation) -> EstimationOut {
        EstimationOut {
            id: estimation.id,
            sku_slug: EnumValue(estimation.kind),
            source: EstimationSource {
                channel: EnumValue(estimation.channel),
                repo_full_name: estimation.repo_full_name.clone(),
            },
            name: estimation.name.clone(),
            status: EnumValue(estimation.status),
            created_at: estimation.created_at.into(),
            completed_at: estimation.completed_at.map(UtcTime),
            created_by: estimation.created_by,
            failure_message: estimation.failure_message.clone(),
            inventory_asset_id: estimation.asset,
            quote_low_cents: estimation.quote.map(|(low, _)| low.0),
            quote_high_cents: estimation.quote.map(|(_, high)| high.0),
        }
    }
}

/// A page of a team's estimations.
#[derive(Debug, Object, Serialize)]
pub struct Estimations {
    /// The estimations, in the requested order.
    pub estimations: Vec<EstimationOut>,
    /// Number of estimations that match, on all pages.
    pub total: u64,
}

/// A bin of a histogram of lower quotes.
#[derive(Debug, Object, Serialize)]
pub struct QuoteBin {
    /// Lower bound of the bin, in US cents, inclusive.
    pub low_cents: i64,
    /// Upper bound of the bin, in US cents, exclusive.
    pub high_cents: i64,
    /// Number of sources whose lower quote is in the bin.
    pub count: u64,
}

impl From<&Bin> for QuoteBin {
    fn from(bin: &Bin) -> QuoteBin {
        QuoteBin { low_cents: bin.low.0, high_cents: bin.high.0, count: bin.count }
    }
}

/// Number of estimations by status.
#[derive(Debug, Object, Serialize)]
pub struct EstimationStatusCounts {
    /// Number of estimations that are not computed yet.
    pub pending: u64,
    /// Number of estimations with a quote.
    pub estimated: u64,
    /// Number of estimations of sources without anything that has a rate.
    pub unpriced: u64,
    /// Number of estimations that failed.
    pub failed: u64,
}

/// Totals over a team's estimations.
#[derive(Debug, Object, Serialize)]
pub struct EstimationSummary {
    /// Number of sources with a quote.
    pub estimated_sources: u64,
    /// Histogram of the lower quotes, in bins of equal width and ascending order.
    pub bins: Vec<QuoteBin>,
    /// Number of estimations by status.
    pub status_counts: EstimationStatusCounts,
    /// Sum of the lower quotes, in US cents.
    pub quote_low_cents: i64,
    /// Sum of the upper quotes, in US cents.
    pub quote_high_cents: i64,
}

impl From<&Summary> for EstimationSummary {
    fn from(summary: &Summary) -> EstimationSummary {
        let count = |status| summary.statuses.get(&status).copied().unwrap_or_default();
        EstimationSummary {
            estimated_sources: summary.estimated,
            bins: summary.bins.iter().map(QuoteBin::from).collect(),
            status_counts: EstimationStatusCounts {
                pending: count(EstimationStatus::Pending),
                estimated: count(EstimationStatus::Estimated),
                unpriced: count(EstimationStatus::Unpriced),
                failed: count(EstimationStatus::Failed),
            },
            quote_low_cents: summary.low.0,
            quote_high_cents: summary.high.0,
        }
    }
}

/// The latest estimation of an asset.
#[derive(Debug, Object, Serialize)]
pub struct AssetEstimation {
    /// ID of the asset.
    pub asset_id: Uuid,
    /// The latest estimation of the asset.
    pub estimation: EstimationOut,
}

/// The latest estimations of assets.
#[derive(Debug, Object, Serialize)]
pub struct LatestEstimations {
    /// Latest estimations of the assets that have one, in the order of the request.
    pub estimations: Vec<AssetEstimation>,
}

/// Description of the `filter` parameter for agents.
const ESTIMATION_FILTERS: &str = "`field:operator:value`. Fields: `status` (pending, estimated, unpriced, failed), \
                          `inventory` (added, not_added), `channel` (github, gitlab, bitbucket, zip), `type` (asset \
                          kind), `name`.";

#[routes(prefix = "/v2", tag = Estimations)]
impl EstimationsApi {
    /// List estimations
    ///
    /// Returns a page of the team's estimations, newest first unless sorted.
    #[get(
        "/estimations",
        RouteAttributes::read(
            Tool::list(
                ToolText::new(
                    Toolset::Assets,
                    "list_estimations",
                    "Estimations",
                    "Advisory quotes for the team's repositories in full, in US cents.",
                )
                .with_parameters(&[("filter", ESTIMATION_FILTERS)])
                .with_row(&[
                    "id",
                    "name",
                    "source.repo_full_name",
                    "sku_slug",
                    "status",
                    "quote_low_cents",
                    "quote_high_cents",
                    "failure_message",
                    "completed_at",
                    "total",
                ]),
                "estimations",
            ),
            Contract::new(Target::None)
                .with_queries(&[
                    "limit=200",
                    "limit=1&offset=1",
                    "offset=2147483647",
                    "sort=name&filter=status:is_not:failed",
                    "sort=type&filter=status:is_not:failed",
                    "sort=channel&filter=status:is_not:failed",
                    "sort=status&filter=status:is_not:failed",
                    "sort=quote&filter=status:is_not:failed",
                    "sort=date&filter=status:is_not:failed",
                ])
                .with_misspelled("filtr=x", "filter")
                .with_pages("limit=1", "limit=200", 3),
        )
        .with_parameter_examples(&[("filter", r#"["status:is:estimated", "name:contains:core"]"#)]),
    )]
    async fn list_estimations(
        call: Call<Vendor>,
        query: Params<EstimationsQuery>,
    ) -> JsonResult<Estimations> {
        let params = query.0;
        let conditions = filter_entries::parse_query_entries(&params.filter)?;
        let sort = params.sort.map(|column| (column.0, params.sort_direction.0));
        let (limit, offset) = (params.page.limit as usize, params.page.offset.cast_unsigned());
        Json::read(&call.served, call.access.requester(), move |reader| {
            let (found, total) = estimations::page(reader, &call.access, &conditions, sort, limit, offset)?;
            Ok(Estimations { estimations: found.iter().map(EstimationOut::from).collect(), total })
        })
        .await
    }

    /// Summarize estimations
    ///
    /// Returns the number of the team's estimations by status, and the sums and the distribution of their
    /// quotes.
    #[get(
        "/estimations/summary",
        RouteAttributes::read(
            Tool::record(
                ToolText::new(
                    Toolset::Assets,
                    "get_estimation_summary",
                    "Estimation summary",
                    "The number of estimations by status, and the totals of their quotes.",
                )
                .with_parameters(&[("filter", ESTIMATION_FILTERS)])
                .unlisted(),
            ),
            Contract::new(Target::None).with_misspelled("filtr=x", "filter"),
        )
        .with_parameter_examples(&[("filter", r#"["status:is:estimated", "name:contains:core"]"#)]),
    )]
    async fn get_estimation_summary(
        call: Call<Vendor>,
        query: Params<EstimationSummaryQuery>,
    ) -> JsonResult<EstimationSummary> {
        let conditions = filter_entries::parse_query_entries(&query.0.filter)?;
        Json::read(&call.served, call.access.requester(), move |reader| {
            let summary = estimations::summary(reader, &call.access, &conditions)?;
            Ok(EstimationSummary::from(&summary))
        })
        .await
    }

    /// List the latest estimations of assets
    ///
    /// Returns the latest estimation of each given asset that has one.
    #[get(
        "/estimations/latest",
        RouteAttributes::read(
            Tool::list(
                ToolText::new(
                    Toolset::Assets,
                    "list_latest_estimations",
                    "Latest estimations",
                    "The latest quote of each given asset that has one.",
                )
                .unlisted()
                .with_ids("list_codebases"),
                "estimations",
            ),
            Contract::new(Target::None)
                .with_required_queries(&["asset_id={assets}"])
                .with_misspelled("aset_id=x&asset_id=x", "asset_id"),
        )
        .with_parameter_examples(&[("asset_id", r#"["ef50a644-f585-571e-b33d-4774e03b7d48"]"#)]),
    )]
    async fn list_latest_estimations(
        call: Call<Vendor>,
        query: Params<LatestEstimationsQuery>,
    ) -> JsonResult<LatestEstimations> {
        let assets = query.0.asset_id;
        Json::read(&call.served, call.access.requester(), move |reader| {
            let found = estimations::latest(reader, &call.access, &assets)?;
            let items = found.iter().map(|(asset, estimation)| AssetEstimation {
                asset_id: *asset,
                estimation: estimation.into(),
            });
            Ok(LatestEstimations { estimations: items.collect() })
        })
        .await
    }

    /// Get an estimation
    ///
    /// Returns one of the team's estimations.
    #[get(
        "/estimations/{estimation_id}",
        RouteAttributes::read(
            Tool::Excluded("list_estimations returns every estimation in full"),
            Contract::new(Target::OwnEstimation),
        )
    )]
    async fn get_estimation(call: Call<Vendor>, estimation_id: Path<Uuid>) -> JsonResult<EstimationOut> {
        Json::read_inline(&call.served, call.access.requester(), move |reader| {
            let found = estimations::find(reader, &call.access, estimation_id.0)?;
            Ok(EstimationOut::from(&found))
        })
        .await
    }
}
