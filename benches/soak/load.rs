//! Sends the mix at a rate, or as fast as it is answered, and collects how long the answers took.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use crate::{
    mix::{Clients, KINDS, Mix, cancel_upload},
    server::Server,
};

/// How fast requests are sent.
#[derive(Clone, Copy, Debug)]
pub enum Pace {
    /// Each connection sends the next request when the last one was answered.
    AsAnswered,
    /// A number of requests per second. The time of a request counts from when it was due, even if no connection was free then.
    Rate(f64),
    /// The same, but fewer while all connections wait for answers. The time of a request counts from when it was sent.
    AtMost(f64),
}

/// Requests to send.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub connections: usize,
    pub pace: Pace,
    pub time: Duration,
    /// Whether the connections are spread over all teams except the last one. Otherwise, all belong to the last team.
    pub is_of_all_teams: bool,
}

/// The answers to a load.
#[derive(Default)]
pub struct Answers {
    /// Milliseconds of the requests that were served, by kind.
    pub served: Vec<Vec<f64>>,
    /// Number of requests that were refused with 429 or 503.
    pub refused: usize,
    /// Number of answers that should not be: the kind, and the status, or 0 for a connection that ended.
    pub wrong: Vec<(usize, u16)>,
    /// Seconds that it took.
    pub seconds: f64,
}

impl Answers {
    /// Returns all served requests.
    pub fn all(&self) -> Vec<f64> {
        self.served.iter().flatten().copied().collect()
    }

    /// Requests per second that were answered, including refusals and errors.
    pub fn answered(&self) -> f64 {
        self.rate() + (self.refused + self.wrong.len()) as f64 / self.seconds
    }

    /// Served requests per second.
    pub fn rate(&self) -> f64 {
        self.served.iter().map(Vec::len).sum::<usize>() as f64 / self.seconds
    }

    /// Adds the answers to a load that came after this one.
    pub fn add_later(&mut self, other: Answers) {
        self.seconds += other.seconds;
        self.add(other);
    }

    fn add(&mut self, other: Answers) {
        self.served.resize_with(KINDS.len(), Vec::new);
        for (own, others) in self.served.iter_mut().zip(other.served) {
            own.extend(others);
        }
        self.refused += other.refused;
        self.wrong.extend(other.wrong);
    }
}

/// Returns the quantile of the values: 500 thousandths for the median, 990 for the value that 1 % exceeds. NaN if there are none.
pub fn quantile(mut values: Vec<f64>, thousandths: usize) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    values.sort_by(f64::total_cmp);
    values[(values.len() * thousandths / 1000).min(values.len() - 1)]
}

/// Sends a load, until its time is over or it is stopped.
pub fn run(server: &Server, mix: &Mix, load: Load, stop: &AtomicBool) -> Answers {
    let empty = || Answers { served: vec![Vec::new(); KINDS.len()], ..Answers::default() };
    let (next, all) = (AtomicUsize::new(0), Mutex::new(Answers::default()));
    let last = server.buyers.len() - 1;
    let began = Instant::now();
    thread::scope(|scope| {
        for connection in 0..load.connections {
            let (next, all) = (&next, &all);
            scope.spawn(move || {
                let member = if load.is_of_all_teams { connection % last } else { last };
                let mut clients = Clients::connect(server, member);
                let mut own = empty();
                while !stop.load(Ordering::Relaxed) {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    let due = match load.pace {
                        Pace::AsAnswered => began.elapsed(),
                        Pace::Rate(rate) | Pace::AtMost(rate) => Duration::from_secs_f64(n as f64 / rate),
                    };
                    if due.max(began.elapsed()) > load.time {
                        break;
                    }
                    thread::sleep(due.saturating_sub(began.elapsed()));
                    let from = if matches!(load.pace, Pace::AtMost(_)) { began.elapsed() } else { due };
                    let kind = Mix::kind_of(n);
                    let (status, upload) = mix.send(KINDS[kind].0, server, &mut clients);
                    let taken = began.elapsed().saturating_sub(from).as_secs_f64() * 1e3;
                    if let Some(path) = upload {
                        cancel_upload(&path, &mut clients);
                    }
                    match status {
                        200..300 => own.served[kind].push(taken),
                        429 | 503 => own.refused += 1,
                        other => own.wrong.push((kind, other)),
                    }
                }
                all.lock().expect("no thread panics").add(own);
            });
        }
    });
    let mut all = all.into_inner().expect("no thread panics");
    all.seconds = began.elapsed().as_secs_f64();
    all
}
