//! Assets in words: their kinds, stages, sources, required fields, and how far their data is.

use marketplace_text::is_blank;
use maud::{Markup, html};

use super::{
    badges::{self, Tone},
    kinds, text,
};
use crate::{
    domain::{
        assets::{ArtifactStatus, Channel, Kind},
        field_locks::{FieldLocks, LockSource},
        inventory::{Asset, AttachedData},
        stages::{RequiredField, Stage},
        taxonomy::Label,
    },
    string_enum::StringEnum,
};

/// Returns the name of a kind, such as `Codebase`.
pub fn kind(kind: Kind) -> String {
    text::words(kinds::words(kind).0)
}

/// Returns the name of an asset, or a text that says that it has none.
pub fn name(asset: &Asset) -> &str {
    if is_blank(&asset.title) { "Without a name" } else { &asset.title }
}

/// Returns the name of a stage.
pub const fn stage(stage: Stage) -> &'static str {
    match stage {
        Stage::Incomplete => "Incomplete",
        Stage::Proposed => "Proposed",
        Stage::Complete => "Complete",
    }
}

/// Whether data is linked to an asset, but the market could not copy it.
fn lacks_linked_data(asset: &Asset) -> bool {
    asset.data.as_ref().is_some_and(|data| data.archive_status == ArtifactStatus::Failed)
}

/// Returns the stage of an asset in words. The stage counts linked data, whether or not the market has it.
pub fn stage_text(asset: &Asset) -> &'static str {
    match asset.stage() {
        Stage::Complete if lacks_linked_data(asset) => "Complete, without data",
        other => stage(other),
    }
}

/// Returns the stage of an asset, with the number of required fields that are missing.
pub fn stage_badge(asset: &Asset) -> Markup {
    match asset.stage() {
        Stage::Incomplete => {
            badges::badge(Tone::Warning, &format!("{} missing", asset.missing_fields().len()))
        }
        Stage::Proposed => badges::badge(Tone::Waiting, stage_text(asset)),
        Stage::Complete if lacks_linked_data(asset) => badges::badge(Tone::Neutral, stage_text(asset)),
        Stage::Complete => badges::badge(Tone::Good, stage_text(asset)),
    }
}

/// Returns the name of a source of data.
pub const fn channel(channel: Channel) -> &'static str {
    match channel {
        Channel::Github => "GitHub",
        Channel::Gitlab => "GitLab",
        Channel::Bitbucket => "Bitbucket",
        Channel::Zip => "Zip archive",
    }
}

/// Returns the name of a required field.
pub const fn required_field(field: RequiredField) -> &'static str {
    match field {
        RequiredField::Title => "name",
        RequiredField::Exclusivity => "exclusivity",
        RequiredField::Description => "description",
        RequiredField::DomainTags => "domain",
        RequiredField::PriceUsd => "price",
        RequiredField::LinesOfCode => "lines of code",
        RequiredField::Commits => "commits",
        RequiredField::Contributors => "contributors",
        RequiredField::MergedPrs => "merged pull requests",
        RequiredField::HistoryStart => "first commit",
        RequiredField::HistoryEnd => "last commit",
        RequiredField::CiOnPrs => "CI on pull requests",
    }
}

/// Returns the names of the required fields that an asset lacks; empty if there are none.
pub fn missing(asset: &Asset) -> String {
    let names: Vec<&str> = asset.missing_fields().into_iter().map(required_field).collect();
    names.join(", ")
}

/// Returns the state of an asset's data; `None` for kinds that the platform stores itself.
pub fn data_state(asset: &Asset) -> Option<(Tone, &'static str)> {
    match &asset.data {
        Some(data) => Some(progress(data)),
        None => asset.kind.supports_proposals().then_some((Tone::Neutral, "No data")),
    }
}

/// Returns how far copying and analyzing data is.
pub const fn progress(data: &AttachedData) -> (Tone, &'static str) {
    use ArtifactStatus as S;
    match (data.archive_status, data.analysis_status) {
        (S::Failed, _) => (Tone::Bad, "Copy failed"),
        (S::Pending | S::Running, _) => (Tone::Waiting, "Copying"),
        (_, S::Pending | S::Running) => (Tone::Waiting, "Analyzing"),
        (_, S::Failed) => (Tone::Bad, "Analysis failed"),
        (_, S::Skipped) => (Tone::Neutral, "Not analyzed"),
        (_, S::Completed) => (Tone::Good, "Analyzed"),
    }
}

/// Returns how far the data of an asset is, as a badge.
pub fn data_badge(asset: &Asset) -> Markup {
    html! { @match data_state(asset) {
        Some(state) => (badges::of(state)),
        None => (text::MISSING),
    } }
}

/// Returns the numbers of locked fields by what locks them, such as `5 by data, 2 by a key`; empty if there are none.
pub fn locked(locks: &FieldLocks) -> String {
    let by_key = locks.values().filter(|source| **source == LockSource::Api).count();
    let parts = [(locks.len() - by_key, "by data"), (by_key, "by a key")];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, source)| format!("{count} {source}"))
        .collect();
    parts.join(", ")
}

/// The domain tags of the market, in their order.
#[derive(Clone, Debug, Default)]
pub struct Domains(pub Vec<Label>);

impl Domains {
    /// Returns the label of a tag, or the slug of one that the market no longer has.
    pub fn label<'d>(&'d self, slug: &'d str) -> &'d str {
        self.0.iter().find(|domain| domain.slug == slug).map_or(slug, |domain| domain.label.as_str())
    }

    /// Returns the labels of tags with commas between them.
    pub fn labels(&self, slugs: &[String]) -> String {
        let labels: Vec<&str> = slugs.iter().map(|slug| self.label(slug)).collect();
        labels.join(", ")
    }
}

/// Returns the words for a variant of an enum, such as `Not linked` for `not_linked`.
pub fn variant(value: impl StringEnum) -> String {
    text::words(value.as_str())
}
