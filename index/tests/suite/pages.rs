//! Random documents, commits and searches, compared with the model: all pages, and paging while the market
//! changes.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::replace;
use std::ops::ControlFlow;
use std::sync::Arc;

use marketplace_index::document::{Flags, Labels, ListingDocument, Stage, Text};
use marketplace_index::{
    Bounds, CursorKey, Facet, Filters, Match, Measure, PerMeasure, Scope, Search, Sort, SortValues, Start,
    cursor,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::RngSeed;

use crate::market::TestIndex;
use crate::model::{self, Model, TextPart};

fn words() -> impl Strategy<Value = String> {
    vec(0..model::DOCUMENT_WORDS, 0..5)
        .prop_map(|words| words.into_iter().map(|word| model::WORDS[word].0).collect::<Vec<_>>().join(" "))
}

fn values() -> impl Strategy<Value = Vec<String>> {
    vec(select(vec!["a", "b", "b-c", "d"]).prop_map(str::to_owned), 0..3)
}

/// Returns labels with these values in each list.
fn labels<S: Strategy<Value = Vec<String>>>(values: impl Fn() -> S) -> impl Strategy<Value = Labels> {
    (values(), values(), values(), values(), values(), values(), values()).prop_map(
        |(tags, tag_slugs, asset_types, languages, file_extensions, robotics_formats, capabilities)| Labels {
            tags,
            tag_slugs,
            asset_types,
            languages,
            file_extensions,
            robotics_formats,
            capabilities,
        },
    )
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0_u64..6, 1 => 250_u64..260, 1 => select(vec![70_000, 5_000_000_000, u64::MAX - 1])]
}

fn measures() -> impl Strategy<Value = PerMeasure<Option<u64>>> {
    (vec(option::weighted(0.7, number()), Measure::COUNT), 1_u64..4, 0_u64..2).prop_map(
        |(values, vendor_tier, assets)| {
            let mut measures = PerMeasure::from_fn(|measure| values[measure as usize]);
            measures[Measure::VendorTier] = Some(vendor_tier);
            measures[Measure::Assets] = Some(assets);
            measures
        },
    )
}

fn flags() -> impl Strategy<Value = Flags> {
    (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(certified, active_bids, sample_available, rare_languages)| Flags {
            certified,
            active_bids,
            sample_available,
            rare_languages,
        },
    )
}

fn stage() -> impl Strategy<Value = Stage> {
    prop_oneof![3 => Just(Stage::Active), 1 => select(Stage::ALL.to_vec())]
}

pub fn document() -> impl Strategy<Value = ListingDocument> {
    let text = (words(), words(), vec(words(), 0..3), words()).prop_map(
        |(title, description, tag_labels, team_name)| Text { title, description, tag_labels, team_name },
    );
    let dates = (-3_i64..6, -3_i64..6);
    (
        (1_u64..40, 1_u64..4, stage()),
        text,
        labels(values),
        measures(),
        flags(),
        option::weighted(0.2, 1_u32..4),
        dates,
    )
        .prop_map(
            |((listing, team, stage), text, labels, measures, flags, featured, (published, created_at))| {
                ListingDocument {
                    listing,
                    team,
                    stage,
                    text,
                    labels,
                    measures,
                    flags,
                    featured,
                    published_at: (stage == Stage::Active).then_some(published),
                    created_at,
                }
            },
        )
}

fn bounds() -> impl Strategy<Value = Bounds> {
    let bound = || option::weighted(0.5, number());
    prop_oneof![9 => Just(Bounds::default()), 1 => (bound(), bound()).prop_map(|(min, max)| Bounds { min, max })]
}

fn rarely_set(strategy: impl Strategy<Value = Vec<String>>) -> impl Strategy<Value = Vec<String>> {
    option::weighted(0.12, strategy).prop_map(Option::unwrap_or_default)
}

fn filters() -> impl Strategy<Value = Filters> {
    let values = || rarely_set(vec(select(vec!["a", "b", "d", "unknown", ""]).prop_map(str::to_owned), 1..3));
    let labels = labels(values);
    let stages =
        option::weighted(0.2, vec(select(Stage::ALL.to_vec()), 1..4)).prop_map(Option::unwrap_or_default);
    let flag = || proptest::bool::weighted(0.1);
    let flags = (flag(), flag(), flag(), flag(), option::weighted(0.1, any::<bool>()));
    let tiers = option::weighted(0.1, vec(1_u64..5, 0..3));
    let date = || option::weighted(0.1, -3_i64..6);
    let sets = (
        option::weighted(0.1, vec(1_u64..5, 0..3)),
        option::weighted(0.1, proptest::collection::btree_set(0_u64..30, 0..20)),
        (date(), date()),
    );
    (labels, stages, option::weighted(0.1, 1_u64..4), flags, tiers, vec(bounds(), Measure::COUNT), sets)
        .prop_map(|(labels, stages, team, flags, vendor_tiers, bounds, sets)| Filters {
            labels,
            stages,
            team,
            certified: flags.0,
            active_bids: flags.1,
            rare_languages: flags.2,
            no_assets: flags.3,
            sample_available: flags.4,
            vendor_tiers,
            bounds: PerMeasure::from_fn(|measure| bounds[measure as usize]),
            teams: sets.0,
            listings: sets.1.map(Arc::new),
            published: sets.2,
        })
}

fn text_parts() -> impl Strategy<Value = Vec<TextPart>> {
    let word = || 0..model::WORDS.len();
    let part = prop_oneof![4 => word().prop_map(TextPart::Word), 1 => vec(0..model::DOCUMENT_WORDS, 1..4).prop_map(TextPart::Phrase)];
    prop_oneof![2 => Just(Vec::new()), 3 => vec(part, 1..4)]
}

/// A search, with its text in parts.
#[derive(Clone, Debug)]
pub struct TestSearch {
    pub text_parts: Vec<TextPart>,
    pub search: Search,
}

fn test_search() -> impl Strategy<Value = TestSearch> {
    let scope = prop_oneof![3 => Just(Scope::Market), 1 => (1_u64..5).prop_map(Scope::Team)];
    let sort = select(vec![Sort::Recommended, Sort::Recent, Sort::PriceLow, Sort::PriceHigh]);
    let filters = prop_oneof![1 => Just(Filters::default()), 3 => filters()];
    (scope, text_parts(), filters, sort, 1_usize..8, option::of(1_u64..5)).prop_map(
        |(scope, text_parts, filters, sort, limit, viewer)| {
            let text = model::to_text(&text_parts);
            TestSearch {
                text_parts,
                search: Search {
                    scope,
                    text,
                    filters,
                    sort,
                    start: Start::First,
                    limit,
                    viewer,
                    totals: true,
                    ordered_as: BTreeMap::new(),
                },
            }
        },
    )
}

/// A commit: documents to put, and row IDs of listings to remove.
type Batch = (Vec<ListingDocument>, Vec<u64>);

fn batch() -> impl Strategy<Value = Batch> {
    (vec(document(), 0..16), vec(1_u64..40, 0..6))
}

fn apply(market: &mut TestIndex, model: &mut Model, (puts, removes): &Batch) {
    // Whether the engine has written the changes makes no difference.
    if model.len().is_multiple_of(2) {
        market.show(puts, removes);
    } else {
        market.commit(puts, removes);
    }
    model.extend(puts.iter().map(|doc| (doc.listing, doc.clone())));
    model.retain(|listing, _| !removes.contains(listing));
}

fn sort_values() -> impl Strategy<Value = SortValues> {
    (any::<bool>(), option::of(1_u32..5), option::of(0_u64..5))
        .prop_map(|(certified, featured, price)| SortValues { certified, featured, price })
}

/// Changes the values of a document that orders compare, and returns the earlier ones.
fn set_sort_values(doc: &mut ListingDocument, values: SortValues) -> SortValues {
    SortValues {
        certified: replace(&mut doc.flags.certified, values.certified),
        featured: replace(&mut doc.featured, values.featured),
        price: replace(&mut doc.measures[Measure::Price], values.price),
    }
}

/// Returns the listings of all pages, according to the model.
fn expected(model: &Model, search: &TestSearch) -> Vec<u64> {
    let Search { scope, filters, sort, .. } = &search.search;
    let mut docs = model::matching(&model::in_scope(model, *scope), &search.text_parts);
    docs.retain(|doc| model::passes(doc, filters));
    let is_unfiltered = *scope == Scope::Market && search.text_parts.is_empty() && filters.is_empty();
    model::sort(&mut docs, *scope, *sort, is_unfiltered);
    docs.iter().map(|doc| doc.listing).collect()
}

pub fn check_results(market: &TestIndex, model: &Model, search: &TestSearch) -> Result<(), TestCaseError> {
    let snapshot = market.index.snapshot();
    let listings = expected(model, search);
    let in_text = model::matching(&model::in_scope(model, search.search.scope), &search.text_parts);
    let first = snapshot.search(&search.search).unwrap();
    let totals = first.totals.clone().unwrap();
    prop_assert_eq!(&*totals.facets, &model::facets(&in_text));
    prop_assert_eq!(totals.all, listings.len() as u64);
    let viewer = search.search.viewer;
    let owned = listings.iter().filter(|listing| Some(model[listing].team) == viewer).count();
    prop_assert_eq!(totals.owned, owned as u64);
    let mut matches = BTreeMap::new();
    let mut numbers = BTreeMap::new();
    let visit = |found: Match| {
        let mut labels: BTreeSet<String> = BTreeSet::new();
        for number in found.labels(Facet::Languages) {
            let label = found.label(Facet::Languages, number);
            labels.insert(label.to_owned());
            let of_label = numbers.entry((found.segment(), number)).or_insert_with(|| label.to_owned());
            assert_eq!(of_label, label);
        }
        matches.insert(
            found.listing(),
            (found.team(), found.measure(Measure::Price), found.published_at(), labels),
        );
        ControlFlow::Continue(())
    };
    snapshot.for_each_match(&search.search, visit).unwrap();
    let expected_match = |listing: &u64| {
        let doc = &model[listing];
        let labels = doc.labels.languages.iter().cloned().collect();
        (*listing, (doc.team, doc.measures[Measure::Price], doc.published_at, labels))
    };
    prop_assert_eq!(matches, listings.iter().map(expected_match).collect::<BTreeMap<_, _>>());
    let key = CursorKey::new([7; 32]);
    // Totals are requested for the first page only.
    let mut found = first.listings;
    let mut next = first.next;
    while let Some(position) = next {
        let short = cursor::encode_short(&key, &position, &search.search);
        let decoded = cursor::decode_short(&key, &short, &search.search).unwrap();
        prop_assert_eq!(snapshot.position_of(&decoded, &search.search).unwrap(), Some(position));
        let page = Search { start: Start::After(position), totals: false, ..search.search.clone() };
        let results = snapshot.search(&page).unwrap();
        prop_assert!(!results.listings.is_empty() && results.totals.is_none());
        found.extend(results.listings);
        prop_assert!(found.len() <= listings.len(), "pages repeat");
        next = results.next;
    }
    prop_assert_eq!(&found, &listings);
    for offset in [0, 1, listings.len() / 2, listings.len(), listings.len() + 1] {
        let page = Search { start: Start::Offset(offset as u64), ..search.search.clone() };
        let results = snapshot.search(&page).unwrap();
        let end = listings.len().min(offset + search.search.limit);
        prop_assert_eq!(&results.listings[..], listings.get(offset..end).unwrap_or_default());
        prop_assert_eq!(results.next.is_some(), end < listings.len() && end > offset);
    }
    Ok(())
}

fn check_counts(market: &TestIndex, model: &Model) -> Result<(), TestCaseError> {
    let snapshot = market.index.snapshot();
    prop_assert_eq!(snapshot.count(Scope::Market), model::in_scope(model, Scope::Market).len() as u64);
    for team in 1..5 {
        let listings = model::in_scope(model, Scope::Team(team));
        let active = listings.iter().filter(|doc| doc.stage == Stage::Active).count();
        prop_assert_eq!(snapshot.count(Scope::Team(team)), listings.len() as u64);
        prop_assert_eq!(snapshot.active_count(team), active as u64);
    }
    let digests: BTreeMap<u64, u64> = model.iter().map(|(listing, doc)| (*listing, doc.digest())).collect();
    prop_assert_eq!(snapshot.fingerprints(), digests);
    Ok(())
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(20),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(32))]

    #[test]
    fn results_match_the_model(batches in vec(batch(), 1..7), searches in vec(test_search(), 60)) {
        let (mut market, mut model) = (TestIndex::new(), Model::new());
        for batch in &batches {
            apply(&mut market, &mut model, batch);
            check_counts(&market, &model)?;
        }
        for search in &searches {
            check_results(&market, &model, search)?;
        }
        // The results are the same after merging.
        market.finish();
        check_counts(&market, &model)?;
        for search in searches.iter().take(10) {
            check_results(&market, &model, search)?;
        }
    }

    #[test]
    fn paging_returns_unchanged_listings_exactly_once(
        mut batches in vec(batch(), 2..9),
        paged in test_search(),
    ) {
        let (mut market, mut model) = (TestIndex::new(), Model::new());
        apply(&mut market, &mut model, &batches.remove(0));
        // Listings that match throughout with an unchanged document, and listings on any page.
        let initial: BTreeMap<u64, ListingDocument> =
            expected(&model, &paged).into_iter().map(|listing| (listing, model[&listing].clone())).collect();
        let mut unchanged: BTreeSet<u64> = initial.keys().copied().collect();
        let mut found = Vec::new();
        let mut start = Start::First;
        loop {
            let search = Search { start, totals: false, ..paged.search.clone() };
            let results = market.search(&search);
            found.extend(results.listings);
            let Some(next) = results.next else { break };
            start = Start::After(next);
            if let Some(batch) = batches.pop() {
                apply(&mut market, &mut model, &batch);
                let now: BTreeSet<u64> = expected(&model, &paged).into_iter().collect();
                unchanged.retain(|listing| now.contains(listing) && model[listing] == initial[listing]);
            }
        }
        for listing in unchanged {
            prop_assert_eq!(found.iter().filter(|other| **other == listing).count(), 1, "listing {}", listing);
        }
    }

    #[test]
    fn paging_in_the_first_page_s_order_returns_each_listing_exactly_once(
        batch in batch(),
        changes in vec(vec((any::<Index>(), sort_values()), 0..6), 1..9),
        paged in test_search(),
    ) {
        let (mut market, mut model) = (TestIndex::new(), Model::new());
        apply(&mut market, &mut model, &batch);
        // Filters by what changes would hide listings.
        let filters = Filters::default();
        let paged = TestSearch { search: Search { scope: Scope::Market, filters, ..paged.search }, ..paged };
        let listings = expected(&model, &paged);
        let mut search = Search { totals: false, ..paged.search.clone() };
        let mut found = Vec::new();
        let mut changes = changes.into_iter();
        loop {
            let results = market.search(&search);
            found.extend(results.listings);
            let Some(next) = results.next else { break };
            prop_assert_eq!(next.as_of(), 1);
            search.start = Start::After(next);
            for (index, values) in changes.next().unwrap_or_default() {
                let doc = model.get_mut(index.get(&listings)).unwrap();
                search.ordered_as.entry(doc.listing).or_insert(set_sort_values(doc, values));
                market.commit(std::slice::from_ref(doc), &[]);
            }
        }
        prop_assert_eq!(found, listings);
    }
}
