//! The declaration of a list for aggregates: who may read it, its filters, and the source of its records.

use poem_openapi::types::{ParseFromJSON, ToJSON, Type};

use super::filters::AssetConditions;
use crate::{
    error::Result,
    market::{Reader, Requester},
    operations::{
        access::{TeamProof, Vendor},
        aggregates::{self, Aggregates, Names, Request},
    },
    rest::{agent_api::filters::RecordConditions, route::ChoiceValues},
    store::aggregates::{RecordList, asset_names},
    web::{auth::Policy, limits::Budget},
};

/// Parameter with the properties to group by.
pub const GROUP_BY: &str = "group_by";

/// Parameter with the number to aggregate.
const MEASURE: &str = "measure";

/// A list whose records can be aggregated.
pub trait List: Send + Sync + 'static {
    /// The proof of access that the list requires.
    type Access: Policy + 'static;

    /// Query parameters with the conditions that records meet.
    type Filters: Type + ParseFromJSON + ToJSON + 'static;

    /// Name of the tool that returns the records.
    const TOOL: &'static str;

    /// `operationId` of the aggregates.
    const OPERATION: &'static str;

    /// The rate limit budget of the aggregates.
    const BUDGET: Budget;

    /// What the records are aggregated from.
    const SOURCE: &'static dyn Source<Self::Access, Self::Filters>;

    /// Returns the requester of the reads.
    fn requester(access: &Self::Access) -> Requester;
}

/// Returns the names of groups and numbers of a list, as values of the parameters that take them.
pub fn choice_values<L: List>() -> ChoiceValues {
    let [groups, numbers] = L::SOURCE.names();
    ChoiceValues { choice: L::TOOL, values: [(GROUP_BY, groups), (MEASURE, numbers)] }
}

/// The source of a list that requires the proof of access `A` and has the filters `F`.
pub trait Source<A, F> {
    /// Returns the names of what records can be grouped by, and of their numbers.
    fn names(&self) -> Names;

    /// Aggregates the records that the filters allow.
    fn aggregate(&self, reader: &Reader, access: &A, filters: F, request: &Request) -> Result<Aggregates>;
}

impl<P: TeamProof, C: RecordConditions> Source<P, C> for RecordList {
    fn names(&self) -> Names {
        self.names()
    }

    fn aggregate(&self, reader: &Reader, proof: &P, conditions: C, request: &Request) -> Result<Aggregates> {
        aggregates::of_records(reader, proof, self, &conditions.into_filter()?, request)
    }
}

/// The inventory of a vendor.
pub struct Assets;

impl<C: AssetConditions> Source<Vendor, C> for Assets {
    fn names(&self) -> Names {
        asset_names()
    }

    fn aggregate(
        &self,
        reader: &Reader,
        vendor: &Vendor,
        conditions: C,
        request: &Request,
    ) -> Result<Aggregates> {
        aggregates::of_assets(reader, vendor, conditions.into_filter(vendor)?, request)
    }
}

/// The source of a list `L` that is none of the others.
pub struct Other<L: List> {
    /// Returns the names of groups and numbers.
    pub names: fn() -> Names,
    /// Aggregates the records that the filters allow.
    pub aggregate: fn(&Reader, &L::Access, L::Filters, &Request) -> Result<Aggregates>,
}

impl<L: List> Source<L::Access, L::Filters> for Other<L> {
    fn names(&self) -> Names {
        (self.names)()
    }

    fn aggregate(
        &self,
        reader: &Reader,
        access: &L::Access,
        filters: L::Filters,
        request: &Request,
    ) -> Result<Aggregates> {
        (self.aggregate)(reader, access, filters, request)
    }
}
