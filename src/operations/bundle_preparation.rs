//! The background job that prepares a bundle: it makes the files of its entries, and computes their digests. Each entry
//! is recorded when it is prepared, so an interrupted job continues with the next one. The documents that describe the
//! bundle are made last.
//!
//! An entry whose data cannot be read becomes the description of its asset, and the manifest says why. So one damaged
//! repository does not keep the buyer from the rest.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
};

use uuid::Uuid;

use super::{
    archive_analysis, attestations,
    child_processes::TimeLimit,
    croissant,
    data_files::DATA_GONE,
    repository_analysis,
    running_job::{self, JobError, JobResult, RunningJob},
    upload_reading::fetch_upload,
};
use crate::{
    artifacts::{
        ReadError,
        child::{Input, Task},
        packing::{FileSelection, OUTPUT_FILE, PackedFiles},
        quality_checks::license::LICENSE_FOUND,
    },
    blobs::{Blobs, FileHold, HashedFile, hash_for_bundle},
    domain::{
        bundles::{
            CROISSANT_PATH, Document, EntryContent, EntryDigest, EntrySource, MANIFEST_PATH, description,
            manifest,
        },
        row_ids::{TasksetRowId, UploadRowId},
        samples::{DEFAULT_TASKS, Selection},
    },
    error::Error,
    market::Reader,
    private_files,
    store::{
        self,
        bundle_entries::{Entry, PreparedEntry},
        bundle_tasks::{Position, TaskSource, VersionLine},
        bundles::Bundle,
    },
};

/// Number of entries that are read, and of descriptions that are recorded, together.
const BATCH: u32 = 100;

/// Number of versions of tasks that are read together. A version can have almost a megabyte.
const VERSIONS: u32 = 16;

/// Name of the file that a repository is packed to.
const REPOSITORY_FILE: &str = "repository.zip";

type Result<T> = std::result::Result<T, JobError>;

/// Prepares the entries of a bundle, and then its manifest.
pub fn run(job: &RunningJob) -> JobResult {
    let row_id = job.bundle_row_id();
    let found = job.market().read_blocking(|reader| store::bundles::find(reader.rows, row_id))?;
    // A refund or a cleanup may have deleted the bundle.
    let Some(bundle) = found.filter(|bundle| bundle.manifest.is_none()) else {
        return job.finish(|_| Ok(()));
    };
    loop {
        let list = |reader: &Reader| store::bundle_entries::list_unprepared(reader.rows, row_id, BATCH);
        let entries = job.market().read_blocking(list)?;
        if entries.is_empty() {
            return finish(job, &bundle);
        }
        prepare_batch(job, &bundle, &entries)?;
    }
}

/// Ends a job that failed too often. The next download of the bundle enqueues another one.
pub fn give_up(job: &RunningJob) -> JobResult {
    job.finish(|_| Ok(()))
}

fn finish(job: &RunningJob, bundle: &Bundle) -> JobResult {
    let public_url = &job.market().settings().server.public_url;
    let found = job.market().read_blocking(|reader| {
        let rows = reader.rows;
        let Some(listing) = store::croissant::find_fixed(rows, bundle.row_id)? else { return Ok(None) };
        let entries = store::bundle_entries::list_manifest(rows, bundle.row_id)?;
        let (key, max_checks) = (LICENSE_FOUND.key, attestations::MAX_CHECKS);
        let checks = store::attestations::list_checks(rows, bundle.row_id, key, max_checks)?;
        let licenses = croissant::licenses_of(&checks.messages);
        let croissant =
            croissant::describe_bundle(rows, bundle, &listing, licenses.clone(), public_url, &entries)?;
        let facts = attestations::read_facts(reader, bundle, &listing, checks, licenses)?;
        Ok(Some((entries, croissant, facts)))
    })?;
    // The bundle was deleted meanwhile.
    let Some((entries, croissant, facts)) = found else { return job.finish(|_| Ok(())) };
    let manifest = manifest(bundle.listing_id, &entries).map_err(Error::internal)?;
    let documents = [(MANIFEST_PATH, manifest), (CROISSANT_PATH, croissant)];
    let documents = documents.map(|(path, bytes)| Document { path, bytes });
    job.finish(|writer| {
        // If the bundle was deleted meanwhile, nothing is recorded.
        if !store::bundle_entries::set_documents(writer.rows, bundle.row_id, &documents)? {
            return Ok(());
        }
        if let Some(facts) = facts {
            attestations::sign(writer, facts, &documents, &entries)?;
        }
        store::bundles::delete_older_for_vendor(writer.rows, bundle)
    })
}

/// Prepares entries. Descriptions are recorded together.
fn prepare_batch(job: &RunningJob, bundle: &Bundle, entries: &[Entry]) -> JobResult {
    let mut descriptions = Vec::new();
    for entry in entries {
        job.wait_for_turn()?;
        let prepared = match entry.content {
            EntryContent::Description => Ok(None),
            EntryContent::Upload => prepare_upload(job, entry),
            EntryContent::Repository => prepare_repository(job, entry),
            EntryContent::Tasks => prepare_tasks(job, bundle, entry).map(Some),
        };
        let (prepared, problem) = match prepared {
            Ok(prepared) => (prepared, None),
            Err(Unprepared::Problem(problem)) => (None, Some(problem)),
            Err(Unprepared::Ended(error)) => return Err(error),
        };
        match prepared {
            Some(made) => record(job, bundle, entry, &made)?,
            None => descriptions.push((entry.asset, describe(job, entry, problem)?)),
        }
    }
    if descriptions.is_empty() {
        return Ok(());
    }
    job.write_progress(|writer| {
        let mut descriptions = descriptions.iter();
        descriptions.try_for_each(|(asset, entry)| {
            store::bundle_entries::set_prepared(writer.rows, bundle.row_id, *asset, entry)
        })
    })
}

/// The bytes of an entry that are not in the database.
struct Made {
    source: EntrySource,
    digest: EntryDigest,
    /// The file, until it is moved to the storage.
    file: Option<tempfile::TempDir>,
    name: &'static str,
    /// The checksum of the upload, if it was computed.
    upload: Option<UploadRowId>,
}

/// Why an entry was not prepared.
enum Unprepared {
    /// Its data cannot be read. Text for the manifest.
    Problem(String),
    /// The job ends.
    Ended(JobError),
}

impl From<JobError> for Unprepared {
    fn from(error: JobError) -> Unprepared {
        Unprepared::Ended(error)
    }
}

impl From<Error> for Unprepared {
    fn from(error: Error) -> Unprepared {
        Unprepared::Ended(error.into())
    }
}

impl From<io::Error> for Unprepared {
    fn from(error: io::Error) -> Unprepared {
        Unprepared::Ended(Error::internal(error).into())
    }
}

impl From<ReadError> for Unprepared {
    fn from(error: ReadError) -> Unprepared {
        match running_job::rejection(error) {
            Ok(rejection) => Unprepared::Problem(rejection.0),
            Err(error) => Unprepared::Ended(error),
        }
    }
}

type Prepared<T> = std::result::Result<T, Unprepared>;

fn describe(job: &RunningJob, entry: &Entry, problem: Option<String>) -> Result<PreparedEntry> {
    let fields = match &entry.description {
        Some(fields) => fields.clone(),
        None => job
            .market()
            .read_blocking(|reader| store::bundle_entries::describe_asset(reader.rows, entry.asset))?,
    };
    Ok(PreparedEntry {
        source: EntrySource::Description,
        path: EntryContent::Description.path(entry.asset_id, entry.selection.is_some()),
        digest: EntryDigest::of(&description(entry.asset_id, &fields)),
        description: Some(fields),
        problem,
    })
}

/// Moves the file of an entry to the storage, and records the entry. Until it is recorded, no cleanup deletes the file.
fn record(job: &RunningJob, bundle: &Bundle, entry: &Entry, made: &Made) -> JobResult {
    let blobs = job.market().blobs();
    let hold: Option<FileHold> = match made.source {
        EntrySource::File => Some(blobs.hold_files().map_err(Error::internal)?),
        EntrySource::Upload | EntrySource::Description => None,
    };
    if let (Some(directory), Some(hold)) = (&made.file, &hold) {
        let file = directory.path().join(made.name);
        blobs.store_bundle_file(&file, &made.digest.sha256, hold).map_err(Error::internal)?;
    }
    if hold.is_some() && !blobs.has_bundle_file(&made.digest.sha256) {
        // The archive belonged to another bundle, which was deleted meanwhile.
        return Ok(());
    }
    let prepared = PreparedEntry {
        source: made.source,
        path: entry.content.path(entry.asset_id, entry.selection.is_some()),
        digest: made.digest.clone(),
        description: None,
        problem: None,
    };
    job.write_progress(|writer| {
        if let Some(upload) = made.upload {
            store::bundles::set_upload_crc32(writer.rows, upload, made.digest.crc32)?;
        }
        store::bundle_entries::set_prepared(writer.rows, bundle.row_id, entry.asset, &prepared)
    })
}

/// Hashes a file, in turns with other teams.
fn hash(job: &RunningJob, path: &Path) -> Prepared<HashedFile> {
    hash_for_bundle(&mut File::open(path)?, || job.wait_for_turn().map_err(Unprepared::Ended))
}

fn made_file(job: &RunningJob, file: tempfile::TempDir, name: &'static str) -> Prepared<Option<Made>> {
    let HashedFile { file: stored, crc32 } = hash(job, &file.path().join(name))?;
    let digest = EntryDigest { size_bytes: stored.size_bytes, sha256: stored.sha256, crc32 };
    Ok(Some(Made { source: EntrySource::File, digest, file: Some(file), name, upload: None }))
}

/// Prepares an upload: as it is, or a sample of it.
fn prepare_upload(job: &RunningJob, entry: &Entry) -> Prepared<Option<Made>> {
    let market = job.market();
    let row_id = entry.upload.ok_or_else(|| Error::internal("an entry has no upload"))?;
    let gone = || Unprepared::Problem(DATA_GONE.to_owned());
    let found = market.read_blocking(|reader| store::bundles::find_upload(reader.rows, row_id))?;
    let upload = found.ok_or_else(gone)?;
    if !market.blobs().has_upload(upload.id)? {
        return Err(gone());
    }
    if let Some(selection) = &entry.selection {
        return pack_sample(job, upload.id, upload.size_bytes, selection);
    }
    let (size_bytes, sha256) = (upload.size_bytes, upload.sha256);
    let made = |crc32, upload| Made {
        source: EntrySource::Upload,
        digest: EntryDigest { size_bytes, sha256: sha256.clone(), crc32 },
        file: None,
        name: "",
        upload,
    };
    if let Some(crc32) = upload.crc32 {
        return Ok(Some(made(crc32, None)));
    }
    let mut source = UploadReader { blobs: market.blobs(), id: upload.id, offset: 0, size_bytes };
    let found = hash_for_bundle(&mut source, || job.wait_for_turn().map_err(Unprepared::Ended))?;
    if found.file.sha256 != sha256 {
        return Err(Error::internal(format!("upload {} differs from the received file", upload.id)).into());
    }
    Ok(Some(made(found.crc32, Some(row_id))))
}

/// Reads an upload in ranges, from any store.
struct UploadReader<'a> {
    blobs: &'a Blobs,
    id: Uuid,
    offset: u64,
    size_bytes: u64,
}

impl io::Read for UploadReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = (self.size_bytes - self.offset).min(buffer.len() as u64) as usize;
        if count > 0 {
            let bytes = self.blobs.read_upload_range(self.id, self.offset, count)?;
            buffer[..count].copy_from_slice(&bytes);
            self.offset += count as u64;
        }
        Ok(count)
    }
}

fn file_selection(selection: Option<&Selection>) -> FileSelection {
    selection.map_or(FileSelection::All, FileSelection::of_sample)
}

fn pack_sample(
    job: &RunningJob,
    upload: Uuid,
    size_bytes: u64,
    selection: &Selection,
) -> Prepared<Option<Made>> {
    let market = job.market();
    let file = fetch_upload(market, upload, size_bytes)?;
    let directory = market.blobs().staging_dir()?;
    let task = Task::PackArchive {
        selection: file_selection(Some(selection)),
        limits: archive_analysis::limits(market.settings()),
    };
    let limit = TimeLimit { seconds: market.settings().archives.max_seconds, what: "The archive" };
    job.begin()?;
    let input = Input::File(File::open(file.path())?, directory.path());
    job.run_child::<PackedFiles>(&task, input, limit)?;
    made_file(job, directory, OUTPUT_FILE)
}

/// Packs the files of a commit, unless another bundle has the same archive. An asset without a copy of its repository is
/// only described.
fn prepare_repository(job: &RunningJob, entry: &Entry) -> Prepared<Option<Made>> {
    let market = job.market();
    let found = market.read_blocking(|reader| store::bundle_entries::find_same_file(reader.rows, entry))?;
    if let Some(digest) = found.filter(|found| market.blobs().has_bundle_file(&found.sha256)) {
        return Ok(Some(Made { source: EntrySource::File, digest, file: None, name: "", upload: None }));
    }
    let Some((attached_at, commit)) = &entry.repository else { return Ok(None) };
    if !market.blobs().has_repository(entry.asset_id, *attached_at) {
        return Ok(None);
    }
    let repository = market.blobs().repository_path(entry.asset_id, *attached_at);
    let directory = market.blobs().staging_dir()?;
    let mut options = private_files::open_options();
    let output =
        options.create_new(true).read(true).write(true).open(directory.path().join(REPOSITORY_FILE))?;
    let settings = &market.settings().repositories;
    let task = Task::PackRepository {
        commit: commit.clone(),
        selection: file_selection(entry.selection.as_ref()),
        limits: repository_analysis::limits(settings),
    };
    let limit = TimeLimit { seconds: settings.max_seconds, what: "The repository" };
    job.begin()?;
    job.run_child::<PackedFiles>(&task, Input::File(output, &repository), limit)?;
    made_file(job, directory, REPOSITORY_FILE)
}

/// Writes the tasks of an asset, a few versions per transaction.
fn prepare_tasks(job: &RunningJob, bundle: &Bundle, entry: &Entry) -> Prepared<Made> {
    const NAME: &str = "tasks.jsonl";
    let directory = job.market().blobs().staging_dir()?;
    let mut file = BufWriter::new(private_files::create(&directory.path().join(NAME))?);
    let source =
        job.market().read_blocking(|reader| store::bundle_tasks::find_source(reader.rows, entry.asset))?;
    match source {
        TaskSource::Version(version) => {
            let find =
                |reader: &Reader| store::bundle_tasks::find_version(reader.rows, bundle.last_rows, version);
            if let Some(line) = job.market().read_blocking(find)? {
                write_line(&mut file, &line)?;
            }
        }
        TaskSource::Tasksets(tasksets) => {
            let mut remaining = TaskLimit::new(entry.selection.as_ref());
            for taskset in tasksets {
                write_taskset(job, bundle, entry, taskset, &mut remaining, &mut file)?;
            }
        }
    }
    file.flush()?;
    drop(file);
    made_file(job, directory, NAME)?.ok_or_else(|| Error::internal("no file was made").into())
}

/// How many more tasks a sample by default has.
struct TaskLimit {
    remaining: Option<usize>,
    current: Option<i64>,
}

impl TaskLimit {
    fn new(selection: Option<&Selection>) -> TaskLimit {
        let is_default = selection.is_some_and(|selection| selection.task_ids.is_none());
        TaskLimit { remaining: is_default.then_some(DEFAULT_TASKS), current: None }
    }

    /// Counts a version of a task. Returns false if the task is one too many.
    fn admit(&mut self, task: i64) -> bool {
        let Some(remaining) = &mut self.remaining else { return true };
        if self.current != Some(task) {
            let Some(rest) = remaining.checked_sub(1) else { return false };
            (*remaining, self.current) = (rest, Some(task));
        }
        true
    }
}

fn write_taskset(
    job: &RunningJob,
    bundle: &Bundle,
    entry: &Entry,
    taskset: TasksetRowId,
    limit: &mut TaskLimit,
    to: &mut impl Write,
) -> Prepared<()> {
    let task_ids = entry.selection.as_ref().and_then(|selection| selection.task_ids.as_deref());
    let mut after = Position::default();
    loop {
        job.wait_for_turn()?;
        job.market().ensure_space(0)?;
        let lines = job.market().read_blocking(|reader| {
            let (rows, last) = (reader.rows, bundle.last_rows);
            store::bundle_tasks::list_versions(rows, last, taskset, task_ids, after, VERSIONS)
        })?;
        let Some(last) = lines.last() else { return Ok(()) };
        after = last.position();
        for line in &lines {
            if !limit.admit(line.position().task) {
                return Ok(());
            }
            write_line(to, line)?;
        }
    }
}

fn write_line(to: &mut impl Write, line: &VersionLine) -> io::Result<()> {
    serde_json::to_writer(&mut *to, line)?;
    to.write_all(b"\n")
}
