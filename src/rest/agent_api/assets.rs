//! Assets of all kinds, with what each lacks and its latest quality run.

use std::collections::BTreeMap;

use super::{
    filters::QualityGrammar,
    rows::{EvidenceForm, SelectedFields, check_statuses, keys_with, run_evidence},
};
use crate::{
    domain::{
        inventory::Asset,
        quality_checks::CheckStatus,
        quality_runs::RunOutcome,
        row_ids::AssetRowId,
        stages::{RequiredField, Stage},
        taxonomy::Retirement,
        time::Timestamp,
    },
    operations::assets::{self, AssetFilter, Deprecations, accepts_new_listings},
    rest::{
        arguments::filter_entries::FilterEntry,
        prelude::*,
        shapes::{
            assets::{ASSET_KINDS, AssetSummary, missing_pieces, price_usd},
            limit_offset::LimitOffset,
        },
        vendor_api::{
            asset_queries::{FilterAndSort, PageFilter},
            assets::{AssetConditions, GroupCountOut, SkuCount, group_counts, sku_counts},
        },
    },
    store::quality_runs::RunSummary,
    string_enum::StringEnum,
};

/// Query parameters of the list.
#[derive(Debug, Object)]
pub struct AgentAssetsQuery {
    /// Properties of the assets.
    #[oai(flatten)]
    scope: AssetConditions,
    /// IDs, group, limit and offset.
    #[oai(flatten)]
    paging: PageFilter,
    /// Filters and order.
    #[oai(flatten)]
    selection: FilterAndSort<FilterEntry<QualityGrammar>>,
    /// Names of the selected fields; empty for all.
    #[oai(default, validator(max_items = 64))]
    fields: Vec<String>,
}

/// An asset with all that agents can select.
#[derive(Debug, Object, Serialize)]
pub struct AgentAsset {
    /// The fields of the list of the API.
    #[oai(flatten)]
    #[serde(flatten)]
    pub summary: AssetSummary,
    /// Asking price in US dollars; null if it has none.
    pub price_usd: Option<f64>,
    /// Required fields that the asset lacks.
    pub missing: Vec<EnumValue<RequiredField>>,
    /// Why the asset cannot be put on a listing; null if it can.
    pub not_listable_because: Option<String>,
    /// Outcome of the latest quality run of the asset.
    pub qc: Option<EnumValue<RunOutcome>>,
    /// ID of the run; null if there is none.
    pub qc_run_id: Option<Uuid>,
    /// Time at which the run ended; null while it is in progress.
    pub qc_completed_at: Option<UtcTime>,
    /// Keys of the checks that failed.
    pub qc_failed_checks: Vec<String>,
    /// Keys of the checks that could not be performed.
    pub qc_errored_checks: Vec<String>,
    /// Status of each check, by key; of several subjects, the worst.
    pub qc_check_statuses: BTreeMap<String, EnumValue<CheckStatus>>,
    /// The basis of what is said about quality, as a sentence to cite.
    pub evidence: Option<String>,
}

/// Fields that are read with the quality run.
const QUALITY_FIELDS: [&str; 7] = [
    "qc",
    "qc_run_id",
    "qc_completed_at",
    "qc_failed_checks",
    "qc_errored_checks",
    "qc_check_statuses",
    "evidence",
];

/// A page of a team's assets.
#[derive(Debug, Object, Serialize)]
pub struct AgentAssets {
    /// The assets, in the requested order.
    pub items: Vec<AgentAsset>,
    /// Matches by group, on all pages.
    pub groups: Vec<GroupCountOut>,
    /// Maximum number of items on the page, as requested.
    pub limit: u32,
    /// Number of items skipped, as requested.
    pub offset: i64,
    /// Matches by kind, on all pages.
    pub skus: Vec<SkuCount>,
    /// Number of assets that match, on all pages.
    pub total: u64,
}

impl AgentAsset {
    fn new(
        asset: &Asset,
        deprecations: &Deprecations,
        now: Timestamp,
        run: Option<&RunSummary>,
    ) -> AgentAsset {
        AgentAsset {
            summary: AssetSummary::new(asset, deprecations, now),
            price_usd: price_usd(asset),
            missing: missing_pieces(asset),
            not_listable_because: not_listable_because(asset, deprecations),
            qc: Some(EnumValue(run.map_or(RunOutcome::None, |run| run.outcome))),
            qc_run_id: run.map(|run| run.id),
            qc_completed_at: run.and_then(|run| run.completed_at).map(UtcTime),
            qc_failed_checks: run.map(|run| keys_with(run, CheckStatus::Failed)).unwrap_or_default(),
            qc_errored_checks: run.map(|run| keys_with(run, CheckStatus::Error)).unwrap_or_default(),
            qc_check_statuses: run.map(check_statuses).unwrap_or_default(),
            evidence: Some(run_evidence(run, EvidenceForm::Brief)),
        }
    }
}

/// Returns why an asset cannot be put on a listing; `None` if it can.
fn not_listable_because(asset: &Asset, deprecations: &Deprecations) -> Option<String> {
    if !accepts_new_listings(deprecations, asset.kind) {
        let retirement =
            deprecations.get(&asset.kind).map(|Retirement { announced, .. }| announced.retires_at);
        let at = retirement.map(|at| format!(" at {at}")).unwrap_or_default();
        return Some(format!(
            "Its kind, {}, is being retired{at} and takes no new listings.",
            asset.kind.as_str()
        ));
    }
    let stage = asset.stage();
    if stage.is_listable(asset.kind, true) {
        return None;
    }
    let missing: Vec<&str> = asset.missing_fields().into_iter().map(StringEnum::as_str).collect();
    Some(match stage {
        Stage::Incomplete => format!("It lacks {}.", missing.join(", ")),
        Stage::Proposed | Stage::Complete => "No data is linked.".to_owned(),
    })
}

/// Description of the `filter` parameter of the list.
const FILTER_DESCRIPTION: &str = "Conditions that must all hold: `field:is:value`, `is_not`, or `name:contains:text`. \
    Fields: `stage` (incomplete, proposed, complete), `name`, `type` (`sku`), `domain`, `channel` (github, gitlab, \
    bitbucket, zip, not_linked), `qc` (passed, failed, in_progress, error, cancelled, none), and those in the `filter` of \
    each kind's list.";

#[routes(prefix = "/agents/v1", tag = Inventory)]
impl AssetsApi {
    /// List assets
    ///
    /// Returns a page of the team's assets of all kinds with what each lacks and its latest quality run.
    #[get(
        "/assets",
        RouteAttributes::read(
            Tool::list(
                ToolText::new(
                    Toolset::Assets,
                    "list_assets",
                    "Assets",
                    "The team's inventory of all kinds, each with what it lacks (`missing`), whether it can be put on a \
                     listing, and its latest quality run (`qc`). For other fields of one kind, use list_codebases, \
                     list_raw_data or list_tasks.",
                )
                .with_row(&[
                    "id",
                    "title",
                    "sku",
                    "stage",
                    "listable",
                    "not_listable_because",
                    "qc",
                    "qc_failed_checks",
                    "qc_errored_checks",
                    "evidence",
                    "price_usd",
                    "skus",
                ])
                .with_values(&[("sku", ASSET_KINDS)])
                .with_parameters(&[
                    ("sku", "Asset kind."),
                    ("deprecated", "True: only kinds being retired; false: only the others."),
                    ("attach_to", "Listing ID. Assets that it already has are not `attachable`."),
                    ("filter", FILTER_DESCRIPTION),
                    ("sort", "Default: newest first."),
                ]),
                "items",
            ),
            Contract::new(Target::None),
        ),
    )]
    async fn list_assets_for_agents(
        call: Call<Vendor>,
        query: Params<AgentAssetsQuery>,
    ) -> JsonResult<AgentAssets> {
        let AgentAssetsQuery { scope, paging, selection, fields } = query.0;
        let LimitOffset { limit, offset } = paging.page;
        let mut filter: AssetFilter = scope.into_filter(&call.access, selection)?;
        paging.ids.apply_to(&mut filter.query);
        let fields = SelectedFields::new(fields);
        Json::read(&call.served, call.access.requester(), move |reader| {
            let page = assets::page(reader, &call.access, filter, limit as usize, offset.cast_unsigned())?;
            let has_quality = QUALITY_FIELDS.iter().any(|name| fields.has(name));
            let rows: Vec<AssetRowId> = page.items.iter().map(|asset| asset.row_id).collect();
            let runs =
                if has_quality { assets::latest_runs(reader, &call.access, &rows)? } else { BTreeMap::new() };
            let item = |asset: &Asset| {
                AgentAsset::new(asset, &page.deprecations, reader.now, runs.get(&asset.row_id))
            };
            Ok(AgentAssets {
                items: page.items.iter().map(item).collect(),
                groups: group_counts(&page.counts),
                limit,
                offset,
                skus: sku_counts(&page.counts),
                total: page.counts.total(),
            })
        })
        .await
    }
}
