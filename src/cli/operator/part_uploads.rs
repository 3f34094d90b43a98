//! Uploads of files in parts: which parts are sent, and when they are sent again.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Duration,
};

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::client::Client;
use crate::{
    cli::{CommandError, CommandResult, progress::CliProgress},
    search::Progress,
};

/// Seconds to wait before each further attempt. A part that arrives begins a new series.
const PAUSES: [u64; 5] = [0, 1, 2, 4, 8];

/// Number of bytes of a file that are read together.
const CHUNK: usize = 1 << 20;

/// A regular file that is uploaded.
pub struct SourceFile {
    path: PathBuf,
    size_bytes: u64,
}

impl SourceFile {
    /// Checks that a path is that of a regular file. A pipe or a device could be endless.
    pub fn new(path: &Path) -> Result<SourceFile, CommandError> {
        let found = fs::metadata(path).map_err(|cause| cannot_read(path, &cause))?;
        if !found.is_file() {
            let path = path.display();
            return Err(CommandError::Other(format!("{path} is not a regular file")));
        }
        Ok(SourceFile { path: path.to_owned(), size_bytes: found.len() })
    }

    /// Returns the name of the file without its directory.
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Returns the size in bytes.
    pub const fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Returns the first bytes of the file, up to this number.
    pub fn first_bytes(&self, count: u64) -> Result<Vec<u8>, CommandError> {
        let mut bytes = Vec::new();
        let read = File::open(&self.path).and_then(|file| file.take(count).read_to_end(&mut bytes));
        read.map_err(|cause| cannot_read(&self.path, &cause))?;
        Ok(bytes)
    }

    /// Returns the SHA-256 digest of the file in hexadecimal.
    pub fn sha256(&self, progress: &dyn Progress) -> Result<String, CommandError> {
        let (mut digest, mut done) = (Sha256::new(), 0);
        let mut chunk = vec![0; CHUNK];
        let mut read = || -> io::Result<()> {
            let mut file = File::open(&self.path)?;
            loop {
                let count = file.read(&mut chunk)?;
                if count == 0 {
                    return Ok(());
                }
                digest.update(&chunk[..count]);
                done += count as u64;
                progress.advance(done, self.size_bytes.max(done));
            }
        };
        read().map_err(|cause| cannot_read(&self.path, &cause))?;
        Ok(format!("{:x}", digest.finalize()))
    }

    /// Returns a part of the file. `arrived` is the number of bytes of other parts that have arrived.
    fn part(
        &self,
        range: &Range<u64>,
        arrived: u64,
        progress: &Arc<CliProgress>,
    ) -> Result<FilePart, CommandError> {
        let open = || {
            let mut file = File::open(&self.path)?;
            file.seek(SeekFrom::Start(range.start))?;
            Ok(file)
        };
        Ok(FilePart {
            file: open().map_err(|cause: io::Error| cannot_read(&self.path, &cause))?,
            length: range.end - range.start,
            sent: 0,
            arrived,
            size_bytes: self.size_bytes,
            progress: Arc::clone(progress),
        })
    }

    /// Sends the parts that the plan of an upload lists: those that have not arrived. `path` is that of the plan. A part
    /// that fails is sent again, to a new URL.
    pub fn send_parts(&self, client: &Client, path: &str, plan: Value) -> CommandResult {
        let progress = Arc::new(CliProgress::bytes("uploading"));
        send_missing(
            plan,
            || client.get(path),
            |address, range, arrived| {
                let part = self.part(&range, arrived, &progress)?;
                client.put_part(address, part)?;
                progress.advance(arrived + range.end - range.start, self.size_bytes);
                Ok(())
            },
            |seconds| thread::sleep(Duration::from_secs(seconds)),
        )
    }
}

fn cannot_read(path: &Path, cause: &io::Error) -> CommandError {
    CommandError::Other(format!("cannot read {}: {cause}", path.display()))
}

/// A part of a file, which reports how much of it was read.
pub struct FilePart {
    /// The file, from the first byte of the part on.
    file: File,
    length: u64,
    sent: u64,
    arrived: u64,
    size_bytes: u64,
    progress: Arc<CliProgress>,
}

impl FilePart {
    /// Returns the number of bytes.
    pub const fn length(&self) -> u64 {
        self.length
    }

    /// Returns the file, from the first byte of the part on.
    pub fn into_file(self) -> File {
        self.file
    }
}

impl Read for FilePart {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let max_bytes = (self.length - self.sent).min(buffer.len() as u64) as usize;
        let count = self.file.read(&mut buffer[..max_bytes])?;
        self.sent += count as u64;
        self.progress.advance(self.arrived + self.sent, self.size_bytes);
        Ok(count)
    }
}

/// Calls `send` for each part that a plan lists, with its address, its place in the file, and the number of bytes that
/// have arrived before. If it fails, calls `pause` with the seconds to wait, `reload` for a plan of what is missing now,
/// and goes on. Fails when several attempts in a row have failed, or when the plan cannot be read again.
fn send_missing(
    mut plan: Value,
    mut reload: impl FnMut() -> Result<Value, CommandError>,
    mut send: impl FnMut(&Value, Range<u64>, u64) -> CommandResult,
    mut pause: impl FnMut(u64),
) -> CommandResult {
    let mut failures = 0;
    loop {
        let Err((has_sent, error)) = send_listed(&plan, &mut send) else { return Ok(()) };
        if has_sent {
            failures = 0;
        }
        plan = loop {
            let Some(seconds) = PAUSES.get(failures) else { return Err(error) };
            failures += 1;
            pause(*seconds);
            match reload() {
                Ok(plan) => break plan,
                Err(CommandError::NoResponse(_)) => {}
                Err(refused) => return Err(refused),
            }
        };
    }
}

/// Sends the parts that a plan lists. If one fails, returns whether others were sent before.
fn send_listed(
    plan: &Value,
    send: &mut impl FnMut(&Value, Range<u64>, u64) -> CommandResult,
) -> Result<(), (bool, CommandError)> {
    let size = plan["size_bytes"].as_u64().unwrap_or_default();
    let part_size = plan["part_size_bytes"].as_u64().unwrap_or(size);
    let parts = plan["parts"].as_array().map(Vec::as_slice).unwrap_or_default();
    let range = |part: &Value| {
        let start = part["part_number"].as_u64().unwrap_or(1).saturating_sub(1).saturating_mul(part_size);
        start.min(size)..start.saturating_add(part_size).min(size)
    };
    let missing: u64 = parts.iter().map(range).map(|range| range.end - range.start).sum();
    let mut arrived = size.saturating_sub(missing);
    for (index, part) in parts.iter().enumerate() {
        let range = range(part);
        let length = range.end - range.start;
        send(part, range, arrived).map_err(|error| (index > 0, error))?;
        arrived += length;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use serde_json::json;

    use super::*;

    /// A server that has received some parts of a file of 25 bytes in parts of 10.
    #[derive(Default)]
    struct Server {
        received: RefCell<Vec<u64>>,
        /// What the next requests for parts fail with, the last one first.
        failures: RefCell<Vec<Option<CommandError>>>,
        reloads: RefCell<Vec<Result<(), CommandError>>>,
        sent: RefCell<Vec<(u64, Range<u64>, u64)>>,
        pauses: RefCell<Vec<u64>>,
    }

    impl Server {
        fn plan(&self) -> Value {
            let received = self.received.borrow();
            let missing = (1..=3).filter(|number| !received.contains(number));
            let parts: Vec<Value> = missing.map(|number| json!({"part_number": number})).collect();
            json!({"size_bytes": 25, "part_size_bytes": 10, "parts": parts})
        }

        fn upload(&self) -> CommandResult {
            send_missing(
                self.plan(),
                || self.reloads.borrow_mut().pop().unwrap_or(Ok(())).map(|()| self.plan()),
                |address, range, arrived| {
                    if let Some(error) = self.failures.borrow_mut().pop().flatten() {
                        return Err(error);
                    }
                    let number = address["part_number"].as_u64().unwrap();
                    self.sent.borrow_mut().push((number, range, arrived));
                    self.received.borrow_mut().push(number);
                    Ok(())
                },
                |seconds| self.pauses.borrow_mut().push(seconds),
            )
        }
    }

    fn failed() -> CommandError {
        CommandError::NoResponse("cut".to_owned())
    }

    fn failures(count: usize) -> Vec<Option<CommandError>> {
        (0..count).map(|_| Some(failed())).collect()
    }

    #[test]
    fn parts_that_have_arrived_are_not_sent_again() {
        let server = Server { received: vec![2].into(), ..Server::default() };
        server.upload().unwrap();
        assert_eq!(*server.sent.borrow(), [(1, 0..10, 10), (3, 20..25, 20)]);
        server.upload().unwrap();
        assert_eq!(server.sent.borrow().len(), 2);
    }

    #[test]
    fn part_that_fails_is_sent_again_after_a_pause() {
        // The second part fails once, the third four times.
        let mut order = failures(4);
        order.extend([None, Some(failed()), None]);
        let server = Server { failures: order.into(), ..Server::default() };
        server.upload().unwrap();
        let numbers: Vec<u64> = server.sent.borrow().iter().map(|(number, ..)| *number).collect();
        assert_eq!(numbers, [1, 2, 3]);
        assert_eq!(*server.pauses.borrow(), [0, 0, 1, 2, 4]);
    }

    #[test]
    fn upload_that_fails_again_and_again_is_given_up() {
        let server = Server { failures: failures(20).into(), ..Server::default() };
        assert!(matches!(server.upload(), Err(CommandError::NoResponse(_))));
        assert_eq!(*server.pauses.borrow(), PAUSES);
        // A server that does not respond is asked again, one that refuses is not.
        let refused = || CommandError::Refused { code: "not_found".to_owned(), message: String::new() };
        let server = Server {
            failures: failures(1).into(),
            reloads: vec![Err(refused()), Err(failed())].into(),
            ..Server::default()
        };
        assert!(matches!(server.upload(), Err(CommandError::Refused { .. })));
        assert_eq!(*server.pauses.borrow(), [0, 1]);
    }

    #[test]
    fn only_regular_files_are_read() {
        let directory = tempfile::tempdir().unwrap();
        for path in [directory.path(), Path::new("/dev/zero")] {
            let Err(error) = SourceFile::new(path) else { panic!("{} is refused", path.display()) };
            assert!(error.to_string().ends_with("is not a regular file"), "{error}");
        }
        let path = directory.path().join("a");
        fs::write(&path, "abc").unwrap();
        let file = SourceFile::new(&path).unwrap();
        assert_eq!((file.name().as_str(), file.size_bytes()), ("a", 3));
        assert_eq!(file.first_bytes(2).unwrap(), b"ab");
        assert!(file.sha256(&()).unwrap().starts_with("ba7816bf"));
    }
}
