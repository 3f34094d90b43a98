//! Opportunities and project opportunities of all teams.

use uuid::Uuid;

use super::{
    Reader, Record,
    pages::{PageQuery, PageRequest, RowPage},
};
use crate::{
    domain::opportunities::{Opportunity, OpportunityKind, OpportunityStatus},
    error::Result,
    store::opportunities::{COLUMNS, SOURCES, find, read_opportunity},
    string_enum::StringEnum,
};

/// An opportunity for listings.
#[derive(Clone, Debug)]
pub struct OpportunityRecord(pub Opportunity);

/// A project opportunity.
#[derive(Clone, Debug)]
pub struct ProjectOpportunityRecord(pub Opportunity);

/// What lists of opportunities can be filtered by.
#[derive(Clone, Debug, Default)]
pub struct OpportunityFilter {
    /// ID of the buyer team.
    pub team: Option<Uuid>,
    /// State of the opportunity.
    pub status: Option<OpportunityStatus>,
}

fn page(
    reader: &Reader,
    kind: OpportunityKind,
    filter: &OpportunityFilter,
    request: PageRequest,
) -> Result<RowPage<Opportunity>> {
    PageQuery::new(COLUMNS, SOURCES, "o.id")
        .filter("o.kind = ?", Some(kind.as_str()))
        .refers_to("o.owner", "teams", filter.team)
        .filter("o.status = ?", filter.status.map(StringEnum::as_str))
        .fetch(reader, request, read_opportunity)
}

impl Record for OpportunityRecord {
    type Id = Uuid;
    type Filter = OpportunityFilter;

    const NAME: &'static str = "opportunity";

    fn find(reader: &Reader, id: &Uuid) -> Result<Option<OpportunityRecord>> {
        Ok(find(reader, *id, OpportunityKind::Listing)?.map(OpportunityRecord))
    }

    fn page(
        reader: &Reader,
        filter: &OpportunityFilter,
        request: PageRequest,
    ) -> Result<RowPage<OpportunityRecord>> {
        page(reader, OpportunityKind::Listing, filter, request).map(|page| page.map(OpportunityRecord))
    }
}

impl Record for ProjectOpportunityRecord {
    type Id = Uuid;
    type Filter = OpportunityFilter;

    const NAME: &'static str = "project opportunity";

    fn find(reader: &Reader, id: &Uuid) -> Result<Option<ProjectOpportunityRecord>> {
        Ok(find(reader, *id, OpportunityKind::Project)?.map(ProjectOpportunityRecord))
    }

    fn page(
        reader: &Reader,
        filter: &OpportunityFilter,
        request: PageRequest,
    ) -> Result<RowPage<ProjectOpportunityRecord>> {
        page(reader, OpportunityKind::Project, filter, request).map(|page| page.map(ProjectOpportunityRecord))
    }
}
