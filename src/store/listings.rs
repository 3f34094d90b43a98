//! Listings, their history, and everything that the catalog shows of one.

use rusqlite::ToSql;
use uuid::Uuid;

use super::{Reader, Writer, index_queue, row};
use crate::{
    domain::{
        assets::Kind,
        catalog::{BundleFile, CatalogEntry, EntryAsset, TasksetRef, Vendor},
        listings::{Actor, CatalogStatus, DeliveryMethod, Event, LifecycleStage, ListingNumber, Status},
        money::Cents,
        quality::IngestStatus,
        scale::Part,
        teams::TeamNumber,
        time::Timestamp,
        vocabulary::Vocabulary,
    },
    error::Result,
};

/// What decides what may be done with a listing.
#[derive(Clone, Debug)]
pub struct ListingRow {
    /// Its row number.
    pub number: ListingNumber,
    /// Its id.
    pub id: Uuid,
    /// Its vendor.
    pub team: TeamNumber,
    /// Where it stands.
    pub status: Status,
    /// Since when it is certified.
    pub certified_at: Option<Timestamp>,
    /// Its title.
    pub title: String,
    /// Its description.
    pub description: String,
    /// Its buy-now price.
    pub price: Option<Cents>,
}

const ROW: &str =
    "SELECT l.id, l.uuid, l.team, l.review_status, l.catalog_status, l.certified_at, l.title, l.description,
         l.price_cents
     FROM listings l";

fn read_row(row: &rusqlite::Row) -> rusqlite::Result<ListingRow> {
    Ok(ListingRow {
        number: ListingNumber(row.get("id")?),
        id: row.get("uuid")?,
        team: TeamNumber(row.get("team")?),
        status: read_status(row)?,
        certified_at: row::optional_time(row, "certified_at")?,
        title: row.get("title")?,
        description: row.get("description")?,
        price: row::optional_cents(row, "price_cents")?,
    })
}

/// The listing of this id.
pub fn find(reader: &Reader, id: Uuid) -> Result<Option<ListingRow>> {
    reader.first(&format!("{ROW} WHERE l.uuid = ?1"), [id], read_row)
}

fn read_status(row: &rusqlite::Row) -> rusqlite::Result<Status> {
    Ok(Status { review: row::word(row, "review_status")?, catalog: row::word(row, "catalog_status")? })
}

/// A listing to be, or a listing's new words and prices.
#[derive(Clone, Debug)]
pub struct ListingWords<'a> {
    /// Its title.
    pub title: &'a str,
    /// Its description.
    pub description: &'a str,
    /// Slugs of its business fields.
    pub domain_tags: &'a [String],
    /// Slugs of its inventory tags.
    pub tag_slugs: &'a [String],
    /// Its buy-now price.
    pub price: Option<Cents>,
    /// The price of its sample, where one is offered.
    pub sample_price: Option<Cents>,
    /// Whether buyers may bid.
    pub accepts_bids: bool,
    /// Licence and conditions in words.
    pub terms: &'a str,
    /// How the data reaches the buyer, and in how many days.
    pub delivery: Option<(DeliveryMethod, u32)>,
    /// When it can be handed over.
    pub available_from: Option<Timestamp>,
    /// Its place among the featured listings.
    pub featured: Option<u32>,
}

/// What stands in the columns of a listing's words, in the order of the statements below: `?1` to `?12`.
fn columns<'w>(words: &'w ListingWords) -> Result<[Box<dyn ToSql + 'w>; 12]> {
    Ok([
        Box::new(words.title),
        Box::new(words.description),
        Box::new(row::to_json(words.domain_tags)?),
        Box::new(row::to_json(words.tag_slugs)?),
        Box::new(words.price.map(|price| price.0)),
        Box::new(words.sample_price.map(|price| price.0)),
        Box::new(words.accepts_bids),
        Box::new(words.terms),
        Box::new(words.delivery.map(|(method, _)| method.word())),
        Box::new(words.delivery.map(|(_, days)| days)),
        Box::new(words.available_from.map(|at| at.0)),
        Box::new(words.featured),
    ])
}

/// Adds a listing as a draft.
pub fn insert(
    writer: &Writer,
    id: Uuid,
    team: TeamNumber,
    words: &ListingWords,
    at: Timestamp,
) -> Result<ListingNumber> {
    const SQL: &str = "INSERT INTO listings (title, description, domain_tags, tag_slugs, price_cents, sample_price_cents,
             accepts_bids, terms, delivery_method, delivery_days, available_from, featured,
             uuid, team, review_status, catalog_status, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, 'draft', 'unpublished', ?15, ?15)";
    let columns = columns(words)?;
    let rest: [&dyn ToSql; 3] = [&id, &team.0, &at.0];
    let parameters = columns.iter().map(|column| &**column).chain(rest);
    let number = ListingNumber(writer.insert(SQL, rusqlite::params_from_iter(parameters))?);
    record(writer, number, Event::Created, at, None, LifecycleStage::Draft)?;
    index_queue::enqueue(writer, number)?;
    Ok(number)
}

/// Replaces a listing's words and prices.
pub fn update(writer: &Writer, number: ListingNumber, words: &ListingWords, at: Timestamp) -> Result<()> {
    const SQL: &str = "UPDATE listings SET title = ?1, description = ?2, domain_tags = ?3, tag_slugs = ?4, price_cents = ?5,
             sample_price_cents = ?6, accepts_bids = ?7, terms = ?8, delivery_method = ?9, delivery_days = ?10,
             available_from = ?11, featured = ?12, updated_at = ?13
         WHERE id = ?14";
    let columns = columns(words)?;
    let rest: [&dyn ToSql; 2] = [&at.0, &number.0];
    let parameters = columns.iter().map(|column| &**column).chain(rest);
    writer.execute(SQL, rusqlite::params_from_iter(parameters))?;
    index_queue::enqueue(writer, number)
}

/// Moves a listing on: its statuses, the dates that follow from them, and its history.
pub fn move_on(
    writer: &Writer,
    number: ListingNumber,
    event: Event,
    from: Status,
    to: Status,
    at: Timestamp,
) -> Result<()> {
    const REVIEWED: &str = "UPDATE listings SET review_status = ?2, updated_at = ?3 WHERE id = ?1";
    const MOVED: &str = "UPDATE listings SET review_status = ?2, catalog_status = ?3, updated_at = ?4,
             published_at = CASE WHEN ?5 THEN ?4 ELSE published_at END,
             archived_at = CASE WHEN ?3 = 'archived' THEN ?4 END
         WHERE id = ?1";
    if from.catalog == to.catalog {
        // Most moves are the review's, and leave the index over the catalog alone.
        writer.execute(REVIEWED, (number.0, to.review.word(), at.0))?;
    } else {
        let parameters = (number.0, to.review.word(), to.catalog.word(), at.0, event == Event::Published);
        writer.execute(MOVED, parameters)?;
    }
    record(writer, number, event, at, Some(from.stage()), to.stage())?;
    index_queue::enqueue(writer, number)
}

/// Notes since when a listing is certified, or that it is not.
pub fn certify(
    writer: &Writer,
    number: ListingNumber,
    certified_at: Option<Timestamp>,
    stage: LifecycleStage,
    at: Timestamp,
) -> Result<()> {
    writer.execute(
        "UPDATE listings SET certified_at = ?2 WHERE id = ?1",
        (number.0, certified_at.map(|at| at.0)),
    )?;
    let event = if certified_at.is_some() { Event::Certified } else { Event::CertificationRevoked };
    record(writer, number, event, at, Some(stage), stage)?;
    index_queue::enqueue(writer, number)
}

/// Adds an event to a listing's history.
pub fn record(
    writer: &Writer,
    number: ListingNumber,
    event: Event,
    at: Timestamp,
    from: Option<LifecycleStage>,
    to: LifecycleStage,
) -> Result<()> {
    const SQL: &str = "INSERT INTO listing_history (listing, event, actor, occurred_at, from_stage, to_stage)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let actor: Actor = event.actor();
    let from = from.map(Vocabulary::word);
    writer.execute(SQL, (number.0, event.word(), actor.word(), at.0, from, to.word()))?;
    Ok(())
}

/// Puts an asset at the end of a listing.
pub fn attach(writer: &Writer, number: ListingNumber, asset: i64) -> Result<()> {
    const SQL: &str = "INSERT INTO listing_assets (listing, position, asset)
         VALUES (?1, (SELECT coalesce(max(position), 0) + 1 FROM listing_assets WHERE listing = ?1), ?2)";
    writer.execute(SQL, (number.0, asset))?;
    index_queue::enqueue(writer, number)
}

/// Adds a file to a listing's bundle.
pub fn add_bundle_file(writer: &Writer, number: ListingNumber, file: &BundleFile) -> Result<()> {
    const SQL: &str =
        "INSERT INTO listing_bundle_files (listing, path, size_bytes, sha256) VALUES (?1, ?2, ?3, ?4)";
    writer.execute(SQL, (number.0, &file.path, file.size_bytes as i64, &file.sha256))?;
    index_queue::enqueue(writer, number)
}

/// Adds a copy into the platform's hub.
pub fn add_hub_ingest(
    writer: &Writer,
    number: ListingNumber,
    dataset: &str,
    status: IngestStatus,
    bytes: u64,
    error: Option<&str>,
) -> Result<()> {
    const SQL: &str = "INSERT INTO hub_ingests (listing, dataset_id, status, bytes_copied, error)
         VALUES (?1, ?2, ?3, ?4, ?5)";
    writer.execute(SQL, (number.0, dataset, status.word(), bytes as i64, error))?;
    Ok(())
}

/// How many assets a listing has.
pub fn asset_count(reader: &Reader, number: ListingNumber) -> Result<usize> {
    reader.one("SELECT count(*) FROM listing_assets WHERE listing = ?1", [number.0], |row| row.get(0))
}

/// An event in a listing's life.
#[derive(Clone, Copy, Debug)]
pub struct HistoryEvent {
    /// What happened.
    pub event: Event,
    /// Who did it.
    pub actor: Actor,
    /// When.
    pub occurred_at: Timestamp,
    /// The stage before; nothing where the listing was made.
    pub from: Option<LifecycleStage>,
    /// The stage afterwards.
    pub to: LifecycleStage,
}

/// A listing's events, newest first.
pub fn history(reader: &Reader, number: ListingNumber) -> Result<Vec<HistoryEvent>> {
    const SQL: &str = "SELECT event, actor, occurred_at, from_stage, to_stage FROM listing_history
         WHERE listing = ?1 ORDER BY occurred_at DESC, id DESC";
    reader.all(SQL, [number.0], |row| {
        Ok(HistoryEvent {
            event: row::word(row, 0)?,
            actor: row::word(row, 1)?,
            occurred_at: row::time(row, 2)?,
            from: row::optional_word(row, 3)?,
            to: row::word(row, 4)?,
        })
    })
}

/// What the published listings of a team cost together.
pub fn published_value(reader: &Reader, team: TeamNumber) -> Result<Cents> {
    const SQL: &str = "SELECT coalesce(sum(price_cents), 0) FROM listings
         WHERE team = ?1 AND catalog_status = 'published'";
    reader.one(SQL, [team.0], |row| Ok(Cents(row.get(0)?)))
}

/// What these listings cost together.
pub fn value(reader: &Reader, listings: &[u64]) -> Result<Cents> {
    const SQL: &str =
        "SELECT coalesce(sum(price_cents), 0) FROM listings WHERE id IN (SELECT value FROM json_each(?1))";
    reader.one(SQL, [row::to_json(listings)?], |row| Ok(Cents(row.get(0)?)))
}

/// How many listings of a team are in the catalog.
pub fn published_by(reader: &Reader, team: TeamNumber) -> Result<u64> {
    const SQL: &str = "SELECT count(*) FROM listings WHERE team = ?1 AND catalog_status = 'published'";
    reader.one(SQL, [team.0], |row| row.get(0))
}

/// The listing of this row number.
pub fn numbered(reader: &Reader, number: ListingNumber) -> Result<Option<ListingRow>> {
    reader.first(&format!("{ROW} WHERE l.id = ?1"), [number.0], read_row)
}

/// The listings that carry an asset.
pub fn carriers(reader: &Reader, asset: i64) -> Result<Vec<ListingRow>> {
    let sql = format!("{ROW} JOIN listing_assets la ON la.listing = l.id WHERE la.asset = ?1 ORDER BY l.id");
    reader.all(&sql, [asset], read_row)
}

/// Whether a taskset stands on a listing, as an asset or in a bundle.
pub fn carries_taskset(reader: &Reader, number: ListingNumber, taskset: i64) -> Result<bool> {
    const SQL: &str = "SELECT EXISTS (
             SELECT 1 FROM listing_assets la JOIN assets a ON a.id = la.asset
             WHERE la.listing = ?1
               AND (a.taskset = ?2 OR EXISTS (
                   SELECT 1 FROM bundle_tasksets b WHERE b.asset = a.id AND b.taskset = ?2)))";
    reader.one(SQL, (number.0, taskset), |row| row.get(0))
}

/// A listing with everything about it that the catalog shows or searches.
pub fn entry(reader: &Reader, number: ListingNumber) -> Result<Option<CatalogEntry>> {
    const SQL: &str = "SELECT l.delivery_method, l.delivery_days, l.review_status, l.catalog_status, l.id, l.uuid, l.team,
             t.name, t.tier, l.title, l.description, l.domain_tags, l.tag_slugs, l.price_cents, l.sample_price_cents,
             l.accepts_bids, l.terms, l.available_from, l.featured, l.certified_at, l.created_at, l.updated_at,
             l.published_at, l.archived_at,
             (SELECT count(*) FROM offers o WHERE o.listing = l.id AND o.status = 'submitted')
         FROM listings l JOIN teams t ON t.id = l.team WHERE l.id = ?1";
    let Some(mut entry) = reader.first(SQL, [number.0], read_entry)? else {
        return Ok(None);
    };
    entry.assets = entry_assets(reader, number)?;
    entry.bundle_files = bundle_files(reader, number)?;
    Ok(Some(entry))
}

fn read_entry(row: &rusqlite::Row) -> rusqlite::Result<CatalogEntry> {
    let mut place = row::Places::default();
    let method: Option<DeliveryMethod> = row::optional_word(row, place.next())?;
    let days: Option<u32> = row.get(place.next())?;
    let status = Status { review: row::word(row, place.next())?, catalog: row::word(row, place.next())? };
    // Fields are read as they stand here, which is the order of the statement.
    Ok(CatalogEntry {
        number: ListingNumber(row.get(place.next())?),
        id: row.get(place.next())?,
        vendor: Vendor {
            number: TeamNumber(row.get(place.next())?),
            name: row.get(place.next())?,
            tier: row.get(place.next())?,
        },
        title: row.get(place.next())?,
        description: row.get(place.next())?,
        domain_tags: row::json(row, place.next())?,
        tag_slugs: row::json(row, place.next())?,
        price: row::optional_cents(row, place.next())?,
        sample_price: row::optional_cents(row, place.next())?,
        accepts_bids: row.get(place.next())?,
        terms: row.get(place.next())?,
        delivery: method.zip(days),
        available_from: row::optional_time(row, place.next())?,
        featured: row.get(place.next())?,
        status,
        certified_at: row::optional_time(row, place.next())?,
        created_at: row::time(row, place.next())?,
        updated_at: row::time(row, place.next())?,
        published_at: row::optional_time(row, place.next())?,
        archived_at: row::optional_time(row, place.next())?,
        assets: Vec::new(),
        active_bids: row.get(place.next())?,
        bundle_files: Vec::new(),
    })
}

fn bundle_files(reader: &Reader, number: ListingNumber) -> Result<Vec<BundleFile>> {
    const SQL: &str =
        "SELECT path, size_bytes, sha256 FROM listing_bundle_files WHERE listing = ?1 ORDER BY path";
    reader.all(SQL, [number.0], |row| {
        Ok(BundleFile { path: row.get(0)?, size_bytes: row.get(1)?, sha256: row.get(2)? })
    })
}

/// An asset's row number and its taskset's, beside what the catalog shows of it.
type LoadedAsset = (i64, Option<i64>, EntryAsset);

fn entry_assets(reader: &Reader, number: ListingNumber) -> Result<Vec<EntryAsset>> {
    const SQL: &str =
        "SELECT a.kind, a.lines_of_code, a.languages, a.file_count, d.archive_bytes, a.environment,
             a.robotics, a.uuid, a.title, a.domain_tags, a.file_extensions, a.id, a.taskset
         FROM listing_assets la JOIN assets a ON a.id = la.asset LEFT JOIN data_objects d ON d.asset = a.id
         WHERE la.listing = ?1 ORDER BY la.position";
    let mut loaded = reader.all(SQL, [number.0], read_asset)?;
    for (asset, taskset, shown) in &mut loaded {
        shown.tasksets = match (shown.kind, *taskset) {
            (Kind::Taskset, Some(taskset)) => taskset_refs(reader, "t.id = ?1", taskset)?,
            (Kind::Bundle, _) => taskset_refs(
                reader,
                "t.id IN (SELECT taskset FROM bundle_tasksets WHERE asset = ?1)",
                *asset,
            )?,
            _ => Vec::new(),
        };
        shown.part.tasks = shown.tasksets.iter().map(|taskset| taskset.task_count).sum();
    }
    Ok(loaded.into_iter().map(|(_, _, shown)| shown).collect())
}

fn read_asset(row: &rusqlite::Row) -> rusqlite::Result<LoadedAsset> {
    #[derive(Default, serde::Deserialize)]
    struct Environment {
        capabilities: Vec<String>,
    }
    #[derive(Default, serde::Deserialize)]
    struct Robotics {
        formats: Vec<String>,
    }
    let mut place = row::Places::default();
    let kind: Kind = row::word(row, place.next())?;
    let of = |wanted: Kind, value: Option<u64>| value.filter(|_| kind == wanted).unwrap_or(0);
    // Fields are read as they stand here, which is the order of the statement.
    let part = Part {
        loc: of(Kind::Codebase, row.get(place.next())?),
        languages: row::optional_json(row, place.next())?.unwrap_or_default(),
        tasks: 0,
        zip_files: of(Kind::RawData, row.get(place.next())?),
        zip_bytes: of(Kind::RawData, row.get(place.next())?),
    };
    let environment: Environment = row::optional_json(row, place.next())?.unwrap_or_default();
    let robotics: Robotics = row::optional_json(row, place.next())?.unwrap_or_default();
    let shown = EntryAsset {
        id: row.get(place.next())?,
        kind,
        title: row.get(place.next())?,
        domain_tags: row::json(row, place.next())?,
        part,
        tasksets: Vec::new(),
        file_extensions: row::optional_json(row, place.next())?.unwrap_or_default(),
        capabilities: environment.capabilities,
        robotics_formats: robotics.formats,
    };
    Ok((row.get(place.next())?, row.get(place.next())?, shown))
}

/// Tasksets that a condition on `t` picks, each with the number of its live tasks.
fn taskset_refs(reader: &Reader, condition: &str, parameter: i64) -> Result<Vec<TasksetRef>> {
    let sql = format!(
        "SELECT t.uuid, t.name,
             (SELECT count(*) FROM tasks k WHERE k.taskset = t.id AND k.deleted_at IS NULL) AS task_count
         FROM tasksets t WHERE {condition} ORDER BY t.id"
    );
    reader.all(&sql, [parameter], |row| {
        Ok(TasksetRef { id: row.get(0)?, name: row.get(1)?, task_count: row.get(2)? })
    })
}

/// How many listings there are, and how many of them are in the catalog.
pub fn totals(reader: &Reader) -> Result<(u64, u64)> {
    const SQL: &str = "SELECT count(*), count(*) FILTER (WHERE catalog_status = ?1) FROM listings";
    reader.one(SQL, [CatalogStatus::Published.word()], |row| Ok((row.get(0)?, row.get(1)?)))
}
