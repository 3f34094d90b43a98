//! A request while it is recorded. It gets its number when it is admitted to its world.

use std::sync::{
    Arc, Mutex, OnceLock, PoisonError,
    atomic::{AtomicBool, Ordering},
};
use std::time::{Duration, Instant};

use super::{
    body::RecordedBody,
    entry::{Answer, Header, JournalEntry, KeyLabel, Origin, RequestHead, memory_of_headers},
    log::{Arrival, Journal},
};
use crate::{domain::time::Timestamp, error::Code};

tokio::task_local! {
    /// The request to the sandbox API that the current task handles.
    static CURRENT: Arc<Recording>;
}

/// A request that is recorded.
#[derive(Debug)]
pub struct Recording {
    journal: Arc<Journal>,
    arrival: Arrival,
    /// The request until it is admitted.
    waiting: Mutex<Option<RequestHead>>,
    bodies: [Arc<RecordedBody>; 2],
    has_begun: AtomicBool,
    admitted: OnceLock<(Arc<JournalEntry>, Instant)>,
}

/// The outcome of a request.
#[derive(Clone, Debug)]
pub struct Ending {
    /// The key of the request.
    pub key: Option<Arc<KeyLabel>>,
    /// ID of the fault that changed the outcome.
    pub fault_id: Option<String>,
    /// The answer.
    pub answer: AnswerHead,
}

/// The head of an answer.
#[derive(Clone, Debug)]
pub struct AnswerHead {
    /// HTTP status.
    pub status: u16,
    /// Error code, if the answer has one.
    pub code: Option<Code>,
    /// Headers.
    pub headers: Vec<Header>,
    /// ID of the request.
    pub request_id: Option<String>,
    /// Whether the whole answer is sent to the client: no fault closes the connection before its end.
    pub is_sent: bool,
    /// Whether the request was executed: no fault closes the connection before that.
    pub is_executed: bool,
}

impl Recording {
    /// Begins to record a request.
    pub fn start(journal: &Arc<Journal>, request: RequestHead) -> Arc<Recording> {
        let body = || RecordedBody::new(Arc::clone(journal.bodies()));
        Arc::new(Recording {
            journal: Arc::clone(journal),
            arrival: Arrival::now(),
            waiting: Mutex::new(Some(request)),
            bodies: [body(), body()],
            has_begun: AtomicBool::new(false),
            admitted: OnceLock::new(),
        })
    }

    /// Returns the body of the request.
    pub const fn request_body(&self) -> &Arc<RecordedBody> {
        &self.bodies[0]
    }

    /// Returns the body of the answer.
    pub const fn response_body(&self) -> &Arc<RecordedBody> {
        &self.bodies[1]
    }

    /// Numbers the request, which was admitted at this time of the world. Calls after the first have no effect.
    pub fn admit(&self, at: Timestamp) {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(request) = waiting {
            let entry = self.journal.add(at, self.arrival, request, self.bodies.clone());
            if self.has_begun.load(Ordering::Relaxed) {
                entry.begin();
            }
            let _ = self.admitted.set((entry, Instant::now()));
        }
    }

    /// Says that the request has got to its handler.
    pub fn begin(&self) {
        self.has_begun.store(true, Ordering::Relaxed);
        if let Some((entry, _)) = self.admitted.get() {
            entry.begin();
        }
    }

    /// Records the outcome of the request. A request that needs no turn was not admitted to its world. It gets its number now, at
    /// this time of the world.
    pub fn end(&self, ending: Ending, now: Timestamp) {
        self.admit(now);
        let Some((entry, admitted_at)) = self.admitted.get() else { return };
        let Ending { key, fault_id, answer } = ending;
        if let Some(key) = key {
            let _ = entry.key.set(key);
        }
        if let Some(fault_id) = fault_id {
            let _ = entry.fault_id.set(fault_id);
        }
        self.note_answer(entry, answer, admitted_at.elapsed());
        self.journal.drop_oldest();
    }

    fn note_answer(&self, entry: &JournalEntry, head: AnswerHead, duration: Duration) {
        let AnswerHead { status, code, headers, request_id, is_sent, is_executed } = head;
        if let Some(operation) = &entry.request.operation
            && entry.request.origin == Origin::World
            && is_sent
        {
            let outcome = (operation.clone(), status, code);
            for coverage in &self.journal.coverage {
                coverage.add(&outcome, self.arrival.at);
            }
        }
        let charge = self.journal.charge(memory_of_headers(&headers));
        let answer = Answer { status, code, headers, request_id, duration, is_executed, _charge: charge };
        let _ = entry.outcome.set(answer);
    }
}

/// Runs the work of a request to the sandbox API, so that its admission to a world is recorded.
pub async fn record_admission<T>(recording: Arc<Recording>, work: impl Future<Output = T>) -> T {
    CURRENT.scope(recording, work).await
}

/// Numbers the current request, if it is one to the sandbox API for the world with this journal. The world has just
/// admitted it at the time that `now` returns.
pub fn note_admission(journal: &Arc<Journal>, now: impl FnOnce() -> Timestamp) {
    let _ = CURRENT.try_with(|recording| {
        if Arc::ptr_eq(&recording.journal, journal) {
            recording.admit(now());
        }
    });
}
