//! Counts, sums, and medians over lists, by up to two properties.

use std::{collections::HashMap, ops::ControlFlow};

use marketplace_index::{Facet, Match, Measure, Search};

use super::{
    access::{Buyer, CatalogViewer, Member, Vendor},
    assets::AssetFilter,
    browse, listings, opportunities,
};
use crate::{
    domain::{
        aggregation::{self, Aggregation, GroupKey, GroupStatistics, MAX_DIMENSIONS, TooLarge, Unit},
        listings::ReviewStatus,
        opportunities::{Opportunity, OpportunityFilter, OpportunityOrder},
        record_filters::RecordFilter,
        teams::TeamRowId,
        time::Timestamp,
    },
    error::{Error, Problem, Result},
    market::Reader,
    store::{
        self,
        aggregates::{ASSET_NUMBERS, ASSET_PROPERTIES, Number, Property, RecordList, Selection},
    },
    string_enum::StringEnum,
};

/// What to aggregate of a list, by name.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Names of the properties to group by, at most [`MAX_DIMENSIONS`].
    pub group_by: Vec<String>,
    /// Name of the number; `None` to count records only.
    pub measure: Option<String>,
}

/// The aggregated records of a list.
#[derive(Clone, Debug)]
pub struct Aggregates {
    /// Number of records.
    pub records: u64,
    /// Unit of the numbers; `None` if records were only counted.
    pub unit: Option<Unit>,
    /// The groups, those with the most records first. One group without keys if there is nothing to group by.
    pub groups: Vec<GroupStatistics>,
}

/// The properties by which listings are grouped: those of the catalog, and then those that only own listings have.
const LISTING_PROPERTIES: [(&str, ListingProperty); 12] = [
    ("vendor", ListingProperty::Vendor),
    ("vendor_tier", ListingProperty::VendorTier),
    ("asset_type", ListingProperty::Facet(Facet::AssetTypes)),
    ("language", ListingProperty::Facet(Facet::Languages)),
    ("tag", ListingProperty::Facet(Facet::Tags)),
    ("tag_slug", ListingProperty::Facet(Facet::TagSlugs)),
    ("lifecycle_stage", ListingProperty::Facet(Facet::LifecycleStages)),
    ("certified", ListingProperty::Certified),
    ("sample_available", ListingProperty::SampleAvailable),
    ("has_active_bids", ListingProperty::HasActiveBids),
    ("month", ListingProperty::Month),
    ("review_status", ListingProperty::ReviewStatus),
];
const CATALOG_PROPERTIES: usize = 11;

/// The numbers of listings.
const LISTING_NUMBERS: [(&str, Measure, Unit); 13] = [
    ("price", Measure::Price, Unit::UsDollars),
    ("sample_price", Measure::SamplePrice, Unit::UsDollars),
    ("price_per_task", Measure::PricePerTask, Unit::UsDollars),
    ("tasks", Measure::Tasks, Unit::Count),
    ("loc", Measure::Loc, Unit::Count),
    ("zip_files", Measure::ZipFiles, Unit::Count),
    ("zip_size_bytes", Measure::ZipBytes, Unit::Bytes),
    ("assets", Measure::Assets, Unit::Count),
    ("codebases", Measure::Codebases, Unit::Count),
    ("tasksets", Measure::Tasksets, Unit::Count),
    ("environments", Measure::Environments, Unit::Count),
    ("robotics_datasets", Measure::RoboticsDatasets, Unit::Count),
    ("raw_data", Measure::RawData, Unit::Count),
];

#[derive(Clone, Copy)]
enum ListingProperty {
    Vendor,
    VendorTier,
    Facet(Facet),
    Certified,
    SampleAvailable,
    HasActiveBids,
    /// The month of publication, or of creation if the listing is not published.
    Month,
    /// The state of the platform's review.
    ReviewStatus,
}

/// What is looked up for the properties of listings, and read once for each aggregation.
#[derive(Default)]
struct Lookups {
    /// Keys of vendors, by row ID.
    vendors: HashMap<u64, GroupKey>,
    /// States of review of own listings, by row ID.
    reviews: HashMap<u64, ReviewStatus>,
}

/// Aggregates the published listings that a request to the catalog matches. Its page and sort order do not matter.
pub fn of_catalog(
    reader: &Reader,
    viewer: &CatalogViewer,
    page: browse::PageRequest,
    request: &Request,
) -> Result<Aggregates> {
    viewer.require_open()?;
    let properties = &LISTING_PROPERTIES[..CATALOG_PROPERTIES];
    of_search(reader, &browse::index_search(viewer, page)?, properties, HashMap::new(), request)
}

/// Aggregates the team's own listings that a request matches.
pub fn of_own_listings(
    reader: &Reader,
    vendor: &Vendor,
    page: listings::PageRequest,
    request: &Request,
) -> Result<Aggregates> {
    let mut reviews = HashMap::new();
    if request.group_by.iter().any(|name| name == "review_status") {
        for status in ReviewStatus::ALL {
            let listings = store::listings::list_with_reviews(reader.rows, vendor.team_row_id(), &[*status])?;
            reviews.extend(listings.into_iter().map(|listing| (listing.0 as u64, *status)));
        }
    }
    of_search(reader, &listings::index_search(vendor, page), &LISTING_PROPERTIES, reviews, request)
}

fn of_search(
    reader: &Reader,
    search: &Search,
    known: &'static [(&'static str, ListingProperty)],
    reviews: HashMap<u64, ReviewStatus>,
    request: &Request,
) -> Result<Aggregates> {
    let properties = request
        .group_by
        .iter()
        .map(|name| find(known, |(known, _)| known, "group_by", name).map(|(_, property)| *property))
        .collect::<Result<Vec<_>>>()?;
    let number = request
        .measure
        .as_ref()
        .map(|name| find(&LISTING_NUMBERS, |(known, ..)| known, "measure", name))
        .transpose()?;
    let mut aggregation = Aggregation::default();
    let mut lookups = Lookups { reviews, ..Lookups::default() };
    let mut outcome: Result<()> = Ok(());
    reader.index.for_each_match(search, |found| {
        let mut add = || -> Result<std::result::Result<(), TooLarge>> {
            let mut keys: [Vec<GroupKey>; MAX_DIMENSIONS] = Default::default();
            for (index, property) in properties.iter().enumerate() {
                match property.keys(reader, &found, &mut aggregation, &mut lookups)? {
                    Ok(found) => keys[index] = found,
                    Err(too_large) => return Ok(Err(too_large)),
                }
            }
            let value = number.and_then(|(_, measure, _)| found.measure(*measure));
            // A listing without code has no lines of code, rather than 0 of them; so have other amounts of data.
            let value = value
                .filter(|value| *value > 0 || !number.is_some_and(|(_, measure, _)| is_amount(*measure)));
            Ok(aggregation.add(&keys, value.map(|value| i64::try_from(value).unwrap_or(i64::MAX))))
        };
        outcome = add().and_then(|added| added.map_err(too_large));
        if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    outcome?;
    Ok(finish(aggregation, properties.len(), number.map(|(.., unit)| *unit)))
}

/// Whether a measure is an amount of data, which is 0 in listings that have no data of this kind.
const fn is_amount(measure: Measure) -> bool {
    matches!(measure, Measure::Tasks | Measure::Loc | Measure::ZipFiles | Measure::ZipBytes)
}

impl ListingProperty {
    /// Returns the values of a listing.
    fn keys(
        self,
        reader: &Reader,
        found: &Match,
        aggregation: &mut Aggregation,
        lookups: &mut Lookups,
    ) -> Result<std::result::Result<Vec<GroupKey>, TooLarge>> {
        let one = |key: std::result::Result<GroupKey, TooLarge>| Ok(key.map(|key| vec![key]));
        match self {
            ListingProperty::Vendor => {
                if let Some(key) = lookups.vendors.get(&found.team()) {
                    return Ok(Ok(vec![*key]));
                }
                let team = store::teams::find_by_row_id(reader.rows, TeamRowId(found.team() as i64))?;
                let key = aggregation.key(&team.name);
                if let Ok(key) = key {
                    lookups.vendors.insert(found.team(), key);
                }
                one(key)
            }
            ListingProperty::VendorTier => {
                let tier = found.measure(Measure::VendorTier).unwrap_or_default();
                one(aggregation.key(&tier.to_string()))
            }
            ListingProperty::Facet(facet) => {
                Ok(found.labels(facet).map(|label| aggregation.key(label)).collect())
            }
            ListingProperty::Certified => one(aggregation.key(truth(found.is_certified()))),
            ListingProperty::SampleAvailable => one(aggregation.key(truth(found.has_sample()))),
            ListingProperty::HasActiveBids => one(aggregation.key(truth(found.has_active_bids()))),
            ListingProperty::Month => {
                let at = found.published_at().or_else(|| found.created_at()).unwrap_or_default();
                one(aggregation.key(&aggregation::month(Timestamp(at))))
            }
            ListingProperty::ReviewStatus => {
                let status = lookups.reviews.get(&found.listing());
                Ok(status.map(|status| aggregation.key(status.as_str())).into_iter().collect())
            }
        }
    }
}

const fn truth(is_true: bool) -> &'static str {
    if is_true { "true" } else { "false" }
}

/// Returns the values of a property of a request for listings.
type ValuesOf = fn(&Opportunity) -> Vec<&str>;

/// Returns an amount of a request for listings, in US dollars.
type AmountOf = fn(&Opportunity) -> Option<f64>;

/// The properties by which requests for listings are grouped, and their numbers.
const OPPORTUNITY_PROPERTIES: [(&str, ValuesOf); 4] = [
    ("asset_type", |opportunity| opportunity.accepted_asset_types.iter().map(|kind| kind.as_str()).collect()),
    ("tag", |opportunity| opportunity.tags().collect()),
    ("budget_unit", |opportunity| {
        opportunity.metadata.budget_unit.iter().map(|unit| unit.as_str()).collect()
    }),
    ("buyer", |opportunity| vec![opportunity.owner_name.as_str()]),
];
const OPPORTUNITY_NUMBERS: [(&str, AmountOf); 2] = [
    ("budget_min", |opportunity| opportunity.metadata.budget_min),
    ("budget_max", |opportunity| opportunity.metadata.budget_max),
];

/// Aggregates the open requests for listings that the vendor may see and a filter allows.
pub fn of_opportunities(
    reader: &Reader,
    vendor: &Vendor,
    filter: &OpportunityFilter,
    request: &Request,
) -> Result<Aggregates> {
    let property = |name: &String| find(&OPPORTUNITY_PROPERTIES, |(known, _)| known, "group_by", name);
    let properties = request.group_by.iter().map(property).collect::<Result<Vec<_>>>()?;
    let number = |name: &String| find(&OPPORTUNITY_NUMBERS, |(known, _)| known, "measure", name);
    let number = request.measure.as_ref().map(number).transpose()?;
    let found = opportunities::page(reader, vendor, filter, OpportunityOrder::Recent, usize::MAX, 0)?;
    let mut aggregation = Aggregation::default();
    for opportunity in &found.items {
        let mut keys: [Vec<GroupKey>; MAX_DIMENSIONS] = Default::default();
        for (keys, (_, values)) in keys.iter_mut().zip(&properties) {
            let found = values(opportunity).into_iter().map(|value| aggregation.key(value));
            *keys = found.collect::<std::result::Result<_, _>>().map_err(too_large)?;
        }
        let cents = number
            .and_then(|(_, amount)| amount(opportunity))
            .map(|dollars| (dollars * 100.0).round() as i64);
        aggregation.add(&keys, cents).map_err(too_large)?;
    }
    Ok(finish(aggregation, properties.len(), number.map(|_| Unit::UsDollars)))
}

/// Aggregates the team's assets that a filter allows.
pub fn of_assets(
    reader: &Reader,
    _: &Vendor,
    mut filter: AssetFilter,
    request: &Request,
) -> Result<Aggregates> {
    let selection = select(ASSET_PROPERTIES, ASSET_NUMBERS, request)?;
    filter.resolve_kinds(&store::taxonomy::deprecations(reader.rows)?);
    let aggregation = store::aggregates::aggregate_assets(reader.rows, &filter.query, &selection)?;
    finish_selection(aggregation, &selection)
}

/// Aggregates records of a buyer that a filter allows.
pub fn of_buyer(
    reader: &Reader,
    buyer: &Buyer,
    list: &RecordList,
    filter: &RecordFilter,
    request: &Request,
) -> Result<Aggregates> {
    of_records(reader, buyer.team_row_id(), list, filter, request)
}

/// Aggregates records of a member of any role that a filter allows.
pub fn of_member(
    reader: &Reader,
    member: &Member,
    list: &RecordList,
    filter: &RecordFilter,
    request: &Request,
) -> Result<Aggregates> {
    of_records(reader, member.team_row_id(), list, filter, request)
}

/// Aggregates records of a vendor that a filter allows.
pub fn of_vendor(
    reader: &Reader,
    vendor: &Vendor,
    list: &RecordList,
    filter: &RecordFilter,
    request: &Request,
) -> Result<Aggregates> {
    of_records(reader, vendor.team_row_id(), list, filter, request)
}

fn of_records(
    reader: &Reader,
    team: TeamRowId,
    list: &RecordList,
    filter: &RecordFilter,
    request: &Request,
) -> Result<Aggregates> {
    let selection = select(list.properties, list.numbers, request)?;
    finish_selection(store::aggregates::aggregate(reader.rows, list, team, filter, &selection)?, &selection)
}

/// Finds what a request names.
fn select(
    properties: &'static [Property],
    numbers: &'static [Number],
    request: &Request,
) -> Result<Selection> {
    let property = |name: &String| find(properties, |property| &property.name, "group_by", name);
    let number = |name: &String| find(numbers, |number| &number.name, "measure", name);
    Ok(Selection {
        properties: request.group_by.iter().map(property).collect::<Result<_>>()?,
        number: request.measure.as_ref().map(number).transpose()?,
    })
}

/// Returns what has a name. Fails with the known names.
fn find<'t, T>(
    known: &'t [T],
    name_of: fn(&T) -> &&'static str,
    parameter: &str,
    name: &str,
) -> Result<&'t T> {
    known.iter().find(|one| *name_of(one) == name).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|one| *name_of(one)).collect();
        let message = if names.is_empty() {
            format!("This list has no `{parameter}`; leave it out.")
        } else {
            let names = names.join(", ");
            let shown = crate::error::excerpt(name);
            format!("`{parameter}` of this list can be one of {names}, not {shown:?}.")
        };
        Error::invalid(Problem::query(parameter, "value_error", message))
    })
}

fn finish_selection(
    aggregation: std::result::Result<Aggregation, TooLarge>,
    selection: &Selection,
) -> Result<Aggregates> {
    let unit = selection.number.map(|number| number.unit);
    Ok(finish(aggregation.map_err(too_large)?, selection.properties.len(), unit))
}

fn finish(aggregation: Aggregation, dimensions: usize, unit: Option<Unit>) -> Aggregates {
    let (records, groups) = aggregation.finish(dimensions);
    Aggregates { records, unit, groups }
}

/// Returns the names of what the lists can be grouped by, and of their numbers.
#[cfg(test)]
pub fn known_names() -> [std::collections::BTreeSet<&'static str>; 2] {
    let lists = store::aggregates::RECORD_LISTS;
    let of_records = lists.iter().flat_map(|list| list.properties).chain(ASSET_PROPERTIES);
    let mut properties: std::collections::BTreeSet<_> = of_records.map(|property| property.name).collect();
    properties.extend(LISTING_PROPERTIES.map(|(name, _)| name));
    properties.extend(OPPORTUNITY_PROPERTIES.map(|(name, _)| name));
    let of_records = lists.iter().flat_map(|list| list.numbers).chain(ASSET_NUMBERS);
    let mut numbers: std::collections::BTreeSet<_> = of_records.map(|number| number.name).collect();
    numbers.extend(LISTING_NUMBERS.map(|(name, ..)| name));
    numbers.extend(OPPORTUNITY_NUMBERS.map(|(name, _)| name));
    [properties, numbers]
}

fn too_large(_: TooLarge) -> Error {
    let message = "There are too many groups or records. Filter the list, or group by something else.";
    Error::invalid(Problem::query("group_by", "value_error", message))
}
