//! The linked data of an asset: its state, its measurements, and the actions.

use super::{path, structure};
use crate::{
    console::{
        parts::{assets, bars, markdown},
        prelude::*,
    },
    domain::{
        assets::{ArtifactStatus, Channel, Kind},
        inventory::AttachedData,
    },
    operations::asset_details::AssetDetails,
};

/// Number of file extensions that are shown.
const MAX_EXTENSIONS: usize = 40;

/// Returns the state of the data; nothing for kinds that the market stores itself.
pub fn badge(details: &AssetDetails) -> Markup {
    html! { @if let Some(state) = assets::data_state(&details.asset) { (badges::of(state)) } }
}

/// Returns the section about the data; nothing for kinds that the market stores itself.
pub fn section(context: &Context, details: &AssetDetails) -> Markup {
    let asset = &details.asset;
    let content = match &asset.data {
        Some(data) => linked(context, details, data),
        None if asset.kind.supports_proposals() => missing(context, details),
        None => return Markup::default(),
    };
    tables::section("data", "Data", &content)
}

fn missing(context: &Context, details: &AssetDetails) -> Markup {
    let asset = &details.asset;
    let to = |verb: &str| context.links.to(&path(asset.id, verb));
    html! {
        p { "No data is linked. Buyers get what you link here, and the market reads from it what the fields say." }
        div.row {
            @if asset.kind == Kind::Codebase { a.button href=(to("repository")) { "Link a repository" } }
            a.button href=(to("file")) { "Upload a zip archive" }
        }
    }
}

fn linked(context: &Context, details: &AssetDetails, data: &AttachedData) -> Markup {
    let detach = context.links.to(&path(details.asset.id, "detach"));
    html! {
        (tables::facts(&facts(details, data)))
        (languages(details))
        (structure::tree(&details.tree))
        (structure::tables_of(details.dataset.as_ref()))
        div.row { a.button.quiet href=(detach) { "Detach the data…" } }
    }
}

/// Says why there is no data, or why it cannot be read, and offers to try again. Shows nothing if there is no problem.
pub fn problems(context: &Context, details: &AssetDetails) -> Markup {
    let Some(data) = &details.asset.data else { return Markup::default() };
    let tone = if details.is_in_progress { Tone::Waiting } else { Tone::Bad };
    let can_retry = !details.is_in_progress && data.channel != Channel::Zip;
    html! {
        @if let Some(error) = &data.archive_error {
            (badges::message(tone, html! {
                b { @if details.is_in_progress { "Copying failed, and is tried again. " } @else { "The data could not be copied. " } }
                span.long { (error) }
            }))
            @if can_retry && data.archive_status == ArtifactStatus::Failed {
                (fields::button(context, &path(details.asset.id, "retry"), "Try again", ""))
            }
        }
        @if let Some(error) = &data.analysis_error {
            (badges::message(tone, html! { b { "The data could not be analyzed. " } span.long { (error) } }))
        }
        @if data.archive_error.is_none() && let Some(reason) = &details.not_readable {
            (badges::warning(html! { b { "Its files cannot be checked. " } (reason) }))
        }
    }
}

fn facts(details: &AssetDetails, data: &AttachedData) -> Vec<(&'static str, Markup)> {
    let known = &details.facts;
    let mut facts = vec![("Source", html! { (assets::channel(data.channel)) })];
    facts.extend(
        known.repository.as_ref().map(|repository| ("Repository", html! { span.mono.long { (repository) } })),
    );
    facts.extend(known.file.as_ref().map(|(name, _)| ("File", html! { bdi.long { (name) } })));
    let copied = if data.channel == Channel::Zip { "Stored" } else { "Copied" };
    facts.push((copied, step(data.archive_status)));
    facts.push(("Analyzed", html! { (step(data.analysis_status)) @if let Some(at) = data.analyzed_at { " " span.note { (text::moment(at)) } } }));
    facts.extend(data.archive_bytes.map(|bytes| {
        (
            "Size",
            html! {
                (text::size(bytes.unsigned_abs())) " zipped"
                @if let Some(bytes) = known.unpacked_bytes { ", " (text::size(bytes)) " unpacked" }
            },
        )
    }));
    facts.extend(
        known.file.as_ref().map(|(_, digest)| ("SHA-256 digest", html! { span.mono.long { (digest) } })),
    );
    facts.extend(data.commit_sha.as_ref().map(|commit| ("Commit", html! { span.mono.long { (commit) } })));
    facts.extend(known.file_count.map(|count| ("Files", html! { (text::grouped(count)) })));
    if !known.file_extensions.is_empty() {
        facts.push(("Kinds of files", extensions(&known.file_extensions)));
    }
    // Before anything was copied, nothing is known about the access.
    if data.channel != Channel::Zip && data.archive_status == ArtifactStatus::Completed {
        facts.push(("Access", html! { @if data.is_private { "Needs credentials" } @else { "Public" } }));
    }
    facts.extend(data.manifest_url.as_ref().map(|manifest| ("Your manifest", address(manifest))));
    facts.push(("Linked", text::moment(data.attached_at)));
    facts
}

/// Returns the state of a step.
fn step(status: ArtifactStatus) -> Markup {
    badges::of(match status {
        ArtifactStatus::Pending => (Tone::Waiting, "Waits for its turn"),
        ArtifactStatus::Running => (Tone::Waiting, "In progress"),
        ArtifactStatus::Completed => (Tone::Good, "Done"),
        ArtifactStatus::Failed => (Tone::Bad, "Failed"),
        ArtifactStatus::Skipped => (Tone::Neutral, "Not done, since there is no copy"),
    })
}

fn extensions(extensions: &[String]) -> Markup {
    let shown: Vec<&str> = extensions.iter().take(MAX_EXTENSIONS).map(String::as_str).collect();
    let more = extensions.len() - shown.len();
    html! { span.mono.long { (shown.join(" ")) } @if more > 0 { " and " (more) " more" } }
}

fn address(text: &str) -> Markup {
    html! { @match markdown::web_address(text) {
        Some(address) => a.long href=(address) rel="nofollow noopener" { (text) },
        None => span.mono.long { (text) },
    } }
}

/// Returns the languages of a codebase by their share of the bytes.
fn languages(details: &AssetDetails) -> Markup {
    let bytes = &details.facts.languages;
    let total: u64 = bytes.values().sum();
    if total == 0 {
        return Markup::default();
    }
    let mut sorted: Vec<(&String, u64)> = bytes.iter().map(|(slug, bytes)| (slug, *bytes)).collect();
    sorted.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let name = |slug: &String| details.language_names.get(slug).cloned().unwrap_or_else(|| text::words(slug));
    let shares: Vec<(String, f64)> =
        sorted.iter().map(|(slug, bytes)| (name(slug), *bytes as f64 / total as f64)).collect();
    let row = |((_, bytes), (name, share)): (&(&String, u64), &(String, f64))| {
        [
            Head::text("Language").cell(name),
            Head::number("Share").cell(text::percent(*share)),
            Head::number("Size").cell(text::size(*bytes)),
        ]
    };
    html! {
        h3 { "Languages" }
        (bars::bar(&shares, "bar"))
        (bars::legend(&shares))
        details #languages-table { summary { "As a table" } (tables::of("Languages", sorted.iter().zip(&shares), row)) }
    }
}
