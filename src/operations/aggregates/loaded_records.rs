//! Aggregates short lists, and lists whose filters only the program can apply. Reads their records first.

use std::borrow::Cow;

use uuid::Uuid;

use super::requests::{Aggregates, Names, Request, find, finish};
use crate::{
    domain::{
        aggregation::{self, Aggregation, GroupKey, MAX_DIMENSIONS, Unit},
        estimations::{Estimation, EstimationField, InventoryStatus},
        filters::Condition,
        opportunities::{Opportunity, OpportunityFilter, OpportunityOrder},
        record_filters::Period,
        time::Timestamp,
    },
    error::Result,
    market::Reader,
    operations::{
        access::{AuthenticatedTeam, Vendor},
        assets, estimations, listings, opportunities, taxonomy,
    },
    store::{groups::Group, listing_history::HistoryEvent},
    string_enum::{StringEnum, string_enum},
};

/// A property of records of a type: its name, and its values.
type Property<T> = (&'static str, fn(&T) -> Vec<Cow<'_, str>>);

/// A number of records of a type: its name, its unit, and its value as records store it.
type Number<T> = (&'static str, Unit, fn(&T) -> Option<i64>);

/// The properties by which records of a type can be grouped, and their numbers.
pub struct RecordType<T: 'static> {
    properties: &'static [Property<T>],
    numbers: &'static [Number<T>],
}

impl<T> RecordType<T> {
    /// Aggregates records that were read.
    fn aggregate(&self, records: &[T], request: &Request) -> Result<Aggregates> {
        let property = |name: &String| find(self.properties, |(known, _)| known, "group_by", name);
        let properties = request.group_by.iter().map(property).collect::<Result<Vec<_>>>()?;
        let number = |name: &String| find(self.numbers, |(known, ..)| known, "measure", name);
        let number = request.measure.as_ref().map(number).transpose()?;
        let mut aggregation = Aggregation::default();
        for record in records {
            let mut keys: [Vec<GroupKey>; MAX_DIMENSIONS] = Default::default();
            for (keys, (_, values)) in keys.iter_mut().zip(&properties) {
                let found = values(record).into_iter().map(|value| aggregation.key(&value));
                *keys = found.collect::<std::result::Result<_, _>>()?;
            }
            let value = number.and_then(|(.., value)| value(record));
            aggregation.add(&keys, value)?;
        }
        Ok(finish(aggregation, properties.len(), number.map(|(_, unit, _)| *unit)))
    }

    /// Returns the names of groups and numbers.
    pub fn names(&self) -> Names {
        [
            self.properties.iter().map(|(name, _)| *name).collect(),
            self.numbers.iter().map(|(name, ..)| *name).collect(),
        ]
    }
}

/// Returns the only value of a property.
fn one(value: &str) -> Vec<Cow<'_, str>> {
    vec![Cow::Borrowed(value)]
}

/// Returns the month of a time as the only value of a property.
fn month<'r>(at: Timestamp) -> Vec<Cow<'r, str>> {
    vec![Cow::Owned(aggregation::month(at))]
}

/// Returns an amount in US dollars as records store it.
fn cents(dollars: f64) -> i64 {
    (dollars * 100.0).round() as i64
}

/// Open requests for listings.
pub const OPPORTUNITIES: RecordType<Opportunity> = RecordType {
    properties: &[
        ("asset_type", |opportunity| {
            opportunity.accepted_asset_types.iter().flat_map(|kind| one(kind.as_str())).collect()
        }),
        ("tag", |opportunity| opportunity.tags().map(Cow::Borrowed).collect()),
        ("budget_unit", |opportunity| {
            opportunity.metadata.budget_unit.iter().flat_map(|unit| one(unit.as_str())).collect()
        }),
        ("buyer", |opportunity| one(&opportunity.owner_name)),
    ],
    numbers: &[
        ("budget_min", Unit::UsDollars, |opportunity| opportunity.metadata.budget_min.map(cents)),
        ("budget_max", Unit::UsDollars, |opportunity| opportunity.metadata.budget_max.map(cents)),
    ],
};

/// Aggregates the open requests for listings that the vendor may see and a filter allows.
pub fn of_opportunities(
    reader: &Reader,
    vendor: &Vendor,
    filter: &OpportunityFilter,
    request: &Request,
) -> Result<Aggregates> {
    let mut found = opportunities::page(reader, vendor, filter, OpportunityOrder::Recent, usize::MAX, 0)?;
    found.unify_tags();
    OPPORTUNITIES.aggregate(&found.items, request)
}

/// Estimations of a team.
pub const ESTIMATIONS: RecordType<Estimation> = RecordType {
    properties: &[
        ("status", |estimation| one(estimation.status.as_str())),
        ("kind", |estimation| one(estimation.kind.as_str())),
        ("channel", |estimation| one(estimation.channel.as_str())),
        ("inventory", |estimation| one(InventoryStatus::of(estimation).as_str())),
        ("month", |estimation| month(estimation.created_at)),
    ],
    numbers: &[
        ("low", Unit::UsDollars, |estimation| estimation.quote.map(|(low, _)| low.0)),
        ("high", Unit::UsDollars, |estimation| estimation.quote.map(|(_, high)| high.0)),
    ],
};

/// Aggregates the team's estimations that meet all conditions and were requested in a period.
pub fn of_estimations(
    reader: &Reader,
    vendor: &Vendor,
    conditions: &[Condition<EstimationField>],
    period: &Period,
    request: &Request,
) -> Result<Aggregates> {
    let mut found = estimations::list_matching(reader, vendor, conditions)?;
    found.retain(|estimation| period.contains(estimation.created_at));
    ESTIMATIONS.aggregate(&found, request)
}

/// Aggregates the latest estimations of these assets.
pub fn of_latest_estimations(
    reader: &Reader,
    vendor: &Vendor,
    assets: &[Uuid],
    request: &Request,
) -> Result<Aggregates> {
    let latest = estimations::latest(reader, vendor, assets)?;
    let latest: Vec<Estimation> = latest.into_iter().map(|(_, estimation)| estimation).collect();
    ESTIMATIONS.aggregate(&latest, request)
}

/// Events in the history of a listing.
pub const HISTORY_EVENTS: RecordType<HistoryEvent> = RecordType {
    properties: &[
        ("event_type", |event| one(event.event.as_str())),
        ("actor", |event| one(event.actor.as_str())),
        ("month", |event| month(event.occurred_at)),
    ],
    numbers: &[],
};

/// Aggregates the history of one of the team's listings.
pub fn of_listing_history(
    reader: &Reader,
    vendor: &Vendor,
    listing: Uuid,
    request: &Request,
) -> Result<Aggregates> {
    HISTORY_EVENTS.aggregate(&listings::get_history(reader, vendor, listing)?, request)
}

/// A group of the inventory, and the number of its assets.
pub type GroupWithAssets = (Group, u64);

/// Groups of an inventory.
pub const ASSET_GROUPS: RecordType<GroupWithAssets> = RecordType {
    properties: &[("group", |(group, _)| one(&group.name)), ("month", |(group, _)| month(group.created_at))],
    numbers: &[("assets", Unit::Count, |(_, assets)| i64::try_from(*assets).ok())],
};

/// Aggregates the groups of the team's inventory.
pub fn of_asset_groups(reader: &Reader, vendor: &Vendor, request: &Request) -> Result<Aggregates> {
    let counts = assets::count_by_group(reader, vendor)?;
    let groups: Vec<GroupWithAssets> =
        counts.groups.into_iter().map(|(group, count)| (group, count.total)).collect();
    ASSET_GROUPS.aggregate(&groups, request)
}

string_enum! {
    /// A part of the taxonomy.
    TaxonomyKind {
        /// Business domains.
        Domains = "domains",
        /// Properties of listings.
        InventoryTags = "inventory_tags",
        /// Labels of assets of the type `other`.
        ContentTags = "content_tags",
        /// Types of assets.
        AssetTypes = "asset_types",
        /// Programming languages.
        Languages = "languages",
    }
}

/// A term of the taxonomy: the part that it belongs to, and its category if it has one.
pub type Term = (TaxonomyKind, Option<String>);

/// Terms of the taxonomy.
pub const TERMS: RecordType<Term> = RecordType {
    properties: &[
        ("kind", |(kind, _)| one(kind.as_str())),
        ("category", |(_, category)| category.iter().flat_map(|category| one(category)).collect()),
    ],
    numbers: &[],
};

/// Aggregates the terms of these parts of the taxonomy, or of all parts if none is stated.
pub fn of_taxonomy(
    reader: &Reader,
    team: &AuthenticatedTeam,
    kinds: &[TaxonomyKind],
    request: &Request,
) -> Result<Aggregates> {
    let kinds = if kinds.is_empty() { TaxonomyKind::ALL } else { kinds };
    let mut terms: Vec<Term> = Vec::new();
    for kind in kinds {
        let count = match kind {
            TaxonomyKind::InventoryTags => {
                let tags = taxonomy::inventory_tags(reader, team)?;
                terms.extend(tags.into_iter().map(|tag| (*kind, Some(tag.category))));
                0
            }
            TaxonomyKind::Domains => taxonomy::domains(reader, team)?.len(),
            TaxonomyKind::ContentTags => taxonomy::content_tags(reader, team)?.len(),
            TaxonomyKind::AssetTypes => {
                let (active, deprecated) = taxonomy::asset_types(reader, team)?;
                active.len() + deprecated.len()
            }
            TaxonomyKind::Languages => taxonomy::known_languages(reader, team)?.len(),
        };
        terms.extend(std::iter::repeat_n((*kind, None), count));
    }
    TERMS.aggregate(&terms, request)
}
