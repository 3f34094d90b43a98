//! Estimations: non-binding price quotes for a vendor's sources.

use uuid::Uuid;

use super::{
    access::{Platform, Vendor},
    codebases::{self, LinkRequest},
    notifications::{self, Notice},
    quotas,
};
use crate::{
    domain::{
        assets::Kind,
        estimation_requests::{EstimationRequest, MAX_PENDING, Reading},
        estimations::{
            self as rules, Estimation, EstimationColumn, EstimationField, EstimationStatus, Summary,
        },
        events::{EstimationData, EventData},
        filters::{Condition, SortDirection},
        inventory::{AssetChange, ChangeOrigin},
        jobs::JobKind,
        listings::Actor,
        notifications::NotificationType,
        problems::Problems,
        row_ids::{AssetRowId, EstimationRowId},
    },
    error::{Error, Problem, Result},
    market::{Reader, Writer},
    request_problems::ProblemsExt,
    store::{self, estimations::NewEstimation},
};

/// Returns the team's estimations that match all conditions, newest first.
pub fn list_matching(
    reader: &Reader,
    vendor: &Vendor,
    conditions: &[Condition<EstimationField>],
) -> Result<Vec<Estimation>> {
    let mut found = store::estimations::list(reader.rows, vendor.team_row_id())?;
    let keys: Vec<String> = conditions.iter().map(rules::name_key).collect();
    found.retain(|estimation| {
        conditions.iter().zip(&keys).all(|(condition, key)| estimation.matches(condition, key))
    });
    Ok(found)
}

/// Returns a page of the team's estimations, and the number of all that match. Estimations are few, so all of
/// them are loaded and filtered here.
pub fn page(
    reader: &Reader,
    vendor: &Vendor,
    conditions: &[Condition<EstimationField>],
    sort: Option<(EstimationColumn, SortDirection)>,
    limit: usize,
    offset: u64,
) -> Result<(Vec<Estimation>, u64)> {
    let mut found = list_matching(reader, vendor, conditions)?;
    if let Some((column, direction)) = sort {
        rules::sort_estimations(&mut found, column, direction);
    }
    let total = found.len() as u64;
    let offset = usize::try_from(offset).unwrap_or(usize::MAX);
    Ok((found.into_iter().skip(offset).take(limit).collect(), total))
}

/// Returns a summary of the team's estimations that match all conditions.
pub fn summary(
    reader: &Reader,
    vendor: &Vendor,
    conditions: &[Condition<EstimationField>],
) -> Result<Summary> {
    list_matching(reader, vendor, conditions).map(|found| Summary::from_estimations(&found))
}

/// Returns the latest estimation of each of these assets that has one, in the order of `assets`.
pub fn latest(reader: &Reader, vendor: &Vendor, assets: &[Uuid]) -> Result<Vec<(Uuid, Estimation)>> {
    let all = store::estimations::list(reader.rows, vendor.team_row_id())?;
    let mut distinct: Vec<Uuid> = Vec::new();
    for asset in assets {
        if !distinct.contains(asset) {
            distinct.push(*asset);
        }
    }
    let latest = |asset: Uuid| all.iter().find(|estimation| estimation.asset == Some(asset)).cloned();
    Ok(distinct.into_iter().filter_map(|asset| Some((asset, latest(asset)?))).collect())
}

/// Returns one of the team's estimations.
pub fn find(reader: &Reader, vendor: &Vendor, id: Uuid) -> Result<Estimation> {
    store::estimations::find(reader.rows, vendor.team_row_id(), id)?
        .ok_or_else(|| Error::not_found("estimation"))
}

/// Requests an estimation with this ID, in the name of the user `created_by`. A job measures the source, and then
/// ends it. A team can have at most [`MAX_PENDING`] pending estimations.
pub fn request(
    writer: &mut Writer,
    vendor: &Vendor,
    actor: Actor,
    (id, created_by): (Uuid, Uuid),
    request: &EstimationRequest,
) -> Result<Estimation> {
    let team = vendor.team_row_id();
    let asset = check_request(writer, vendor, request)?;
    let used = store::estimations::count_pending(writer.rows, team)?;
    quotas::check_one_more("team", ("pending_estimations", MAX_PENDING), used)?;
    let new = NewEstimation {
        id,
        team,
        kind: request.sku,
        channel: request.channel.into(),
        repo_full_name: &request.repo_full_name,
        name: request.name(),
        status: EstimationStatus::Pending,
        measured: None,
        quote: None,
        failure_message: None,
        asset,
        created_by,
        created_at: writer.now,
        completed_at: None,
    };
    let row_id = store::estimations::insert(writer.rows, &new)?;
    if let Some(asset) = asset {
        store::inventory::upsert_row(writer.rows, asset)?;
    }
    writer.enqueue(JobKind::Estimate, row_id)?;
    let found = store::estimations::find(writer.rows, team, id)?;
    let requested =
        found.ok_or_else(|| Error::internal("an estimation disappeared in its own transaction"))?;
    let data = EventData::EstimationRequested(event_data(&requested, actor));
    writer.emit(Some(team), id, &data)?;
    Ok(requested)
}

/// Creates a codebase from the repository of an estimation that has none yet, and links the repository to it. Its title is the name
/// of the repository; it is not locked, as if it had been sent with a key. Returns the ID of the codebase.
pub fn add_to_inventory(writer: &mut Writer, vendor: &Vendor, id: Uuid) -> Result<Uuid> {
    let team = vendor.team_row_id();
    let found = store::estimations::find(writer.rows, team, id)?;
    let estimation = found.ok_or_else(|| Error::not_found("estimation"))?;
    if estimation.asset.is_some() {
        return Err(Error::Conflict("The repository is in your inventory already.".to_owned()));
    }
    let channel = estimation.channel.repository();
    let channel = channel.filter(|_| estimation.kind == Kind::Codebase).ok_or_else(|| {
        Error::Conflict("Only repositories that were estimated as codebases can be added.".to_owned())
    })?;
    let change = AssetChange {
        origin: ChangeOrigin::Inventory,
        title: Some(estimation.name),
        ..AssetChange::default()
    };
    let link = LinkRequest { channel, repo_full_name: estimation.repo_full_name };
    let created = codebases::check_and_create(writer, vendor, change, Some(&link))?;
    store::estimations::set_asset(writer.rows, team, id, created.row_id)?;
    store::inventory::upsert_row(writer.rows, created.row_id)?;
    Ok(created.id)
}

/// Fails with everything that is wrong with a request. Returns the row ID of its asset.
fn check_request(
    writer: &Writer,
    vendor: &Vendor,
    request: &EstimationRequest,
) -> Result<Option<AssetRowId>> {
    let mut problems = Problems::default();
    request.check(&mut problems);
    let mut asset = None;
    if let Some(id) = request.inventory_asset_id {
        let found = store::assets::find_own(writer.rows, vendor.team_row_id(), id)?;
        asset = found.filter(|asset| asset.kind == request.sku).map(|asset| asset.row_id);
        if asset.is_none() {
            let message = "Your team has no asset with this ID that is of the kind `sku`.";
            problems.push(Problem::body(&["inventory_asset_id"], "unknown_reference", message));
        }
    }
    problems.into_result()?;
    Ok(asset)
}

/// Ends a pending estimation with a quote from the rates of the settings, without one, or as failed, and notifies
/// its team. An estimation that has ended already stays as it is.
pub fn complete(writer: &mut Writer, _: Platform, row_id: EstimationRowId, reading: Reading) -> Result<()> {
    let Some(pending) = store::estimations::find_pending(writer.rows, row_id)? else { return Ok(()) };
    let mut ended = pending.estimation;
    ended.completed_at = Some(writer.now);
    let mut measured = None;
    match reading {
        Reading::Measured(metrics) => {
            ended.quote = rules::compute_quote(&metrics, &writer.settings.estimations);
            measured = Some(metrics);
        }
        Reading::NoRates => {}
        Reading::Failed(message) => ended.failure_message = Some(message),
    }
    let name = &ended.name;
    let (status, title, message) = if ended.quote.is_some() {
        let message = "The repository was measured, and a quote is in your estimations.";
        (EstimationStatus::Estimated, format!("Quote ready: {name}"), message)
    } else if ended.failure_message.is_some() {
        let message = "The estimation says why. Fix the cause, and then request another estimation.";
        (EstimationStatus::Failed, format!("{name} could not be read"), message)
    } else {
        let message = "Nothing was measured in the repository that has a rate.";
        (EstimationStatus::Unpriced, format!("{name} could not be priced"), message)
    };
    ended.status = status;
    store::estimations::complete(writer.rows, row_id, &ended, measured.as_ref())?;
    if let Some(asset) = pending.asset {
        store::inventory::upsert_row(writer.rows, asset)?;
    }
    let data = event_data(&ended, Actor::System);
    let event = match ended.status {
        EstimationStatus::Failed => EventData::EstimationFailed(data),
        _ => EventData::EstimationCompleted(data),
    };
    writer.emit(Some(pending.team), ended.id, &event)?;
    let page = format!("/estimations/{}", ended.id);
    let notice = Notice {
        link: Some("/estimations"),
        page: Some(&page),
        ..Notice::new(NotificationType::EstimationCompleted, &title, message)
    };
    notifications::send_notice(writer, pending.team, &notice)
}

fn event_data(estimation: &Estimation, actor: Actor) -> EstimationData {
    EstimationData {
        estimation_id: estimation.id,
        actor,
        sku: estimation.kind,
        channel: estimation.channel,
        repo_full_name: estimation.repo_full_name.clone(),
        inventory_asset_id: estimation.asset,
        status: estimation.status,
        quote_low_cents: estimation.quote.map(|(low, _)| low.0),
        quote_high_cents: estimation.quote.map(|(_, high)| high.0),
        failure_message: estimation.failure_message.clone(),
    }
}
