//! Aggregates of listings, which the index computes.

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::Hash,
    mem,
    ops::ControlFlow,
};

use marketplace_index::{Facet, Match, Measure, Search};
use rustc_hash::FxHashMap;

use super::requests::{Aggregates, Names, Request, find, finish};
use crate::{
    domain::{
        aggregation::{self, Aggregation, GroupKey, MAX_DIMENSIONS, TooLarge, Unit},
        listings::ReviewStatus,
        teams::TeamRowId,
        time::{MICROS_PER_DAY, Timestamp},
    },
    error::Result,
    market::Reader,
    operations::{
        access::{CatalogViewer, Vendor},
        browse, listings,
    },
    store,
    string_enum::StringEnum,
};

/// The properties by which listings are grouped: first the properties of the catalog, then the properties of own listings only.
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

/// Lookup tables for the properties of listings, read once for each aggregation.
#[derive(Default)]
struct Lookups {
    /// Keys of vendors, by row ID.
    vendors: FxHashMap<u64, GroupKey>,
    /// States of review of own listings, by row ID.
    reviews: HashMap<u64, ReviewStatus>,
    /// Keys of tiers.
    tiers: FxHashMap<u64, GroupKey>,
    /// Keys of months, by the number of a day in them since 1970.
    months: FxHashMap<i64, GroupKey>,
    /// Keys of labels, by their numbers in a segment.
    labels: Vec<GroupKey>,
    segment: usize,
    /// The keys of the current listing.
    keys: [Vec<GroupKey>; MAX_DIMENSIONS],
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
    let mut outcome = Ok(());
    reader.index.for_each_match(search, |found| {
        let measure = number.map(|(_, measure, _)| *measure);
        outcome = add_match(reader, &found, (&properties, measure), &mut aggregation, &mut lookups);
        if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    outcome?;
    Ok(finish(aggregation, properties.len(), number.map(|(.., unit)| *unit)))
}

/// Adds a listing to an aggregation by these properties.
fn add_match(
    reader: &Reader,
    found: &Match,
    (properties, measure): (&[ListingProperty], Option<Measure>),
    aggregation: &mut Aggregation,
    lookups: &mut Lookups,
) -> Result<()> {
    let mut keys = mem::take(&mut lookups.keys);
    for (keys, property) in keys.iter_mut().zip(properties) {
        keys.clear();
        property.add_keys(reader, found, aggregation, lookups, keys)?;
    }
    let value = measure.and_then(|measure| found.measure(measure));
    // The number of lines of code is missing, not 0, for a listing without code. The same holds for other amounts of data.
    let value = value.filter(|value| *value > 0 || !measure.is_some_and(is_amount));
    aggregation.add(&keys, value.map(|value| i64::try_from(value).unwrap_or(i64::MAX)))?;
    lookups.keys = keys;
    Ok(())
}

/// Whether a measure is an amount of data, which is 0 in listings that have no data of this kind.
const fn is_amount(measure: Measure) -> bool {
    matches!(measure, Measure::Tasks | Measure::Loc | Measure::ZipFiles | Measure::ZipBytes)
}

impl ListingProperty {
    /// Adds the values of a listing to `keys`.
    fn add_keys(
        self,
        reader: &Reader,
        found: &Match,
        aggregation: &mut Aggregation,
        lookups: &mut Lookups,
        keys: &mut Vec<GroupKey>,
    ) -> Result<()> {
        let key = match self {
            ListingProperty::Vendor => match lookups.vendors.entry(found.team()) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(vacant) => {
                    let team = store::teams::find_by_row_id(reader.rows, TeamRowId(found.team() as i64))?;
                    *vacant.insert(aggregation.key(&team.name)?)
                }
            },
            ListingProperty::VendorTier => {
                let tier = found.measure(Measure::VendorTier).unwrap_or_default();
                key_of(&mut lookups.tiers, tier, || aggregation.key(&tier.to_string()))?
            }
            ListingProperty::Facet(facet) => {
                for number in found.labels(facet) {
                    let create = || aggregation.key(found.label(facet, number));
                    keys.push(lookups.label_key(found.segment(), number, create)?);
                }
                return Ok(());
            }
            ListingProperty::Certified => aggregation.key(truth(found.is_certified()))?,
            ListingProperty::SampleAvailable => aggregation.key(truth(found.has_sample()))?,
            ListingProperty::HasActiveBids => aggregation.key(truth(found.has_active_bids()))?,
            ListingProperty::Month => {
                let at = found.published_at().or_else(|| found.created_at()).unwrap_or_default();
                key_of(&mut lookups.months, at.div_euclid(MICROS_PER_DAY), || {
                    aggregation.key(&aggregation::month(Timestamp(at)))
                })?
            }
            ListingProperty::ReviewStatus => match lookups.reviews.get(&found.listing()) {
                Some(status) => aggregation.key(status.as_str())?,
                None => return Ok(()),
            },
        };
        keys.push(key);
        Ok(())
    }
}

impl Lookups {
    /// Returns the key of a label, given by its number in a segment. Listings come segment by segment.
    fn label_key(
        &mut self,
        segment: usize,
        number: u32,
        create: impl FnOnce() -> std::result::Result<GroupKey, TooLarge>,
    ) -> Result<GroupKey> {
        if self.segment != segment {
            self.labels.clear();
            self.segment = segment;
        }
        let number = number as usize;
        if self.labels.len() <= number {
            self.labels.resize(number + 1, GroupKey::NONE);
        }
        if self.labels[number] == GroupKey::NONE {
            self.labels[number] = create()?;
        }
        Ok(self.labels[number])
    }
}

/// Returns the key of a value, which is created if it is the first of its kind.
fn key_of<K: Eq + Hash>(
    keys: &mut FxHashMap<K, GroupKey>,
    value: K,
    create: impl FnOnce() -> std::result::Result<GroupKey, TooLarge>,
) -> Result<GroupKey> {
    match keys.entry(value) {
        Entry::Occupied(known) => Ok(*known.get()),
        Entry::Vacant(vacant) => Ok(*vacant.insert(create()?)),
    }
}

const fn truth(is_true: bool) -> &'static str {
    if is_true { "true" } else { "false" }
}

/// Returns the names of groups and numbers of the catalog.
pub fn catalog_names() -> Names {
    names(&LISTING_PROPERTIES[..CATALOG_PROPERTIES])
}

/// Returns the names of groups and numbers of own listings.
pub fn own_listing_names() -> Names {
    names(&LISTING_PROPERTIES)
}

fn names(properties: &[(&'static str, ListingProperty)]) -> Names {
    [
        properties.iter().map(|(name, _)| *name).collect(),
        LISTING_NUMBERS.iter().map(|(name, ..)| *name).collect(),
    ]
}
