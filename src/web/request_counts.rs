//! Counts of requests: by operation and class of status, their times by API, and what they waited for.
//!
//! Counting costs one lookup and some additions per request. The labels are known in advance, so no request adds one: an operation
//! of the documents, or one of a few other kinds, and never a path, a team, or a world.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use poem::http::Method;

use crate::{
    blobs,
    market::CostTimes,
    web::{
        request_kinds::{self, AGENT_PATHS},
        shared_addresses::SharedAddresses,
    },
};

/// Path of the metrics, at every address that has them.
pub const METRICS_PATH: &str = "/metrics";

/// Requests without a documented operation: the kind of API, and the operation. The order is that of [`Other`].
const OTHERS: [(&str, &str); 11] = [
    ("none", "unknown"),
    ("pages", "get_page"),
    ("console", "get_page"),
    ("console", "send_form"),
    ("mcp", "send_message"),
    ("files", "upload_part"),
    ("files", "download_bundle"),
    ("files", "get_document"),
    ("sandbox", "transfer_world"),
    ("monitoring", "get_metrics"),
    ("worlds", "any"),
];

/// Indices in [`OTHERS`].
#[derive(Clone, Copy, Debug)]
enum Other {
    Unknown,
    Page,
    ConsolePage,
    ConsoleForm,
    AgentMessage,
    UploadPart,
    Bundle,
    Document,
    WorldTransfer,
    Metrics,
    World,
}

/// Number of classes of HTTP statuses, of which the first is 1xx.
const STATUS_CLASSES: usize = 5;

/// The names of the classes.
const CLASS_NAMES: [&str; STATUS_CLASSES] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// Upper bounds of the histogram in seconds.
pub const BOUNDS: [f64; 13] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// The status of a request that exceeds a budget.
const RATE_LIMITED: u16 = 429;

/// The waits and the work of requests, in the order of [`times_of`].
pub const WAITS: [&str; 5] = ["slot", "compute", "read_connection", "write_connection", "index"];

/// Counts of the requests of a server since it was started.
#[derive(Debug)]
pub struct RequestCounts {
    operations: Vec<OperationCounts>,
    /// Indices of the documented operations, by their routes and then by method.
    by_route: HashMap<String, Vec<(Method, usize)>>,
    apis: Vec<ApiTimes>,
    in_flight: AtomicU64,
    rate_limited: AtomicU64,
    waited: [AtomicU64; WAITS.len()],
    /// Time of reads and of writes.
    worked: [AtomicU64; 2],
    /// Whether callers share addresses.
    pub shared_addresses: SharedAddresses,
}

/// Counts of an operation.
#[derive(Debug)]
struct OperationCounts {
    /// Index of the API.
    api: usize,
    operation: String,
    statuses: [AtomicU64; STATUS_CLASSES],
}

/// Times of the requests of an API, separately for reads and writes.
#[derive(Debug)]
struct ApiTimes {
    api: &'static str,
    reads: Times,
    writes: Times,
}

/// Numbers of requests by the time that they took.
#[derive(Debug, Default)]
struct Times {
    buckets: [AtomicU64; BOUNDS.len() + 1],
    nanoseconds: AtomicU64,
}

/// An operation whose requests are counted.
#[derive(Clone, Copy, Debug)]
pub struct CountedOperation<'o> {
    /// The API, or what is like one.
    pub api: &'static str,
    /// `operationId`.
    pub operation: &'o str,
    /// The method.
    pub method: &'o Method,
    /// The route, as the log names it.
    pub route: &'o str,
}

/// A request in progress. It is counted as such until this is dropped.
#[derive(Debug)]
pub struct RunningRequest<'c>(&'c RequestCounts);

/// A request that has ended.
#[derive(Clone, Copy, Debug)]
pub struct EndedRequest<'r> {
    /// The method.
    pub method: &'r Method,
    /// The route that matched; `None` if none did.
    pub route: Option<&'r str>,
    /// Whether it was for a world.
    pub is_of_world: bool,
    /// The status of the response.
    pub status: u16,
    /// How long it took until the response began.
    pub duration: Duration,
    /// What it waited for.
    pub times: CostTimes,
}

/// The number of requests of an operation with a class of status.
#[derive(Clone, Copy, Debug)]
pub struct OperationCount<'c> {
    /// The API, or what is like one.
    pub api: &'c str,
    /// `operationId`, or the kind of requests that have none.
    pub operation: &'c str,
    /// The class of status, such as `2xx`.
    pub status: &'static str,
    /// Number of requests.
    pub count: u64,
}

/// The times of the reads or of the writes of an API.
#[derive(Clone, Debug)]
pub struct ApiDurations {
    /// The API, or what is like one.
    pub api: &'static str,
    /// `read` or `write`.
    pub access: &'static str,
    /// Numbers of requests by their time, with the upper bounds in seconds.
    pub buckets: Vec<(f64, u64)>,
    /// Sum of their times.
    pub seconds: f64,
}

impl RequestCounts {
    /// Creates counts of these operations, and of requests without an operation.
    pub fn new<'o>(operations: impl IntoIterator<Item = CountedOperation<'o>>) -> RequestCounts {
        let mut counts = RequestCounts {
            operations: Vec::new(),
            by_route: HashMap::new(),
            apis: Vec::new(),
            in_flight: AtomicU64::default(),
            rate_limited: AtomicU64::default(),
            waited: Default::default(),
            worked: Default::default(),
            shared_addresses: SharedAddresses::default(),
        };
        for (api, operation) in OTHERS {
            counts.add(api, operation);
        }
        for CountedOperation { api, operation, method, route } in operations {
            let index = counts.add(api, operation);
            counts.by_route.entry(route.to_owned()).or_default().push((method.clone(), index));
        }
        counts
    }

    /// Adds an operation. Returns its index.
    fn add(&mut self, api: &'static str, operation: &str) -> usize {
        let known = self.apis.iter().position(|times| times.api == api);
        let api = known.unwrap_or_else(|| {
            self.apis.push(ApiTimes { api, reads: Times::default(), writes: Times::default() });
            self.apis.len() - 1
        });
        let operation = operation.to_owned();
        self.operations.push(OperationCounts { api, operation, statuses: Default::default() });
        self.operations.len() - 1
    }

    /// Counts a request as being in progress.
    pub fn begin(&self) -> RunningRequest<'_> {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        RunningRequest(self)
    }

    /// Counts a request that has ended.
    pub fn count(&self, ended: &EndedRequest) {
        let counts = &self.operations[self.find(ended)];
        let class = usize::from(ended.status / 100).clamp(1, STATUS_CLASSES) - 1;
        counts.statuses[class].fetch_add(1, Ordering::Relaxed);
        let times = &self.apis[counts.api];
        let times = if is_read(ended) { &times.reads } else { &times.writes };
        times.count(ended.duration);
        if ended.status == RATE_LIMITED {
            self.rate_limited.fetch_add(1, Ordering::Relaxed);
        }
        let (waited, worked) = times_of(&ended.times);
        add_times(&self.waited, waited);
        add_times(&self.worked, worked);
    }

    /// Returns the index of the operation that a request was for.
    fn find(&self, ended: &EndedRequest) -> usize {
        if ended.is_of_world {
            return Other::World as usize;
        }
        let Some(route) = ended.route else { return Other::Unknown as usize };
        let method = if *ended.method == Method::HEAD { &Method::GET } else { ended.method };
        match self.by_route.get(route) {
            Some(methods) => {
                let found = methods.iter().find(|(known, _)| known == method);
                found.map_or(Other::Unknown as usize, |(_, index)| *index)
            }
            None => find_other(route, method) as usize,
        }
    }

    /// Returns the numbers of requests that are not 0.
    pub fn operations(&self) -> impl Iterator<Item = OperationCount<'_>> {
        self.operations.iter().flat_map(|counts| {
            let by_class = CLASS_NAMES.into_iter().zip(&counts.statuses);
            by_class.filter_map(|(status, count)| {
                let (api, operation) = (self.apis[counts.api].api, counts.operation.as_str());
                let count = count.load(Ordering::Relaxed);
                (count > 0).then_some(OperationCount { api, operation, status, count })
            })
        })
    }

    /// Returns the times of requests, of APIs that had some.
    pub fn durations(&self) -> impl Iterator<Item = ApiDurations> + '_ {
        self.apis.iter().flat_map(|times| {
            let both = [("read", &times.reads), ("write", &times.writes)];
            both.into_iter().filter_map(|(access, durations)| durations.to_durations(times.api, access))
        })
    }

    /// Returns the number of requests in progress.
    pub fn in_flight(&self) -> u64 {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Returns the number of requests that exceeded a budget.
    pub fn rate_limited(&self) -> u64 {
        self.rate_limited.load(Ordering::Relaxed)
    }

    /// Returns the seconds that requests waited, in the order of [`WAITS`].
    pub fn waited(&self) -> [f64; WAITS.len()] {
        self.waited.each_ref().map(load_seconds)
    }

    /// Returns the seconds of the reads and of the writes of requests.
    pub fn worked(&self) -> [f64; 2] {
        self.worked.each_ref().map(load_seconds)
    }
}

impl Drop for RunningRequest<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Times {
    fn count(&self, duration: Duration) {
        let seconds = duration.as_secs_f64();
        let bucket = BOUNDS.partition_point(|bound| *bound < seconds);
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        self.nanoseconds.fetch_add(nanoseconds(duration), Ordering::Relaxed);
    }

    /// Returns the times; `None` without any.
    fn to_durations(&self, api: &'static str, access: &'static str) -> Option<ApiDurations> {
        let bounds = BOUNDS.into_iter().chain([f64::INFINITY]);
        let counts = self.buckets.iter().map(|count| count.load(Ordering::Relaxed));
        let buckets: Vec<(f64, u64)> = bounds.zip(counts).collect();
        let is_any = buckets.iter().any(|(_, count)| *count > 0);
        is_any.then(|| ApiDurations { api, access, buckets, seconds: load_seconds(&self.nanoseconds) })
    }
}

/// Returns what a request is for whose route no document has.
fn find_other(route: &str, method: &Method) -> Other {
    let is_below = |prefix: &str| route.starts_with(prefix);
    if is_below(request_kinds::CONSOLE) {
        if *method == Method::GET { Other::ConsolePage } else { Other::ConsoleForm }
    } else if AGENT_PATHS.contains(&route) {
        Other::AgentMessage
    } else if is_below(blobs::BUNDLES) {
        Other::Bundle
    } else if is_below("/v2/listings/") || is_below(request_kinds::ATTESTATIONS) {
        Other::Document
    } else if is_below("/v2/blobs/") {
        Other::UploadPart
    } else if is_below("/sandbox/v1/") {
        Other::WorldTransfer
    } else if route == METRICS_PATH {
        Other::Metrics
    } else {
        Other::Page
    }
}

/// Whether a request only reads. Agents send their calls by POST.
fn is_read(ended: &EndedRequest) -> bool {
    ended.method.is_safe() || ended.route.is_some_and(|route| AGENT_PATHS.contains(&route))
}

/// Returns the waiting times of a request, in the order of [`WAITS`], and the times of its reads and its writes.
const fn times_of(times: &CostTimes) -> ([Duration; WAITS.len()], [Duration; 2]) {
    let waited = [times.slot_wait, times.compute_wait, times.read_wait, times.write_wait, times.index_wait];
    (waited, [times.read, times.write])
}

fn add_times<const N: usize>(sums: &[AtomicU64; N], times: [Duration; N]) {
    for (sum, time) in sums.iter().zip(times) {
        if !time.is_zero() {
            sum.fetch_add(nanoseconds(time), Ordering::Relaxed);
        }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn load_seconds(nanoseconds: &AtomicU64) -> f64 {
    Duration::from_nanos(nanoseconds.load(Ordering::Relaxed)).as_secs_f64()
}

#[cfg(test)]
mod tests;
