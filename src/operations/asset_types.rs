//! Changes of asset kinds, for operators of the market: whether vendors can create assets of a kind, and its
//! retirement.

use super::{access::Platform, notifications};
use crate::{
    domain::{
        assets::Kind,
        collections::Collection,
        due_steps::{StepKind, StepSubject},
        events::{AffectedTeams, AssetTypeData, AssetTypeDeprecatedData, EventData, MAX_LISTED_IDS},
        notifications::NotificationType,
        problems::Problems,
        state_machine::StateMachine,
        taxonomy::{AssetType, AssetTypeOperation, AssetTypeState, Deprecation, Retirement},
        texts,
        time::Timestamp,
        written,
    },
    error::{Error, Problem, Result},
    market::Writer,
    request_problems::ProblemsExt,
    store::{self, notifications::BulkNotification},
    string_enum::StringEnum,
};

/// The retirement of an asset kind, as an operator announces it.
#[derive(Clone, Debug)]
pub struct DeprecationInput<'a> {
    /// Time at which the kind retires, in the future.
    pub retires_at: Timestamp,
    /// Whether assets of this kind can still be added to listings.
    pub accepts_new_listings: bool,
    /// Explanation for vendors, 1 to 2,000 characters.
    pub message: &'a str,
}

/// Creates or replaces an asset kind. If its deprecation is announced, it retires at the announced time, unless it
/// has retired already.
pub fn set(writer: &Writer, _: Platform, asset_type: &AssetType) -> Result<()> {
    write(writer, asset_type)?;
    let subject = store::taxonomy::asset_type_row_id(writer.rows, asset_type.kind)?;
    match find_retirement(writer, asset_type.kind)? {
        Some(Retirement { announced, retired_at: None }) => {
            writer.schedule(StepKind::AssetTypeRetires, subject, announced.retires_at)
        }
        _ => writer.unschedule(StepKind::AssetTypeRetires, subject),
    }
}

fn write(writer: &Writer, asset_type: &AssetType) -> Result<()> {
    store::taxonomy::upsert_asset_type(writer.rows, asset_type)?;
    store::taxonomy::queue_listings(writer.rows, asset_type.kind)
}

/// Decides whether vendors can create assets of a kind. Existing assets stay.
pub fn set_enabled(writer: &mut Writer, _: Platform, kind: Kind, is_enabled: bool) -> Result<AssetType> {
    let (mut asset_type, state) = find(writer, kind)?;
    let operation = if is_enabled { AssetTypeOperation::Enable } else { AssetTypeOperation::Disable };
    let after = state.check(operation)?;
    if after == state {
        return Ok(asset_type);
    }
    asset_type.is_enabled = after.is_enabled;
    write(writer, &asset_type)?;
    let data = AssetTypeData { asset_type: kind };
    let event = if is_enabled { EventData::AssetTypeEnabled } else { EventData::AssetTypeDisabled };
    writer.emit(None, kind.as_str(), &event(data))?;
    Ok(asset_type)
}

/// Announces the retirement of a kind to the vendors who have such assets or listings, or changes what was
/// announced.
pub fn deprecate(
    writer: &mut Writer,
    platform: Platform,
    kind: Kind,
    input: &DeprecationInput,
) -> Result<AssetType> {
    let (mut asset_type, state) = find(writer, kind)?;
    state.check(AssetTypeOperation::Deprecate)?;
    let deprecated_at = asset_type.deprecation.as_ref().map_or(writer.now, |earlier| earlier.deprecated_at);
    let deprecation = check_input(input, deprecated_at, writer.now)?;
    if asset_type.deprecation.as_ref() == Some(&deprecation) {
        return Ok(asset_type);
    }
    asset_type.deprecation = Some(deprecation.clone());
    set(writer, platform, &asset_type)?;
    let Deprecation { retires_at, accepts_new_listings, message, .. } = deprecation;
    let retires = written::moment_text(retires_at);
    let text = format!("{} will be retired at {retires}. {message}", asset_type.label);
    let (count, team_ids) = store::taxonomy::find_vendors(writer.rows, kind, MAX_LISTED_IDS)?;
    if notifications::are_sent(writer) {
        let page = format!("/inventory?kind={}", kind.as_str());
        let notification = BulkNotification {
            kind: NotificationType::AssetTypeDeprecated,
            text: ("Asset type deprecated", &text),
            owner: None,
            link: None,
            page: Some(&page),
            opportunity: None,
            seed: writer.new_id(Collection::Notifications),
            created_at: writer.now,
        };
        store::taxonomy::notify_vendors(writer.rows, kind, &notification)?;
    }
    let data = AssetTypeDeprecatedData {
        asset_type: kind,
        deprecated_at,
        retires_at,
        accepts_new_listings,
        message,
        vendors: AffectedTeams { count, team_ids },
    };
    writer.emit(None, kind.as_str(), &EventData::AssetTypeDeprecated(data))?;
    Ok(asset_type)
}

fn check_input(input: &DeprecationInput, deprecated_at: Timestamp, now: Timestamp) -> Result<Deprecation> {
    let message = input.message.trim();
    let mut problems = Problems::default();
    if input.retires_at <= now {
        let rule =
            format!("The kind would have retired at {}. Choose a time in the future.", input.retires_at);
        problems.push(Problem::body(&["retires_at"], "greater_than", rule));
    }
    problems.check_text(&["message"], message, texts::NOTE);
    problems.into_result()?;
    Ok(Deprecation {
        deprecated_at,
        retires_at: input.retires_at,
        accepts_new_listings: input.accepts_new_listings,
        message: message.to_owned(),
    })
}

/// Retires a deprecated kind now, earlier than announced.
pub fn retire(writer: &mut Writer, _: Platform, kind: Kind) -> Result<AssetType> {
    let (mut asset_type, state) = find(writer, kind)?;
    state.check(AssetTypeOperation::Retire)?;
    if let Some(deprecation) = &mut asset_type.deprecation {
        deprecation.retires_at = writer.now;
    }
    write(writer, &asset_type)?;
    let subject = store::taxonomy::asset_type_row_id(writer.rows, kind)?;
    writer.unschedule(StepKind::AssetTypeRetires, subject)?;
    record_retirement(writer, kind)?;
    Ok(asset_type)
}

/// Carries out the retirement of a kind at the announced time.
pub fn retire_when_due(writer: &mut Writer, subject: StepSubject) -> Result<()> {
    let kind = store::taxonomy::find_asset_type(writer.rows, subject)?
        .ok_or_else(|| Error::internal("an asset kind that retires does not exist"))?;
    match find_retirement(writer, kind)? {
        Some(Retirement { retired_at: None, .. }) => record_retirement(writer, kind),
        _ => Ok(()),
    }
}

/// Records that a kind has retired. From now on, listings with such assets state it.
fn record_retirement(writer: &Writer, kind: Kind) -> Result<()> {
    store::taxonomy::record_retirement(writer.rows, kind, writer.now)?;
    store::taxonomy::queue_listings(writer.rows, kind)?;
    writer.emit(None, kind.as_str(), &EventData::AssetTypeRetired(AssetTypeData { asset_type: kind }))
}

/// Returns a kind and its state.
fn find(writer: &Writer, kind: Kind) -> Result<(AssetType, AssetTypeState)> {
    let found = store::taxonomy::asset_types(writer.rows)?.into_iter().find(|found| found.kind == kind);
    let asset_type = found.ok_or_else(|| Error::not_found(format!("asset type {}", kind.as_str())))?;
    let retirement = find_retirement(writer, kind)?;
    let state = AssetTypeState::new(asset_type.is_enabled, retirement.as_ref(), writer.now);
    Ok((asset_type, state))
}

/// Returns the announced retirement of a kind.
fn find_retirement(writer: &Writer, kind: Kind) -> Result<Option<Retirement>> {
    Ok(store::taxonomy::deprecations(writer.rows)?.remove(&kind))
}
