//! A vendor's inventory: lists of assets, single ones, and what changing one has in common for every kind.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::{access::Vendor, certifications, quality_runs};
use crate::{
    domain::{
        assets::{Channel, Kind},
        field_locks::{self, LockSource},
        inventory::{Asset, AssetChange, Change, History},
        jobs::{self, JobKind},
        listings::{Event, LifecycleStage},
        money::Cents,
        taxonomy::Deprecation,
        vocabulary::Vocabulary,
    },
    error::{Code, Error, Problem, Result, Step},
    market::{Reader, Writer},
    store::{
        self,
        groups::Group,
        inventory::{AttachableTo, GroupCount, Query},
        listings::ListingRow,
        quality::Subject,
    },
};

/// Bytes of JSON that a vendor's own columns of one asset hold at most.
const MAX_COLUMNS_BYTES: usize = 65_536;

/// Characters that a name of theirs may have, and how deep their values may be nested: many readers of JSON give up at 128.
const MAX_COLUMN_NAME: usize = 1_000;
const MAX_COLUMN_DEPTH: usize = 32;

/// The announced retirements of asset kinds.
pub type Deprecations = BTreeMap<Kind, Deprecation>;

/// Which assets a list is to hold.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The conditions and the order.
    pub query: Query,
    /// Only assets of kinds whose retirement was announced, or only others.
    pub deprecated: Option<bool>,
    /// The listing that assets are to be attachable to.
    pub attach_to: Option<Uuid>,
}

/// How many assets a list has, by folder.
#[derive(Clone, Debug)]
pub struct Counted {
    /// The team's folders with what the list has in each: the default one first, then by name. Folders without any are
    /// among them.
    pub groups: Vec<(Group, GroupCount)>,
}

/// A page of a list.
#[derive(Clone, Debug)]
pub struct Page {
    /// The assets.
    pub items: Vec<Asset>,
    /// How many there are in all.
    pub counted: Counted,
    /// Retirements, for what is shown of assets.
    pub deprecations: Deprecations,
}

impl Counted {
    /// Assets in all.
    pub fn total(&self) -> u64 {
        self.groups.iter().map(|(_, count)| count.total).sum()
    }

    /// Assets by kind, of kinds that there are.
    pub fn kinds(&self) -> BTreeMap<Kind, u64> {
        let mut kinds = BTreeMap::new();
        for (kind, count) in self.groups.iter().flat_map(|(_, count)| &count.kinds) {
            *kinds.entry(*kind).or_default() += count;
        }
        kinds
    }
}

impl Wanted {
    /// Narrows the kinds to those that are deprecated, or to the others.
    fn settle(&mut self, deprecations: &Deprecations) {
        self.query.kinds = narrowed(self.query.kinds.take(), self.deprecated, deprecations);
    }

    fn count(&self, rows: &store::Reader, deprecations: &Deprecations) -> Result<Counted> {
        let to = match self.attach_to {
            None => AttachableTo::Any,
            Some(id) => match store::listings::find(rows, id)? {
                Some(listing) if listing.team == self.query.team && listing.status.takes_assets() => {
                    AttachableTo::Listing(listing.number)
                }
                _ => AttachableTo::None,
            },
        };
        let mut counts = store::inventory::counts(
            rows,
            &self.query,
            to,
            takes_new_listings(deprecations, Kind::Codebase),
        )?;
        let groups = store::groups::list(rows, self.query.team)?;
        let count = |group: Group| {
            let count = counts.remove(&group.number).unwrap_or_default();
            (group, count)
        };
        Ok(Counted { groups: groups.into_iter().map(count).collect() })
    }
}

/// Kinds, narrowed to those whose retirement was announced, or to the others.
pub fn narrowed(
    kinds: Option<Vec<Kind>>,
    deprecated: Option<bool>,
    deprecations: &Deprecations,
) -> Option<Vec<Kind>> {
    let Some(is_wanted) = deprecated else { return kinds };
    let kinds = kinds.unwrap_or_else(|| Kind::ALL.to_vec());
    Some(kinds.into_iter().filter(|kind| deprecations.contains_key(kind) == is_wanted).collect())
}

/// Whether listings may still take on assets of a kind.
pub fn takes_new_listings(deprecations: &Deprecations, kind: Kind) -> bool {
    deprecations.get(&kind).is_none_or(|deprecation| deprecation.accepts_new_listings)
}

/// A page of the team's assets, with counts of all that match.
pub fn page(reader: &Reader, _: &Vendor, mut wanted: Wanted, limit: usize, offset: u64) -> Result<Page> {
    let deprecations = store::taxonomy::deprecations(reader.rows)?;
    wanted.settle(&deprecations);
    let counted = wanted.count(reader.rows, &deprecations)?;
    let items = if counted.total() > offset {
        store::inventory::page(reader.rows, &wanted.query, None, limit, offset)?
    } else {
        Vec::new()
    };
    Ok(Page { items, counted, deprecations })
}

/// How a window is cut.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    /// Assets at most.
    pub leaves: usize,
    /// Folders at most.
    pub headers: usize,
    /// The folder behind which it begins; the first one where there is none.
    pub after: Option<Uuid>,
    /// Whether folders without a matching asset are shown.
    pub include_empty: bool,
}

/// A window: some folders, and the assets that were dealt to them.
#[derive(Clone, Debug)]
pub struct Window {
    /// The assets, and the counts of all that match.
    pub page: Page,
    /// The places in the counts of the folders that are shown.
    pub shown: Vec<usize>,
    /// How many folders come behind them.
    pub remaining: usize,
}

/// A window over the team's assets: folders in their order, and assets dealt to them in that order until they run out.
/// Behind a folder that is not there come none.
pub fn window(reader: &Reader, _: &Vendor, mut wanted: Wanted, cut: Cut) -> Result<Window> {
    let deprecations = store::taxonomy::deprecations(reader.rows)?;
    wanted.settle(&deprecations);
    let counted = wanted.count(reader.rows, &deprecations)?;
    let begin = match cut.after {
        None => 0,
        Some(id) => {
            let after = counted.groups.iter().position(|(group, _)| group.id == id);
            after.map_or(counted.groups.len(), |place| place + 1)
        }
    };
    let is_shown = |place: &usize| cut.include_empty || counted.groups[*place].1.total > 0;
    let mut shown: Vec<usize> = (begin..counted.groups.len()).filter(is_shown).collect();
    let remaining = shown.len().saturating_sub(cut.headers);
    shown.truncate(cut.headers);
    // Only folders that get an asset are read.
    let (mut left, mut dealt) = (cut.leaves as u64, Vec::new());
    for place in &shown {
        let (group, count) = &counted.groups[*place];
        if left > 0 && count.total > 0 {
            dealt.push(group.number);
        }
        left = left.saturating_sub(count.total);
    }
    let items = if dealt.is_empty() {
        Vec::new()
    } else {
        store::inventory::page(reader.rows, &wanted.query, Some(&dealt), cut.leaves, 0)?
    };
    Ok(Window { page: Page { items, counted, deprecations }, shown, remaining })
}

/// The team's asset of this id, of this kind where one is named.
pub fn find(rows: &store::Reader, vendor: &Vendor, id: Uuid, kind: Option<Kind>) -> Result<Asset> {
    let found = store::assets::find_own(rows, vendor.number(), id)?;
    let fits = |asset: &Asset| kind.is_none_or(|kind| asset.kind == kind);
    let what = kind.map_or("asset", Vocabulary::word).replace('_', " ");
    found.filter(fits).ok_or_else(|| Error::not_found(what))
}

/// The team's asset of this id, with the retirements that are shown beside it.
pub fn get(reader: &Reader, vendor: &Vendor, id: Uuid) -> Result<(Asset, Deprecations)> {
    Ok((find(reader.rows, vendor, id, None)?, store::taxonomy::deprecations(reader.rows)?))
}

/// Puts an asset into a group.
pub fn place(
    writer: &mut Writer,
    vendor: &Vendor,
    group: Uuid,
    asset: Uuid,
) -> Result<(Asset, Deprecations)> {
    let group = super::groups::find(writer.rows, vendor, group)?;
    let mut asset = find(writer.rows, vendor, asset, None)?;
    if asset.group.0 != group.number {
        asset.group = (group.number, group.id);
        store::assets::update(writer.rows, &asset)?;
    }
    Ok((asset, store::taxonomy::deprecations(writer.rows)?))
}

/// An asset that is being made: nothing is known of it yet.
pub fn blank(writer: &Writer, vendor: &Vendor, kind: Kind) -> Result<Asset> {
    let group = store::groups::default_group(writer.rows, vendor.number())?;
    Ok(blank_in(&group, writer, vendor, kind))
}

/// The same in a group that was read already, for who makes many.
pub fn blank_in(group: &Group, writer: &Writer, vendor: &Vendor, kind: Kind) -> Asset {
    Asset {
        number: 0,
        id: writer.clock.id(),
        team: vendor.number(),
        group: (group.number, group.id),
        kind,
        title: String::new(),
        description: None,
        domain_tags: Vec::new(),
        other_domain: None,
        price: None,
        notes: None,
        extra_columns: BTreeMap::new(),
        created_at: writer.now,
        history: History::default(),
        environment: None,
        task: None,
        data: None,
        locks: field_locks::Locks::new(),
    }
}

/// Makes a change that came with an API key, and locks what it wrote. Answers everything that forbids it; the asset is
/// then neither as it was nor as it should be.
pub fn apply(writer: &Writer, asset: &mut Asset, change: AssetChange, way: &[Step]) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    let written = change.written();
    for (field, source) in field_locks::held(&asset.locks, written.iter().map(|(field, _)| *field)) {
        let msg = format!(
            "`{field}` was read from the linked data ({}) and stays as it was read. Detach the data first.",
            source.word()
        );
        problems.push(Problem::body(&[field], "field_locked", msg));
    }
    field_locks::sent(&mut asset.locks, written);
    problems.extend(fill(writer, asset, change)?);
    problems.extend(check_history(writer, &asset.history));
    Ok(problems.into_iter().map(|problem| problem.within(way)).collect())
}

/// Makes a change that came with an API key, or refuses it with everything that forbids it.
pub fn change(writer: &Writer, asset: &mut Asset, change: AssetChange) -> Result<()> {
    let problems = apply(writer, asset, change, &[])?;
    if problems.is_empty() { Ok(()) } else { Err(Error::Invalid(problems)) }
}

/// Changes what is known of one of the team's assets.
pub fn update(
    writer: &mut Writer,
    vendor: &Vendor,
    id: Uuid,
    kind: Kind,
    changed: AssetChange,
) -> Result<Asset> {
    let mut asset = find(writer.rows, vendor, id, Some(kind))?;
    change(writer, &mut asset, changed)?;
    store::assets::update(writer.rows, &asset)?;
    Ok(asset)
}

/// Makes a change. Answers the fields that refer to what is not there.
fn fill(writer: &Writer, asset: &mut Asset, change: AssetChange) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    if let Some(title) = change.title {
        asset.title = title;
    }
    change.description.apply(&mut asset.description);
    if let Some(tags) = change.domain_tags {
        for (index, tag) in tags.iter().enumerate() {
            if !store::taxonomy::is_domain(writer.rows, tag)? {
                let msg = format!("There is no domain {tag:?}. `GET /v2/domains` lists them.");
                let mut problem = Problem::body(&["domain_tags"], "unknown_slug", msg);
                problem.loc.push(Step::Index(index));
                problems.push(problem);
            }
        }
        asset.domain_tags = tags;
    }
    change.other_domain.apply(&mut asset.other_domain);
    // The shape of the request lets whole cents through only.
    change.price_usd.map(|dollars| Cents::from_dollars(dollars).unwrap_or_default()).apply(&mut asset.price);
    change.notes.apply(&mut asset.notes);
    if let Some(columns) = change.extra_columns {
        problems.extend(check_columns(&columns));
        asset.extra_columns = columns;
    }
    let group = match change.group_id {
        Change::Keep => None,
        Change::Clear => Some(store::groups::default_group(writer.rows, asset.team)?),
        Change::Set(id) => match super::groups::referred(writer.rows, asset.team, id)? {
            Ok(group) => Some(group),
            Err(problem) => {
                problems.push(problem);
                None
            }
        },
    };
    if let Some(group) = group {
        asset.group = (group.number, group.id);
    }
    if let (Some(task), Some(task_type)) = (&mut asset.task, change.task_type) {
        task.task_type = task_type;
    }
    let history = &mut asset.history;
    change.exclusivity.apply(&mut history.exclusivity);
    change.lines_of_code.apply(&mut history.lines_of_code);
    change.commits.apply(&mut history.commits);
    change.contributors.apply(&mut history.contributors);
    change.merged_prs.apply(&mut history.merged_prs);
    change.history_start.apply(&mut history.start);
    change.history_end.apply(&mut history.end);
    change.ci_on_prs.apply(&mut history.ci_on_prs);
    Ok(problems)
}

/// What is wrong with a vendor's own columns: lists show them whole, so that there is an end to what they may hold.
fn check_columns(columns: &BTreeMap<String, serde_json::Value>) -> Option<Problem> {
    let is_small = serde_json::to_vec(columns).is_ok_and(|text| text.len() <= MAX_COLUMNS_BYTES);
    let msg = if !is_small {
        format!("`extra_columns` takes at most {MAX_COLUMNS_BYTES} bytes of JSON.")
    } else if columns.keys().any(|name| name.chars().count() > MAX_COLUMN_NAME) {
        format!("The names in `extra_columns` have at most {MAX_COLUMN_NAME} characters.")
    } else if columns.values().any(|value| !is_within(value, MAX_COLUMN_DEPTH)) {
        format!("What stands in `extra_columns` is nested at most {MAX_COLUMN_DEPTH} deep.")
    } else {
        return None;
    };
    Some(Problem::body(&["extra_columns"], "too_long", msg))
}

/// Whether a value is nested at most so deep.
fn is_within(value: &serde_json::Value, depth: usize) -> bool {
    match value {
        serde_json::Value::Array(items) => depth > 0 && items.iter().all(|item| is_within(item, depth - 1)),
        serde_json::Value::Object(fields) => {
            depth > 0 && fields.values().all(|item| is_within(item, depth - 1))
        }
        _ => true,
    }
}

/// What is wrong with the days of a history: none is in the future, and it does not end before it begins.
fn check_history(writer: &Writer, history: &History) -> Vec<Problem> {
    let today = writer.now.day();
    let days = [("history_start", history.start), ("history_end", history.end)];
    let mut problems: Vec<Problem> = days
        .into_iter()
        .filter(|(_, day)| day.is_some_and(|day| day > today))
        .map(|(field, _)| {
            Problem::body(&[field], "date_future", format!("`{field}` is today, {today}, or earlier."))
        })
        .collect();
    if let (Some(start), Some(end)) = (history.start, history.end)
        && end < start
    {
        let msg = format!("The history ends on {end}, before it begins on {start}.");
        problems.push(Problem::body(&["history_end"], "date_order", msg));
    }
    problems
}

/// Refuses what would change an asset under a listing that is in review or in the catalog.
pub fn check_unused(writer: &Writer, asset: &Asset) -> Result<()> {
    let is_fixed = |listing: &ListingRow| {
        matches!(listing.status.stage(), LifecycleStage::Review | LifecycleStage::Active)
    };
    if !store::listings::carriers(writer.rows, asset.number)?.iter().any(is_fixed) {
        return Ok(());
    }
    let what =
        "The asset stands on a listing that is in review or in the catalog. Withdraw or unpublish it first.";
    Err(Error::State(Code::AssetInUse, what.to_owned()))
}

/// Deletes an asset whose data is detached.
pub fn delete(writer: &mut Writer, vendor: &Vendor, id: Uuid, kind: Kind) -> Result<()> {
    let asset = find(writer.rows, vendor, id, Some(kind))?;
    if asset.data.is_some() {
        let what = "Data is linked to the asset. Detach it first, with `DELETE .../data`.";
        return Err(Error::State(Code::DataAttached, what.to_owned()));
    }
    check_unused(writer, &asset)?;
    for listing in store::listings::carriers(writer.rows, asset.number)? {
        super::listings::assets_changed(writer, &listing, Event::AssetDetached)?;
    }
    store::assets::delete(writer.rows, &asset, writer.now)
}

/// Refuses to link data over linked data.
pub fn check_detached(asset: &Asset) -> Result<()> {
    if asset.data.is_none() {
        return Ok(());
    }
    let what = "Data is linked to the asset already. Detach it first, with `DELETE .../data`.";
    Err(Error::State(Code::DataAttached, what.to_owned()))
}

/// Fills a blank description with what was read of linked data, and locks it. One that the vendor wrote stays.
pub fn describe(asset: &mut Asset, channel: Channel, description: Option<String>) {
    let is_blank = asset.description.as_ref().is_none_or(|text| text.trim().is_empty());
    if let Some(description) = description.filter(|_| is_blank) {
        asset.description = Some(description);
        field_locks::read(&mut asset.locks, channel, ["description"]);
    }
}

/// Detaches the data of an asset. What was read from it is no longer locked, and the stage follows.
pub fn detach(writer: &mut Writer, vendor: &Vendor, id: Uuid, kind: Kind) -> Result<()> {
    let mut asset = find(writer.rows, vendor, id, Some(kind))?;
    if asset.data.is_none() {
        let what = "No data is linked to the asset.";
        return Err(Error::State(Code::DataNotAttached, what.to_owned()));
    }
    check_unused(writer, &asset)?;
    asset.data = None;
    // What was read of the data goes with it, so that the next data can say what it is.
    if asset.locks.get("description").is_some_and(|source| *source != LockSource::Api) {
        asset.description = None;
    }
    field_locks::detached(&mut asset.locks);
    for kind in jobs::OF_DATA {
        store::jobs::cancel(writer.rows, kind, asset.number)?;
    }
    quality_runs::call_off(writer, Subject::Asset(asset.number))?;
    quality_runs::data_settled(writer, asset.number)?;
    certifications::data_changed(writer, asset.number)?;
    // Its files go once nobody can be reading them.
    writer.enqueue(JobKind::Sweep, 0)?;
    store::assets::detach_data(writer.rows, &asset)
}
