//! Query parameters that the lists of assets, codebases, raw data and tasks share.

use poem_openapi::types::{ParseFromJSON, ToJSON, Type};

use crate::{
    domain::{
        asset_filters::SortColumn, assets::Kind, filters::SortDirection, inventory::Asset, stages::Stage,
        teams::TeamRowId, time::Timestamp,
    },
    error::Result,
    operations::assets::{self, AssetFilter, Deprecations},
    rest::{
        arguments::filter_entries::{self, AssetFilterGrammar, FilterEntry},
        prelude::*,
        shapes::limit_offset::{LimitOffset, OffsetPage},
    },
    store::inventory::Query,
    string_enum::{StringEnum, string_enum},
};

string_enum! {
    /// Stage of a task asset. Tasks are never `proposed`.
    TaskStage {
        /// A required piece is missing.
        Incomplete = "incomplete",
        /// All required pieces are present.
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

/// Listing and filters of a list. `E` is the type of the filter entries.
#[derive(Debug, Object)]
pub struct AssetFilterParams<E: Type + ParseFromJSON + ToJSON> {
    /// Only assets attached to this listing of the team.
    pub listing_id: Option<Uuid>,
    /// Conditions, all of which must hold, of the form `field:operator:value`. Operators are `is`, `is_not`
    /// and, for `name`, `contains`. Fields of all lists: `stage`, `name`, `type`, `domain` and `channel`
    /// (`not_linked` matches assets without data). Fields of codebases: `exclusivity` and `private_data`.
    /// Fields of tasks: `task_type`, `has_traces`, `has_qa_results`, `has_environment`, `ran_on_model` and
    /// `qa_agent`. `GET /v2/assets` accepts all of these.
    #[oai(default, validator(max_items = 20))]
    pub filter: Vec<E>,
}

/// Filters and order of a list. `E` is the type of the filter entries.
#[derive(Debug, Object)]
pub struct FilterAndSort<E: Type + ParseFromJSON + ToJSON> {
    /// Listing and filters.
    #[oai(flatten)]
    pub filters: AssetFilterParams<E>,
    /// Column to sort by; omit it for newest first. Text is compared case-insensitively, assets without a
    /// value come last in both directions, and ties are newest first.
    pub sort: Option<EnumValue<SortColumn>>,
    /// Direction of `sort`; ignored without it.
    #[oai(default = "default_sort_direction")]
    pub sort_direction: EnumValue<SortDirection>,
}

/// IDs and group of a list.
#[derive(Debug, Object)]
pub struct IdFilter {
    /// Only assets with these IDs.
    #[oai(default, validator(max_items = 500))]
    pub id: Vec<Uuid>,
    /// Only assets in this group.
    pub group_id: Option<Uuid>,
}

/// IDs, group, limit and offset of a list.
#[derive(Debug, Object)]
pub struct PageFilter {
    /// IDs and group.
    #[oai(flatten)]
    pub ids: IdFilter,
    /// Limit and offset.
    #[oai(flatten)]
    pub page: LimitOffset,
}

/// Default direction of `sort`.
pub fn default_sort_direction() -> EnumValue<SortDirection> {
    EnumValue(SortDirection::Ascending)
}

/// Query parameters of a list of assets of one kind. `E` is the type of the filter entries.
#[derive(Debug, Object)]
pub struct AssetListQuery<E: Type + ParseFromJSON + ToJSON> {
    /// Only assets in this stage.
    pub stage: Option<EnumValue<Stage>>,
    /// IDs, group, limit and offset.
    #[oai(flatten)]
    pub paging: PageFilter,
    /// Filters and order.
    #[oai(flatten)]
    pub selection: FilterAndSort<E>,
}

impl<G: AssetFilterGrammar> AssetFilterParams<FilterEntry<G>> {
    /// Creates the query of a team's list, newest first, from these parameters.
    pub fn into_query(self, team: TeamRowId, stage: Option<Stage>) -> Result<Query> {
        Ok(Query {
            kinds: G::KIND.map(|kind| vec![kind]),
            stage,
            listing: self.listing_id,
            conditions: filter_entries::parse_query_entries(&self.filter)?,
            ..Query::new(team)
        })
    }
}

impl<E: Type + ParseFromJSON + ToJSON> FilterAndSort<E> {
    /// Creates the parameters of a list in its default order.
    pub fn unsorted(filters: AssetFilterParams<E>) -> FilterAndSort<E> {
        FilterAndSort { filters, sort: None, sort_direction: default_sort_direction() }
    }
}

impl<G: AssetFilterGrammar> FilterAndSort<FilterEntry<G>> {
    /// Creates the query of a team's list from these parameters.
    pub fn into_query(self, team: TeamRowId, stage: Option<Stage>) -> Result<Query> {
        let sort = self.sort.map(|column| (column.0, self.sort_direction.0));
        Ok(Query { sort, ..self.filters.into_query(team, stage)? })
    }
}

impl<G: AssetFilterGrammar> AssetListQuery<FilterEntry<G>> {
    /// Reads the page that these parameters request, and converts its assets with `to_item`.
    pub async fn read_page<P: OffsetPage>(
        self,
        call: Call<Vendor>,
        to_item: fn(&Asset, &Deprecations, Timestamp) -> P::Item,
    ) -> JsonResult<P> {
        let AssetListQuery { stage, paging, selection } = self;
        let LimitOffset { limit, offset } = paging.page;
        let vendor = call.access;
        let mut query = selection.into_query(vendor.team_row_id(), stage.map(|stage| stage.0))?;
        paging.ids.apply_to(&mut query);
        let filter = AssetFilter { query, deprecated: None, attachable_to: None };
        Json::read(&call.served, vendor.requester(), move |reader| {
            let page = assets::page(reader, &vendor, filter, limit as usize, offset.cast_unsigned())?;
            let items = page.items.iter().map(|asset| to_item(asset, &page.deprecations, reader.now));
            Ok(P::new(items.collect(), page.counts.total(), limit, offset))
        })
        .await
    }
}

impl IdFilter {
    /// Restricts a query to the IDs and the group of these parameters.
    pub fn apply_to(&self, query: &mut Query) {
        query.ids.clone_from(&self.id);
        query.group = self.group_id;
    }
}

/// Returns the kinds that a `sku` parameter selects: none of them if the slug is unknown.
pub fn parse_kinds(sku: Option<&str>) -> Option<Vec<Kind>> {
    sku.map(|sku| Kind::parse(sku).into_iter().collect())
}

/// Valid queries of every list of assets, for the contract tests.
pub const ASSET_LIST_QUERIES: &[&str] = &[
    "limit=200",
    "limit=1&offset=2",
    "offset=2147483647",
    "stage=complete&sort=name",
    "stage=incomplete&sort=price&sort_direction=desc",
    "filter=name:contains:a&filter=channel:is_not:zip",
    "filter=domain:is:finance&sort=created_at",
];
