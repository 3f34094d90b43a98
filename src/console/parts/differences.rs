//! Differences between two versions: texts by word, other fields and assets in tables.

use std::collections::BTreeMap;

use maud::{Markup, html};
use uuid::Uuid;

use super::{
    badges, kinds,
    listing_view::{self, bids_text},
    samples,
    tables::{self, Cell, Head},
    text,
};
use crate::{
    domain::samples::SampledAsset,
    operations::reviews::Difference,
    store::{
        listings::ListingFields,
        reviews::{AssetChange, AssetChanges},
    },
};

/// Maximum product of the numbers of words that are compared with each other. Larger texts are compared by line only.
const MAX_CELLS: usize = 1_000_000;

/// What happened to a piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is in both versions.
    Kept,
    /// It is in the earlier version only.
    Removed,
    /// It is in the later version only.
    Added,
}

/// A piece of a text, and what happened to it.
pub type Piece = (Change, String);

/// Returns the pieces of two versions of a text, compared by word.
pub fn by_word(before: &str, now: &str) -> Vec<Piece> {
    let (old, new) = (lines_of(before), lines_of(now));
    let mut pieces = Vec::new();
    let (mut removed, mut added) = (String::new(), String::new());
    for (change, line) in compare(&old, &new) {
        match change {
            Change::Kept => {
                add_words(&mut pieces, &removed, &added);
                (removed, added) = (String::new(), String::new());
                push(&mut pieces, Change::Kept, line);
            }
            Change::Removed => removed.push_str(line),
            Change::Added => added.push_str(line),
        }
    }
    add_words(&mut pieces, &removed, &added);
    pieces
}

/// Adds the pieces of lines that differ.
fn add_words(pieces: &mut Vec<Piece>, before: &str, now: &str) {
    for (change, word) in compare(&words_of(before), &words_of(now)) {
        push(pieces, change, word);
    }
}

fn push(pieces: &mut Vec<Piece>, change: Change, text: &str) {
    match pieces.last_mut() {
        Some((last, piece)) if *last == change => piece.push_str(text),
        _ => pieces.push((change, text.to_owned())),
    }
}

/// Returns the lines of a text with their ends.
fn lines_of(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Returns the words of a text, and what stands between them.
fn words_of(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = 0;
    let mut was_space = None;
    for (index, letter) in text.char_indices() {
        let is_space = letter.is_whitespace();
        if was_space.is_some_and(|was_space| was_space != is_space) {
            words.push(&text[start..index]);
            start = index;
        }
        was_space = Some(is_space);
    }
    if start < text.len() {
        words.push(&text[start..]);
    }
    words
}

/// Compares two sequences by their longest common subsequence. If they are too long for that, everything between their common
/// prefix and suffix counts as removed and added.
fn compare<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<(Change, &'t str)> {
    let prefix = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[prefix..], &new[prefix..]);
    let suffix = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old_rest[..old_rest.len() - suffix], &new_rest[..new_rest.len() - suffix]);
    let kept = |part: &[&'t str]| part.iter().map(|item| (Change::Kept, *item)).collect::<Vec<_>>();
    let mut changes = kept(&old[..prefix]);
    changes.extend(compare_middle(old_rest, new_rest));
    changes.extend(kept(&old[old.len() - suffix..]));
    changes
}

fn compare_middle<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<(Change, &'t str)> {
    let replaced = || {
        let removed = old.iter().map(|item| (Change::Removed, *item));
        removed.chain(new.iter().map(|item| (Change::Added, *item))).collect()
    };
    let width = new.len() + 1;
    if old.is_empty() || new.is_empty() || (old.len() + 1).saturating_mul(width) > MAX_CELLS {
        return replaced();
    }
    // lengths[i * width + j]: length of the longest common subsequence of old[i..] and new[j..].
    let mut lengths = vec![0_u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            lengths[i * width + j] = if old[i] == new[j] {
                lengths[(i + 1) * width + j + 1] + 1
            } else {
                lengths[(i + 1) * width + j].max(lengths[i * width + j + 1])
            };
        }
    }
    let mut changes = Vec::with_capacity(old.len() + new.len());
    let (mut i, mut j) = (0, 0);
    while i < old.len() && j < new.len() {
        if old[i] == new[j] {
            changes.push((Change::Kept, old[i]));
            (i, j) = (i + 1, j + 1);
        } else if lengths[(i + 1) * width + j] >= lengths[i * width + j + 1] {
            changes.push((Change::Removed, old[i]));
            i += 1;
        } else {
            changes.push((Change::Added, new[j]));
            j += 1;
        }
    }
    changes.extend(old[i..].iter().map(|item| (Change::Removed, *item)));
    changes.extend(new[j..].iter().map(|item| (Change::Added, *item)));
    changes
}

/// Shows two versions of a text beside each other, with what was removed and added marked. The headings say which is which.
pub fn texts(headings: (&str, &str), before: &str, now: &str) -> Markup {
    let pieces = by_word(before, now);
    let side = |change: Change, is_empty: bool| {
        html! {
            div.long dir="auto" {
                @if is_empty { span.note { "Nothing" } }
                @for (of, piece) in pieces.iter().filter(|(of, _)| *of == Change::Kept || *of == change) {
                    @match of {
                        Change::Kept => (broken(piece)),
                        Change::Removed => del { (broken(piece)) },
                        Change::Added => ins { (broken(piece)) },
                    }
                }
            }
        }
    };
    html! {
        div.diff {
            h3 { (headings.0) }
            (side(Change::Removed, before.is_empty()))
            h3 { (headings.1) }
            (side(Change::Added, now.is_empty()))
        }
    }
}

/// Returns a text with breaks where its lines end.
fn broken(text: &str) -> Markup {
    html! { @for (index, line) in text.split('\n').enumerate() { @if index > 0 { br; } (line) } }
}

/// Shows the differences between a round of a listing's review and the present listing. `before` names the round.
pub fn of_listing(difference: &Difference, before: &str) -> Markup {
    let Difference { before: old, now: new, added, removed, changed, sampled, .. } = difference;
    if difference.is_empty() {
        return badges::success("Nothing has changed.");
    }
    let fields = changed_fields(old, new);
    let sample = |fields: &ListingFields| sample_lines(&fields.sample, sampled).join("\n");
    let long: Vec<(&str, &str, String, String)> = [
        ("description", "Description", old.description.clone(), new.description.clone()),
        ("terms", "Terms", old.terms.clone(), new.terms.clone()),
        ("sample", "Content of the sample", sample(old), sample(new)),
    ]
    .into_iter()
    .filter(|(_, _, old, new)| old != new)
    .collect();
    html! {
        @if !fields.is_empty() { (tables::section("changed-fields", "Title, price, and conditions", &field_table(&fields))) }
        @for (id, heading, old, new) in &long {
            (tables::section(&format!("changed-{id}"), heading, &texts((before, "Now"), old, new)))
        }
        (asset_section("added-assets", "Assets added", added))
        (asset_section("removed-assets", "Assets removed", removed))
        (asset_section("changed-assets", "Assets changed", changed))
    }
}

/// Returns the short fields that differ: their names, and their values before and now.
fn changed_fields(old: &ListingFields, new: &ListingFields) -> Vec<(&'static str, String, String)> {
    let value = |show: &dyn Fn(&ListingFields) -> String| (show(old), show(new));
    let price = |price: Option<_>| price.map_or_else(|| "none".to_owned(), text::money);
    let fields: [(&'static str, (String, String)); 9] = [
        ("Title", value(&|fields| fields.title.clone())),
        ("Domains", value(&|fields| fields.domain_tags.join(", "))),
        ("Tags", value(&|fields| fields.tag_slugs.join(", "))),
        ("Price", value(&|fields| price(fields.price))),
        ("Price of the sample", value(&|fields| price(fields.sample_price))),
        ("Bids", value(&|fields| bids_text(fields.accepts_bids).to_owned())),
        ("Delivery", value(&delivery)),
        (
            "Available from",
            value(&|fields| fields.available_from.map_or_else(|| "now".to_owned(), text::moment_text)),
        ),
        ("Exclusive sale", value(&|fields| if fields.is_exclusive { "yes" } else { "no" }.to_owned())),
    ];
    let changed = fields.into_iter().filter(|(_, (old, new))| old != new);
    changed.map(|(name, (old, new))| (name, old, new)).collect()
}

fn delivery(fields: &ListingFields) -> String {
    let delivery =
        fields.delivery.map(|(method, expected_days)| listing_view::Delivery { method, expected_days });
    delivery.map_or_else(|| "not stated".to_owned(), listing_view::Delivery::text)
}

/// Shows fields that differ: names, and values before and now.
fn field_table(fields: &[(&'static str, String, String)]) -> Markup {
    let cell = |value: &str, marked: Markup| {
        html! { @if value.is_empty() { span.note { "none" } } @else { (marked) } }
    };
    let row = |(name, old, new): &(&'static str, String, String)| {
        [
            Head::text("Field").cell(name),
            Head::text("Before").cell(cell(old, html! { del.long { bdi { (old) } } })),
            Head::text("Now").cell(cell(new, html! { ins.long { bdi { (new) } } })),
        ]
    };
    tables::of("Changed fields", fields, row)
}

fn asset_section(id: &str, heading: &'static str, changes: &AssetChanges) -> Markup {
    let left_out = changes.total.saturating_sub(changes.first.len() as u64);
    let content = html! {
        (tables::of(heading, &changes.first, asset_row))
        @if left_out > 0 { p.note { "And " (text::counted(left_out, "more asset", "more assets")) "." } }
    };
    let heading = format!("{heading}: {}", text::grouped(changes.total));
    html! { @if changes.total > 0 { (tables::section(id, &heading, &content)) } }
}

fn asset_row(change: &AssetChange) -> [Cell; 4] {
    let title = html! { @match (&change.title_before, &change.title_now) {
        (Some(old), Some(new)) if old != new => { del.long { bdi { (old) } } " " ins.long { bdi { (new) } } },
        (Some(title), _) | (None, Some(title)) => { span.long { bdi { (title) } } },
        (None, None) => (text::MISSING),
    } };
    let is_same = change.content_before == change.content_now;
    let content = |content: &Option<String>| {
        html! { @match content {
            Some(content) => { span.mono.long { (content) } @if is_same { span.note { " (the same)" } } },
            None => (text::MISSING),
        } }
    };
    [
        Head::text("Asset").cell(title),
        Head::text("Kind").cell(text::words(kinds::words(change.kind).0)),
        Head::text("Data before").cell(content(&change.content_before)),
        Head::text("Data now").cell(content(&change.content_now)),
    ]
}

/// The content of a sample from an asset for which no parts were chosen.
const DEFAULT_PARTS: &str = "no choice of parts, so the README, the license, and the first files or tasks";

/// Returns the lines that state what a sample has: one for each asset, whose titles are given by ID.
fn sample_lines(sample: &[SampledAsset], titles: &BTreeMap<Uuid, String>) -> Vec<String> {
    let line = |asset: &SampledAsset| {
        let paths = asset.selection.paths.iter().flatten().cloned();
        let tasks = asset.selection.task_ids.iter().flatten().map(|id| format!("task {id}"));
        let parts: Vec<String> = paths.chain(tasks).collect();
        let what = if parts.is_empty() { DEFAULT_PARTS.to_owned() } else { parts.join(", ") };
        let title =
            titles.get(&asset.asset_id).map_or("A deleted asset", |title| samples::title_or_default(title));
        format!("{title}: {what}")
    };
    sample.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::samples::Selection;

    /// Writes the pieces with the removed ones in brackets, and the added ones in braces.
    fn marked(before: &str, now: &str) -> String {
        let pieces = by_word(before, now);
        let of = |side: Change| -> String {
            let kept = pieces.iter().filter(|(change, _)| [Change::Kept, side].contains(change));
            kept.map(|(_, piece)| piece.as_str()).collect()
        };
        assert_eq!((of(Change::Removed).as_str(), of(Change::Added).as_str()), (before, now));
        let piece = |(change, piece): &Piece| match change {
            Change::Kept => piece.clone(),
            Change::Removed => format!("[{piece}]"),
            Change::Added => format!("{{{piece}}}"),
        };
        pieces.iter().map(piece).collect()
    }

    #[test]
    fn samples_name_their_assets() {
        let sampled = |number: u128, paths: Option<&str>| SampledAsset {
            asset_id: Uuid::from_u128(number),
            selection: Selection { paths: paths.map(|path| vec![path.to_owned()]), task_ids: None },
        };
        let titles = BTreeMap::from([(Uuid::from_u128(1), "Maps".to_owned())]);
        let lines = sample_lines(&[sampled(1, Some("docs/")), sampled(1, None), sampled(2, None)], &titles);
        let expected =
            ["Maps: docs/", &format!("Maps: {DEFAULT_PARTS}"), &format!("A deleted asset: {DEFAULT_PARTS}")];
        assert_eq!(lines, expected);
    }

    #[test]
    fn texts_are_compared_by_word() {
        for (before, now, expected) in [
            ("", "", ""),
            ("same text", "same text", "same text"),
            ("", "new", "{new}"),
            ("old", "", "[old]"),
            ("a red fox", "a blue fox", "a [red]{blue} fox"),
            ("a fox", "a quick fox", "a {quick }fox"),
            ("one\ntwo\nthree\n", "one\n2\nthree\n", "one\n[two]{2}\nthree\n"),
            ("one\ntwo\n", "zero\none\ntwo\n", "{zero\n}one\ntwo\n"),
            ("é ü", "é ö", "é [ü]{ö}"),
        ] {
            assert_eq!(marked(before, now), expected, "{before:?} {now:?}");
        }
    }

    #[test]
    fn long_texts_are_compared_in_bounded_time() {
        let text =
            |word: &str| (0..5_000).map(|number| format!("{word}{number}")).collect::<Vec<_>>().join(" ");
        let (before, now) = (format!("start {} end", text("a")), format!("start {} end", text("b")));
        let pieces = by_word(&before, &now);
        assert_eq!(pieces.len(), 4, "kept, removed, added, kept");
    }

    #[test]
    fn texts_of_vendors_are_escaped() {
        let shown = texts(("Before", "Now"), "a <b>\nc", "a <i>\nc").into_string();
        assert!(shown.contains("<del>&lt;b&gt;</del>") && shown.contains("<ins>&lt;i&gt;</ins>"), "{shown}");
        assert!(shown.contains("<br>c"), "{shown}");
    }
}
