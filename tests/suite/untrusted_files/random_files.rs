//! Random files: trees of JSON, YAML, ZIP, Parquet, and Git objects. A child process reads all of them within
//! small limits of memory and time, and replies.

use std::{
    fmt::Write as _,
    fs::{self, File},
    io::{Cursor, Write},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use marketplace::artifacts::{
    Limits,
    child::{ChildEnd, Input, Launcher, ResourceLimits, Task, TaskResult, Validate},
    git::{self, IndexedPack, Origin},
    quality_checks::{Outcome, Subject},
};
use parquet::{
    data_type::{ByteArray, ByteArrayType, Int64Type},
    file::{properties::WriterProperties, writer::SerializedFileWriter},
    schema::parser::parse_message_type,
};
use serde::de::DeserializeOwned;
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use crate::harness::{environment, random::Random};

/// Number of random files in an archive or a repository.
const FILES: u64 = 12;

/// Maximum size in bytes of a random JSON value.
const MAX_JSON_BYTES: usize = 100_000;

/// Limits of a child. They suffice for honest files of the same size, with a debug build.
const LIMITS: ResourceLimits = ResourceLimits {
    memory_bytes: 256 << 20,
    address_space_bytes: 4 << 30,
    cpu_seconds: 10,
    open_files: 64,
    file_bytes: 64 << 20,
    reply_bytes: 4 << 20,
};

const ARCHIVE_LIMITS: Limits = Limits { max_files: 10_000, max_ratio: 200 };

const GIT_LIMITS: git::Limits =
    git::Limits { bytes: 50_000_000, files: 10_000, file_bytes: 10_000_000, idle_seconds: 1 };

/// Returns the number of random archives and of repositories.
fn rounds() -> u64 {
    environment::rounds(3, 60)
}

/// Runs a task in a child process and returns its result. Panics if the child ended without a reply.
fn run<T: DeserializeOwned + Validate>(task: &Task, input: Input, context: &str) -> TaskResult<T> {
    let launcher = Launcher::new(env!("CARGO_BIN_EXE_marketplace").into(), LIMITS);
    let mut child = launcher.start(task, input, tempfile::tempfile().unwrap()).unwrap();
    match child.wait(Duration::from_mins(2)).unwrap() {
        Some(ChildEnd::Replied(reply)) => reply.parse::<T>().expect(context).result,
        other => panic!("{context}: {other:?}"),
    }
}

fn run_on_bytes<T: DeserializeOwned + Validate>(task: &Task, bytes: &[u8], context: &str) -> TaskResult<T> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    fs::write(&path, bytes).unwrap();
    run(task, Input::File(File::open(path).unwrap(), directory.path()), context)
}

/// Appends a random JSON value. Sometimes it is deep, wide, or long.
fn append_json(random: &mut Random, depth: u32, text: &mut String) {
    let is_leaf = depth == 0 || text.len() > MAX_JSON_BYTES;
    match random.below(if is_leaf { 5 } else { 9 }) {
        0 => text.push_str("null"),
        1 => text.push_str(&random.next().to_string()),
        2 => text.push_str("1e999"),
        3 => text.push_str("\"\\u0000\\ud800\""),
        4 => write!(text, "{:?}", "x".repeat(random.below(2_000) as usize)).unwrap(),
        5 => {
            let levels = random.below(5_000) as usize;
            text.push_str(&"[".repeat(levels));
            text.push_str(&"]".repeat(levels));
        }
        kind => {
            let (open, close) = if kind == 6 { ('[', ']') } else { ('{', '}') };
            text.push(open);
            for index in 0..random.below(20) {
                if index > 0 {
                    text.push(',');
                }
                if open == '{' {
                    write!(text, "\"{}\":", random.below(10)).unwrap();
                }
                append_json(random, depth - 1, text);
            }
            text.push(close);
        }
    }
}

/// Returns random YAML with anchors and aliases.
fn yaml(random: &mut Random) -> String {
    let mut text = "on: push\n".to_owned();
    for name in 0..random.below(40) {
        let aliases: Vec<String> = (0..random.below(30))
            .map(|_| if name == 0 { "x".to_owned() } else { format!("*a{}", random.below(name)) })
            .collect();
        writeln!(text, "k{name}: &a{name} [{}]", aliases.join(", ")).unwrap();
    }
    for _ in 0..random.below(200) {
        let part = random.pick(&["- ", "? ", "  ", "[", "{", "&a ", "!!t ", "k: ", "'", "|\n", "\n"]);
        text.push_str(part);
    }
    text
}

/// Returns a random `.gitattributes` file.
fn attributes(random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..random.below(50) {
        for _ in 0..random.below(40) {
            let part = random.pick(&["**/", "*", "a/", "?", "[a-z]", "[!", "\\", "b"]);
            text.push_str(part);
        }
        text.push_str(" linguist-generated\n");
    }
    text
}

/// Returns a valid Parquet file.
fn parquet_file() -> Vec<u8> {
    let schema =
        parse_message_type("message m { required int64 id; required binary name (STRING); }").unwrap();
    let properties = WriterProperties::builder().build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema.into(), properties.into()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int64Type>().write_batch(&(0..500).collect::<Vec<i64>>(), None, None).unwrap();
    column.close().unwrap();
    let names: Vec<ByteArray> = (0..500).map(|row| ByteArray::from(format!("name {row}").as_str())).collect();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<ByteArrayType>().write_batch(&names, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.into_inner().unwrap()
}

/// Overwrites some bytes at random places, mostly with bytes that mean large numbers.
fn corrupt(random: &mut Random, bytes: &mut [u8], changes: u64) {
    for _ in 0..changes {
        let at = random.below(bytes.len() as u64) as usize;
        bytes[at] = *random.pick(&[0, 1, 0x7f, 0x80, 0xff, bytes[at] ^ 1, bytes[at].wrapping_add(1)]);
    }
}

/// Returns the path and the bytes of a random file that some parser or scanner reads.
fn file(random: &mut Random) -> (String, Vec<u8>) {
    let json = |random: &mut Random| {
        let mut text = String::new();
        append_json(random, 6, &mut text);
        text
    };
    let directory = ["", "a/", "a/b/", ".github/workflows/", "meta/"][random.below(5) as usize];
    let (name, bytes) = match random.below(9) {
        0 => ("rows.jsonl", (0..20).map(|_| json(random) + "\n").collect::<String>().into_bytes()),
        1 => ("info.json", json(random).into_bytes()),
        2 => ("package.json", json(random).into_bytes()),
        3 => ("ci.yml", yaml(random).into_bytes()),
        4 => ("pubspec.yaml", yaml(random).into_bytes()),
        5 => (".gitattributes", attributes(random).into_bytes()),
        6 => {
            let mut bytes = parquet_file();
            let changes = random.below(6);
            corrupt(random, &mut bytes, changes);
            ("table.parquet", bytes)
        }
        7 => {
            let unit =
                *random.pick(&["\n", "a@", "-----BEGIN RSA PRIVATE KEY-----\n", "\"", ",", "/*", "#!"]);
            (
                *random.pick(&["keys.txt", "a.h", "README.md", "table.csv", "LICENSE"]),
                unit.repeat(20_000).into_bytes(),
            )
        }
        _ => ("noise.csv", (0..random.below(50_000)).map(|_| random.next() as u8).collect()),
    };
    (
        format!(
            "{directory}{}{name}",
            if random.percent(50) { String::new() } else { random.below(9).to_string() }
        ),
        bytes,
    )
}

/// Returns a ZIP archive of random files.
fn archive(random: &mut Random) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for number in 0..FILES {
        let (path, bytes) = file(random);
        let method = *random.pick(&[CompressionMethod::Stored, CompressionMethod::Deflated]);
        let options = SimpleFileOptions::default().compression_method(method);
        if writer.start_file(format!("{number}/{path}"), options).is_ok() {
            writer.write_all(&bytes).unwrap();
        }
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn random_archives_are_read_within_limits() {
    for seed in 0..rounds() {
        let mut random = Random::new(seed);
        let mut bytes = archive(&mut random);
        if seed % 3 == 2 {
            corrupt(&mut random, &mut bytes, 20);
        }
        for subject in [Subject::Codebase, Subject::RawData] {
            let task = Task::CheckArchive { subject, is_detailed: true, limits: ARCHIVE_LIMITS };
            let context = format!("seed {seed}, {subject:?}");
            let result = run_on_bytes::<Outcome>(&task, &bytes, &context);
            assert!(matches!(result, TaskResult::Done(_) | TaskResult::Rejected(_)), "{context}: {result:?}");
        }
        for is_codebase in [true, false] {
            let task = Task::AnalyzeArchive { is_codebase, limits: ARCHIVE_LIMITS };
            let context = format!("seed {seed}, codebase {is_codebase}");
            let result =
                run_on_bytes::<marketplace::artifacts::analyses::ArchiveAnalysis>(&task, &bytes, &context);
            assert!(matches!(result, TaskResult::Done(_) | TaskResult::Rejected(_)), "{context}: {result:?}");
        }
    }
}

/// Creates a bare repository and returns the ID of its newest commit and a pack of all its objects.
fn repository(directory: &Path, random: &mut Random) -> (String, Vec<u8>) {
    let git = |arguments: &[&str], input: &[u8]| {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(directory);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        let mut process =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut stdin = process.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || stdin.write_all(&input));
        let output = process.wait_with_output().unwrap();
        writer.join().unwrap().unwrap();
        assert!(output.status.success(), "git {arguments:?}");
        output.stdout
    };
    git(&["init", "-q", "--bare"], b"");
    let mut stream =
        b"commit refs/heads/main\ncommitter A <a@example.com> 1700000000 +0000\ndata 0\n".to_vec();
    for number in 0..FILES {
        let (path, bytes) = file(random);
        let deep = "d/".repeat(random.below(150) as usize);
        stream.extend(format!("M 100644 inline {deep}{number}/{path}\ndata {}\n", bytes.len()).into_bytes());
        stream.extend(bytes);
        stream.push(b'\n');
    }
    git(&["fast-import", "--quiet"], &stream);
    let head = String::from_utf8(git(&["rev-parse", "refs/heads/main"], b"")).unwrap().trim().to_owned();
    let pack = git(&["pack-objects", "--all", "--stdout", "-q"], b"");
    (head, pack)
}

#[test]
fn random_repositories_are_read_within_limits() {
    for seed in 0..rounds() {
        let mut random = Random::new(seed);
        let source = tempfile::tempdir().unwrap();
        let (head, mut pack) = repository(source.path(), &mut random);
        if seed % 3 == 2 {
            corrupt(&mut random, &mut pack, 3);
        }
        let copy = tempfile::tempdir().unwrap();
        let init = Command::new("git").args(["init", "-q", "--bare"]).current_dir(copy.path()).status();
        assert!(init.unwrap().success());
        let (pack_path, pack_dir) = (copy.path().join("received.pack"), copy.path().join("objects/pack"));
        fs::write(&pack_path, &pack).unwrap();
        let (context, limits) = (format!("seed {seed}"), GIT_LIMITS);
        let input = Input::File(File::open(&pack_path).unwrap(), &pack_dir);
        match run::<IndexedPack>(
            &Task::IndexPack { head: head.clone(), limits, origin: Origin::Linked },
            input,
            &context,
        ) {
            TaskResult::Done(indexed) => assert!(indexed.objects > 0),
            TaskResult::Rejected(_) if seed % 3 == 2 => continue,
            other => panic!("{context}: {other:?}"),
        }
        fs::write(copy.path().join("HEAD"), format!("{head}\n")).unwrap();
        let task = Task::AnalyzeRepository { limits, now_secs: 1_800_000_000 };
        let result = run::<marketplace::artifacts::analyses::RepositoryAnalysis>(
            &task,
            Input::Directory(copy.path()),
            &context,
        );
        assert!(matches!(result, TaskResult::Done(_) | TaskResult::Rejected(_)), "{context}: {result:?}");
        let task = Task::CheckRepository {
            subject: Subject::Codebase,
            is_detailed: true,
            limits,
            now_secs: 1_800_000_000,
        };
        let result = run::<Outcome>(&task, Input::Directory(copy.path()), &context);
        assert!(matches!(result, TaskResult::Done(_) | TaskResult::Rejected(_)), "{context}: {result:?}");
    }
}
