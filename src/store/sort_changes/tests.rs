//! Earlier sort values: as of any change, once per listing, and up to a limit.

use proptest::{
    collection::vec,
    prelude::*,
    test_runner::{Config, RngSeed},
};
use uuid::Uuid;

use super::*;
use crate::{
    domain::listings::{CatalogStatus, ListingStatus, ReviewStatus},
    store::{
        Store, index_queue,
        listings::{self, ListingFields},
        teams::{self, NewTeam},
    },
};

/// No limit on the number of listings.
const ALL: usize = 1_000;

fn fields(values: &SortValues) -> ListingFields {
    ListingFields { price: values.price, ..ListingFields::default() }
}

/// A database with published listings.
struct Listings {
    store: Store,
    values: Vec<(ListingRowId, SortValues)>,
    now: Timestamp,
    _directory: tempfile::TempDir,
}

impl Listings {
    fn new(count: u128) -> Listings {
        let (directory, store) = Store::temporary();
        let at = Timestamp(1);
        let values = SortValues { is_certified: false, featured: None, price: None };
        let insert = |writer: &Writer| {
            let team = NewTeam {
                id: Uuid::from_u128(1),
                group_id: Uuid::from_u128(2),
                name: "Team",
                is_vendor: true,
                is_buyer: false,
                tier: 1,
                nda_accepted_at: None,
                avatar_url: None,
                created_at: at,
            };
            let team = teams::insert(writer, &team)?;
            let insert = |number| {
                let listing = listings::insert(writer, Uuid::from_u128(number), team, &fields(&values), at)?;
                let published =
                    ListingStatus { review: ReviewStatus::Approved, catalog: CatalogStatus::Published };
                listings::set_status(writer, listing, ListingStatus::NEW, published, at)?;
                Ok((listing, values))
            };
            (1..=count).map(insert).collect::<Result<_>>()
        };
        let values = store.write(insert).unwrap().0;
        Listings { store, values, now: at, _directory: directory }
    }

    /// Changes the values of a listing one microsecond later, and returns the number of the change.
    fn set(&mut self, index: usize, values: SortValues) -> u64 {
        self.set_all(&[(index, values)])
    }

    /// Changes values in one transaction.
    fn set_all(&mut self, changes: &[(usize, SortValues)]) -> u64 {
        self.now = self.now.plus_micros(1);
        let (now, known) = (self.now, &mut self.values);
        let change = |writer: &Writer| {
            for (index, values) in changes {
                let (listing, current) = &mut known[*index];
                if values.is_certified != current.is_certified {
                    let certified_at = values.is_certified.then_some(now);
                    listings::set_certified_at(writer, *listing, certified_at, now)?;
                }
                if values.featured != current.featured {
                    listings::set_featured(writer, *listing, values.featured, now)?;
                }
                if values.price != current.price {
                    listings::update(writer, *listing, &fields(values), now)?;
                }
                *current = *values;
            }
            index_queue::last_change(writer)
        };
        self.store.write(change).unwrap().0 as u64
    }

    fn last_change(&self) -> u64 {
        self.store.read(index_queue::last_change).unwrap() as u64
    }

    fn find(&self, sort: ChangingSort, change: u64, limit: usize) -> Option<Vec<(usize, SortValues)>> {
        let found = self.store.read(|reader| find_as_of(reader, sort, change, limit)).unwrap()?;
        let index = |listing| self.values.iter().position(|(row_id, _)| *row_id == listing).unwrap();
        Some(found.into_iter().map(|(listing, values)| (index(listing), values)).collect())
    }

    fn prune(&self, since: Timestamp, limit: u32) -> usize {
        self.store.write(|writer| prune(writer, since, limit)).unwrap().0
    }
}

const PLAIN: SortValues = SortValues { is_certified: false, featured: None, price: None };
const CERTIFIED: SortValues = SortValues { is_certified: true, ..PLAIN };
const PRICED: SortValues = SortValues { price: Some(Cents(500)), ..PLAIN };

#[test]
fn repeated_changes_of_a_listing_count_once() {
    let mut listings = Listings::new(2);
    let start = listings.last_change();
    for _ in 0..50 {
        listings.set(0, CERTIFIED);
        listings.set(0, PLAIN);
    }
    let certified = listings.set(0, CERTIFIED);
    listings.set(1, CERTIFIED);
    let recommended = ChangingSort::Recommended;
    assert_eq!(listings.find(recommended, start, 2), Some(vec![(0, PLAIN), (1, PLAIN)]));
    assert_eq!(listings.find(recommended, certified - 1, 2), Some(vec![(0, PLAIN), (1, PLAIN)]));
    assert_eq!(listings.find(recommended, certified, 2), Some(vec![(1, PLAIN)]));
    listings.set(0, PLAIN);
    assert_eq!(listings.find(recommended, certified, 2), Some(vec![(0, CERTIFIED), (1, PLAIN)]));
}

#[test]
fn more_listings_than_the_limit_are_not_found() {
    let mut listings = Listings::new(3);
    let start = listings.last_change();
    let first = listings.set(0, CERTIFIED);
    listings.set_all(&[(1, CERTIFIED), (2, CERTIFIED)]);
    let recommended = ChangingSort::Recommended;
    assert_eq!(listings.find(recommended, start, 2), None);
    assert_eq!(listings.find(recommended, start, 3).unwrap().len(), 3);
    assert_eq!(listings.find(recommended, first, 2).unwrap().len(), 2);
}

#[test]
fn only_changes_that_the_sort_compares_are_found() {
    let mut listings = Listings::new(2);
    let start = listings.last_change();
    listings.set(0, PRICED);
    listings.set(1, SortValues { featured: Some(1), ..PLAIN });
    assert_eq!(listings.find(ChangingSort::Price, start, 1), Some(vec![(0, PLAIN)]));
    assert_eq!(listings.find(ChangingSort::Recommended, start, 1), Some(vec![(1, PLAIN)]));
    // Without a change of values, nothing is recorded.
    listings.set(0, PRICED);
    assert_eq!(listings.find(ChangingSort::Price, start + 2, 0), Some(vec![]));
}

fn values() -> impl Strategy<Value = SortValues> {
    (any::<bool>(), proptest::option::of(1_u32..3), proptest::option::of(0_i64..3)).prop_map(
        |(is_certified, featured, price)| SortValues { is_certified, featured, price: price.map(Cents) },
    )
}

proptest! {
    #![proptest_config(Config {
        cases: 24, failure_persistence: None, rng_seed: RngSeed::Fixed(15), ..Config::default()
    })]

    #[test]
    fn values_as_of_each_change_are_found_until_it_is_pruned(
        transactions in vec(vec((0_usize..4, values()), 1..4), 1..16),
        pruned in 0_usize..16,
        limit in 1_u32..6,
    ) {
        let mut listings = Listings::new(4);
        // The values as of each change, with its time.
        let mut history = vec![(listings.last_change(), listings.now, listings.values.clone())];
        for transaction in &transactions {
            // Each listing has featured places of its own.
            let place = |index: usize, values: &SortValues| values.featured.map(|place| 3 * index as u32 + place);
            let transaction: Vec<_> = transaction
                .iter()
                .map(|(index, values)| (*index, SortValues { featured: place(*index, values), ..*values }))
                .collect();
            let change = listings.set_all(&transaction);
            history.push((change, listings.now, listings.values.clone()));
        }
        let since = history[pruned.min(transactions.len())].1;
        while listings.prune(since, limit) > 0 {}
        for (change, at, then) in &history {
            for sort in ChangingSort::ALL {
                let Some(found) = listings.find(sort, *change, ALL) else {
                    prop_assert!(at.plus_micros(1) < since, "{change} was pruned early");
                    continue;
                };
                let found: BTreeMap<usize, SortValues> = found.into_iter().collect();
                for (index, (_, current)) in listings.values.iter().enumerate() {
                    let values = found.get(&index).unwrap_or(current);
                    prop_assert!(!sort.distinguishes(values, &then[index].1), "{index} as of {change}");
                }
            }
        }
    }
}
