//! Assets of all teams, which operators only read.

use crate::{
    domain::{
        assets::{ArtifactStatus, Channel, Exclusivity, Kind, TaskType},
        inventory::AttachedData,
        stages::{RequiredField, Stage},
    },
    rest::{operator_api::prelude::*, shapes::CalendarDay},
    store::records::assets::AssetRecord,
};

/// An asset in the inventory of a team.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Asset")]
pub struct AssetOut {
    /// ID of the asset.
    pub id: Uuid,
    /// ID of the team.
    pub team_id: Uuid,
    /// ID of the group that the asset is in.
    pub group_id: Uuid,
    /// Kind of the asset.
    pub kind: EnumValue<Kind>,
    /// Stage on the way to a listing.
    pub stage: EnumValue<Stage>,
    /// Names of the required fields that the asset lacks.
    pub missing: Vec<EnumValue<RequiredField>>,
    /// Title of the asset; can be empty.
    pub title: String,
    /// Description of the asset; null if there is none.
    pub description: Option<String>,
    /// Slugs of the domains.
    pub domain_tags: Vec<String>,
    /// The domain in words, if the taxonomy does not have it; null otherwise.
    pub other_domain: Option<String>,
    /// Asking price; null if there is none.
    pub price: Option<Money>,
    /// Currency of the price.
    pub currency: EnumValue<Currency>,
    /// Whether a codebase can still be sold exclusively; null if not specified, and for other kinds.
    pub exclusivity: Option<EnumValue<Exclusivity>>,
    /// Number of lines of code of a codebase; null if unknown.
    pub lines_of_code: Option<i64>,
    /// Number of commits of a codebase; null if unknown.
    pub commits: Option<i64>,
    /// Number of contributors to a codebase; null if unknown.
    pub contributors: Option<i64>,
    /// Number of merged pull requests of a codebase; null if unknown.
    pub merged_prs: Option<i64>,
    /// Date of the first commit of a codebase; null if unknown.
    pub history_start: Option<CalendarDay>,
    /// Date of the last commit of a codebase; null if unknown.
    pub history_end: Option<CalendarDay>,
    /// Whether continuous integration runs on the pull requests of a codebase; null if unknown.
    pub ci_on_prs: Option<bool>,
    /// Source of the linked data; null if no data is linked, as are all fields about it.
    pub channel: Option<EnumValue<Channel>>,
    /// Full name of the linked repository, `owner/name`.
    pub repository: Option<String>,
    /// Whether the source requires credentials.
    pub private_data: Option<bool>,
    /// State of copying the data into the platform.
    pub archive_status: Option<EnumValue<ArtifactStatus>>,
    /// Why copying failed.
    pub archive_error: Option<String>,
    /// Size of the copy in bytes.
    pub archive_bytes: Option<i64>,
    /// State of analyzing the data.
    pub analysis_status: Option<EnumValue<ArtifactStatus>>,
    /// Why the analysis failed.
    pub analysis_error: Option<String>,
    /// The analyzed commit of a repository.
    pub commit_sha: Option<String>,
    /// Time at which the data was linked.
    pub attached_at: Option<UtcTime>,
    /// Time at which the analysis ended.
    pub analyzed_at: Option<UtcTime>,
    /// ID of the task of a task asset; null for other kinds.
    pub task_id: Option<Uuid>,
    /// ID of the version of the task of a task asset; null for other kinds.
    pub task_version_id: Option<Uuid>,
    /// Subject area of a task asset; null for other kinds.
    pub task_type: Option<EnumValue<TaskType>>,
    /// ID of the taskset of an asset of kind `taskset`, or IDs of the first 100 of a bundle.
    #[oai(validator(max_items = 100))]
    pub taskset_ids: Vec<Uuid>,
    /// IDs of the first 100 listings with the asset, oldest first.
    #[oai(validator(max_items = 100))]
    pub listing_ids: Vec<Uuid>,
    /// Time of creation.
    pub created_at: UtcTime,
}

subject!(AssetOut, "asset", id, team_id);

impl Resource for AssetOut {
    type Record = AssetRecord;

    fn new(record: AssetRecord, _: &CheckContext) -> AssetOut {
        let AssetRecord { asset, team, repository, listing_ids, taskset_ids } = record;
        let data = asset.data.as_ref();
        let (codebase, task) = (&asset.codebase, asset.task.as_ref());
        AssetOut {
            id: asset.id,
            team_id: team,
            group_id: asset.group.1,
            kind: EnumValue(asset.kind),
            stage: EnumValue(asset.stage()),
            missing: asset.missing_fields().into_iter().map(EnumValue).collect(),
            price: asset.price.map(Money),
            currency: EnumValue(Currency::Usd),
            exclusivity: codebase.exclusivity.map(EnumValue),
            lines_of_code: codebase.lines_of_code,
            commits: codebase.commits,
            contributors: codebase.contributors,
            merged_prs: codebase.merged_prs,
            history_start: codebase.history_start.map(CalendarDay),
            history_end: codebase.history_end.map(CalendarDay),
            ci_on_prs: codebase.ci_on_prs,
            channel: data.map(|data| EnumValue(data.channel)),
            repository,
            private_data: data.map(|data| data.is_private),
            archive_status: data.map(|data| EnumValue(data.archive_status)),
            archive_error: text_of(data, |data| &data.archive_error),
            archive_bytes: data.and_then(|data| data.archive_bytes),
            analysis_status: data.map(|data| EnumValue(data.analysis_status)),
            analysis_error: text_of(data, |data| &data.analysis_error),
            commit_sha: text_of(data, |data| &data.commit_sha),
            attached_at: data.map(|data| data.attached_at.into()),
            analyzed_at: data.and_then(|data| data.analyzed_at).map(UtcTime),
            task_id: task.map(|task| task.task_id),
            task_version_id: task.map(|task| task.version_id),
            task_type: task.map(|task| EnumValue(task.task_type)),
            taskset_ids,
            listing_ids,
            created_at: asset.created_at.into(),
            title: asset.title,
            description: asset.description,
            domain_tags: asset.domain_tags,
            other_domain: asset.other_domain,
        }
    }
}

fn text_of(
    data: Option<&AttachedData>,
    text: impl FnOnce(&AttachedData) -> &Option<String>,
) -> Option<String> {
    data.and_then(|data| text(data).clone())
}

page_of! {
    /// A page of assets.
    AssetPage, AssetOut
}

/// What the list of assets can be filtered by.
#[derive(Debug, Object, Serialize)]
pub struct AssetFilters {
    /// ID of the team.
    team_id: Option<Uuid>,
    /// Kind of the asset.
    kind: Option<EnumValue<Kind>>,
    /// Stage on the way to a listing.
    stage: Option<EnumValue<Stage>>,
    /// ID of a listing with the asset.
    listing_id: Option<Uuid>,
}

#[routes(prefix = "/operator/v1", tag = Inventory)]
impl AssetsApi {
    /// List assets
    ///
    /// Returns the assets of all teams, newest first, without deleted ones.
    #[get(
        "/assets",
        routes::list(&[
            "kind=codebase&stage=complete&limit=2",
            "listing_id=34f2c447-0d0a-5b97-aa77-8245b1d085a3",
        ]),
    )]
    async fn list_assets(
        call: Call<Operator>,
        query: Params<ListQuery<AssetFilters>>,
    ) -> JsonResult<AssetPage> {
        pages::list(call, query).await
    }

    /// Get an asset
    ///
    /// Returns an asset that is not deleted.
    #[get("/assets/{asset_id}", routes::get("assets"))]
    async fn get_asset(call: Call<Operator>, asset_id: Path<Uuid>) -> JsonResult<AssetOut> {
        resources::get(call, asset_id.0).await
    }
}
