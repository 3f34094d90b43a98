//! Reads the file of a replay, which may come from anyone: everything in it has a limit.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
};

use crate::{
    artifacts::{
        Limits,
        contents::{Entry, EntryKind, quoted},
        extraction::{self, ExtractionError},
    },
    domain::written::counted,
    error::{Error, Result},
    private_files, regular_files,
    web::world_host::replay::file::{
        BODIES, FORMAT, FORMAT_VERSION, HEAD, PathPart, REQUESTS, ReplayBody, ReplayHead, ReplayRequest,
        START,
    },
    worlds::journal::{MAX_BODY_BYTES, MAX_ENTRIES},
};

/// Maximum size of a file in bytes.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// Maximum size of what is in a file in bytes.
const MAX_UNPACKED_BYTES: u64 = 4 << 30;

/// Maximum size in bytes of `replay.json`, of a line of `requests.jsonl`, and of all lines.
const MAX_HEAD_BYTES: u64 = 1 << 20;
const MAX_LINE_BYTES: u64 = 4 << 20;
const MAX_LINES_BYTES: u64 = 128 << 20;

/// Limits on the archive: two bodies for each request, and the others.
const LIMITS: Limits = Limits { max_files: 2 * MAX_ENTRIES as u64 + 10, max_ratio: 1_000 };

/// Problem with a file that cannot be unpacked.
const NO_REPLAY: &str = "The file is not a replay, or it is damaged or too large. Take the file that \
     `GET /sandbox/v1/worlds/{world}/replay` returns.";

/// Maximum length in bytes of the name of a body.
const MAX_BODY_NAME: usize = 40;

/// A file that was read. Everything after its head is in a temporary directory.
#[derive(Debug)]
pub struct RecordedReplay {
    /// The head.
    pub(super) head: ReplayHead,
    /// The requests, in their order.
    pub(super) requests: Vec<ReplayRequest>,
    directory: tempfile::TempDir,
}

impl RecordedReplay {
    /// Reads a file. Fails with its problems, also if it is incomplete.
    pub fn read(path: &Path) -> Result<RecordedReplay> {
        regular_files::open(path, MAX_FILE_BYTES)
            .map_err(|cause| refused(format!("The file cannot be read: {cause}.")))?;
        let directory = private_files::temp_dir_in(&private_files::parent_of_temporary_files())
            .map_err(Error::internal)?;
        unpack(path, directory.path())?;
        let head = read_head(&directory.path().join(HEAD))?;
        if !head.complete {
            let missing = head.missing.join(" ");
            return Err(refused(format!("The file is not complete, so it cannot be replayed. {missing}")));
        }
        let requests = read_requests(&directory.path().join(REQUESTS))?;
        let replay = RecordedReplay { head, requests, directory };
        replay.check()?;
        Ok(replay)
    }

    /// Returns legitimate reasons for differences of a replay.
    pub fn notes(&self) -> &[String] {
        &self.head.notes
    }

    /// Returns the version of the program that wrote the file.
    pub fn version(&self) -> &str {
        &self.head.version
    }

    /// Returns the base URL of the server, the setting `server.public_url`, and whether its pages show the keys of the demo.
    pub fn server(&self) -> (&str, &str, bool) {
        let server = &self.head.server;
        (&server.base_url, &server.public_url, server.shows_demo_keys)
    }

    /// Returns the file with the state that the world began with, if there is one.
    pub(super) fn start(&self) -> Option<PathBuf> {
        self.head.world.has_start.then(|| self.directory.path().join(START))
    }

    /// Reads a body. `name` is that of its file.
    pub(super) fn body(&self, body: &ReplayBody, name: &str) -> Result<Option<Vec<u8>>> {
        if !body.is_in_file {
            return Ok(body.inline_bytes());
        }
        let mut bytes = Vec::new();
        let file = File::open(self.directory.path().join(name)).map_err(Error::internal)?;
        file.take(MAX_BODY_BYTES).read_to_end(&mut bytes).map_err(Error::internal)?;
        Ok(Some(bytes))
    }

    fn check(&self) -> Result<()> {
        let ReplayHead { requests, world, .. } = &self.head;
        if *requests != self.requests.len() as u64 {
            return Err(refused(format!(
                "`{HEAD}` names {}, and the file has {}.",
                counted(*requests, "request", "requests"),
                self.requests.len()
            )));
        }
        if world.has_start && !self.directory.path().join(START).is_file() {
            return Err(refused(format!("`{START}` is missing.")));
        }
        if !crate::worlds::is_name(&world.name) {
            return Err(refused("The name of the world is not valid."));
        }
        let mut last = 0;
        for request in &self.requests {
            if request.number <= last {
                return Err(refused("The requests are not in their order."));
            }
            last = request.number;
            let names = [
                crate::web::world_host::replay::file::request_file(last),
                crate::web::world_host::replay::file::answer_file(last),
            ];
            let bodies = [Some(&request.body), request.answer.as_ref().map(|answer| &answer.body)];
            for (name, body) in names.iter().zip(bodies) {
                let is_missing =
                    body.is_some_and(|body| body.is_in_file) && !self.directory.path().join(name).is_file();
                if is_missing {
                    return Err(refused(format!("`{name}` is missing.")));
                }
            }
            let is_kept = request.body.is_in_file || request.body.inline_bytes().is_some();
            if !is_kept && request.body.size > 0 {
                return Err(refused(format!("The body of request {last} is missing.")));
            }
            let mut places = request.path.iter().filter_map(|part| match part {
                PathPart::Secret(place) => Some(place.request),
                PathPart::Text(_) => None,
            });
            if places.any(|place| place >= last) {
                return Err(refused(format!("The path of request {last} refers to a later answer.")));
            }
        }
        Ok(())
    }
}

fn refused(message: impl Into<String>) -> Error {
    Error::Malformed(message.into())
}

fn read_head(path: &Path) -> Result<ReplayHead> {
    let missing = |_| refused(format!("The archive has no `{HEAD}`, so it is no replay."));
    let mut text = String::new();
    let read = File::open(path).map_err(missing)?.take(MAX_HEAD_BYTES + 1).read_to_string(&mut text);
    if !matches!(read, Ok(length) if length as u64 <= MAX_HEAD_BYTES) {
        return Err(refused(format!("`{HEAD}` is no text, or larger than 1 MB.")));
    }
    let head: ReplayHead =
        serde_json::from_str(&text).map_err(|error| refused(format!("`{HEAD}` is not valid: {error}.")))?;
    if head.format != FORMAT || head.format_version != FORMAT_VERSION {
        return Err(refused(format!("This program reads `{FORMAT}` in version {FORMAT_VERSION}.")));
    }
    Ok(head)
}

fn read_requests(path: &Path) -> Result<Vec<ReplayRequest>> {
    let file = File::open(path).map_err(|_| refused(format!("`{REQUESTS}` is missing.")))?;
    let mut file = BufReader::new(file.take(MAX_LINES_BYTES));
    let (mut requests, mut line) = (Vec::new(), String::new());
    loop {
        line.clear();
        let number = requests.len() + 1;
        match file.by_ref().take(MAX_LINE_BYTES + 1).read_line(&mut line) {
            Ok(0) => return Ok(requests),
            Ok(length) if length as u64 <= MAX_LINE_BYTES && number <= MAX_ENTRIES => {}
            Ok(_) => {
                return Err(refused(format!(
                    "`{REQUESTS}` is too large, or has more than {MAX_ENTRIES} lines."
                )));
            }
            Err(_) => return Err(refused(format!("Line {number} of `{REQUESTS}` is no text."))),
        }
        let request = serde_json::from_str(&line)
            .map_err(|error| refused(format!("Line {number} of `{REQUESTS}` is not valid: {error}.")))?;
        requests.push(request);
    }
}

fn unpack(file: &Path, directory: &Path) -> Result<()> {
    private_files::create_dir_all(&directory.join(BODIES)).map_err(Error::internal)?;
    let mut target = |entry: &Entry<'_>| {
        let is_file = entry.kind == EntryKind::File && !entry.is_outside;
        match max_bytes(entry.path).filter(|_| is_file) {
            None => Err(refused(format!("A replay has no file {}.", quoted(entry.path)))),
            Some(max_bytes) if entry.size > max_bytes => {
                Err(refused(format!("The file {} is too large.", quoted(entry.path))))
            }
            Some(_) => Ok(PathBuf::from(entry.path)),
        }
    };
    let extracted = extraction::extract(file, LIMITS, MAX_UNPACKED_BYTES, directory, &mut target);
    extracted.map_err(|error| match error {
        ExtractionError::NotAllowed(error) => error,
        ExtractionError::File(path, message) => refused(format!("{}: {message}", quoted(&path))),
        ExtractionError::Archive => refused(NO_REPLAY),
        ExtractionError::Io(cause) => Error::internal(cause),
    })
}

/// Returns the maximum size of a file in bytes; none if the name is not allowed.
fn max_bytes(path: &str) -> Option<u64> {
    match path {
        HEAD => Some(MAX_HEAD_BYTES),
        REQUESTS => Some(MAX_LINES_BYTES),
        START => Some(crate::worlds::MAX_FILE_BYTES),
        _ => {
            let name = path.strip_prefix(BODIES)?.strip_prefix('/')?;
            let (number, kind) = name.split_once('.')?;
            let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
            let is_body = is_number && name.len() <= MAX_BODY_NAME && ["request", "answer"].contains(&kind);
            is_body.then_some(MAX_BODY_BYTES)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_replays_have_a_place() {
        for path in [HEAD, REQUESTS, START, "bodies/1.request", "bodies/12.answer"] {
            assert!(max_bytes(path).is_some(), "{path}");
        }
        for path in [
            "",
            "bodies",
            "bodies/",
            "bodies/.request",
            "bodies/../replay.json",
            "bodies/1.other",
            "other.json",
        ] {
            assert!(max_bytes(path).is_none(), "{path}");
        }
    }
}
