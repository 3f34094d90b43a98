//! A reference model of the index: every search is executed by testing each document, in the simplest way.
//!
//! Text consists of words from a small table of forms and stems, so the model needs no text analysis.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use marketplace_index::document::{ListingDocument, Stage};
use marketplace_index::{Bounds, Facet, Facets, Filters, Measure, Scope, Sort};

/// Words of documents and searches, with their stems. The last ones occur in searches only: prefixes and
/// misspellings of the others.
pub const WORDS: [(&str, &str); 22] = [
    ("robot", "robot"),
    ("robots", "robot"),
    ("arm", "arm"),
    ("arms", "arm"),
    ("running", "run"),
    ("run", "run"),
    ("dataset", "dataset"),
    ("datasets", "dataset"),
    ("kitchen", "kitchen"),
    ("kitten", "kitten"),
    ("mitten", "mitten"),
    ("a", "a"),
    ("data", "data"),
    ("rob", "rob"),
    ("r", "r"),
    ("dat", "dat"),
    ("robto", "robto"),
    ("kitchn", "kitchn"),
    ("kittenn", "kittenn"),
    ("datset", "datset"),
    ("bitten", "bitten"),
    ("zzzzz", "zzzzz"),
];

/// Number of words in the table that may occur in documents.
pub const DOCUMENT_WORDS: usize = 13;

/// A part of a search text. Words are indexes of the table.
#[derive(Clone, Debug)]
pub enum TextPart {
    Word(usize),
    Phrase(Vec<usize>),
}

/// Returns the text of these parts, as a user would type it.
pub fn to_text(parts: &[TextPart]) -> String {
    let words = |words: &[usize]| words.iter().map(|word| WORDS[*word].0).collect::<Vec<_>>().join(" ");
    let typed = parts.iter().map(|part| match part {
        TextPart::Word(word) => WORDS[*word].0.to_owned(),
        TextPart::Phrase(phrase) => format!("\"{}\"", words(phrase)),
    });
    typed.collect::<Vec<_>>().join(" ")
}

/// The documents by row ID of the listing.
pub type Model = BTreeMap<u64, ListingDocument>;

pub fn in_scope(model: &Model, scope: Scope) -> Vec<&ListingDocument> {
    let belongs = |doc: &&ListingDocument| match scope {
        Scope::Market => doc.stage == Stage::Active,
        Scope::Team(team) => doc.team == team,
    };
    model.values().filter(belongs).collect()
}

/// Returns the words of each text value of a document.
fn text_values(doc: &ListingDocument) -> Vec<Vec<&str>> {
    let text = &doc.text;
    let texts = [&text.title, &text.description, &text.team_name].into_iter().chain(&text.tag_labels);
    texts.map(|text| text.split_whitespace().collect()).collect()
}

fn stem(form: &str) -> &str {
    WORDS.iter().find(|(word, _)| *word == form).map(|(_, stem)| *stem).unwrap()
}

fn has_form(doc: &ListingDocument, matches: impl Fn(&str) -> bool) -> bool {
    text_values(doc).iter().flatten().any(|form| matches(form))
}

/// Returns whether two words differ by at most one insertion, deletion, replacement, or swap of neighbors.
fn is_one_edit_away(left: &str, right: &str) -> bool {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let mut edits = vec![left.clone()];
    for index in 0..=left.len() {
        for character in 'a'..='z' {
            let mut edit = left.clone();
            edit.insert(index, character);
            edits.push(edit.clone());
            if index < left.len() {
                edit.remove(index + 1);
                edits.push(edit);
            }
        }
        if index < left.len() {
            let mut edit = left.clone();
            edit.remove(index);
            edits.push(edit);
        }
        if index + 1 < left.len() {
            let mut edit = left.clone();
            edit.swap(index, index + 1);
            edits.push(edit);
        }
    }
    edits.contains(&right)
}

/// Returns the documents in scope that match a text.
pub fn matching<'a>(scope: &[&'a ListingDocument], parts: &[TextPart]) -> Vec<&'a ListingDocument> {
    let mut found = scope.to_vec();
    for (index, part) in parts.iter().enumerate() {
        match part {
            TextPart::Phrase(phrase) => {
                let phrase: Vec<&str> = phrase.iter().map(|word| WORDS[*word].1).collect();
                found.retain(|doc| {
                    let mut stems =
                        text_values(doc).into_iter().map(|value| value.into_iter().map(stem).collect());
                    stems.any(|stems: Vec<&str>| stems.windows(phrase.len()).any(|window| window == phrase))
                });
            }
            TextPart::Word(word) => {
                let (form, expected_stem) = WORDS[*word];
                let last = index + 1 == parts.len();
                let exact = |doc: &ListingDocument| {
                    has_form(doc, |other| stem(other) == expected_stem || (last && other.starts_with(form)))
                };
                let can_have_typos = form.len() >= 5 && !form.contains(char::is_numeric);
                let retried = can_have_typos && !scope.iter().any(|doc| exact(doc));
                found.retain(|doc| {
                    if retried { has_form(doc, |other| is_one_edit_away(form, other)) } else { exact(doc) }
                });
            }
        }
    }
    found
}

fn is_within(value: Option<u64>, bounds: Bounds) -> bool {
    bounds == Bounds::default()
        || value.is_some_and(|value| {
            bounds.min.is_none_or(|min| min <= value) && bounds.max.is_none_or(|max| value <= max)
        })
}

fn is_in_period(at: Option<i64>, (min, max): (Option<i64>, Option<i64>)) -> bool {
    (min.is_none() && max.is_none())
        || at.is_some_and(|at| min.is_none_or(|min| min <= at) && max.is_none_or(|max| at <= max))
}

pub fn passes(doc: &ListingDocument, filters: &Filters) -> bool {
    let any = |required: &[String], has: &[String]| {
        required.is_empty() || required.iter().any(|value| has.contains(value))
    };
    let (labels, flags) = (&doc.labels, &doc.flags);
    let value = |measure: Measure| match doc.measures[measure] {
        None if !measure.is_optional() => Some(0),
        value => value,
    };
    filters.labels.lists().into_iter().zip(labels.lists()).all(|((_, required), (_, has))| any(required, has))
        && (filters.stages.is_empty() || filters.stages.contains(&doc.stage))
        && filters.team.is_none_or(|team| team == doc.team)
        && (!filters.certified || flags.certified)
        && (!filters.active_bids || flags.active_bids)
        && (!filters.rare_languages || flags.rare_languages)
        && (!filters.no_assets || value(Measure::Assets) == Some(0))
        && filters.sample_available.is_none_or(|sample| sample == flags.sample_available)
        && filters
            .vendor_tiers
            .as_ref()
            .is_none_or(|tiers| value(Measure::VendorTier).is_some_and(|tier| tiers.contains(&tier)))
        && filters.teams.as_ref().is_none_or(|teams| teams.contains(&doc.team))
        && filters.listings.as_ref().is_none_or(|listings| listings.contains(&doc.listing))
        && is_in_period(doc.published_at, filters.published)
        && filters.bounds.iter().all(|(measure, bounds)| is_within(value(measure), *bounds))
}

/// Sorts the documents; `is_unfiltered` means a market search without text and filters.
pub fn sort(docs: &mut [&ListingDocument], scope: Scope, sort: Sort, is_unfiltered: bool) {
    let date = |doc: &ListingDocument| match scope {
        Scope::Market => doc.published_at,
        Scope::Team(_) => Some(doc.created_at),
    };
    let price = |doc: &ListingDocument| doc.measures[Measure::Price];
    docs.sort_by_key(|doc| Reverse((date(doc), doc.listing)));
    match sort {
        Sort::Recent => {}
        Sort::Recommended => {
            docs.sort_by_key(|doc| !doc.flags.certified);
            if is_unfiltered {
                docs.sort_by_key(|doc| (doc.featured.is_none(), doc.featured));
            }
        }
        Sort::PriceLow => docs.sort_by_key(|doc| (price(doc).is_none(), price(doc))),
        Sort::PriceHigh => docs.sort_by_key(|doc| (price(doc).is_none(), Reverse(price(doc)))),
    }
}

pub fn facets(docs: &[&ListingDocument]) -> Facets {
    let values = |doc: &ListingDocument, facet: Facet| {
        let labels = doc.labels.lists().into_iter().filter(|(other, _)| *other == facet);
        let mut values: BTreeSet<String> = labels.flat_map(|(_, values)| values.clone()).collect();
        values.extend((facet == Facet::LifecycleStages).then(|| doc.stage.name().to_owned()));
        values
    };
    Facets::from_fn(|facet| {
        let mut counts = BTreeMap::new();
        for value in docs.iter().flat_map(|doc| values(doc, facet)) {
            *counts.entry(value).or_insert(0) += 1;
        }
        counts
    })
}
