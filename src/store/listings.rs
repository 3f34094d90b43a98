//! Listings, their history, and all catalog data of a listing.

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

/// The fields of a listing that determine what the caller can do with it.
#[derive(Clone, Debug)]
pub struct ListingRow {
    /// Row ID of the listing.
    pub number: ListingNumber,
    /// ID of the listing.
    pub id: Uuid,
    /// Row ID of the vendor.
    pub team: TeamNumber,
    /// Review status and catalog status.
    pub status: Status,
    /// Time of certification; `None` if the listing is not certified in its current form.
    pub certified_at: Option<Timestamp>,
    /// Title for people.
    pub title: String,
    /// Description for people.
    pub description: String,
    /// Buy-now price; `None` if the listing has no fixed price.
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

/// Returns the listing with this ID.
pub fn find(reader: &Reader, id: Uuid) -> Result<Option<ListingRow>> {
    reader.first(&format!("{ROW} WHERE l.uuid = ?1"), [id], read_row)
}

fn read_status(row: &rusqlite::Row) -> rusqlite::Result<Status> {
    Ok(Status { review: row::word(row, "review_status")?, catalog: row::word(row, "catalog_status")? })
}

/// The editable fields of a listing, to insert or to update one.
#[derive(Clone, Debug)]
pub struct ListingWords<'a> {
    /// Title for people.
    pub title: &'a str,
    /// Description for people.
    pub description: &'a str,
    /// Slugs of the domains.
    pub domain_tags: &'a [String],
    /// Slugs of the inventory tags.
    pub tag_slugs: &'a [String],
    /// Buy-now price; `None` if the listing has no fixed price.
    pub price: Option<Cents>,
    /// Price of the sample; `None` if no sample is offered.
    pub sample_price: Option<Cents>,
    /// Whether buyers can bid.
    pub accepts_bids: bool,
    /// License and conditions, as text.
    pub terms: &'a str,
    /// How the data is delivered to the buyer, and within how many days.
    pub delivery: Option<(DeliveryMethod, u32)>,
    /// Time from which the data can be delivered.
    pub available_from: Option<Timestamp>,
    /// Position among the featured listings, from 1; `None` if the listing is not featured.
    pub featured: Option<u32>,
}

/// Returns the values of the editable columns, in the order of the parameters `?1` to `?12` of the statements
/// below.
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

/// Inserts a listing as a draft and returns its row ID.
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

/// Updates the editable fields of a listing.
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

/// Changes the status of a listing: updates both statuses and the dates that depend on them, and records the
/// event.
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
        // Most transitions change only the review status. Leaving the catalog status alone saves an index
        // update.
        writer.execute(REVIEWED, (number.0, to.review.word(), at.0))?;
    } else {
        let parameters = (number.0, to.review.word(), to.catalog.word(), at.0, event == Event::Published);
        writer.execute(MOVED, parameters)?;
    }
    record(writer, number, event, at, Some(from.stage()), to.stage())?;
    index_queue::enqueue(writer, number)
}

/// Sets or clears the certification time of a listing, and records the event.
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

/// Adds an event to the history of a listing.
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

/// Appends an asset to a listing.
pub fn attach(writer: &Writer, number: ListingNumber, asset: i64) -> Result<()> {
    const SQL: &str = "INSERT INTO listing_assets (listing, position, asset)
         VALUES (?1, (SELECT coalesce(max(position), 0) + 1 FROM listing_assets WHERE listing = ?1), ?2)";
    writer.execute(SQL, (number.0, asset))?;
    index_queue::enqueue(writer, number)
}

/// Adds a file to the bundle of a listing.
pub fn add_bundle_file(writer: &Writer, number: ListingNumber, file: &BundleFile) -> Result<()> {
    const SQL: &str =
        "INSERT INTO listing_bundle_files (listing, path, size_bytes, sha256) VALUES (?1, ?2, ?3, ?4)";
    writer.execute(SQL, (number.0, &file.path, file.size_bytes as i64, &file.sha256))?;
    index_queue::enqueue(writer, number)
}

/// Adds an ingest of the listing's dataset into the platform's hub.
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

/// Returns the number of assets on a listing.
pub fn asset_count(reader: &Reader, number: ListingNumber) -> Result<usize> {
    reader.one("SELECT count(*) FROM listing_assets WHERE listing = ?1", [number.0], |row| row.get(0))
}

/// An event in the history of a listing.
#[derive(Clone, Copy, Debug)]
pub struct HistoryEvent {
    /// What happened.
    pub event: Event,
    /// Who caused the event.
    pub actor: Actor,
    /// Time of the event.
    pub occurred_at: Timestamp,
    /// Stage before the event; `None` for the creation of the listing.
    pub from: Option<LifecycleStage>,
    /// Stage after the event.
    pub to: LifecycleStage,
}

/// Returns the history of a listing, newest event first.
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

/// Returns the sum of the prices of a team's published listings.
pub fn published_value(reader: &Reader, team: TeamNumber) -> Result<Cents> {
    const SQL: &str = "SELECT coalesce(sum(price_cents), 0) FROM listings
         WHERE team = ?1 AND catalog_status = 'published'";
    reader.one(SQL, [team.0], |row| Ok(Cents(row.get(0)?)))
}

/// Returns the sum of the prices of the listings with these row IDs.
pub fn value(reader: &Reader, listings: &[u64]) -> Result<Cents> {
    const SQL: &str =
        "SELECT coalesce(sum(price_cents), 0) FROM listings WHERE id IN (SELECT value FROM json_each(?1))";
    reader.one(SQL, [row::to_json(listings)?], |row| Ok(Cents(row.get(0)?)))
}

/// Returns the number of a team's published listings.
pub fn published_by(reader: &Reader, team: TeamNumber) -> Result<u64> {
    const SQL: &str = "SELECT count(*) FROM listings WHERE team = ?1 AND catalog_status = 'published'";
    reader.one(SQL, [team.0], |row| row.get(0))
}

/// Returns the listing with this row ID.
pub fn numbered(reader: &Reader, number: ListingNumber) -> Result<Option<ListingRow>> {
    reader.first(&format!("{ROW} WHERE l.id = ?1"), [number.0], read_row)
}

/// Returns the listings that include an asset.
pub fn carriers(reader: &Reader, asset: i64) -> Result<Vec<ListingRow>> {
    let sql = format!("{ROW} JOIN listing_assets la ON la.listing = l.id WHERE la.asset = ?1 ORDER BY l.id");
    reader.all(&sql, [asset], read_row)
}

/// Whether a listing includes a taskset, as an asset or as part of a bundle.
pub fn carries_taskset(reader: &Reader, number: ListingNumber, taskset: i64) -> Result<bool> {
    const SQL: &str = "SELECT EXISTS (
             SELECT 1 FROM listing_assets la JOIN assets a ON a.id = la.asset
             WHERE la.listing = ?1
               AND (a.taskset = ?2 OR EXISTS (
                   SELECT 1 FROM bundle_tasksets b WHERE b.asset = a.id AND b.taskset = ?2)))";
    reader.one(SQL, (number.0, taskset), |row| row.get(0))
}

/// Returns a listing with all data that the catalog shows or searches.
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
    // Struct fields are evaluated in source order, which must match the order of the columns.
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

/// Row ID of an asset, row ID of its taskset if it is one, and its catalog data.
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
    // Struct fields are evaluated in source order, which must match the order of the columns.
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

/// Returns the tasksets (alias `t`) that match a condition, each with the number of its tasks that are not
/// deleted.
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

/// Returns the number of all listings, and the number of published listings.
pub fn totals(reader: &Reader) -> Result<(u64, u64)> {
    const SQL: &str = "SELECT count(*), count(*) FILTER (WHERE catalog_status = ?1) FROM listings";
    reader.one(SQL, [CatalogStatus::Published.word()], |row| Ok((row.get(0)?, row.get(1)?)))
}
