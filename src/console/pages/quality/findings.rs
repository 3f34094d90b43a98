//! Findings of the latest runs by check, and findings of one check by asset and by file.

use super::{FINDINGS, tabs};
use crate::{
    console::{
        pages::own_listings::title_of,
        parts::{evidence, findings},
        prelude::*,
    },
    operations::quality_reports::{self, MAX_RUNS_OF_FINDINGS},
    store::{
        quality_checks::CheckedAsset,
        quality_reports::{Finding, FoundByCheck},
    },
};

/// Field of the query with the slug of the check whose findings are shown.
const CHECK: &str = "check";

/// Number of findings of one check that are shown.
const MAX_FINDINGS: usize = 200;

/// Number of files that are shown.
const MAX_FILES: usize = 200;

/// The page.
pub struct Findings;

impl Page<Vendor> for Findings {
    const PATH: &'static str = FINDINGS;
    const TITLE: &'static str = "Findings";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let chosen = visit.query.get(CHECK).map(str::to_owned);
        let key = chosen.clone();
        let read = move |reader: &Reader, vendor: &Vendor| {
            let checks = quality_reports::findings_by_check(reader, vendor)?;
            let of_check = match key {
                // One more than is shown says whether there are others.
                Some(key) => quality_reports::findings_of_check(reader, vendor, &key, MAX_FINDINGS + 1)?,
                None => Vec::new(),
            };
            Ok((checks, of_check))
        };
        let (checks, of_check) = visit.read(read).await?;
        let check = chosen.and_then(|key| checks.iter().find(|check| check.key == key));
        Ok(match check {
            Some(check) => of_one_check(&visit.context, check, &of_check),
            None => all_checks(&visit.context, &checks),
        }
        .into())
    }
}

fn all_checks(context: &Context, checks: &[FoundByCheck]) -> Content {
    let body = html! {
        (tabs(&context.links, FINDINGS))
        @if checks.is_empty() {
            (tables::empty(
                "Nothing to correct",
                "No check of the latest runs failed. What was not checked yet has no findings either.",
                Some(("See the runs", &context.links.to(paths::QUALITY))),
            ))
        } @else {
            (tables::of("Findings by check", checks, |check| check_row(context, check)))
            p.note {
                "Counted are the latest completed runs of your assets and listings, among your newest "
                (text::grouped(MAX_RUNS_OF_FINDINGS.into())) " runs."
            }
        }
    };
    Content::new(Findings::TITLE, body)
        .with_parent("Quality", paths::QUALITY)
        .with_note(html! { "What the latest runs found, by check. Required checks come first." })
}

fn check_row(context: &Context, check: &FoundByCheck) -> [Cell; 5] {
    let address = context.here(&Query::default().with(CHECK, &check.key));
    let label = html! { a.long href=(address) { bdi { (check.label) } } span.note { " " (evidence::maker(check.kind)) } };
    [
        Head::text("Check").cell(label),
        Head::text("Result").cell(badges::of(evidence::verdict(check.status, check.is_mandatory))),
        Head::text("Weight").cell(if check.is_mandatory { "Required" } else { "Not required" }),
        Head::number("Findings").cell(text::grouped(check.findings)),
        Head::number("Assets").cell(text::grouped(check.subjects)),
    ]
}

fn of_one_check(context: &Context, check: &FoundByCheck, found: &[Finding]) -> Content {
    let shown = &found[..found.len().min(MAX_FINDINGS)];
    let body = html! {
        (tables::section("by-asset", "By asset", &html! {
            (tables::of("Findings by asset", shown, |finding| finding_row(context, finding)))
            @if found.len() > shown.len() { p.note { "These are the newest " (shown.len()) " findings of this check." } }
        }))
        (by_file(context, shown))
    };
    Content::new(&check.label, body)
        .with_parent("Quality", paths::QUALITY)
        .with_parent("Findings", FINDINGS)
        .with_note(html! {
            @if check.is_mandatory { "Required" } @else { "Not required" } " · " (evidence::maker(check.kind)) " · "
            (text::counted(check.findings, "finding", "findings"))
        })
}

fn finding_row(context: &Context, finding: &Finding) -> [Cell; 4] {
    let (run, check) = (finding.run, &finding.check);
    let address = context.links.to(&format!("{}/runs/{run}", paths::QUALITY));
    let open =
        html! { a href=(address) { "Open" span.out { " the run of " bdi { (subject_name(finding)) } } } };
    let found = check.message.as_deref().unwrap_or(text::MISSING);
    [
        Head::text("Asset or listing").cell(subject(context, finding)),
        Head::text("Result").cell(badges::of(evidence::verdict(check.status, check.is_mandatory))),
        Head::text("What was found").cell(html! { span.long { (found) } }),
        Head::text("Run").cell(open),
    ]
}

/// Shows the subject of a finding: an asset, with the listing in whose run it was checked, or the listing.
fn subject(context: &Context, finding: &Finding) -> Markup {
    let (name, listing) = (subject_name(finding), finding.listing.as_ref());
    let path = match (&finding.check.asset, listing) {
        (Some(asset), _) => asset.readable_id().map(paths::asset),
        (None, Some((id, _))) => Some(paths::own_listing(*id)),
        (None, None) => None,
    };
    html! {
        @match path {
            Some(path) => a.long href=(context.links.to(&path)) { bdi { (name) } },
            None => span.long { bdi { (name) } },
        }
        @match (&finding.check.asset, listing) {
            (Some(_), Some((_, title))) => { br; span.note.long { "in the listing " bdi { (title_of(title)) } } }
            (None, Some(_)) => { br; span.note { "the whole listing" } }
            _ => {}
        }
    }
}

fn subject_name(finding: &Finding) -> String {
    match &finding.check.asset {
        Some(asset) => findings::name(asset),
        None => finding.listing.as_ref().map_or("The whole listing", |(_, title)| title_of(title)).to_owned(),
    }
}

/// Returns the files that the findings name: one row for each file of an asset.
fn by_file(context: &Context, found: &[Finding]) -> Markup {
    let mut files: Vec<(&Finding, String, Vec<u64>)> = Vec::new();
    let about = |finding: &Finding| {
        let asset: Option<&CheckedAsset> = finding.check.asset.as_ref();
        asset.map(|asset| asset.id).or(finding.listing.as_ref().map(|(id, _)| *id))
    };
    for finding in found.iter().filter(|finding| findings::names_files(&finding.check)) {
        for place in findings::places(finding.check.message.as_deref().unwrap_or_default()) {
            let is_same = |file: &&mut (&Finding, String, Vec<u64>)| {
                about(file.0) == about(finding) && file.1 == place.path
            };
            match files.iter_mut().find(is_same) {
                Some(file) => file.2.extend(place.line),
                None => files.push((finding, place.path, place.line.into_iter().collect())),
            }
        }
    }
    let row = |(finding, path, lines): &(&Finding, String, Vec<u64>)| {
        let lines: Vec<String> = lines.iter().map(u64::to_string).collect();
        let lines = if lines.is_empty() { text::MISSING.to_owned() } else { lines.join(", ") };
        [
            Head::text("File").cell(html! { span.mono.long { bdi { (path) } } }),
            Head::text("Asset or listing").cell(subject(context, finding)),
            Head::text("Lines").cell(lines),
        ]
    };
    html! { @if !files.is_empty() {
        (tables::section("by-file", "By file", &html! {
            (tables::of("Findings by file", files.iter().take(MAX_FILES), row))
            p.note { "A check names the first places only. It can have found more than these." }
            @if files.len() > MAX_FILES { p.note { "And " (files.len() - MAX_FILES) " more files." } }
        }))
    } }
}
