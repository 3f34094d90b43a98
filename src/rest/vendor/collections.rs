//! What the four lists of assets have in common: their parameters, and the page that they answer.

use poem_openapi::{
    Object,
    types::{ParseFromJSON, ToJSON, Type},
};
use uuid::Uuid;

use crate::{
    domain::{
        asset_filters::SortColumn,
        assets::Kind,
        filters::SortDirection,
        stages::Stage,
        teams::TeamNumber,
        vocabulary::{Vocabulary, vocabulary},
    },
    error::Result,
    rest::{
        filter_entries::{self, AssetGrammar, Entry},
        shapes::slices::Slice,
        vocabulary::Word,
    },
    store::inventory::Query,
};

vocabulary! {
    /// How far a task is on its way to being offered; a task is never only proposed.
    TaskStage {
        /// Something that it must have is missing.
        Incomplete = "incomplete",
        /// All is known of it.
        Complete = "complete",
    }
}

impl From<TaskStage> for Stage {
    fn from(stage: TaskStage) -> Stage {
        match stage {
            TaskStage::Incomplete => Stage::Incomplete,
            TaskStage::Complete => Stage::Complete,
        }
    }
}

/// How a list is filtered, by entries `E`, and sorted.
#[derive(Debug, Object)]
pub struct Selection<E: Type + ParseFromJSON + ToJSON> {
    /// Only assets on this listing of the team.
    pub listing_id: Option<Uuid>,
    /// Conditions, all of which hold, each written `field:operator:value`. Operators are `is`, `is_not` and, of `name`,
    /// `contains`. All lists know the fields `stage`, `name`, `type`, `domain` and `channel` (`not_linked` stands for no
    /// data); codebases `exclusivity` and `private_data`; tasks `task_type`, `has_traces`, `has_qa_results`,
    /// `has_environment`, `ran_on_model` and `qa_agent`; `/v2/assets` knows all of them.
    #[oai(default, validator(max_items = 50))]
    pub filter: Vec<E>,
    /// The column to sort by instead of newest first. Text sorts regardless of case, assets without a value come last
    /// either way, and ties stay newest first.
    pub sort: Option<Word<SortColumn>>,
    /// Which way the column is sorted.
    #[oai(default = "ascending")]
    pub sort_direction: Word<SortDirection>,
}

/// Which page of a list is asked for.
#[derive(Debug, Object)]
pub struct Paging {
    /// Only assets of these ids.
    #[oai(default, validator(max_items = 500))]
    pub id: Vec<Uuid>,
    /// Only assets in this group.
    pub group_id: Option<Uuid>,
    /// The slice.
    #[oai(flatten)]
    pub slice: Slice,
}

fn ascending() -> Word<SortDirection> {
    Word(SortDirection::Ascending)
}

/// The parameters of a list of one kind, which is filtered by entries `E`.
#[derive(Debug, Object)]
pub struct CollectionQuery<E: Type + ParseFromJSON + ToJSON> {
    /// Only assets at this stage.
    pub stage: Option<Word<Stage>>,
    /// The page.
    #[oai(flatten)]
    pub paging: Paging,
    /// Filters and order.
    #[oai(flatten)]
    pub selection: Selection<E>,
}

impl<G: AssetGrammar> Selection<Entry<G>> {
    /// What a list is to hold.
    pub fn query(self, team: TeamNumber, stage: Option<Stage>) -> Result<Query> {
        Ok(Query {
            kinds: G::KIND.map(|kind| vec![kind]),
            stage,
            listing: self.listing_id,
            conditions: filter_entries::of_query(&self.filter)?,
            sort: self.sort.map(|column| (column.0, self.sort_direction.0)),
            ..Query::all(team)
        })
    }
}

impl Paging {
    /// Narrows a query to what the parameters name.
    pub fn narrow(&self, query: &mut Query) {
        query.ids.clone_from(&self.id);
        query.group = self.group_id;
    }
}

/// The kind of a slug; a slug that nobody knows is of no kind.
pub fn kinds(sku: Option<&str>) -> Option<Vec<Kind>> {
    sku.map(|sku| Kind::parse(sku).into_iter().collect())
}
