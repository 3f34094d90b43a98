//! What the four lists of assets have in common: their parameters, and the page that they answer.

use poem_openapi::Object;
use uuid::Uuid;

use crate::{
    domain::{
        asset_filters::{self, Condition, SortColumn},
        assets::Kind,
        filters::{self, Fault, Field, SortDirection},
        stages::Stage,
        teams::TeamNumber,
        vocabulary::{Vocabulary, vocabulary},
    },
    error::{Error, Problem, Result, Step},
    rest::vocabulary::Word,
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

/// How a list is filtered and sorted.
#[derive(Debug, Object)]
pub struct Selection {
    /// Only assets on this listing of the team.
    pub listing_id: Option<Uuid>,
    /// Conditions, all of which hold, each written `field:operator:value`. Operators are `is`, `is_not` and, of `name`,
    /// `contains`. All lists know the fields `stage`, `name`, `type`, `domain` and `channel` (`not_linked` stands for no
    /// data); codebases `exclusivity` and `private_data`; tasks `task_type`, `has_traces`, `has_qa_results`,
    /// `has_environment`, `ran_on_model` and `qa_agent`; `/v2/assets` knows all of them.
    #[oai(default, validator(max_items = 50))]
    pub filter: Vec<String>,
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
    /// Assets at most.
    #[oai(default = "usual_limit", validator(minimum(value = "1"), maximum(value = "200")))]
    pub limit: u32,
    /// Assets to pass over.
    #[oai(default, validator(minimum(value = "0"), maximum(value = "2147483647")))]
    pub offset: i64,
}

fn ascending() -> Word<SortDirection> {
    Word(SortDirection::Ascending)
}

fn usual_limit() -> u32 {
    50
}

/// The parameters of a list of one kind, whose stages are `S`.
#[derive(Debug, Object)]
pub struct CollectionQuery {
    /// Only assets at this stage.
    pub stage: Option<Word<Stage>>,
    /// The page.
    #[oai(flatten)]
    pub paging: Paging,
    /// Filters and order.
    #[oai(flatten)]
    pub selection: Selection,
}

impl Selection {
    /// What a list of a kind's assets, or of all, is to hold.
    pub fn query(self, team: TeamNumber, kind: Option<Kind>, stage: Option<Stage>) -> Result<Query> {
        Ok(Query {
            kinds: kind.map(|kind| vec![kind]),
            stage,
            listing: self.listing_id,
            conditions: conditions(&self.filter, kind)?,
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

/// Reads entries of the filter grammar over assets; every one that cannot be read is told.
pub fn conditions(entries: &[String], kind: Option<Kind>) -> Result<Vec<Condition>> {
    read(entries, |entry| asset_filters::parse(entry, kind))
}

/// Reads entries of the filter grammar; every one that cannot be read is told.
pub fn read<F: Field>(
    entries: &[String],
    parse: impl Fn(&str) -> std::result::Result<filters::Condition<F>, Fault>,
) -> Result<Vec<filters::Condition<F>>> {
    let (mut conditions, mut problems) = (Vec::new(), Vec::new());
    for (index, entry) in entries.iter().enumerate() {
        match parse(entry) {
            Ok(condition) => conditions.push(condition),
            Err(fault) => {
                let mut problem = Problem::query("filter", "value_error", fault_in_words(&fault));
                problem.loc.push(Step::Index(index));
                problems.push(problem);
            }
        }
    }
    if problems.is_empty() { Ok(conditions) } else { Err(Error::Invalid(problems)) }
}

/// Why an entry of the filter grammar cannot be read.
pub fn fault_in_words(fault: &Fault) -> String {
    format!("At character {} of this filter, {}.", fault.at, fault.what)
}

/// The kind of a slug; a slug that nobody knows is of no kind.
pub fn kinds(sku: Option<&str>) -> Option<Vec<Kind>> {
    sku.map(|sku| Kind::parse(sku).into_iter().collect())
}
