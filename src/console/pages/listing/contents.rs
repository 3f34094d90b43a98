//! What a listing contains: assets, languages, formats, tasksets, and files.

use std::collections::BTreeMap;

use marketplace_index::Facet;

use super::page_data::ListingPageData;
use crate::console::{
    parts::{
        bars,
        listing_view::{
            AssetScale, Delivery, Details, LanguageShare, ListedAsset, ListedTaskset, StatedFile,
            description_only,
        },
    },
    prelude::*,
};

/// Maximum number of files and of tasksets that are shown.
const MAX_ROWS: usize = 100;

/// Maximum number of domains, tags, and formats that are shown of each.
const MAX_WORDS: usize = 40;

/// Shows what a listing contains.
pub(super) fn contents(context: &Context, shown: &ListingPageData, details: &Details) -> Markup {
    html! {
        (assets(shown, details))
        (facts(context, shown, details))
        @if !details.languages.is_empty() { (languages(shown, details)) }
        @if !details.tasksets.is_empty() { (tasksets(context, shown, details)) }
        @if !shown.files.is_empty() { (files(shown)) }
    }
}

fn assets(shown: &ListingPageData, details: &Details) -> Markup {
    let summary = &shown.listing.summary;
    let row = |asset: &ListedAsset| {
        let retires = summary.deprecation.kinds.contains(&asset.kind);
        let kind = html! { (text::words(kinds::words(asset.kind).0)) @if retires { span.note { " (retired soon)" } } };
        let name = html! {
            bdi { (asset.title) }
            @if shown.without_data.contains(&asset.id) { br; span.note { (description_only(None)) } }
        };
        let amount = amount(&asset.scale);
        [Head::text("Asset").cell(name), Head::text("Kind").cell(kind), Head::number("Amount").cell(amount)]
    };
    let all: u64 = summary.scale.asset_counts.values().sum();
    let left_out = all.saturating_sub(summary.assets.len() as u64);
    let by_vendor = details.delivery.filter(|_| !shown.without_data.is_empty()).and_then(Delivery::by_vendor);
    html! {
        @if summary.assets.is_empty() { p { "This listing has no assets." } }
        @else { (tables::of("Assets", &summary.assets, row)) }
        @if left_out > 0 { p.note { "And " (text::counted(left_out, "more asset", "more assets")) ". In all: " (summary.scale.contents()) "." } }
        @if let Some(by_vendor) = by_vendor { p.note { (by_vendor) } }
        @if let Some(at) = summary.deprecation.retires_at {
            p.note { "The market will stop trading a kind of asset in this listing on " (text::day(at)) ". What you buy stays yours." }
        }
    }
}

fn amount(scale: &AssetScale) -> String {
    let lines = scale.loc.map(|lines| text::counted(lines, "line", "lines"));
    let tasks = || scale.task_count.map(|tasks| text::counted(tasks, "task", "tasks"));
    let size = || scale.zip_size_bytes.map(|bytes| format!("{} zipped", text::size(bytes)));
    lines.or_else(tasks).or_else(size).unwrap_or_else(|| text::MISSING.to_owned())
}

/// Shows domains and tags, which lead to other listings with them, and formats.
fn facts(context: &Context, shown: &ListingPageData, details: &Details) -> Markup {
    let labels = |facet: Facet, slugs: &[String], labels: &BTreeMap<String, String>| {
        let link = |slug: &String| {
            let query = Query::default().with(facet.name(), slug);
            let label = labels.get(slug).unwrap_or(slug);
            // Operators, who have no catalog, read the listing as well.
            if context.team().is_none() {
                return html! { span.long { bdi { (label) } } };
            }
            html! { a.long href=(query.at(&context.links.to(paths::CATALOG))) { bdi { (label) } } }
        };
        slugs.iter().map(link).collect::<Vec<_>>()
    };
    let words = |values: &[String], mark: &str| {
        let word = |value: &String| html! { span.long { bdi { (mark) (value) } } };
        values.iter().map(word).collect::<Vec<_>>()
    };
    let facts: Vec<(&str, Markup)> = [
        ("Domains", labels(Facet::Tags, &shown.listing.summary.domain_tags, &shown.domain_labels)),
        ("Tags", labels(Facet::TagSlugs, &details.tag_slugs, &shown.tag_labels)),
        ("Environments offer", words(&details.capabilities, "")),
        ("File formats", words(&details.file_extensions, ".")),
        ("Robotics formats", words(&details.robotics_formats, "")),
    ]
    .into_iter()
    .filter(|(_, values)| !values.is_empty())
    .map(|(name, values)| {
        (name, html! { @for (index, value) in values.iter().take(MAX_WORDS).enumerate() { @if index > 0 { ", " } (value) }
            @if values.len() > MAX_WORDS { span.note { ", and " (values.len() - MAX_WORDS) " more" } } })
    })
    .collect();
    html! { @if !facts.is_empty() { (tables::facts(&facts)) } }
}

fn languages(shown: &ListingPageData, details: &Details) -> Markup {
    let shares = shown.listing.shares();
    let row = |(language, (_, share)): (&LanguageShare, &(String, f64))| {
        [
            Head::text("Language").cell(&language.name),
            Head::number("Bytes").cell(text::grouped(language.bytes)),
            Head::number("Share").cell(text::percent(*share)),
        ]
    };
    html! {
        div.stack {
            h3 { "Languages by bytes" }
            (bars::bar(&shares, "bar"))
            (bars::legend(&shares))
            details { summary { "Languages as a table" } (tables::of("Languages", details.languages.iter().zip(&shares), row)) }
        }
    }
}

fn tasksets(context: &Context, shown: &ListingPageData, details: &Details) -> Markup {
    let listing = shown.listing.summary.id;
    let is_link = context.team().is_some();
    let row = |taskset: &ListedTaskset| {
        let address = context.links.to(&paths::taskset(listing, taskset.id));
        let name = html! { @if is_link { a href=(address) { bdi { (taskset.name) } } } @else { bdi { (taskset.name) } } };
        [Head::text("Taskset").cell(name), Head::number("Tasks").cell(text::grouped(taskset.task_count))]
    };
    let left_out = details.tasksets.len().saturating_sub(MAX_ROWS);
    html! {
        div.stack {
            h3 { "Tasksets" }
            (tables::of("Tasksets", details.tasksets.iter().take(MAX_ROWS), row))
            @if left_out > 0 { p.note { "And " (text::counted(left_out as u64, "more taskset", "more tasksets")) "." } }
            @if context.team().is_some() { p.note { "Open a taskset to see its newest tasks, with their versions and the rewards of runs on them." } }
        }
    }
}

fn files(shown: &ListingPageData) -> Markup {
    let size: u64 = shown.files.iter().map(|(_, file)| file.size_bytes).sum();
    let row = |(path, file): &(String, StatedFile)| {
        [
            Head::text("Path").cell(html! { span.mono.long { bdi { (path) } } }),
            Head::number("Bytes").cell(text::grouped(file.size_bytes)),
            Head::text("SHA-256 digest").cell(html! { span.mono.long { (file.sha256) } }),
        ]
    };
    let left_out = shown.files.len().saturating_sub(MAX_ROWS);
    html! {
        details {
            summary { "Files in the delivery: " (text::grouped(shown.files.len() as u64)) ", " (text::size(size)) }
            (tables::of("Files", shown.files.iter().take(MAX_ROWS), row))
            @if left_out > 0 { p.note { "And " (text::counted(left_out as u64, "more file", "more files")) ". The receipt has all of them." } }
        }
    }
}
