//! Imports of graded traces from the platform: JSON Lines, which are uploaded, and then imported by a job.
//!
//! Each transaction of the job imports a batch of lines and stores where the next one begins, so an import that
//! is killed continues there, and no trace is added twice. The quality of task assets changes only when their team
//! requests a refresh, as after any other change of their traces.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, Read},
};

use uuid::Uuid;

use super::{
    access::{Platform, check_open},
    cleanup,
    running_job::{JobResult, RunningJob},
    trace_lines::{Batch, LineReader},
    upload_reading::fetch_upload,
};
use crate::{
    domain::{
        collections::Collection,
        events::{EventData, TracesImportedData},
        jobs::JobKind,
        row_ids::TraceImportRowId,
        teams::TeamRowId,
        time::Timestamp,
        trace_imports::{
            MAX_KEPT_PROBLEMS, MAX_TRACES_PER_VERSION, RejectedLine, TraceImportStatus, TraceLine,
            VersionName,
        },
    },
    error::{Error, Problem, Result},
    market::{Market, Reader, Writer},
    store::{
        self,
        tasksets::Taskset,
        trace_imports::{TraceImport, TracedVersion},
        uploads::NewUpload,
    },
    text_encoding::TextReader,
};

/// Number of bytes of an upload after which the space of the disk is checked again.
const SPACE_CHECK_BYTES: usize = 16_000_000;

/// Maximum number of imports in a list.
const MAX_LISTED: usize = 100;

/// Message of an import whose file cannot be read on any attempt. The cause is logged.
const UNREADABLE: &str = "The file could not be read completely. Import the traces again.";

/// Uploads a file with graded traces of a taskset, and enqueues its import. Each line is a JSON object with
/// `trace_id`, the version (`task_version_id`, or `external_id` and `version`), `build_version`, and optionally
/// `model`, `reward` with `graded_at`, and `qa`. Returns the ID of the import.
pub fn start(
    market: &Market,
    _: Platform,
    taskset: Uuid,
    file_name: &str,
    source: &mut dyn Read,
) -> Result<Uuid> {
    market.read_blocking(|reader| find_taskset(reader.rows, taskset).map(|_| ()))?;
    let max_bytes = market.settings().blobs.max_upload_bytes;
    // One byte more than allowed, to notice that there is more.
    let limited = source.take(max_bytes.saturating_add(1));
    let mut limited = SpaceChecked { source: limited, market, checked: 0 };
    let id = market.clock().new_id(Collection::Uploads);
    let written = market.blobs().put_upload(id, &mut limited).map_err(Error::internal)?;
    let recorded = if written.size_bytes > max_bytes {
        Err(Error::PayloadTooLarge { max_bytes })
    } else {
        market.write_blocking(|writer| {
            let taskset = find_taskset(writer.rows, taskset)?;
            let upload = NewUpload {
                id,
                team: taskset.team,
                file_name,
                size_bytes: written.size_bytes,
                sha256: &written.sha256,
                url: &format!("traces:{id}"),
                created_at: writer.now,
            };
            record_upload(writer, &taskset, &upload)
        })
    };
    if recorded.is_err() {
        // Without a row, nothing would ever delete the file. A failure to remove it here is ignored.
        let _ = market.blobs().remove_upload(id);
    }
    recorded
}

/// A source of a file that is written to the disk. Fails when the disk has no space for more.
struct SpaceChecked<'a, R> {
    source: R,
    market: &'a Market,
    /// Number of bytes that can be read until the next check.
    checked: usize,
}

impl<R: Read> Read for SpaceChecked<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.checked == 0 {
            self.market.ensure_space(SPACE_CHECK_BYTES as u64).map_err(io::Error::other)?;
            self.checked = SPACE_CHECK_BYTES;
        }
        let length = buffer.len().min(self.checked);
        let count = self.source.read(&mut buffer[..length])?;
        self.checked -= count;
        Ok(count)
    }
}

/// Records an upload whose file is stored, and enqueues its import. Returns the ID of the import.
pub(super) fn record_upload(writer: &Writer, taskset: &Taskset, upload: &NewUpload) -> Result<Uuid> {
    if upload.size_bytes == 0 {
        let message = "The file is empty. Send at least one line.";
        return Err(Error::invalid(Problem::body(&["file"], "too_short", message)));
    }
    let upload = store::uploads::insert(writer.rows, upload)?;
    let id = writer.new_id(Collection::TraceImports);
    let import = store::trace_imports::insert(writer.rows, id, taskset.row_id, upload, writer.now)?;
    writer.enqueue(JobKind::ImportTraces, import)?;
    Ok(id)
}

/// Returns a taskset. Fails if its team was closed.
fn find_taskset(rows: &store::Reader, id: Uuid) -> Result<Taskset> {
    let taskset = store::tasksets::find(rows, id)?.ok_or_else(|| Error::not_found("taskset"))?;
    check_open(&store::teams::find_by_row_id(rows, taskset.team)?)?;
    Ok(taskset)
}

/// Returns an import.
pub fn find(reader: &Reader, _: Platform, id: Uuid) -> Result<TraceImport> {
    store::trace_imports::find(reader.rows, id)?.ok_or_else(|| Error::not_found("import of traces"))
}

/// Returns the newest imports of a taskset, newest first.
pub fn list_newest(reader: &Reader, _: Platform, taskset: Uuid) -> Result<Vec<TraceImport>> {
    let found = store::tasksets::find(reader.rows, taskset)?;
    let taskset = found.ok_or_else(|| Error::not_found("taskset"))?;
    store::trace_imports::list_newest(reader.rows, taskset.row_id, MAX_LISTED)
}

/// Executes an import, from where an interrupted one ended.
pub fn run(job: &RunningJob) -> JobResult {
    let row_id = job.trace_import_row_id();
    let find = |reader: &Reader| store::trace_imports::find_by_row_id(reader.rows, row_id);
    let Some(mut import) = job.market().read_blocking(find)? else { return job.finish(|_| Ok(())) };
    // The file of an import that has ended is deleted.
    let Some(upload) = import.upload else { return job.finish(|_| Ok(())) };
    let file = fetch_upload(job.market(), upload, import.size_bytes)?;
    let mut source = TextReader::new(File::open(file.path()).map_err(Error::internal)?);
    source.skip(import.position.offset).map_err(Error::internal)?;
    let mut lines = LineReader::new(source, import.position);
    loop {
        job.wait_for_turn()?;
        let batch = lines.read_batch().map_err(Error::internal)?;
        let is_last = job.advance(|writer| {
            store::jobs::reset_attempts(writer.rows, job.job())?;
            import_batch(writer, &mut import, &batch)?;
            if batch.is_last {
                end(writer, &mut import, None)?;
            } else {
                store::trace_imports::update(writer.rows, &import)?;
            }
            Ok(batch.is_last)
        })?;
        if is_last {
            return Ok(());
        }
    }
}

/// Ends a canceled import. Imported traces stay.
pub(super) fn fail(writer: &Writer, row_id: TraceImportRowId, message: &str) -> Result<()> {
    let Some(mut import) = store::trace_imports::find_by_row_id(writer.rows, row_id)? else { return Ok(()) };
    end(writer, &mut import, Some(message.to_owned()))
}

/// Finishes an import that failed too often. Imported traces stay.
pub fn give_up(job: &RunningJob) -> JobResult {
    job.finish(|writer| fail(writer, job.trace_import_row_id(), UNREADABLE))
}

/// Imports a batch in the transaction that stores the progress.
fn import_batch(writer: &Writer, import: &mut TraceImport, batch: &Batch) -> Result<()> {
    let mut versions = HashMap::new();
    let mut rejected = batch.rejected.clone();
    for (line, trace) in &batch.traces {
        match import_trace(writer, import, trace, &mut versions)? {
            Imported::Inserted => import.counts.inserted += 1,
            Imported::Existing => import.counts.existing += 1,
            Imported::Rejected(message) => rejected.push(RejectedLine { line: *line, message }),
        }
    }
    rejected.sort_by_key(|rejected| rejected.line);
    import.counts.lines += (batch.traces.len() + batch.rejected.len()) as u64;
    import.counts.rejected += rejected.len() as u64;
    let kept = MAX_KEPT_PROBLEMS.saturating_sub(import.problems.len());
    import.problems.extend(rejected.into_iter().take(kept));
    import.position = batch.end;
    import.status = TraceImportStatus::Running;
    import.started_at.get_or_insert(writer.now);
    Ok(())
}

/// What became of a trace.
enum Imported {
    Inserted,
    Existing,
    Rejected(String),
}

/// Imports a trace. `versions` has the versions that the batch has named so far.
fn import_trace<'b>(
    writer: &Writer,
    import: &TraceImport,
    trace: &'b TraceLine,
    versions: &mut HashMap<&'b VersionName, Option<TracedVersion>>,
) -> Result<Imported> {
    let version = match versions.entry(&trace.version) {
        std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
        std::collections::hash_map::Entry::Vacant(entry) => {
            entry.insert(store::trace_imports::find_version(writer.rows, import.taskset, &trace.version)?)
        }
    };
    let Some(version) = version else {
        let message = "The taskset has no such task version, or its task was deleted.";
        return Ok(Imported::Rejected(message.to_owned()));
    };
    if let Some(message) = find_mismatch(trace, version, writer.now) {
        return Ok(Imported::Rejected(message));
    }
    match store::trace_imports::find_version_of_trace(writer.rows, trace.id)? {
        Some(row_id) if row_id == version.row_id => Ok(Imported::Existing),
        Some(_) => {
            let message = format!("There is already a trace {} of another task version.", trace.id);
            Ok(Imported::Rejected(message))
        }
        None if version.traces >= MAX_TRACES_PER_VERSION => Ok(Imported::Rejected(format!(
            "The task version has {MAX_TRACES_PER_VERSION} traces already, and cannot have more."
        ))),
        None => {
            store::trace_imports::insert_trace(writer.rows, version.row_id, trace)?;
            version.traces += 1;
            Ok(Imported::Inserted)
        }
    }
}

/// Returns how a trace contradicts its version, if it does.
fn find_mismatch(trace: &TraceLine, version: &TracedVersion, now: Timestamp) -> Option<String> {
    if trace.build == 0 || trace.build > version.latest_build {
        return Some("`build_version` must be the number of a build of this version.".to_owned());
    }
    let (reward, graded_at) = trace.graded?;
    if graded_at > now {
        return Some("`graded_at` must not be in the future.".to_owned());
    }
    (version.binarized && reward.fract() != 0.0)
        .then(|| "`reward` must be 0 or 1, since the task is binarized.".to_owned())
}

/// Ends an import with one event about all of its traces, and discards its file; the next cleanup deletes it.
fn end(writer: &Writer, import: &mut TraceImport, error: Option<String>) -> Result<()> {
    let status = if error.is_some() { TraceImportStatus::Failed } else { TraceImportStatus::Completed };
    import.status = status;
    import.finished_at = Some(writer.now);
    import.error = error;
    store::trace_imports::update(writer.rows, import)?;
    store::trace_imports::discard_upload(writer.rows, import.row_id)?;
    cleanup::enqueue(writer)?;
    let (team, taskset_id): (TeamRowId, Uuid) = store::tasksets::find_owner(writer.rows, import.taskset)?;
    let data = TracesImportedData {
        import_id: import.id,
        taskset_id,
        status,
        lines: import.counts.lines,
        inserted: import.counts.inserted,
        existing: import.counts.existing,
        rejected: import.counts.rejected,
    };
    writer.emit(Some(team), import.id, &EventData::TracesImported(data))
}
