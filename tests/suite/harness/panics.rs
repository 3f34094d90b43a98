//! Panics of the tested program, in all threads: of requests, of jobs, and of the program itself. A panic fails the test, even
//! if the program answers with an error afterwards.

use std::{
    fs::File,
    os::unix::fs::FileExt,
    panic,
    process::Stdio,
    sync::{Mutex, Once},
    thread,
};

use super::waiting::wait_until;

/// What happened and was not reported yet. A test that finds it fails, whichever has caused it.
static FOUND: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Beginnings of the names of threads of the search engine, which it survives.
const ENGINE_THREADS: [&str; 3] = ["merge_thread", "segment_updater", "thrd-tantivy"];

/// Records panics of the program from now on.
pub fn watch() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            let file = panic.location().map_or("", panic::Location::file);
            let thread = thread::current();
            let name = thread.name().unwrap_or_default();
            if is_of_program(file, name, marketplace_index::is_catching_panics()) {
                FOUND.lock().unwrap().push(panic.to_string());
            }
            print(panic);
        }));
    });
}

/// Whether a panic is one of the program: not a failed assertion of a test or its libraries, and not one of the search engine about a damaged
/// file, which becomes an error.
fn is_of_program(file: &str, thread: &str, is_caught: bool) -> bool {
    let is_engine = file.contains("/tantivy") || file.starts_with("index/src/");
    let is_expected =
        is_engine && (is_caught || ENGINE_THREADS.iter().any(|engine| thread.starts_with(engine)));
    let is_of_test = file.starts_with("tests/") || file.contains("/insta-") || file.contains("/proptest-");
    !is_of_test && !is_expected
}

/// Fails if the program has panicked.
pub fn assert_none() {
    let found = std::mem::take(&mut *FOUND.lock().unwrap());
    assert!(thread::panicking() || found.is_empty(), "the program panicked: {found:#?}");
}

/// Fails if a process has printed a panic.
pub fn assert_none_in(log: &str) {
    assert!(thread::panicking() || !log.contains("panicked at"), "the program panicked: {log}");
}

/// The standard error of a process that runs for long.
pub struct ProcessLog(File);

impl ProcessLog {
    pub fn new() -> ProcessLog {
        ProcessLog(tempfile::tempfile().unwrap())
    }

    /// Returns where the process writes.
    pub fn stdio(&self) -> Stdio {
        self.0.try_clone().unwrap().into()
    }

    /// Fails if the process, which has ended, has printed a panic.
    pub fn assert_no_panic(&mut self) {
        assert_none_in(&self.read());
    }

    /// Returns when the process has printed a text.
    pub fn wait_for(&mut self, text: &str) {
        wait_until(&format!("{text:?} in the log"), || self.read().contains(text));
    }

    /// Returns what the process has printed so far.
    pub fn read(&mut self) -> String {
        let (mut bytes, mut offset) = (vec![0; 1 << 16], 0);
        // The position of the file is that of the process, too.
        while let count @ 1.. = self.0.read_at(&mut bytes[offset..], offset as u64).unwrap() {
            offset += count;
            bytes.resize(offset + (1 << 16), 0);
        }
        bytes.truncate(offset);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[test]
fn only_panics_of_the_program_count() {
    const ENGINE: &str = "/home/a/.cargo/registry/src/x/tantivy-0.27.0/src/postings/mod.rs";
    for (file, thread, is_caught, expected) in [
        ("tests/suite/cli.rs", "cli::some_test", false, false),
        ("src/blobs/s3.rs", "cli::some_test", false, true),
        ("src/operations/aggregates/listings.rs", "tokio-rt-worker", true, true),
        ("/home/a/.cargo/registry/src/x/object_store-0.13/src/aws/client.rs", "<unnamed>", false, true),
        ("/rustc/x/library/core/src/slice/mod.rs", "tokio-rt-worker", false, true),
        (ENGINE, "tokio-rt-worker", true, false),
        (ENGINE, "tokio-rt-worker", false, true),
        (ENGINE, "merge_thread_0", false, false),
        ("index/src/columns/packed.rs", "index-commit", true, false),
        ("index/src/columns/packed.rs", "index-commit", false, true),
    ] {
        assert_eq!(is_of_program(file, thread, is_caught), expected, "{file} {thread} {is_caught}");
    }
}
