//! Advisory quotes of a vendor's sources.

use std::{collections::BTreeMap, sync::Arc};

use poem::web::Data;
use poem_openapi::{Object, OpenApi, param::Path};
use serde::Serialize;
use uuid::Uuid;

use crate::{
    domain::{
        assets::{Channel, Kind},
        estimations::{Bin, Estimation, EstimationColumn, EstimationStatus, Summary},
        filters::SortDirection,
        vocabulary::Vocabulary,
    },
    operations::{access::Vendor, estimations},
    rest::{
        App,
        auth::Access,
        filter_entries::{self, Entry, OfEstimations},
        params::{NoParams, Params},
        raw::{Answer, Raw},
        shapes::{UtcTime, slices::Slice},
        vocabulary::Word,
    },
};

/// Which estimations are asked for.
#[derive(Debug, Object)]
pub struct EstimationsQuery {
    /// The page.
    #[oai(flatten)]
    slice: Slice,
    /// Conditions, all of which hold, each written `field:operator:value`. Operators are `is`, `is_not` and, of `name`,
    /// `contains`; fields are `status`, `type`, `name`, `channel` and `inventory` (`added` or `not_added`).
    #[oai(default, validator(max_items = 50))]
    filter: Vec<Entry<OfEstimations>>,
    /// The column to sort by instead of newest first. Estimations without a value come last either way, and ties stay
    /// newest first.
    sort: Option<Word<EstimationColumn>>,
    /// Which way the column is sorted.
    #[oai(default = "ascending")]
    sort_direction: Word<SortDirection>,
}

fn ascending() -> Word<SortDirection> {
    Word(SortDirection::Ascending)
}

/// Which estimations are summed up.
#[derive(Debug, Object)]
pub struct EstimationSummaryQuery {
    /// Conditions, all of which hold, as in the list of estimations.
    #[oai(default, validator(max_items = 50))]
    filter: Vec<Entry<OfEstimations>>,
}

/// Whose latest estimations are asked for.
#[derive(Debug, Object)]
pub struct LatestEstimationsQuery {
    /// Assets by their ids; ids that the team has no estimation of match nothing.
    #[oai(validator(min_items = 1, max_items = 200))]
    asset_id: Vec<String>,
}

/// What is estimated.
#[derive(Debug, Object, Serialize)]
pub struct EstimationSource {
    /// Where it is.
    pub channel: Word<Channel>,
    /// `owner/name`.
    pub repo_full_name: String,
}

/// A dated quote for one source, to go by and not to rely on.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Estimation")]
pub struct EstimationOut {
    /// Its id.
    pub id: Uuid,
    /// The kind that the source would be sold as.
    pub sku_slug: Word<Kind>,
    /// What is estimated.
    pub source: EstimationSource,
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub status: Word<EstimationStatus>,
    /// When it was asked for.
    pub created_at: UtcTime,
    /// When it was ready; null before that.
    pub completed_at: Option<UtcTime>,
    /// Who asked.
    pub created_by: Uuid,
    /// Why it failed; null where it did not.
    pub failure_message: Option<String>,
    /// The asset that was made of it since; null where none was.
    pub inventory_asset_id: Option<Uuid>,
    /// The least that the source may be worth, in US cents; null without a quote.
    pub quote_low_cents: Option<i64>,
    /// The most that the source may be worth, in US cents; null without a quote.
    pub quote_high_cents: Option<i64>,
}

impl From<&Estimation> for EstimationOut {
    fn from(estimation: &Estimation) -> EstimationOut {
        EstimationOut {
            id: estimation.id,
            sku_slug: Word(estimation.kind),
            source: EstimationSource {
                channel: Word(estimation.channel),
                repo_full_name: estimation.repo_full_name.clone(),
            },
            name: estimation.name.clone(),
            status: Word(estimation.status),
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
    /// The estimations.
    pub estimations: Vec<EstimationOut>,
    /// All that match.
    pub total: u64,
}

/// Sources whose quotes lie in a range.
#[derive(Debug, Object, Serialize)]
pub struct QuoteBin {
    /// The least low quote of the range, in US cents.
    pub low_cents: i64,
    /// The first low quote behind it, in US cents.
    pub high_cents: i64,
    /// Sources in it.
    pub count: u64,
}

impl From<&Bin> for QuoteBin {
    fn from(bin: &Bin) -> QuoteBin {
        QuoteBin { low_cents: bin.low.0, high_cents: bin.high.0, count: bin.count }
    }
}

/// A team's estimations in figures.
#[derive(Debug, Object, Serialize)]
pub struct EstimationSummary {
    /// Sources with a quote.
    pub estimated_sources: u64,
    /// Their low quotes in ranges of equal width, from the least to the most.
    pub bins: Vec<QuoteBin>,
    /// Estimations by status; each status is there.
    pub status_counts: BTreeMap<String, u64>,
    /// The sum of the low quotes, in US cents.
    pub quote_low_cents: i64,
    /// The sum of the high quotes, in US cents.
    pub quote_high_cents: i64,
}

impl From<&Summary> for EstimationSummary {
    fn from(summary: &Summary) -> EstimationSummary {
        EstimationSummary {
            estimated_sources: summary.estimated,
            bins: summary.bins.iter().map(QuoteBin::from).collect(),
            status_counts: summary
                .statuses
                .iter()
                .map(|(status, count)| (status.word().to_owned(), *count))
                .collect(),
            quote_low_cents: summary.low.0,
            quote_high_cents: summary.high.0,
        }
    }
}

/// An asset with its latest estimation.
#[derive(Debug, Object, Serialize)]
pub struct AssetEstimation {
    /// The asset.
    pub asset_id: Uuid,
    /// Its latest estimation.
    pub estimation: EstimationOut,
}

/// Assets with their latest estimations.
#[derive(Debug, Object, Serialize)]
pub struct LatestEstimations {
    /// Those of the assets that have one, in the order in which they were named.
    pub estimations: Vec<AssetEstimation>,
}

pub struct EstimationsApi;

#[OpenApi(prefix_path = "/v2", tag = "super::super::Tag::Estimations")]
impl EstimationsApi {
    /// Estimations
    ///
    /// A page of the team's estimations, newest first unless sorted.
    #[oai(path = "/estimations", method = "get", operation_id = "list_estimations")]
    async fn list(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        query: Params<EstimationsQuery>,
    ) -> Answer<Estimations> {
        let asked = query.0;
        let conditions = filter_entries::of_query(&asked.filter)?;
        let sort = asked.sort.map(|column| (column.0, asked.sort_direction.0));
        let (limit, offset) = (asked.slice.limit as usize, asked.slice.offset.cast_unsigned());
        let page = app
            .market()
            .read(move |reader| estimations::page(reader, &access.0, &conditions, sort, limit, offset));
        let (found, total) = page.await?;
        Ok(Raw::of(&Estimations { estimations: found.iter().map(EstimationOut::from).collect(), total }))
    }

    /// Estimations in figures
    ///
    /// How many of the team's estimations stand where, and what their quotes come to.
    #[oai(path = "/estimations/summary", method = "get", operation_id = "get_estimation_summary")]
    async fn summary(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        query: Params<EstimationSummaryQuery>,
    ) -> Answer<EstimationSummary> {
        let conditions = filter_entries::of_query(&query.0.filter)?;
        let summary =
            app.market().read(move |reader| estimations::summary(reader, &access.0, &conditions)).await?;
        Ok(Raw::of(&EstimationSummary::from(&summary)))
    }

    /// Latest estimations
    ///
    /// The latest estimation of each of these assets that has one.
    #[oai(path = "/estimations/latest", method = "get", operation_id = "list_latest_estimations")]
    async fn latest(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        query: Params<LatestEstimationsQuery>,
    ) -> Answer<LatestEstimations> {
        let assets: Vec<Uuid> = query.0.asset_id.iter().filter_map(|id| Uuid::try_parse(id).ok()).collect();
        let found = app.market().read(move |reader| estimations::latest(reader, &access.0, &assets)).await?;
        let shown = found
            .iter()
            .map(|(asset, estimation)| AssetEstimation { asset_id: *asset, estimation: estimation.into() });
        Ok(Raw::of(&LatestEstimations { estimations: shown.collect() }))
    }

    /// Estimation
    ///
    /// One of the team's estimations.
    #[oai(path = "/estimations/:estimation_id", method = "get", operation_id = "get_estimation")]
    async fn get(
        &self,
        app: Data<&Arc<App>>,
        access: Access<Vendor>,
        estimation_id: Path<Uuid>,
        _query: Params<NoParams>,
    ) -> Answer<EstimationOut> {
        let found =
            app.market().glance(move |reader| estimations::find(reader, &access.0, estimation_id.0)).await?;
        Ok(Raw::of(&EstimationOut::from(&found)))
    }
}
