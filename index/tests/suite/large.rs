//! A market that is large enough for all ways to produce a page: scans, aborted scans, and sorting.

use marketplace_index::document::Labels;
use marketplace_index::{Bounds, Filters, Measure, PerMeasure, Scope, Search, Sort};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::market::{TestIndex, search_all};
use crate::model::{Model, TextPart, to_text};
use crate::pages::{TestSearch, check_results, document};

const LISTINGS: u64 = 3_000;

/// Creates a market in a dozen commits, which replace and remove some listings again. The oldest listings
/// have the fewest lines of code, the others many.
fn large_market() -> (TestIndex, Model) {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let document = document();
    let mut create_document = |listing: u64| {
        let mut doc = document.new_tree(&mut runner).unwrap().current();
        doc.listing = listing;
        doc.published_at = doc.published_at.map(|_| listing.cast_signed() / 3);
        doc.measures[Measure::Loc] = Some(if listing < 20 { listing } else { 1_000 + listing % 7 });
        if listing % 300 == 1 {
            doc.labels.tags.push("rare".to_owned());
        }
        doc
    };
    let (mut market, mut model) = (TestIndex::new(), Model::new());
    for commit in 0..12 {
        let puts: Vec<_> =
            (commit + 1..=LISTINGS).step_by(12).chain(commit * 5 + 1..commit * 5 + 9).collect();
        let puts: Vec<_> = puts.into_iter().map(&mut create_document).collect();
        let removes: Vec<u64> = (commit + 100..LISTINGS).step_by(97).collect();
        market.commit(&puts, &removes);
        model.extend(puts.into_iter().map(|doc| (doc.listing, doc)));
        model.retain(|listing, _| !removes.contains(listing));
    }
    (market, model)
}

#[test]
fn scans_and_sorting_give_the_same_pages() {
    let (market, model) = large_market();
    let no_filters = Filters::default;
    let tags = |tags: &[&str]| Labels {
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        ..Labels::default()
    };
    let bounds = |measure, min, max| PerMeasure::from([(measure, Bounds { min, max })]);
    let filters = [
        no_filters(),
        Filters { labels: tags(&["rare"]), ..no_filters() },
        Filters { bounds: bounds(Measure::Loc, None, Some(25)), ..no_filters() },
        Filters {
            bounds: bounds(Measure::Loc, Some(1_003), None),
            labels: tags(&["a", "rare"]),
            ..no_filters()
        },
        Filters { team: Some(2), certified: true, sample_available: Some(false), ..no_filters() },
        Filters {
            bounds: bounds(Measure::Price, Some(1), Some(3)),
            vendor_tiers: Some(vec![1, 3]),
            ..no_filters()
        },
    ];
    let texts = [
        vec![],
        vec![TextPart::Word(0)],
        vec![TextPart::Word(7), TextPart::Word(4)],
        vec![TextPart::Phrase(vec![2, 6])],
    ];
    for scope in [Scope::Market, Scope::Team(1)] {
        for sort in [Sort::Recommended, Sort::Recent, Sort::PriceLow, Sort::PriceHigh] {
            for (filters, text_parts) in
                filters.iter().flat_map(|filters| texts.iter().map(move |text| (filters, text)))
            {
                let search = Search {
                    scope,
                    sort,
                    filters: filters.clone(),
                    text: to_text(text_parts),
                    limit: 41,
                    viewer: Some(1),
                    ..search_all()
                };
                check_results(&market, &model, &TestSearch { text_parts: text_parts.clone(), search })
                    .unwrap();
            }
        }
    }
}
