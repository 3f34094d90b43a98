//! Imports of graded traces: each trace is imported once, rejections, and the state after a kill.

use std::{
    cell::Cell,
    fmt::Write as _,
    io::{self, Read},
};

use marketplace::{
    blobs::Reservation,
    domain::{
        tasks::{BuildStatus, VersionState},
        trace_imports::{MAX_KEPT_PROBLEMS, TraceImportStatus},
    },
    error::{Error, Result},
    market::Market,
    operations::{
        access::Vendor,
        background, cleanup,
        task_changes::{self, TaskInput},
        trace_imports,
    },
    store::{self, trace_imports::TraceImport},
};
use serde_json::json;
use uuid::Uuid;

use super::{
    events, platform, problems,
    tasksets::{seller, task, version},
};
use crate::{
    catalog::small_market::small_market,
    harness::{
        TestMarket,
        backups::{back_up, temp_dir},
    },
};

/// A taskset of the seller with tasks `t-0`, `t-1`, … of one version with one build each.
struct Tasks {
    market: TestMarket,
    taskset: Uuid,
    versions: Vec<Uuid>,
}

impl Tasks {
    fn new(count: usize) -> Tasks {
        let market = small_market(&[]);
        let (taskset, versions) = market
            .write(|writer| {
                let seller: Vendor = seller(writer)?;
                let taskset = task_changes::create_taskset(writer, &seller, "Sorting", &[])?;
                let mut versions = Vec::new();
                for number in 0..count {
                    // The last task is binarized.
                    let input = TaskInput { binarized: number + 1 == count, ..task(&format!("t-{number}")) };
                    let task = task_changes::add_task(writer, &seller, taskset, &input)?;
                    let (id, _) =
                        task_changes::add_version(writer, &seller, task, &version(VersionState::Live))?;
                    task_changes::record_build(writer, &seller, id, BuildStatus::Succeeded)?;
                    versions.push(id);
                }
                Ok((taskset, versions))
            })
            .unwrap();
        Tasks { market, taskset, versions }
    }

    fn start(&self, mut lines: &[u8]) -> Result<Uuid> {
        trace_imports::start(self.market.market(), platform(), self.taskset, "traces.jsonl", &mut lines)
    }

    fn find(&self, id: Uuid) -> TraceImport {
        self.market.read(|reader| trace_imports::find(reader, platform(), id)).unwrap()
    }

    /// Runs jobs, which are stopped before each batch, as by a server that is stopped: it looks whether to continue twice. Calls a
    /// function with the state of an import after each stop.
    fn run_with_stops(&self, id: Uuid, check: impl Fn(&TraceImport)) {
        for stop_at in 1..40 {
            let calls = Cell::new(0);
            let keep_running = || {
                calls.set(calls.get() + 1);
                calls.get() < stop_at
            };
            background::run_pending(self.market.market(), &keep_running).unwrap();
            check(&self.find(id));
        }
    }

    /// Imports lines, and returns the result.
    fn import(&self, lines: &str) -> TraceImport {
        self.import_bytes(lines.as_bytes())
    }

    /// Imports lines in any encoding, and returns the result.
    fn import_bytes(&self, lines: &[u8]) -> TraceImport {
        let id = self.start(lines).unwrap();
        self.market.run_background();
        self.find(id)
    }
}

/// Returns a line about a trace of a task that is named by the vendor's identifier.
fn line(trace: u128, task: usize) -> String {
    json!({
        "trace_id": Uuid::from_u128(trace), "external_id": format!("t-{task}"), "version": 1, "build_version": 1,
        "model": "atlas", "reward": 1, "graded_at": "2026-02-01T00:00:00Z",
        "qa": {"reward_hacking": {"status": "completed", "verdict": "pass"}},
    })
    .to_string()
        + "\n"
}

fn counts(import: &TraceImport) -> (u64, u64, u64) {
    (import.counts.inserted, import.counts.existing, import.counts.rejected)
}

/// A file of lines that are made while it is read.
struct Lines {
    made: u128,
    count: u128,
    tasks: usize,
    line: Vec<u8>,
}

impl Read for Lines {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.line.is_empty() && self.made < self.count {
            self.line = line(self.made, self.made as usize % self.tasks).into_bytes();
            self.made += 1;
        }
        let count = self.line.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.line[..count]);
        self.line.drain(..count);
        Ok(count)
    }
}

#[test]
fn many_traces_are_imported_with_one_event() {
    const TRACES: u128 = 20_000;
    let tasks = Tasks::new(20);
    let market = tasks.market.market();
    let mut source = Lines { made: 0, count: TRACES, tasks: 20, line: Vec::new() };
    let id = trace_imports::start(market, platform(), tasks.taskset, "traces.jsonl", &mut source).unwrap();
    let commits = market.commit_count();
    tasks.market.run_background();
    // 1,000 rows in each transaction, and a few for the job itself.
    let commits = market.commit_count() - commits;
    assert!((20..40).contains(&commits), "{commits} commits");
    let import = tasks.find(id);
    assert_eq!((import.status, counts(&import)), (TraceImportStatus::Completed, (TRACES as u64, 0, 0)));
    let found = events(&tasks.market, &["traces."]);
    assert_eq!((found.len(), found[0].subject.as_str()), (1, id.to_string().as_str()));
    let data = &found[0].data;
    assert!(found[0].has_team && data["inserted"] == TRACES as u64 && data["status"] == "completed");
}

#[test]
fn import_that_was_interrupted_continues_and_adds_nothing_twice() {
    let tasks = Tasks::new(2);
    let text: String = (0..3_500).map(|number| line(number, 0)).collect();
    let id = tasks.start(text.as_bytes()).unwrap();
    tasks.run_with_stops(id, |import| {
        let lines = if import.finished_at.is_some() { 3_500 } else { import.position.lines_read };
        assert_eq!(import.counts.inserted, lines, "all lines until there, and no other");
        assert_eq!(import.counts.existing, 0, "no line is imported twice");
    });
    let import = tasks.find(id);
    assert_eq!((import.status, import.position.offset), (TraceImportStatus::Completed, text.len() as u64));
    assert_eq!(events(&tasks.market, &["traces."]).len(), 1);
}

/// "A byte order mark must not lose the first trace." An import in UTF-16 continues in the middle of the text, too.
#[test]
fn first_trace_is_imported_in_any_encoding_of_unicode() {
    let tasks = Tasks::new(2);
    let text = |from: u128| (from..from + 2_500).map(|number| line(number, 0)).collect::<String>();
    let with_mark = format!("\u{feff}{}", text(0));
    let little: Vec<u8> =
        format!("\u{feff}{}", text(10_000)).encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text(20_000).encode_utf16().flat_map(u16::to_be_bytes).collect();
    for bytes in [with_mark.as_bytes(), &little, &big] {
        assert_eq!(counts(&tasks.import_bytes(bytes)), (2_500, 0, 0));
    }
    let bytes: Vec<u8> = text(30_000).encode_utf16().flat_map(u16::to_le_bytes).collect();
    let id = tasks.start(&bytes).unwrap();
    tasks.run_with_stops(id, |_| ());
    let import = tasks.find(id);
    assert_eq!((import.status, counts(&import)), (TraceImportStatus::Completed, (2_500, 0, 0)));
}

#[test]
fn trace_that_exists_is_not_added_again() {
    let tasks = Tasks::new(3);
    let text = line(1, 0) + &line(2, 0) + &line(1, 0);
    assert_eq!(counts(&tasks.import(&text)), (2, 1, 0));
    assert_eq!(counts(&tasks.import(&text)), (0, 3, 0));
    let import = tasks.import(&(line(3, 0) + &line(1, 1)));
    assert_eq!(counts(&import), (1, 0, 1));
    assert_eq!(import.problems[0].line, 2);
    assert!(import.problems[0].message.contains("of another task version"), "{:?}", import.problems);
}

#[test]
fn first_rejected_lines_are_kept_with_their_numbers() {
    let tasks = Tasks::new(3);
    let mut text = String::new();
    let id = tasks.versions[0];
    let with = |change: serde_json::Value| {
        let mut fields = json!({"trace_id": Uuid::from_u128(77), "task_version_id": id, "build_version": 1});
        fields.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        fields.to_string()
    };
    let graded = "2026-02-01T00:00:00Z";
    let invalid = [
        ("nonsense".to_owned(), "not a trace"),
        (with(json!({"build_version": 2})), "number of a build"),
        (with(json!({"task_version_id": Uuid::nil()})), "no such task version"),
        (with(json!({"reward": 0.5, "graded_at": "2027-01-01T00:00:00Z"})), "in the future"),
        (
            with(json!({"task_version_id": tasks.versions[2], "reward": 0.5, "graded_at": graded})),
            "0 or 1, since the task is binarized",
        ),
    ];
    for (line, _) in &invalid {
        // A blank line counts as a line of the file.
        writeln!(text, "{line}\n").unwrap();
    }
    text += &line(1, 0);
    text += &"{}\n".repeat(200);
    let import = tasks.import(&text);
    assert_eq!(import.status, TraceImportStatus::Completed);
    assert_eq!(counts(&import), (1, 0, 205));
    assert_eq!((import.counts.lines, import.position.lines_read), (206, 211));
    assert_eq!(import.problems.len(), MAX_KEPT_PROBLEMS);
    for (number, (_, expected)) in invalid.iter().enumerate() {
        let problem = &import.problems[number];
        assert_eq!(problem.line, 2 * number as u64 + 1);
        assert!(problem.message.contains(expected), "{problem:?}");
    }
}

#[test]
fn import_needs_a_file_and_a_taskset_of_an_open_team() {
    let tasks = Tasks::new(1);
    assert_eq!(problems(tasks.start(b"")).len(), 1);
    let market = tasks.market.market();
    let absent = trace_imports::start(market, platform(), Uuid::nil(), "x", &mut &b"{}"[..]);
    assert!(matches!(absent, Err(Error::NotFound(_))), "{absent:?}");
    let uploads = market.data_dir().join("blobs/uploads");
    let count = || std::fs::read_dir(&uploads).map_or(0, Iterator::count);
    assert_eq!(count(), 0, "nothing is left of an import that was refused");
    tasks
        .market
        .write(|writer| {
            let actor = marketplace::domain::listings::Actor::Platform;
            marketplace::operations::team_closures::close(writer, platform(), actor, "Seller house")
        })
        .unwrap();
    assert!(matches!(tasks.start(b"{}"), Err(Error::Conflict(_))));
}

#[test]
fn file_that_is_too_large_is_refused() {
    let market = TestMarket::with_settings(|settings| settings.blobs.max_upload_bytes = 10);
    market.seed_json(&json!({
        "teams": [{"key": "t", "name": "T", "roles": ["vendor"], "tier": 1, "created_at": "-P9D", "nda_accepted_at": "-P9D"}],
        "tasksets": [{"key": "s", "team": "t", "name": "S", "created_at": "-P9D"}],
    }));
    let taskset = marketplace::clock::fixture_record_id("tasksets", "s");
    let mut source = io::repeat(b'\n');
    let refused = trace_imports::start(market.market(), platform(), taskset, "x", &mut source);
    assert!(matches!(refused, Err(Error::PayloadTooLarge { max_bytes: 10 })), "{refused:?}");
}

/// A source of blank lines, during which other work reserves all space that the disk has.
struct FillingDisk<'a> {
    market: &'a Market,
    reservations: Vec<Reservation>,
    read: u64,
}

impl Read for FillingDisk<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.read > 1_000_000 && self.reservations.is_empty() {
            let sizes = (0..50).rev().map(|power| 1 << power);
            self.reservations = sizes.filter_map(|bytes| self.market.reserve_space(bytes).ok()).collect();
        }
        buffer.fill(b'\n');
        self.read += buffer.len() as u64;
        Ok(buffer.len())
    }
}

#[test]
fn upload_ends_when_the_disk_is_full() {
    const MEGABYTES: u64 = 1_000_000;
    let market = TestMarket::with_settings(|settings| {
        settings.blobs.max_upload_bytes = 100 * MEGABYTES;
        settings.data.reserve_mb = 1;
    });
    market.seed_json(&json!({
        "teams": [{"key": "t", "name": "T", "roles": ["vendor"], "tier": 1, "created_at": "-P9D", "nda_accepted_at": "-P9D"}],
        "tasksets": [{"key": "s", "team": "t", "name": "S", "created_at": "-P9D"}],
    }));
    let taskset = marketplace::clock::fixture_record_id("tasksets", "s");
    let mut source = FillingDisk { market: market.market(), reservations: Vec::new(), read: 0 };
    let refused = trace_imports::start(market.market(), platform(), taskset, "x", &mut source);
    assert!(matches!(refused, Err(Error::StorageFull { .. })), "{refused:?}");
    assert!(source.read < 40 * MEGABYTES, "{} bytes", source.read);
    drop(source);
    let uploads = market.market().data_dir().join("blobs/uploads");
    assert_eq!(std::fs::read_dir(uploads).map_or(0, Iterator::count), 0);
}

#[test]
fn file_is_deleted_when_its_import_has_ended() {
    let tasks = Tasks::new(1);
    let text = line(1, 0);
    let import = tasks.import(&text);
    tasks.market.run_background();
    let uploads = tasks.market.market().data_dir().join("blobs/uploads");
    assert_eq!(std::fs::read_dir(uploads).unwrap().count(), 0);
    let rows = tasks.market.read(|reader| store::uploads::list(reader.rows)).unwrap();
    assert!(rows.is_empty(), "{rows:?}");
    let found = tasks.find(import.id);
    assert_eq!((found.status, found.size_bytes), (TraceImportStatus::Completed, text.len() as u64));
}

/// A backup that began before the import ended copies its file.
#[test]
fn file_of_an_ended_import_is_kept_while_a_backup_runs() {
    let tasks = Tasks::new(1);
    let market = tasks.market.market();
    let id = tasks.start(line(1, 0).as_bytes()).unwrap();
    let backup = temp_dir();
    assert!(back_up(market, backup.path()).unwrap().problems.is_empty());
    let hold = market.blobs().hold_files().unwrap();
    tasks.market.run_background();
    assert_eq!(tasks.find(id).status, TraceImportStatus::Completed);
    let path = market.data_dir().join("blobs/uploads");
    let count = || std::fs::read_dir(&path).unwrap().count();
    let swept = cleanup::sweep(market).unwrap();
    assert!(swept.is_backup_running && swept.uploads == 0, "{swept:?}");
    assert_eq!(count(), 1);
    drop(hold);
    assert_eq!(cleanup::sweep(market).unwrap().uploads, 1);
    assert_eq!(count(), 0);
    let again = back_up(market, backup.path()).unwrap();
    assert_eq!(
        (again.uploads, again.problems.len()),
        (0, 0),
        "it is a later state, although an upload is gone"
    );
}

/// An import that cannot read its file is given up after the last attempt, and keeps what it has.
#[test]
fn import_without_its_file_fails() {
    let tasks = Tasks::new(1);
    let id = tasks.start(line(1, 0).as_bytes()).unwrap();
    let path = tasks.market.market().data_dir().join("blobs/uploads");
    let file = std::fs::read_dir(path).unwrap().next().unwrap().unwrap().path();
    std::fs::remove_file(&file).unwrap();
    for _ in 0..6 {
        tasks.market.run_background();
        tasks.market.clock().advance(200_000_000);
    }
    let import = tasks.find(id);
    assert_eq!(import.status, TraceImportStatus::Failed);
    assert!(import.error.unwrap().contains("could not be read completely"));
    assert_eq!(events(&tasks.market, &["traces."])[0].data["status"], "failed");
}
