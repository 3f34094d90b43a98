//! Changes of many assets at once: they are prepared, started, carried out in transactions of bounded size, and canceled.
//! `apply` changes the assets of one transaction.
//!
//! Each remaining asset is a row, which is deleted when the asset is changed. So a job that is interrupted continues where it
//! was, and no asset is changed twice.

mod apply;
pub mod deletion;
pub mod forecast;

use std::collections::{BTreeMap, BTreeSet};

use deletion::Deletion;
use uuid::Uuid;

use super::{
    access::{Platform, Vendor},
    assets,
    listing_attachments::Chosen,
    listing_changes, quality_runs,
    running_job::{JobError, JobResult, RunningJob},
    team_records,
};
use crate::{
    domain::{
        bulk_changes::{
            BulkAction, BulkActionKind, BulkChangeOperation, MAX_ASSETS, MAX_PER_TRANSACTION, MAX_RUNNING,
            SkipReason,
        },
        collections::Collection,
        events::MAX_LISTED_IDS,
        inventory::{Asset, MAX_DOMAIN_TAGS, MAX_PRICE},
        jobs::JobKind,
        listing_lifecycle::Operation,
        money::Cents,
        problems::Problems,
        row_ids::BulkChangeRowId,
        state_machine::StateMachine,
        taxonomy::Label,
        teams::TeamRowId,
        texts, written,
    },
    error::{Error, Problem, Result},
    market::{Reader, Writer},
    request_problems::ProblemsExt,
    store::{
        self,
        bulk_changes::{BulkChange, ChosenAssets},
        groups::Group,
        listings::ListingRow,
    },
};

/// Number of assets that one transaction of a job changes: as many as its event names. Other writes wait for the transaction,
/// so it is small, except for actions that need only one statement for all assets.
const BATCH: u64 = MAX_LISTED_IDS as u64;

/// Maximum number of examples of each reason that are named.
const MAX_NAMED_EXAMPLES: usize = 20;

/// What a vendor sees before it changes assets.
#[derive(Clone, Debug)]
pub struct Preparation {
    /// Number of assets that are chosen.
    pub count: u64,
    /// The groups to which assets can be moved; empty for other actions.
    pub groups: Vec<Group>,
    /// The domain tags; empty for other actions.
    pub domains: Vec<Label>,
    /// The listings to which assets can be attached; empty for other actions.
    pub listings: Vec<ListingRow>,
    /// The price of a quality run.
    pub run_price: Cents,
    /// The credits of the team; 0 for actions that cost nothing.
    pub credits: Cents,
    /// The first of the chosen assets; empty for actions that edit no field.
    pub first: Vec<Asset>,
    /// What a deletion would do; `None` for other actions, and for more assets than can be changed at once.
    pub deletion: Option<Deletion>,
}

/// Number of assets that are shown before a field is changed, or assets are deleted.
const MAX_FIRST: usize = 10;

/// Returns the number of chosen assets, and the data that an action needs. Five statements at most.
pub fn prepare(
    reader: &Reader,
    vendor: &Vendor,
    chosen: &Chosen,
    action: BulkActionKind,
) -> Result<Preparation> {
    let (rows, team) = (reader.rows, vendor.team_row_id());
    let is = |kind: BulkActionKind| action == kind;
    let chosen = resolve(rows, team, chosen)?;
    let count = match &chosen {
        ChosenAssets::Ids(_, ids) => store::bulk_changes::count_assets(rows, team, ids)?,
        ChosenAssets::Matching(query) => assets::count(reader, vendor, query)?,
    };
    let deletes = is(BulkActionKind::Delete) && count <= MAX_ASSETS;
    Ok(Preparation {
        count,
        deletion: deletes.then(|| deletion::predict(rows, &chosen, MAX_FIRST)).transpose()?,
        first: match &chosen {
            _ if !action.edits_field() => Vec::new(),
            ChosenAssets::Ids(..) => store::bulk_changes::list_first(rows, &chosen, MAX_FIRST)?,
            ChosenAssets::Matching(query) => store::inventory::list_page(rows, query, None, MAX_FIRST, 0)?,
        },
        groups: if is(BulkActionKind::Move) { store::groups::list(rows, team)? } else { Vec::new() },
        domains: if is(BulkActionKind::Tag) { store::taxonomy::domains(rows)? } else { Vec::new() },
        listings: if is(BulkActionKind::Attach) {
            let mut listings = store::listings::list_unarchived(rows, team)?;
            listings.retain(|listing| listing_changes::check(listing, Operation::Attach).is_ok());
            listings
        } else {
            Vec::new()
        },
        run_price: quality_runs::price(reader.settings),
        credits: if is(BulkActionKind::Check) {
            store::wallet::balances(rows, team)?.credits
        } else {
            Cents(0)
        },
    })
}

/// Returns the chosen assets as parameters of statements.
fn resolve(rows: &store::Reader, team: TeamRowId, chosen: &Chosen) -> Result<ChosenAssets> {
    Ok(match chosen {
        Chosen::Ids(ids) => ChosenAssets::Ids(team, ids.iter().copied().collect()),
        Chosen::Matching(filter) => {
            let mut filter = filter.clone();
            filter.resolve_kinds(&store::taxonomy::deprecations(rows)?);
            ChosenAssets::Matching(Box::new(filter.query))
        }
    })
}

/// Changes the chosen assets: at once, or if there are more than one transaction changes, by a job. Returns the ID of the
/// change. Fails if their number differs from the number that the vendor was shown.
pub fn start(
    writer: &mut Writer,
    vendor: &Vendor,
    chosen: &Chosen,
    shown: Option<u64>,
    action: &BulkAction,
) -> Result<Uuid> {
    let (rows, team) = (writer.rows, vendor.team_row_id());
    check_action(rows, team, action)?;
    if store::bulk_changes::list_running(rows, team)?.len() as u64 >= MAX_RUNNING {
        let message = format!(
            "Your team has {MAX_RUNNING} changes of many assets that are not done yet. Wait until one of them ends, or \
             cancel it."
        );
        return Err(Error::Conflict(message));
    }
    let id = writer.new_id(Collection::BulkChanges);
    let row_id = store::bulk_changes::insert(rows, (id, team), action, vendor.key_id(), writer.now)?;
    let selected = match resolve(rows, team, chosen)? {
        ChosenAssets::Ids(_, ids) => store::bulk_changes::select_ids(rows, row_id, team, &ids)?,
        ChosenAssets::Matching(query) => store::bulk_changes::select_matches(rows, row_id, &query)?,
    };
    check_number(selected, shown)?;
    let mut change = find_by_row_id(rows, row_id)?;
    change.selected = selected;
    if selected <= MAX_PER_TRANSACTION {
        advance(writer, vendor, &mut change, MAX_PER_TRANSACTION)?;
    } else {
        store::bulk_changes::update(rows, &change)?;
        writer.enqueue(JobKind::ChangeAssets, row_id)?;
    }
    Ok(id)
}

fn check_number(selected: u64, shown: Option<u64>) -> Result<()> {
    let message = match shown {
        _ if selected == 0 => "None of these assets exists. Choose others in the inventory.".to_owned(),
        _ if selected > MAX_ASSETS => {
            format!("These are {selected} assets. Change at most {MAX_ASSETS} at once: filter the inventory.")
        }
        Some(shown) if shown != selected => format!(
            "These were {}, and are {selected} now, because the inventory has changed. Nothing was done. Look at the \
             number, and send the form again.",
            written::counted(shown, "asset", "assets")
        ),
        _ => return Ok(()),
    };
    Err(Error::Conflict(message))
}

/// Fails with all problems of the parameters of an action.
fn check_action(rows: &store::Reader, team: TeamRowId, action: &BulkAction) -> Result<()> {
    let mut problems = Problems::default();
    let mut report = |field, kind, msg: &str| problems.push(Problem::body(&[field], kind, msg));
    match action {
        BulkAction::Move { group } => {
            if store::groups::find(rows, team, *group)?.is_none() {
                report("to_group", "unknown_reference", "Choose one of the groups of your team.");
            }
        }
        BulkAction::Tag { add, remove } => {
            let known = store::taxonomy::domain_slugs(rows)?;
            if add.iter().chain(remove).any(|slug| !known.contains(slug)) {
                report("add_tags", "unknown_slug", "Choose tags that the market has.");
            }
            if add.iter().collect::<BTreeSet<_>>().len() > MAX_DOMAIN_TAGS {
                let message = format!("An asset can have at most {MAX_DOMAIN_TAGS} tags. Choose fewer.");
                report("add_tags", "too_long", &message);
            }
            if add.is_empty() && remove.is_empty() {
                report("add_tags", "value_error", "Choose at least one tag to add or to remove.");
            }
            let removed: BTreeSet<&String> = remove.iter().collect();
            if add.iter().any(|slug| removed.contains(slug)) {
                report("remove_tags", "value_error", "A tag cannot be added and removed.");
            }
        }
        BulkAction::Describe { description } => {
            if let Some(text) = description {
                problems.check_text(&["description"], text, texts::DESCRIPTION);
            }
        }
        BulkAction::Price { cents } => {
            if cents.is_some_and(|cents| !(0..=MAX_PRICE.0).contains(&cents)) {
                let max = MAX_PRICE.dollars();
                report("price", "value_error", &format!("The price must be from 0 to {max} US dollars."));
            }
        }
        BulkAction::Attach { listing } => match store::listings::find(rows, *listing)? {
            Some(listing) if listing.team == team => {
                listing_changes::check(&listing, Operation::Attach)?;
            }
            _ => report("to_listing", "unknown_reference", "Choose one of the listings of your team."),
        },
        BulkAction::Check | BulkAction::Delete => {}
    }
    problems.into_result()
}

/// Changes the next assets, at most `limit`, and records how far the change is. Ends it after the last asset.
fn advance(writer: &mut Writer, vendor: &Vendor, change: &mut BulkChange, limit: u64) -> Result<()> {
    let rows = writer.rows;
    if let Some(last) = store::bulk_changes::last_of_next(rows, change.row_id, limit)? {
        let assets = store::bulk_changes::list_next(rows, change.row_id, last)?;
        let found = assets.len() as u64;
        let go_on = apply::apply(writer, vendor, change, assets)?;
        let looked_at = store::bulk_changes::delete_assets_until(rows, change.row_id, last)?;
        change.skipped.add_unnamed(SkipReason::Gone, looked_at - found);
        if let apply::GoOn::No(reason) = go_on {
            let rest = store::bulk_changes::delete_assets(rows, change.row_id)?;
            change.skipped.add_unnamed(reason, rest);
        }
    }
    if store::bulk_changes::last_of_next(rows, change.row_id, 1)?.is_none() {
        change.status = change.status.check(BulkChangeOperation::Complete)?;
        change.completed_at = Some(writer.now);
    }
    store::bulk_changes::update(rows, change)
}

/// Executes the job of a change.
pub fn run(job: &RunningJob) -> JobResult {
    while job.renew_and_continue() {
        if job.advance(|writer| step(writer, job.bulk_change_row_id()))? {
            return Ok(());
        }
    }
    Err(JobError::Stopped)
}

/// Carries out a transaction of a job. Returns whether the change has ended.
fn step(writer: &mut Writer, row_id: BulkChangeRowId) -> Result<bool> {
    let Some(mut change) = store::bulk_changes::find(writer.rows, row_id)? else { return Ok(true) };
    if !change.status.allows(BulkChangeOperation::Complete) {
        return Ok(true);
    }
    let team = store::teams::find_by_row_id(writer.rows, change.team)?;
    // A team that may no longer act as a vendor changes nothing more.
    let Ok(vendor) = Platform::of_process().eligible_vendor(team) else {
        return end(writer, row_id, BulkChangeOperation::Cancel).map(|()| true);
    };
    let limit = if change.action.kind() == BulkActionKind::Attach { MAX_PER_TRANSACTION } else { BATCH };
    advance(writer, &vendor, &mut change, limit)?;
    Ok(!change.status.allows(BulkChangeOperation::Complete))
}

/// Ends a change whose job failed too often.
pub fn give_up(job: &RunningJob) -> JobResult {
    job.finish(|writer| end(writer, job.bulk_change_row_id(), BulkChangeOperation::Fail))
}

/// Ends a change before its last asset, unless it has already ended. Assets that are already changed stay changed.
pub(super) fn end(writer: &Writer, row_id: BulkChangeRowId, operation: BulkChangeOperation) -> Result<()> {
    let mut change = find_by_row_id(writer.rows, row_id)?;
    let Some(status) = change.status.after(operation) else { return Ok(()) };
    store::bulk_changes::delete_assets(writer.rows, row_id)?;
    change.status = status;
    change.completed_at = Some(writer.now);
    store::bulk_changes::update(writer.rows, &change)
}

/// Cancels a running change of the team. Assets that are already changed stay changed.
pub fn cancel(writer: &mut Writer, vendor: &Vendor, id: Uuid) -> Result<()> {
    let change: BulkChange = team_records::find(writer.rows, vendor, id)?;
    change.status.check(BulkChangeOperation::Cancel)?;
    cancel_running(writer, change.row_id)
}

/// Cancels the changes of a team that run.
pub fn cancel_all(writer: &mut Writer, team: TeamRowId) -> Result<()> {
    let running = store::bulk_changes::list_running(writer.rows, team)?;
    running.iter().try_for_each(|change| cancel_running(writer, change.row_id))
}

fn cancel_running(writer: &Writer, row_id: BulkChangeRowId) -> Result<()> {
    store::jobs::cancel(writer.rows, JobKind::ChangeAssets, row_id.into())?;
    end(writer, row_id, BulkChangeOperation::Cancel)
}

fn find_by_row_id(rows: &store::Reader, row_id: BulkChangeRowId) -> Result<BulkChange> {
    let found = store::bulk_changes::find(rows, row_id)?;
    found.ok_or_else(|| Error::internal("a bulk change does not exist"))
}

/// A change, with the names of what it is about.
#[derive(Clone, Debug)]
pub struct NamedChange {
    /// The change.
    pub change: BulkChange,
    /// Name of the group, or title of the listing, that the assets get to; `None` if it has none, or does not exist any more.
    pub target: Option<String>,
    /// The first examples of each reason that were not deleted, by ID, with their titles.
    pub titles: BTreeMap<Uuid, String>,
    /// The domain tags; empty unless the change is about tags.
    pub domains: Vec<Label>,
}

/// Returns the team's change with this ID. Three statements at most.
pub fn find(reader: &Reader, vendor: &Vendor, id: Uuid) -> Result<NamedChange> {
    let (rows, team) = (reader.rows, vendor.team_row_id());
    let change: BulkChange = team_records::find(reader.rows, vendor, id)?;
    let target = match change.action {
        BulkAction::Move { group } => store::groups::find(rows, team, group)?.map(|group| group.name),
        BulkAction::Attach { listing } => store::listings::find(rows, listing)?
            .filter(|listing| listing.team == team)
            .map(|listing| listing.title),
        _ => None,
    };
    let examples = change.skipped.by_reason().map(|(_, skipped)| &skipped.examples);
    let named: BTreeSet<Uuid> =
        examples.flat_map(|examples| examples.iter().take(MAX_NAMED_EXAMPLES)).copied().collect();
    let titles = if named.is_empty() {
        BTreeMap::new()
    } else {
        store::bulk_changes::list_titles(rows, team, &named)?.into_iter().collect()
    };
    let domains = match change.action.kind() {
        BulkActionKind::Tag => store::taxonomy::domains(rows)?,
        _ => Vec::new(),
    };
    Ok(NamedChange { change, target, titles, domains })
}
