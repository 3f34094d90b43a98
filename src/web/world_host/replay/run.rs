//! Sends the requests of a replay to a new world, in their order, and compares the answers.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use http_body_util::BodyExt;
use poem::{
    Body, Endpoint, Request, Response,
    endpoint::BoxEndpoint,
    http::{HeaderName, HeaderValue, Method, header},
};
use serde::Serialize;
use tokio::{
    task::JoinHandle,
    time::{Instant, timeout, timeout_at},
};
use uuid::Uuid;

use crate::{
    domain::{clock_modes::ClockMode, time::Timestamp},
    error::{Error, Result},
    fixtures,
    market::{KeyCache, Market},
    operations::keys,
    string_enum::StringEnum,
    web::{
        key_headers,
        world_host::{
            recorder,
            replay::{
                addresses, bodies,
                compare::{ActualAnswer, Difference, Found, Scope, beginning, compare},
                file::{PathPart, ReplayRequest, SecretPlace, answer_file, request_file},
                read::RecordedReplay,
            },
        },
    },
    worlds::{
        JobTiming, NewWorld, World, Worlds,
        journal::{Origin, secrets},
    },
};

/// Maximum time to wait for an answer.
const MAX_WAIT: Duration = Duration::from_mins(2);

/// Maximum time to wait for transfers that went on while later requests were answered.
const MAX_WAIT_FOR_REST: Duration = Duration::from_secs(10);

/// Maximum size in bytes of an answer.
const MAX_ANSWER_BYTES: u64 = 256 << 20;

/// The content type of streams, which do not end by themselves.
const EVENT_STREAM: &str = "text/event-stream";

/// The name of the world whose port an in-process request addresses.
#[derive(Clone, Debug)]
pub struct OwnPortWorld(pub String);

/// The only operation of the sandbox API whose answer depends only on the world.
const CHANGE_CLOCK: &str = "change_world_clock";

/// A server without connections, on which files are replayed.
pub struct Replayer {
    /// The endpoint of the server, with its worlds.
    pub app: BoxEndpoint<'static, Response>,
    /// The worlds of the server.
    pub worlds: Arc<Worlds>,
    /// An operator key of the server.
    pub server_key: String,
}

/// What came of a replay.
#[derive(Clone, Debug, Serialize)]
pub struct ReplayOutcome {
    /// Number of requests that were sent.
    pub requests: u64,
    /// Number of answers that were compared.
    pub compared: u64,
    /// The first difference; none if all answers are the same.
    pub difference: Option<Difference>,
}

/// Values that a replay has learned from the answers.
#[derive(Default)]
struct Learned {
    secrets: HashMap<SecretKey, Vec<u8>>,
    keys: HashMap<Uuid, String>,
}

type SecretKey = (u64, usize);

/// An answer that is still being received.
struct Pending {
    index: usize,
    answer: JoinHandle<Result<ActualAnswer>>,
}

impl Replayer {
    /// Replays a file until the first difference.
    pub async fn run(self, replay: RecordedReplay) -> Result<ReplayOutcome> {
        let replay = Arc::new(replay);
        let file = Arc::clone(&replay);
        let worlds = Arc::clone(&self.worlds);
        let (world, keys) = tokio::task::spawn_blocking(move || create_world(&worlds, &file))
            .await
            .map_err(Error::internal)??;
        let run = Run {
            app: Arc::new(self.app),
            server_key: self.server_key,
            replay,
            world,
            learned: Learned { keys, ..Learned::default() },
            pending: Vec::new(),
            outcome: ReplayOutcome { requests: 0, compared: 0, difference: None },
        };
        run.finish().await
    }
}

struct Run {
    app: Arc<BoxEndpoint<'static, Response>>,
    server_key: String,
    replay: Arc<RecordedReplay>,
    world: Arc<World>,
    learned: Learned,
    pending: Vec<Pending>,
    outcome: ReplayOutcome,
}

impl Run {
    async fn finish(mut self) -> Result<ReplayOutcome> {
        let replay = Arc::clone(&self.replay);
        for (index, request) in replay.requests.iter().enumerate() {
            let is_of_sandbox = request.origin == Origin::Sandbox.as_str();
            let is_successful = request.answer.as_ref().is_some_and(|answer| answer.status < 400);
            // Requests to the sandbox API that failed have changed nothing.
            if is_of_sandbox && !is_successful {
                continue;
            }
            self.outcome.requests += 1;
            let answer = self.send(index, request).await?;
            if let Some(answer) = answer {
                self.learn(request, &answer).await?;
                if self.check(request, &answer)? {
                    return Ok(self.outcome);
                }
            }
        }
        let until = Instant::now() + MAX_WAIT_FOR_REST;
        for Pending { index, answer } in std::mem::take(&mut self.pending) {
            let request = &replay.requests[index];
            match timeout_at(until, answer).await {
                Ok(answer) => {
                    let answer = answer.map_err(Error::internal)??;
                    if self.check(request, &answer)? {
                        return Ok(self.outcome);
                    }
                }
                Err(_) if request.answer.is_some() => {
                    let found = ("answer".to_owned(), Some("an answer".to_owned()), None);
                    self.set_difference(request, found, None);
                    return Ok(self.outcome);
                }
                Err(_) => {}
            }
        }
        Ok(self.outcome)
    }

    /// Sends a request. Returns the answer, unless it is received while the next requests are sent.
    async fn send(&mut self, index: usize, request: &ReplayRequest) -> Result<Option<ActualAnswer>> {
        let sent = self.request(request)?;
        let (app, recorded) = (Arc::clone(&self.app), request.answer.clone());
        let limit = match &recorded {
            Some(answer) if !answer.body.is_complete => Some(answer.body.size),
            _ => None,
        };
        let before = *self.world.journal().subscribe().borrow();
        let (head, answered) = tokio::sync::oneshot::channel();
        let work = async move {
            let response = app.get_response(sent).await;
            // Fails if nobody waits for it.
            let _ = head.send(());
            receive(response, limit).await
        };
        let task = tokio::spawn(work);
        let is_stream = recorded.as_ref().is_none_or(|answer| {
            let is_stream = |value: &str| value.starts_with(EVENT_STREAM);
            limit.is_some()
                || answer
                    .headers
                    .iter()
                    .any(|header| header.name == "content-type" && is_stream(&header.value))
        });
        if !request.overlaps && !is_stream {
            let answer = timeout(MAX_WAIT, task).await.map_err(|_| no_answer(request))?;
            return answer.map_err(Error::internal)?.map(Some);
        }
        if request.overlaps {
            let mut journal = self.world.journal().subscribe();
            let admitted = timeout(MAX_WAIT, journal.wait_for(|last| *last > before));
            admitted.await.map_err(|_| no_answer(request))?.map_err(Error::internal)?;
            // The next request has its turn when this one lets it.
            drop(timeout(MAX_WAIT, self.world.admit()).await.map_err(|_| no_answer(request))??);
        } else {
            // Fails if the task has ended, which is seen when it is awaited.
            let _ = timeout(MAX_WAIT, answered).await.map_err(|_| no_answer(request))?;
        }
        self.pending.push(Pending { index, answer: task });
        Ok(None)
    }

    /// Builds a request.
    fn request(&self, request: &ReplayRequest) -> Result<Request> {
        let is_of_sandbox = request.origin == Origin::Sandbox.as_str();
        let path = self.path(request)?;
        let market = self.world.market();
        let query = request.query.as_ref().map(|query| {
            let signed = request.is_signed.then(|| addresses::sign(&market, &request.method, &path, query));
            signed.flatten().unwrap_or_else(|| query.clone())
        });
        let base = if is_of_sandbox || request.by_port {
            String::new()
        } else {
            format!("/w/{}", self.world.name())
        };
        let query = query.map(|query| format!("?{query}")).unwrap_or_default();
        let uri = format!("{base}{path}{query}").parse().map_err(|_| malformed(request, "address"))?;
        let method =
            Method::from_bytes(request.method.as_bytes()).map_err(|_| malformed(request, "method"))?;
        let mut built = Request::builder().method(method).uri(uri).finish();
        let key = match request.key {
            _ if is_of_sandbox => Some(self.server_key.as_str()),
            Some(id) => Some(self.learned.keys.get(&id).ok_or_else(|| malformed(request, "key"))?.as_str()),
            None => None,
        };
        // Only the first of the headers with a key counts.
        let is_sent = |name: &&HeaderName| request.headers.iter().any(|header| header.name == name.as_str());
        let carrier = key_headers::KEY_HEADERS.iter().find(is_sent);
        for replayed in &request.headers {
            let name =
                HeaderName::from_bytes(replayed.name.as_bytes()).map_err(|_| malformed(request, "header"))?;
            let mut value = replayed.bytes().ok_or_else(|| malformed(request, "header"))?;
            if let Some(key) = key.filter(|_| carrier == Some(&name)) {
                let prefix = if name == header::AUTHORIZATION { "Bearer " } else { "" };
                value = format!("{prefix}{key}").into_bytes();
            }
            let value = HeaderValue::from_bytes(&value).map_err(|_| malformed(request, "header"))?;
            built.headers_mut().append(name, value);
        }
        let body = self.replay.body(&request.body, &request_file(request.number))?.unwrap_or_default();
        built.set_body(Body::from_bytes(Bytes::from(body)));
        if request.by_port {
            built.set_data(OwnPortWorld(self.world.name().to_owned()));
        }
        Ok(built)
    }

    /// Returns the path with the secrets of the answers of this replay.
    fn path(&self, request: &ReplayRequest) -> Result<String> {
        let mut path = String::new();
        for part in &request.path {
            match part {
                PathPart::Text(text) => path.push_str(text),
                PathPart::Secret(SecretPlace { request: number, secret }) => {
                    let learned = self.learned.secrets.get(&(*number, *secret));
                    let learned = learned.ok_or_else(|| malformed(request, "secret"))?;
                    path.push_str(&String::from_utf8_lossy(learned));
                }
            }
        }
        Ok(path)
    }

    /// Remembers the secrets of an answer, and finds the keys among them.
    async fn learn(&mut self, request: &ReplayRequest, answer: &ActualAnswer) -> Result<()> {
        let found = bodies::secrets_of(&answer.headers, &answer.body);
        if found.is_empty() {
            return Ok(());
        }
        let candidates: Vec<String> =
            found.iter().map(|secret| format!("mkt_{}", String::from_utf8_lossy(secret))).collect();
        for (index, secret) in found.into_iter().enumerate() {
            self.learned.secrets.insert((request.number, index), secret);
        }
        let market = self.world.market();
        let keys = tokio::task::spawn_blocking(move || find_keys(&market, candidates));
        self.learned.keys.extend(keys.await.map_err(Error::internal)??);
        Ok(())
    }

    /// Compares an answer. Returns whether it differs.
    fn check(&mut self, request: &ReplayRequest, answer: &ActualAnswer) -> Result<bool> {
        let Some(expected) = &request.answer else { return Ok(false) };
        self.outcome.compared += 1;
        let scope = match request.operation.as_deref() {
            _ if request.origin == Origin::World.as_str() => Scope::All,
            Some(CHANGE_CLOCK) => Scope::StatusAndBody,
            _ => Scope::Status,
        };
        let body = self.replay.body(&expected.body, &answer_file(request.number))?;
        let Some(found) = compare(expected, body.as_deref(), answer, scope) else { return Ok(false) };
        let shown = (found.0 == "status").then(|| {
            let body = bodies::comparable(&answer.headers, &answer.body, false);
            beginning(&String::from_utf8_lossy(&body))
        });
        self.set_difference(request, found, shown);
        Ok(true)
    }

    fn set_difference(&mut self, request: &ReplayRequest, found: Found, answer: Option<String>) {
        let path = request.path.iter().map(|part| match part {
            PathPart::Text(text) => text.as_str(),
            PathPart::Secret(_) => secrets::MASK,
        });
        let query = request.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
        let path = path.collect::<String>() + &query;
        self.outcome.difference = Some(Difference { answer, ..Difference::new(request, path, found) });
    }
}

fn malformed(request: &ReplayRequest, what: &str) -> Error {
    Error::Malformed(format!(
        "Request {} cannot be sent: its {what} is not valid or not known.",
        request.number
    ))
}

fn no_answer(request: &ReplayRequest) -> Error {
    Error::Malformed(format!(
        "Request {} was not answered within {} seconds.",
        request.number,
        MAX_WAIT.as_secs()
    ))
}

/// Receives an answer; with a limit, only as many bytes of its body.
async fn receive(response: Response, limit: Option<u64>) -> Result<ActualAnswer> {
    let (status, headers) = (response.status().as_u16(), recorder::headers(response.headers()));
    let mut body: http_body_util::combinators::BoxBody<Bytes, std::io::Error> = response.into_body().into();
    let max = limit.unwrap_or(MAX_ANSWER_BYTES);
    let mut bytes = Vec::new();
    let mut is_longer = false;
    while (bytes.len() as u64) < max {
        let Some(frame) = body.frame().await else { break };
        let Ok(frame) = frame else { break };
        if let Some(data) = frame.data_ref() {
            bytes.extend_from_slice(data);
        }
    }
    if bytes.len() as u64 > max {
        bytes.truncate(max as usize);
        is_longer = true;
    }
    Ok(ActualAnswer { status, headers, body: bytes, is_longer })
}

/// Creates the world of a file. Also returns the keys that are known, by their IDs.
fn create_world(worlds: &Worlds, replay: &RecordedReplay) -> Result<(Arc<World>, HashMap<Uuid, String>)> {
    let fields = &replay.head.world;
    let mut settings = Vec::new();
    for (key, value) in &fields.settings {
        let value = toml::Value::try_from(value)
            .map_err(|_| Error::Malformed(format!("The setting {key} of the world is not valid.")))?;
        settings.push((key.clone(), value));
    }
    let defaults = NewWorld::default();
    let new = NewWorld {
        name: Some(fields.name.clone()),
        source: fields.from.clone(),
        now: fields.now.map(Timestamp),
        is_running: ClockMode::parse(&fields.clock) == Some(ClockMode::Running),
        seed: (!fields.has_start).then_some(fields.seed),
        settings,
        job_timing: JobTiming::parse(&fields.jobs).unwrap_or(defaults.job_timing),
        ..defaults
    };
    let Some(start) = replay.start() else {
        let world = worlds.create(&new, None)?;
        let keys = known_keys(&world)?;
        return Ok((world, keys));
    };
    let create = |secrets: &BTreeMap<Uuid, String>| -> Result<Arc<World>> {
        let digests = secrets.iter().map(|(id, secret)| (*id, KeyCache::digest(secret))).collect();
        Ok(worlds.create_from_state(&new, &start, &digests)?)
    };
    let world = create(&BTreeMap::new())?;
    let mut keys = known_keys(&world)?;
    // Nobody knows the other keys that the state has. They get other secrets, which no response shows.
    let ids = replay.head.keys.iter().map(|key| key.id).filter(|id| !keys.contains_key(id));
    let others = keys::existing(&world.market(), ids.collect())?;
    if others.is_empty() {
        return Ok((world, keys));
    }
    let name = world.name().to_owned();
    drop(world);
    worlds.delete(&name);
    let secrets: BTreeMap<Uuid, String> =
        others.into_iter().map(|id| (id, format!("mkt_replay_{}", id.simple()))).collect();
    let world = create(&secrets)?;
    keys.extend(secrets);
    Ok((world, keys))
}

/// Returns the keys of a new world whose secrets are known, by their IDs.
fn known_keys(world: &World) -> Result<HashMap<Uuid, String>> {
    let own = world.keys().iter().map(|key| key.key.clone()).collect::<Vec<_>>();
    find_keys(&world.market(), own.into_iter().chain(fixtures::demo_secrets()).collect())
}

/// Returns the texts that are keys of a market, by their IDs.
fn find_keys(market: &Market, texts: Vec<String>) -> Result<HashMap<Uuid, String>> {
    market.read_blocking(|reader| {
        let mut found = HashMap::new();
        for text in texts {
            if let Some(key) = keys::find_name(reader, &KeyCache::digest(&text))? {
                found.insert(key.id, text);
            }
        }
        Ok(found)
    })
}
