//! Writes the file of a replay.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, HashMap},
    fs::File,
    io::{self, Read, Write},
};

use serde_json::Value;
use uuid::Uuid;

use crate::{
    artifacts::file_sets::FileSetWriter,
    config::SettingsSources,
    domain::{clock_modes::ClockMode, written::counted},
    error::{Error, Result},
    market::Market,
    string_enum::StringEnum,
    web::{
        request_kinds::CONSOLE,
        world_host::replay::{
            addresses,
            bodies::{self, MAX_ANSWER_BYTES},
            file::{
                FORMAT, FORMAT_VERSION, HEAD, PathPart, REQUESTS, ReplayAnswer, ReplayBody, ReplayHead,
                ReplayHeader, ReplayKey, ReplayRequest, ReplayServer, ReplayWorld, START, SecretPlace,
                answer_file, request_file,
            },
        },
    },
    worlds::{
        WebhookMode, World, Worlds,
        journal::{Header, INLINE_BYTES, JournalEntry, Origin, WholeBody, secrets},
    },
};

/// The operation that can let a clock run.
const CHANGE_CLOCK: &str = "change_world_clock";

/// A world to write, and its server.
pub struct ReplaySource<'a> {
    /// The worlds of the server.
    pub worlds: &'a Worlds,
    /// The world.
    pub world: &'a World,
    /// Base URL of stored addresses of the server.
    pub base_url: &'a str,
    /// Whether pages show the keys of the demo.
    pub shows_demo_keys: bool,
}

/// Writes the file of a replay to an empty file.
pub fn write(source: &ReplaySource, to: File) -> Result<File> {
    let mut archive = FileSetWriter::new(to);
    let has_start = write_start(source, &mut archive)?;
    let page = source.world.journal().list(0, usize::MAX, |_| true);
    let market = source.world.market();
    let mut writer = Writer {
        archive: &mut archive,
        market: &market,
        learned: HashMap::new(),
        keys: BTreeMap::new(),
        missing: Vec::new(),
        has_running_clock: source.world.details().origin.is_running,
        cookies: BTreeSet::new(),
    };
    if page.dropped + page.deleted > 0 {
        let dropped = counted(page.dropped, "request was", "requests were");
        let deleted = counted(page.deleted, "was", "were");
        let message = format!("{dropped} dropped, and {deleted} deleted.");
        writer.missing.push(message);
    }
    let mut requests = Vec::new();
    for (index, entry) in page.entries.iter().enumerate() {
        let mut request = writer.request(entry).map_err(Error::internal)?;
        request.overlaps = page.entries.get(index + 1).is_some_and(|next| overlaps(entry, next));
        serde_json::to_writer(&mut requests, &request).map_err(Error::internal)?;
        requests.push(b'\n');
    }
    let Writer { keys, missing, has_running_clock, .. } = writer;
    let mut notes = Vec::new();
    if has_running_clock {
        notes.push("The clock of the world ran, so its times depend on the machine.".to_owned());
    }
    if source.world.details().origin.webhooks == WebhookMode::Send {
        notes.push("The world sent messages to webhooks. A replay sends none.".to_owned());
    }
    let head = ReplayHead {
        format: FORMAT.to_owned(),
        format_version: FORMAT_VERSION,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        complete: missing.is_empty(),
        missing,
        notes,
        world: world_fields(source, has_start)?,
        server: ReplayServer {
            base_url: source.base_url.to_owned(),
            public_url: source.worlds.root().settings().server.public_url.clone(),
            shows_demo_keys: source.shows_demo_keys,
        },
        keys: keys.into_values().collect(),
        requests: page.entries.len() as u64,
    };
    let mut finish = || {
        archive.start(REQUESTS, requests.len() as u64)?;
        archive.write_all(&requests)?;
        archive.start(HEAD, 0)?;
        archive.write_all(&serde_json::to_vec_pretty(&head)?)
    };
    finish().map_err(Error::internal)?;
    archive.finish().map_err(Error::internal)
}

/// Writes the state that the world began with, unless every program has it.
fn write_start(source: &ReplaySource, archive: &mut FileSetWriter) -> Result<bool> {
    let file = source.worlds.temporary_file().map_err(Error::internal)?;
    let to = file.reopen().map_err(Error::internal)?;
    let Some(_) = source.worlds.export_start(source.world, to)? else { return Ok(false) };
    let mut written = file.reopen().map_err(Error::internal)?;
    let length = written.metadata().map_err(Error::internal)?.len();
    archive.start(START, length).map_err(Error::internal)?;
    io::copy(&mut written, archive).map_err(Error::internal)?;
    Ok(true)
}

fn world_fields(source: &ReplaySource, has_start: bool) -> Result<ReplayWorld> {
    let origin = &source.world.details().origin;
    let settings = SettingsSources::new()
        .changes_for_world(source.world.start_settings())
        .map_err(|error| Error::internal(error.message))?;
    let clock = if origin.is_running { ClockMode::Running } else { ClockMode::Frozen };
    Ok(ReplayWorld {
        name: source.world.name().to_owned(),
        from: origin.source.clone(),
        has_start,
        seed: source.world.seed(),
        now: origin.now.map(|now| now.0),
        clock: clock.as_str().to_owned(),
        jobs: origin.job_timing.as_str().to_owned(),
        settings: settings.into_iter().collect::<BTreeMap<String, Value>>(),
    })
}

/// Whether a request was admitted before the one before it was answered.
fn overlaps(entry: &JournalEntry, next: &JournalEntry) -> bool {
    let micros = |duration: std::time::Duration| i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
    let admitted = |entry: &JournalEntry| entry.received_at.plus_micros(micros(entry.waited));
    match entry.outcome() {
        Some(answer) => admitted(entry).plus_micros(micros(answer.duration)) > admitted(next),
        None => true,
    }
}

/// Whether a request was answered without an error.
fn is_successful(entry: &JournalEntry) -> bool {
    entry.answer().is_some_and(|answer| answer.status < 400)
}

/// Returns the name and the value of a cookie.
fn name_and_value(cookie: &[u8]) -> Option<(&[u8], &[u8])> {
    let cookie = cookie.trim_ascii();
    let equals = cookie.iter().position(|byte| *byte == b'=')?;
    Some((&cookie[..equals], &cookie[equals + 1..]))
}

struct Writer<'a> {
    archive: &'a mut FileSetWriter,
    market: &'a Market,
    /// Where secrets were first seen.
    learned: HashMap<Vec<u8>, SecretPlace>,
    keys: BTreeMap<Uuid, ReplayKey>,
    missing: Vec<String>,
    has_running_clock: bool,
    /// Names of the cookies that earlier answers have set. The values are secrets.
    cookies: BTreeSet<Vec<u8>>,
}

impl Writer<'_> {
    fn request(&mut self, entry: &JournalEntry) -> io::Result<ReplayRequest> {
        let head = &entry.request;
        let is_of_world = head.origin == Origin::World;
        let body = self.request_body(entry)?;
        self.check_cookies(entry);
        let query = head.query.as_deref();
        let is_signed = is_of_world
            && query.is_some_and(|query| addresses::is_signed(self.market, &head.method, &head.path, query));
        let has_secret = |query: &str| !is_signed && !secrets::find(query.as_bytes(), false).is_empty();
        if query.is_some_and(has_secret) && is_successful(entry) {
            self.missing.push(format!("The query of request {} has a secret.", entry.number));
        }
        let operation = head.operation.as_ref().map(|operation| operation.id.clone());
        self.has_running_clock |= operation.as_deref() == Some(CHANGE_CLOCK)
            && body.text.as_ref().is_some_and(|text| text.contains(ClockMode::Running.as_str()));
        let key = entry.key().filter(|_| is_of_world);
        if let Some(key) = key {
            let team = key.team.as_ref().map(|(_, name)| name.clone());
            self.keys.insert(key.id, ReplayKey { id: key.id, name: key.name.clone(), team });
        }
        Ok(ReplayRequest {
            number: entry.number,
            at: entry.at.to_string(),
            origin: head.origin.as_str().to_owned(),
            by_port: head.is_by_port,
            operation,
            method: head.method.clone(),
            path: self.path(entry),
            query: query.map(secrets::mask_text),
            is_signed,
            headers: replay_headers(&head.headers),
            key: key.map(|key| key.id),
            overlaps: false,
            body,
            answer: self.answer(entry)?,
        })
    }

    /// Notes the cookies that the answer sets. If a request to the web app has such a cookie, somebody has signed in. The file is
    /// then incomplete, since session tokens are random.
    fn check_cookies(&mut self, entry: &JournalEntry) {
        let request = &entry.request;
        if request.origin == Origin::World && request.path.starts_with(CONSOLE) {
            let sent = request.headers.iter().filter(|header| header.name == secrets::COOKIE);
            let pairs = sent.flat_map(|header| header.value.split(|byte| *byte == b';'));
            for (name, _) in pairs.filter_map(name_and_value) {
                if self.cookies.remove(name) {
                    let message = format!(
                        "Request {} needs a session of the web app, which no file has.",
                        entry.number
                    );
                    self.missing.push(message);
                }
            }
        }
        let headers = entry.answer().map_or(&[][..], |answer| &answer.headers);
        let set = headers.iter().filter(|header| header.name == secrets::SET_COOKIE);
        let pairs = set.filter_map(|header| header.value.split(|byte| *byte == b';').next());
        for (name, value) in pairs.filter_map(name_and_value) {
            if value.is_empty() {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_vec());
            }
        }
    }

    /// Returns the path, with the places of secrets that earlier answers had.
    fn path(&mut self, entry: &JournalEntry) -> Vec<PathPart> {
        let path = &entry.request.path;
        let mut parts = Vec::new();
        let (mut text, mut end) = (String::new(), 0);
        for place in secrets::find_in_path(path) {
            text.push_str(&path[end..place.start]);
            end = place.end;
            match self.learned.get(&path.as_bytes()[place]) {
                Some(place) => {
                    parts.push(PathPart::Text(std::mem::take(&mut text)));
                    parts.push(PathPart::Secret(*place));
                }
                None => {
                    text.push_str(secrets::MASK);
                    if is_successful(entry) {
                        let message = format!(
                            "The path of request {} has a secret that no earlier answer has.",
                            entry.number
                        );
                        self.missing.push(message);
                    }
                }
            }
        }
        text.push_str(&path[end..]);
        if !text.is_empty() || parts.is_empty() {
            parts.push(PathPart::Text(text));
        }
        parts
    }

    fn request_body(&mut self, entry: &JournalEntry) -> io::Result<ReplayBody> {
        let snapshot = entry.request_body.snapshot();
        let (size, is_complete) = (snapshot.length, snapshot.is_complete);
        match entry.request_body.whole()? {
            Some(WholeBody::InMemory(bytes)) => {
                let masked = self.without_secrets(entry, &bytes);
                Ok(ReplayBody::inline(&masked, size, is_complete))
            }
            Some(WholeBody::InFile(file, length)) if length <= MAX_ANSWER_BYTES as u64 => {
                let mut bytes = Vec::new();
                file.take(length).read_to_end(&mut bytes)?;
                let masked = self.without_secrets(entry, &bytes);
                self.archive.start(&request_file(entry.number), masked.len() as u64)?;
                self.archive.write_all(&masked)?;
                Ok(ReplayBody { size, is_complete, is_in_file: true, ..ReplayBody::default() })
            }
            // Only files that are uploaded are larger.
            Some(WholeBody::InFile(file, length)) => {
                self.archive.start(&request_file(entry.number), length)?;
                io::copy(&mut file.take(length), self.archive)?;
                Ok(ReplayBody { size: length, is_complete, is_in_file: true, ..ReplayBody::default() })
            }
            None => {
                self.missing
                    .push(format!("The body of request {} is too long, so it was not kept.", entry.number));
                Ok(ReplayBody { size, is_complete, ..ReplayBody::default() })
            }
        }
    }

    /// Returns the body of a request. If it has secrets, they are masked, it is not compressed, and the file is not complete.
    /// Imports are kept as they are.
    fn without_secrets<'b>(&mut self, entry: &JournalEntry, body: &'b [u8]) -> Cow<'b, [u8]> {
        let is_import = entry.request.origin == Origin::Sandbox && entry.request.path.ends_with("/import");
        let decoded = bodies::decoded(&entry.request.headers, body).unwrap_or(Cow::Borrowed(body));
        if is_import || secrets::find(&decoded, false).is_empty() {
            return Cow::Borrowed(body);
        }
        self.missing.push(format!("The body of request {} has a secret.", entry.number));
        Cow::Owned(secrets::mask(&decoded, false))
    }

    fn answer(&mut self, entry: &JournalEntry) -> io::Result<Option<ReplayAnswer>> {
        let Some(answer) = entry.outcome() else { return Ok(None) };
        let snapshot = entry.response_body.snapshot();
        let (size, is_complete) = (snapshot.length, snapshot.is_complete);
        let whole = match entry.response_body.whole()? {
            Some(WholeBody::InMemory(bytes)) => Some(bytes),
            Some(WholeBody::InFile(file, length)) if length <= MAX_ANSWER_BYTES as u64 => {
                let mut bytes = Vec::new();
                file.take(length).read_to_end(&mut bytes)?;
                Some(bytes)
            }
            _ => None,
        };
        let mut body = ReplayBody { size, is_complete, ..ReplayBody::default() };
        if let Some(bytes) = whole {
            for (index, secret) in bodies::secrets_of(&answer.headers, &bytes).into_iter().enumerate() {
                let place = SecretPlace { request: entry.number, secret: index };
                self.learned.entry(secret).or_insert(place);
            }
            let comparable = bodies::comparable(&answer.headers, &bytes, !is_complete);
            if comparable.len() <= INLINE_BYTES {
                body = ReplayBody::inline(&comparable, size, is_complete);
            } else {
                self.archive.start(&answer_file(entry.number), comparable.len() as u64)?;
                self.archive.write_all(&comparable)?;
                body.is_in_file = true;
            }
        }
        // The hash may be of more bytes than the size says if the transfer goes on.
        let hash = format!("{:032x}", snapshot.hash);
        Ok(Some(ReplayAnswer { status: answer.status, headers: replay_headers(&answer.headers), body, hash }))
    }
}

fn replay_headers(headers: &[Header]) -> Vec<ReplayHeader> {
    headers.iter().map(|Header { name, value }| ReplayHeader::new(name, value)).collect()
}
