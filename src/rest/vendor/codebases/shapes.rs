//! Codebases as they are sent and answered.

use std::collections::BTreeMap;

use poem_openapi::{Object, types::MaybeUndefined};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::{
    domain::{
        assets::{Exclusivity, Kind, RepositoryChannel},
        field_locks::LockSource,
        inventory::{Asset, AssetChange, Change},
        stages::{Piece, Stage},
    },
    operations::codebases::Link,
    rest::{
        bodies::{Given, change},
        shapes::{
            CalendarDay, UtcTime,
            assets::{DataObject, missing, price_usd},
            texts::{Dollars, LongText, Repository, Slug, Title},
        },
        vocabulary::Word,
    },
};

/// A codebase.
#[derive(Debug, Object, Serialize)]
pub struct Codebase {
    /// Its kind, which is codebase.
    pub sku: Word<Kind>,
    /// Its id.
    pub id: Uuid,
    /// The inventory folder that it is in.
    pub group_id: Uuid,
    /// How far it is on its way to being offered.
    pub stage: Word<Stage>,
    /// Its title.
    pub title: String,
    /// Slugs of its business fields.
    pub domain_tags: Vec<String>,
    /// Whether it can still be sold exclusively; null where nobody has said.
    pub exclusivity: Option<Word<Exclusivity>>,
    /// When it was made.
    pub created_at: UtcTime,
    /// Whether continuous integration runs on pull requests; null where nobody has said.
    pub ci_on_prs: Option<bool>,
    /// Commits on the default branch; null where nobody has said.
    pub commits: Option<i64>,
    /// People who committed; null where nobody has said.
    pub contributors: Option<i64>,
    /// The linked repository or archive; null where nothing is linked.
    pub data: Option<DataObject>,
    /// What it is; null where nobody has said.
    pub description: Option<String>,
    /// The vendor's own columns.
    pub extra_columns: BTreeMap<String, Value>,
    /// Day of the first commit; null where nobody has said.
    pub history_start: Option<CalendarDay>,
    /// Day of the last commit; null where nobody has said.
    pub history_end: Option<CalendarDay>,
    /// Lines of code; null where nobody has said.
    pub lines_of_code: Option<i64>,
    /// Merged pull requests; null where nobody has said.
    pub merged_prs: Option<i64>,
    /// Asking price in US dollars; null where nobody has said.
    pub price_usd: Option<f64>,
    /// What it must have and has not, in the order in which a form would ask for it.
    pub missing: Vec<Word<Piece>>,
    /// Fields that the inventory does not let be edited by hand, with where each came from: the channel of the linked data
    /// that it was read from, or `api` where it was sent with an API key.
    pub locked_fields: BTreeMap<String, Word<LockSource>>,
}

impl From<&Asset> for Codebase {
    fn from(asset: &Asset) -> Codebase {
        let history = &asset.history;
        Codebase {
            sku: Word(asset.kind),
            id: asset.id,
            group_id: asset.group.1,
            stage: Word(asset.stage()),
            title: asset.title.clone(),
            domain_tags: asset.domain_tags.clone(),
            exclusivity: history.exclusivity.map(Word),
            created_at: asset.created_at.into(),
            ci_on_prs: history.ci_on_prs,
            commits: history.commits,
            contributors: history.contributors,
            data: asset.data.as_ref().map(|data| DataObject::of(asset.id, data)),
            description: asset.description.clone(),
            extra_columns: asset.extra_columns.clone(),
            history_start: history.start.map(CalendarDay),
            history_end: history.end.map(CalendarDay),
            lines_of_code: history.lines_of_code,
            merged_prs: history.merged_prs,
            price_usd: price_usd(asset),
            missing: missing(asset),
            locked_fields: asset.locks.iter().map(|(field, source)| (field.clone(), Word(*source))).collect(),
        }
    }
}

/// A page of a team's codebases.
#[derive(Debug, Object, Serialize)]
pub struct Codebases {
    /// The codebases.
    pub items: Vec<Codebase>,
    /// All that match.
    pub total: u64,
    /// What was asked for.
    pub limit: u32,
    /// What was asked for.
    pub offset: i64,
}

/// A repository to link.
#[derive(Debug, Object)]
pub struct RepositoryLink {
    /// Where it is.
    channel: Word<RepositoryChannel>,
    /// `owner/name`, with the groups in between where the channel has them.
    repo_full_name: Repository,
}

impl From<RepositoryLink> for Link {
    fn from(link: RepositoryLink) -> Link {
        Link { channel: link.channel.0, repo_full_name: link.repo_full_name.0 }
    }
}

/// What can be said of a codebase without linking it. Only the title and the exclusivity must be; what else is missing can
/// be said later.
#[derive(Debug, Object)]
pub struct CodebaseRow {
    /// Its title.
    title: Title,
    /// Whether it can still be sold exclusively.
    exclusivity: Word<Exclusivity>,
    /// Whether continuous integration runs on pull requests.
    ci_on_prs: Option<bool>,
    /// Commits on the default branch.
    #[oai(validator(minimum(value = "0"), maximum(value = "9007199254740991")))]
    commits: Option<i64>,
    /// People who committed.
    #[oai(validator(minimum(value = "0"), maximum(value = "9007199254740991")))]
    contributors: Option<i64>,
    /// What it is.
    description: Option<LongText>,
    /// Slugs of its business fields, as `GET /v2/domains` lists them.
    #[oai(default, validator(max_items = 20))]
    domain_tags: Vec<Slug>,
    /// The vendor's own columns: 65,536 bytes of JSON in all, with names of at most 1,000 characters and values nested at
    /// most 32 deep.
    #[oai(default, validator(max_properties = 50))]
    extra_columns: BTreeMap<String, Value>,
    /// The group to put it into; the team's default one where none is named.
    group_id: Option<Uuid>,
    /// Day of the last commit, not before the first one and not in the future.
    history_end: Option<CalendarDay>,
    /// Day of the first commit, not in the future.
    history_start: Option<CalendarDay>,
    /// Lines of code.
    #[oai(validator(minimum(value = "0"), maximum(value = "9007199254740991")))]
    lines_of_code: Option<i64>,
    /// Merged pull requests.
    #[oai(validator(minimum(value = "0"), maximum(value = "9007199254740991")))]
    merged_prs: Option<i64>,
    /// Asking price in US dollars.
    price_usd: Option<Dollars>,
}

impl From<CodebaseRow> for AssetChange {
    fn from(row: CodebaseRow) -> AssetChange {
        let texts = |texts: Vec<Slug>| texts.into_iter().map(String::from).collect::<Vec<_>>();
        AssetChange {
            title: Some(row.title.0),
            description: Change::from(row.description).map(String::from),
            domain_tags: Some(texts(row.domain_tags)).filter(|tags| !tags.is_empty()),
            price_usd: Change::from(row.price_usd).map(|price| price.0),
            extra_columns: Some(row.extra_columns).filter(|columns| !columns.is_empty()),
            group_id: row.group_id.into(),
            exclusivity: Change::Set(row.exclusivity.0),
            lines_of_code: row.lines_of_code.into(),
            commits: row.commits.into(),
            contributors: row.contributors.into(),
            merged_prs: row.merged_prs.into(),
            history_start: Change::from(row.history_start).map(|day| day.0),
            history_end: Change::from(row.history_end).map(|day| day.0),
            ci_on_prs: row.ci_on_prs.into(),
            ..AssetChange::default()
        }
    }
}

/// A codebase to be.
#[derive(Debug, Object)]
pub struct CodebaseIn {
    /// What is known of it.
    #[oai(flatten)]
    pub row: CodebaseRow,
    /// The repository to link; it can be linked later.
    pub data: Option<RepositoryLink>,
}

/// Codebases to be.
#[derive(Debug, Object)]
pub struct CodebaseBatch {
    /// The codebases, at most 500. All of them are made, or none where something is wrong with any.
    #[oai(validator(min_items = 1, max_items = 500))]
    pub items: Vec<CodebaseRow>,
}

/// Codebases that were made.
#[derive(Debug, Object, Serialize)]
pub struct CodebaseBatchOut {
    /// The codebases, in the order in which they were sent.
    pub items: Vec<Codebase>,
}

/// What changes of a codebase: only what is sent. Null clears a field, `[]` the tags and `{}` the columns.
#[derive(Debug, Object)]
pub struct CodebasePatch {
    /// Whether continuous integration runs on pull requests.
    ci_on_prs: MaybeUndefined<bool>,
    /// Commits on the default branch.
    #[oai(validator(minimum(value = "0"), maximum(value = "9007199254740991")))]
    commits: MaybeUndefined<i64>,
    /// People who committed.
    #[oai(validator(minimum(value = "0"), maximum(value = "9007199254740991")))]
    contributors: MaybeUndefined<i64>,
    /// What it is.
    description: MaybeUndefined<LongText>,
    /// Slugs of its business fields, as `GET /v2/domains` lists them.
    #[oai(validator(max_items = 20))]
    domain_tags: Given<Vec<Slug>>,
    /// Whether it can still be sold exclusively.
    exclusivity: MaybeUndefined<Word<Exclusivity>>,
    /// The vendor's own columns, all of them: 65,536 bytes of JSON, with names of at most 1,000 characters and values nested
    /// at most 32 deep.
    #[oai(validator(max_properties = 50))]
    extra_columns: Given<BTreeMap<String, Value>>,
    /// The group to put it into; null for the team's default one.
    group_id: MaybeUndefined<Uuid>,
    /// Day of the last commit, not before the first one and not in the future.
    history_end: MaybeUndefined<CalendarDay>,
    /// Day of the first commit, not in the future.
    history_start: MaybeUndefined<CalendarDay>,
    /// Lines of code.
    #[oai(validator(minimum(value = "0"), maximum(value = "9007199254740991")))]
    lines_of_code: MaybeUndefined<i64>,
    /// Merged pull requests.
    #[oai(validator(minimum(value = "0"), maximum(value = "9007199254740991")))]
    merged_prs: MaybeUndefined<i64>,
    /// Asking price in US dollars.
    price_usd: MaybeUndefined<Dollars>,
}

impl From<CodebasePatch> for AssetChange {
    fn from(patch: CodebasePatch) -> AssetChange {
        AssetChange {
            description: change(patch.description).map(String::from),
            domain_tags: patch.domain_tags.0.map(|tags| tags.into_iter().map(String::from).collect()),
            price_usd: change(patch.price_usd).map(|price| price.0),
            extra_columns: patch.extra_columns.0,
            group_id: change(patch.group_id),
            exclusivity: change(patch.exclusivity).map(|word| word.0),
            lines_of_code: change(patch.lines_of_code),
            commits: change(patch.commits),
            contributors: change(patch.contributors),
            merged_prs: change(patch.merged_prs),
            history_start: change(patch.history_start).map(|day| day.0),
            history_end: change(patch.history_end).map(|day| day.0),
            ci_on_prs: change(patch.ci_on_prs),
            ..AssetChange::default()
        }
    }
}
