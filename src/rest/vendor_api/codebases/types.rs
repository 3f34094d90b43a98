//! JSON types of codebases, in requests and responses.

use std::collections::BTreeMap;

use poem_openapi::{Object, types::MaybeUndefined};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::{
    domain::{
        assets::{Exclusivity, Kind, RepositoryChannel},
        changes::Change,
        codebase_fields::CodebaseChange,
        field_locks::LockSource,
        inventory::{Asset, AssetChange},
        stages::{RequiredField, Stage},
    },
    operations::codebases::LinkRequest,
    rest::{
        arguments::request_body::{MaybeInvalid, Omittable, checked_texts, into_change},
        shapes::{
            CalendarDay, UtcTime,
            assets::{DataObject, missing_pieces, price_usd},
            limit_offset::offset_page,
            strings::{Dollars, MultilineText, RepositoryFullName, Slug, Title},
        },
    },
    web::enum_value::EnumValue,
};

/// A codebase: a repository or source archive with its metadata.
#[derive(Debug, Object, Serialize)]
pub struct Codebase {
    /// Kind of the asset. Always `codebase`.
    pub sku: EnumValue<Kind>,
    /// ID of the asset.
    pub id: Uuid,
    /// ID of the inventory group that the codebase is in.
    pub group_id: Uuid,
    /// Stage, derived from required metadata and data: `incomplete` (metadata missing), `proposed` (metadata
    /// complete, no data linked yet) or `complete`.
    pub stage: EnumValue<Stage>,
    /// Title of the codebase.
    pub title: String,
    /// Slugs of the codebase's domains.
    pub domain_tags: Vec<String>,
    /// Whether the codebase can still be sold exclusively; null if not specified.
    pub exclusivity: Option<EnumValue<Exclusivity>>,
    /// Time of creation.
    pub created_at: UtcTime,
    /// Whether continuous integration runs on pull requests; null if unknown.
    pub ci_on_prs: Option<bool>,
    /// Number of commits on the default branch; null if unknown.
    pub commits: Option<i64>,
    /// Number of people with commits; null if unknown.
    pub contributors: Option<i64>,
    /// The linked repository or uploaded archive; null if no data is linked.
    pub data: Option<DataObject>,
    /// Description of the codebase; null if it has none.
    pub description: Option<String>,
    /// Custom columns of the vendor, by name.
    pub extra_columns: BTreeMap<String, Value>,
    /// Date of the first commit; null if unknown.
    pub history_start: Option<CalendarDay>,
    /// Date of the last commit; null if unknown.
    pub history_end: Option<CalendarDay>,
    /// Lines of code; null if unknown.
    pub lines_of_code: Option<i64>,
    /// Number of merged pull requests; null if unknown.
    pub merged_prs: Option<i64>,
    /// Asking price in US dollars; null if not specified.
    pub price_usd: Option<f64>,
    /// Required pieces that are missing, in the order in which a form would ask for them.
    pub missing: Vec<EnumValue<RequiredField>>,
    /// Fields that cannot be edited in the inventory, with the source of each value: the channel of the
    /// linked data that it was read from, or `api` if it was sent with an API key.
    pub locked_fields: BTreeMap<String, EnumValue<LockSource>>,
}

impl From<&Asset> for Codebase {
    fn from(asset: &Asset) -> Codebase {
        let fields = &asset.codebase;
        Codebase {
            sku: EnumValue(asset.kind),
            id: asset.id,
            group_id: asset.group.1,
            stage: EnumValue(asset.stage()),
            title: asset.title.clone(),
            domain_tags: asset.domain_tags.clone(),
            exclusivity: fields.exclusivity.map(EnumValue),
            created_at: asset.created_at.into(),
            ci_on_prs: fields.ci_on_prs,
            commits: fields.commits,
            contributors: fields.contributors,
            data: asset.data.as_ref().map(|data| DataObject::new(asset.id, data)),
            description: asset.description.clone(),
            extra_columns: asset.extra_columns.clone(),
            history_start: fields.history_start.map(CalendarDay),
            history_end: fields.history_end.map(CalendarDay),
            lines_of_code: fields.lines_of_code,
            merged_prs: fields.merged_prs,
            price_usd: price_usd(asset),
            missing: missing_pieces(asset),
            locked_fields: asset
                .locks
                .iter()
                .map(|(field, source)| (field.clone(), EnumValue(*source)))
                .collect(),
        }
    }
}

offset_page! {
    /// A page of a team's codebases.
    Codebases of Codebase: "The codebases, in the requested order.",
        "Number of codebases that match, on all pages."
}

/// A repository to link to a codebase.
#[derive(Debug, Object)]
pub struct RepositoryLink {
    /// Hosting service of the repository.
    channel: MaybeInvalid<EnumValue<RepositoryChannel>>,
    /// Full name of the repository, `owner/name`, with subgroups in between where the channel has them.
    repo_full_name: MaybeInvalid<RepositoryFullName>,
}

impl RepositoryLink {
    /// Returns the repository to link, unless a part is invalid.
    pub fn into_request(self) -> Option<LinkRequest> {
        let (channel, name) = self.channel.0.zip(self.repo_full_name.0)?;
        Some(LinkRequest { channel: channel.0, repo_full_name: name.0 })
    }
}

/// Metadata of a codebase to create. Only title and exclusivity are required; until everything in `missing`
/// is set, the codebase is `incomplete`.
#[derive(Debug, Object)]
pub struct CodebaseRow {
    /// Title of the codebase.
    title: MaybeInvalid<Title>,
    /// Whether the codebase can still be sold exclusively.
    exclusivity: MaybeInvalid<EnumValue<Exclusivity>>,
    /// Whether continuous integration runs on pull requests.
    ci_on_prs: Option<bool>,
    /// Number of commits on the default branch.
    #[oai(validator(minimum(value = "0"), maximum(value = "9007199254740991")))]
    commits: Option<i64>,
    /// Number of people with commits.
    #[oai(validator(minimum(value = "0"), maximum(value = "9007199254740991")))]
    contributors: Option<i64>,
    /// Description of the codebase. If it is blank when linked data is analyzed, it is filled from the
    /// README, or else from the About text or the manifest.
    description: Option<MultilineText>,
    /// Slugs of the codebase's domains, from `GET /v2/domains`.
    #[oai(default, validator(max_items = 20))]
    domain_tags: Vec<MaybeInvalid<Slug>>,
    /// Custom columns, by name: at most 65,536 bytes of JSON in total, names of at most 1,000 characters,
    /// values nested at most 32 levels deep.
    #[oai(default, validator(max_properties = 50))]
    extra_columns: BTreeMap<String, Value>,
    /// ID of the group to put the codebase in. Defaults to the team's default group.
    group_id: Option<Uuid>,
    /// Date of the last commit: not in the future, and not before `history_start`.
    history_end: Option<CalendarDay>,
    /// Date of the first commit: not in the future.
    history_start: Option<CalendarDay>,
    /// Lines of code.
    #[oai(validator(minimum(value = "0"), maximum(value = "9007199254740991")))]
    lines_of_code: Option<i64>,
    /// Number of merged pull requests.
    #[oai(validator(minimum(value = "0"), maximum(value = "9007199254740991")))]
    merged_prs: Option<i64>,
    /// Asking price in US dollars, with at most two decimals.
    price_usd: Option<Dollars>,
}

impl From<CodebaseRow> for AssetChange {
    fn from(row: CodebaseRow) -> AssetChange {
        AssetChange {
            title: row.title.0.map(String::from),
            description: Change::from(row.description).map(String::from),
            domain_tags: Some(checked_texts(row.domain_tags)).filter(|tags| !tags.is_empty()),
            price_usd: Change::from(row.price_usd).map(|price| price.0),
            extra_columns: Some(row.extra_columns).filter(|columns| !columns.is_empty()),
            group_id: row.group_id.into(),
            codebase: CodebaseChange {
                exclusivity: Change::from(row.exclusivity.0).map(|exclusivity| exclusivity.0),
                lines_of_code: row.lines_of_code.into(),
                commits: row.commits.into(),
                contributors: row.contributors.into(),
                merged_prs: row.merged_prs.into(),
                history_start: Change::from(row.history_start).map(|day| day.0),
                history_end: Change::from(row.history_end).map(|day| day.0),
                ci_on_prs: row.ci_on_prs.into(),
            },
            ..AssetChange::default()
        }
    }
}

/// A codebase to create, with an optional repository.
#[derive(Debug, Object)]
pub struct CodebaseIn {
    /// Metadata of the codebase.
    #[oai(flatten)]
    pub row: CodebaseRow,
    /// The repository to link. It can also be linked later.
    pub data: Option<RepositoryLink>,
}

/// Codebases to create together.
#[derive(Debug, Object)]
pub struct CodebaseBatch {
    /// The codebases, 1 to 500. Either all of them are created, or none.
    #[oai(validator(min_items = 1, max_items = 500))]
    pub items: MaybeInvalid<Vec<MaybeInvalid<CodebaseRow>>>,
}

/// The codebases that were created.
#[derive(Debug, Object, Serialize)]
pub struct CodebaseBatchOut {
    /// The codebases, in the order of the request.
    pub items: Vec<Codebase>,
}

/// Changes to a codebase; omitted fields keep their values. Null clears a field, `[]` the tags, `{}` the
/// columns.
#[derive(Debug, Object)]
pub struct CodebasePatch {
    /// Whether continuous integration runs on pull requests.
    ci_on_prs: MaybeUndefined<bool>,
    /// Number of commits on the default branch.
    #[oai(validator(minimum(value = "0"), maximum(value = "9007199254740991")))]
    commits: MaybeUndefined<i64>,
    /// Number of people with commits.
    #[oai(validator(minimum(value = "0"), maximum(value = "9007199254740991")))]
    contributors: MaybeUndefined<i64>,
    /// Description of the codebase.
    description: MaybeUndefined<MultilineText>,
    /// Slugs of the codebase's domains, from `GET /v2/domains`. Replaces all of them.
    #[oai(validator(max_items = 20))]
    domain_tags: Omittable<Vec<MaybeInvalid<Slug>>>,
    /// Whether the codebase can still be sold exclusively.
    exclusivity: MaybeUndefined<EnumValue<Exclusivity>>,
    /// Custom columns, by name. Replaces all of them: at most 65,536 bytes of JSON in total, names of at most
    /// 1,000 characters, values nested at most 32 levels deep.
    #[oai(validator(max_properties = 50))]
    extra_columns: Omittable<BTreeMap<String, Value>>,
    /// ID of the group to move the codebase to; null for the team's default group.
    group_id: MaybeUndefined<Uuid>,
    /// Date of the last commit: not in the future, and not before `history_start`.
    history_end: MaybeUndefined<CalendarDay>,
    /// Date of the first commit: not in the future.
    history_start: MaybeUndefined<CalendarDay>,
    /// Lines of code.
    #[oai(validator(minimum(value = "0"), maximum(value = "9007199254740991")))]
    lines_of_code: MaybeUndefined<i64>,
    /// Number of merged pull requests.
    #[oai(validator(minimum(value = "0"), maximum(value = "9007199254740991")))]
    merged_prs: MaybeUndefined<i64>,
    /// Asking price in US dollars, with at most two decimals.
    price_usd: MaybeUndefined<Dollars>,
}

impl From<CodebasePatch> for AssetChange {
    fn from(patch: CodebasePatch) -> AssetChange {
        AssetChange {
            description: into_change(patch.description).map(String::from),
            domain_tags: patch.domain_tags.0.map(checked_texts),
            price_usd: into_change(patch.price_usd).map(|price| price.0),
            extra_columns: patch.extra_columns.0,
            group_id: into_change(patch.group_id),
            codebase: CodebaseChange {
                exclusivity: into_change(patch.exclusivity).map(|exclusivity| exclusivity.0),
                lines_of_code: into_change(patch.lines_of_code),
                commits: into_change(patch.commits),
                contributors: into_change(patch.contributors),
                merged_prs: into_change(patch.merged_prs),
                history_start: into_change(patch.history_start).map(|day| day.0),
                history_end: into_change(patch.history_end).map(|day| day.0),
                ci_on_prs: into_change(patch.ci_on_prs),
            },
            ..AssetChange::default()
        }
    }
}
