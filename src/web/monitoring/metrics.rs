//! The metrics: every family, and the source of its values. Counts are read from counters in memory, measurements by one read of the
//! database.

use std::{fmt, sync::Arc, time::Duration};

use prometheus_client::{collector::Collector, encoding::DescriptorEncoder, registry::Registry};
use tokio::time::timeout;

use super::{
    Monitor, ReplicaState, ReplicationState,
    families::{Distribution, Families, Family},
    process::ProcessFigures,
    readiness::Condition,
};
use crate::{
    domain::jobs::JobState,
    error::{Error, Result},
    http_server::tls::Certificates,
    market::{AttemptCounters, Market, PoolLoad, Requester},
    operations::measurements::Measurements,
    string_enum::StringEnum,
    web::{
        request_counts::{RequestCounts, WAITS},
        shares::{
            server_limits::ServerLimits,
            transfer_limits::{TransferLimit, TransferLoad},
        },
    },
};

/// How long measuring may take. Metrics that need it are left out if it takes longer.
const MEASURING_TIMEOUT: Duration = Duration::from_secs(2);

/// Returns a family of this program.
macro_rules! family {
    ($name:literal, $unit:literal, $help:literal) => {
        Family { name: concat!("marketplace", $name), unit: $unit, help: $help }
    };
}

/// All data of one response.
#[derive(Debug)]
struct Scrape {
    counts: Arc<RequestCounts>,
    market: Market,
    limits: Limits,
    worlds: Option<Worlds>,
    failed: Vec<Condition>,
    measurements: Option<Measurements>,
    process: ProcessFigures,
    /// The end of the validity of the certificate, in seconds of Unix time.
    certificate_valid_until: Option<i64>,
    replica: Option<Arc<ReplicaState>>,
    replication: Option<Arc<ReplicationState>>,
}

/// Numbers of worlds and snapshots.
#[derive(Clone, Copy, Debug)]
struct Worlds {
    worlds: usize,
    snapshots: usize,
}

/// How busy a server is.
#[derive(Debug)]
struct Limits {
    /// Limits of numbers of requests and connections, by name.
    slots: Vec<(&'static str, PoolLoad)>,
    /// Limits of bytes.
    bytes: Vec<TransferLoad>,
    /// Numbers of requests that were rejected, by limit.
    rejected: Vec<(&'static str, u64)>,
}

impl Monitor {
    /// Returns the metrics as text.
    pub(super) async fn scrape(&self) -> Result<String> {
        let _scraping = self.scraping.lock().await;
        let market = self.served.market().clone();
        let measured = market.clone();
        let measuring =
            market.read(Requester::process(), move |reader| Measurements::read(reader, &measured));
        let measurements = match timeout(MEASURING_TIMEOUT, measuring).await {
            Ok(measured) => {
                measured.inspect_err(|cause| tracing::warn!(%cause, "metrics are incomplete")).ok()
            }
            Err(_) => None,
        };
        let worlds = self.served.sandbox().map(|sandbox| Worlds {
            worlds: sandbox.worlds().list().len(),
            snapshots: sandbox.worlds().snapshots().len(),
        });
        let certificate_valid_until = match self.certificates.get() {
            Some(certificates) => Certificates::valid_until(certificates).await,
            None => None,
        };
        let scrape = Scrape {
            counts: Arc::clone(&self.limits.counts),
            limits: Limits::read(&self.limits, &market),
            worlds,
            failed: self.find_failed().await,
            measurements,
            process: ProcessFigures::read(self.started_at),
            certificate_valid_until,
            replica: self.replica.get().cloned(),
            replication: self.replication.get().cloned(),
            market,
        };
        let mut registry = Registry::default();
        registry.register_collector(Box::new(scrape));
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).map_err(Error::internal)?;
        Ok(text)
    }
}

impl Limits {
    fn read(limits: &ServerLimits, market: &Market) -> Limits {
        let settings = &market.settings().limits;
        let [requests, changes] =
            limits.capacity.loads().map(|(used, waiting)| PoolLoad { used, max: settings.slots(), waiting });
        let (held, max_held) = limits.held_requests.load();
        let loads = limits.transfers.loads();
        let piece = |used: u64, max: u64| PoolLoad { used: used as usize, max: max as usize, waiting: 0 };
        let [readers, writers] = market.pool_loads();
        let mut slots = vec![
            ("requests", requests),
            ("changes", changes),
            ("held_requests", piece(held, max_held)),
            ("read_connections", readers),
            ("write_connections", writers),
        ];
        let [rejected_reads, rejected_changes] = limits.capacity.rejected();
        let mut rejected = vec![
            ("rate", limits.counts.rate_limited()),
            ("requests", rejected_reads),
            ("changes", rejected_changes),
            ("held_requests", limits.held_requests.rejected()),
        ];
        let mut bytes = Vec::new();
        for load in loads {
            rejected.push((load.limit.as_str(), load.rejected));
            match load.limit {
                TransferLimit::Bodies | TransferLimit::Downloads => {
                    slots.push((load.limit.as_str(), piece(load.used, load.max)));
                }
                TransferLimit::Memory | TransferLimit::TemporaryFiles => bytes.push(load),
            }
        }
        Limits { slots, bytes, rejected }
    }
}

impl Collector for Scrape {
    fn encode(&self, encoder: DescriptorEncoder) -> fmt::Result {
        let mut families = Families(encoder);
        let version = family!("_build", "", "Version of the program.");
        families.info(version, [("version", env!("CARGO_PKG_VERSION"))])?;
        self.write_state(&mut families)?;
        write_requests(&mut families, &self.counts)?;
        self.limits.write(&mut families)?;
        write_attempts(&mut families, self.market.attempts())?;
        if let Some(measurements) = &self.measurements {
            write_queues(&mut families, measurements)?;
            write_storage(&mut families, measurements)?;
        }
        self.write_transfers_and_worlds(&mut families)?;
        self.write_replica(&mut families)?;
        self.process.write(&mut families)
    }
}

impl Scrape {
    fn write_state(&self, families: &mut Families) -> fmt::Result {
        let ready =
            family!("_ready", "", "Whether each condition for the server to be ready is met (1) or not (0).");
        let conditions = Condition::ALL.iter().map(|condition| {
            let is_met = !self.failed.contains(condition);
            ([("condition", condition.as_str())], f64::from(u8::from(is_met)))
        });
        families.gauges(ready, conditions)?;
        let complete =
            family!("_measured", "", "Whether the database could be read for these metrics (1) or not (0).");
        families.gauge(complete, Some(f64::from(u8::from(self.measurements.is_some()))))?;
        let expiration = family!(
            "_certificate_expiration_timestamp",
            "seconds",
            "End of the validity of the certificate in use, in Unix time. Missing without TLS."
        );
        families.gauge(expiration, self.certificate_valid_until.map(|at| at as f64))
    }

    fn write_replica(&self, families: &mut Families) -> fmt::Result {
        let state = |is_true: fn(&ReplicaState) -> bool| {
            self.replica.as_ref().map(|replica| f64::from(u8::from(is_true(replica))))
        };
        let current = family!(
            "_replica_current",
            "",
            "Whether the copy of a replica is kept current (1) or not (0). Missing for other servers."
        );
        families.gauge(current, state(ReplicaState::is_current))?;
        let behind = family!(
            "_replica_behind",
            "seconds",
            "For how long the copy of a replica has lacked something that the primary had; 0 below 15 seconds."
        );
        families.gauge(behind, self.replica.as_ref().map(|replica| replica.seconds_behind() as f64))?;
        let running = family!(
            "_replication_running",
            "",
            "Whether Litestream replicates a primary (1) or does not run (0). Missing for other servers."
        );
        let is_running = |replication: &Arc<ReplicationState>| f64::from(u8::from(replication.is_running()));
        families.gauge(running, self.replication.as_ref().map(is_running))?;
        let reachable = family!(
            "_replica_primary_reachable",
            "",
            "Whether the primary of a replica could be reached (1) or not (0). Missing for other servers."
        );
        families.gauge(reachable, state(|replica| !replica.is_primary_away()))?;
        let counts = self.replica.iter().flat_map(|replica| {
            let (restarts, restores) = replica.counts();
            [("restart", restarts), ("restore", restores)]
        });
        let attempts = family!(
            "_replica",
            "recoveries",
            "How often a replica started Litestream again, and how often it restored the database."
        );
        families.counters(attempts, counts.map(|(kind, count)| ([("kind", kind)], count as f64)))
    }

    fn write_transfers_and_worlds(&self, families: &mut Families) -> fmt::Result {
        let uploads =
            family!("_running", "uploads", "Steps of uploads in progress, such as receiving a part.");
        families.gauge(uploads, Some(self.market.blobs().upload_activities().running as f64))?;
        let worlds = family!("", "worlds", "Worlds of the sandbox. Missing if there is none.");
        families.gauge(worlds, self.worlds.map(|counts| counts.worlds as f64))?;
        let snapshots = family!("", "snapshots", "Snapshots of worlds. Missing if there is no sandbox.");
        families.gauge(snapshots, self.worlds.map(|counts| counts.snapshots as f64))
    }
}

fn write_requests(families: &mut Families, counts: &RequestCounts) -> fmt::Result {
    let requests =
        family!("_http", "requests", "Requests that were answered, by operation and class of status.");
    let by_operation = counts.operations().map(|counted| {
        let labels = [("api", counted.api), ("operation", counted.operation), ("status", counted.status)];
        (labels, counted.count as f64)
    });
    families.counters(requests, by_operation)?;
    let durations = family!(
        "_http_request_duration",
        "seconds",
        "Time until the responses to requests began, by API, for requests that read and those that write."
    );
    let by_api = counts.durations().map(|times| {
        (
            [("api", times.api), ("access", times.access)],
            Distribution { buckets: times.buckets, sum: times.seconds },
        )
    });
    families.histograms(durations, by_api)?;
    let in_flight = family!("_http_running", "requests", "Requests in progress.");
    families.gauge(in_flight, Some(counts.in_flight() as f64))?;
    let waits =
        family!("_http_request_wait", "seconds", "Time that requests waited, by what they waited for.");
    families
        .counters(waits, WAITS.into_iter().zip(counts.waited()).map(|(name, sum)| ([("for", name)], sum)))?;
    let work = family!("_http_request_database", "seconds", "Time that requests read and wrote.");
    let sums = ["read", "write"].into_iter().zip(counts.worked());
    families.counters(work, sums.map(|(access, sum)| ([("access", access)], sum)))
}

impl Limits {
    fn write(&self, families: &mut Families) -> fmt::Result {
        let rejected =
            family!("_http_rejected", "requests", "Requests that were rejected because of a limit.");
        let by_limit = self.rejected.iter().map(|(limit, count)| ([("limit", *limit)], *count as f64));
        families.counters(rejected, by_limit)?;
        let slots = |get: fn(&PoolLoad) -> usize| {
            self.slots.iter().map(move |(limit, load)| ([("limit", *limit)], get(load) as f64))
        };
        families.gauges(family!("_used", "slots", "Slots of limits in use."), slots(|load| load.used))?;
        let max = family!("_max", "slots", "Slots of limits; 0 for no limit.");
        families.gauges(max, slots(|load| load.max))?;
        let waiting =
            family!("_waiting", "requests", "Requests, reads, and writes that wait for a slot of a limit.");
        families.gauges(waiting, slots(|load| load.waiting))?;
        let bytes = |get: fn(&TransferLoad) -> u64| {
            self.bytes.iter().map(move |load| ([("limit", load.limit.as_str())], get(load) as f64))
        };
        let used = family!("_used", "bytes", "Bytes of limits in use by requests.");
        families.gauges(used, bytes(|load| load.used))?;
        families.gauges(family!("_max", "bytes", "Bytes of limits; 0 for no limit."), bytes(|load| load.max))
    }
}

fn write_attempts(families: &mut Families, attempts: &AttemptCounters) -> fmt::Result {
    let jobs =
        family!("_job", "attempts", "Attempts of background jobs that have ended, by kind and outcome.");
    // Includes events with a count of zero: Prometheus sees no increase in the first value of a series.
    let by_kind = attempts.jobs().map(|(kind, outcome, count)| {
        ([("kind", kind.as_str()), ("outcome", outcome.as_str())], count as f64)
    });
    families.counters(jobs, by_kind)?;
    let webhooks =
        family!("_webhook", "attempts", "Attempts to send to webhooks that have ended, by outcome.");
    families.counters(
        webhooks,
        attempts.webhooks().map(|(outcome, count)| ([("outcome", outcome)], count as f64)),
    )
}

fn write_queues(families: &mut Families, measured: &Measurements) -> fmt::Result {
    let lag = family!("_index_lag", "changes", "Committed changes that the search index lacks.");
    families.gauge(lag, Some(measured.health.index_lag as f64))?;
    let jobs =
        family!("", "jobs", "Background jobs, by kind and state. Those that are done are not counted.");
    let by_state = measured.jobs.iter().map(|jobs| {
        let labels = [("kind", jobs.kind.as_str()), ("state", jobs.counted.state.as_str())];
        (labels, jobs.counted.count as f64)
    });
    families.gauges(jobs, by_state)?;
    let oldest = family!(
        "_job_oldest_wait",
        "seconds",
        "Time for which the job of a kind that waits the longest has been due."
    );
    let waiting = measured.jobs.iter().filter(|jobs| jobs.counted.state == JobState::Waiting);
    let by_kind =
        waiting.map(|jobs| ([("kind", jobs.kind.as_str())], measured.seconds_since(jobs.counted.oldest_at)));
    families.gauges(oldest, by_kind)?;
    let pending =
        family!("_webhook_pending", "deliveries", "Deliveries to webhooks that have not succeeded yet.");
    families.gauge(pending, Some(measured.pending_deliveries as f64))?;
    let oldest = family!(
        "_webhook_oldest_wait",
        "seconds",
        "Time for which the delivery to a webhook that waits the longest has been due."
    );
    let since = measured.first_delivery_at.map_or(0.0, |at| measured.seconds_since(at));
    families.gauge(oldest, Some(since))
}

fn write_storage(families: &mut Families, measured: &Measurements) -> fmt::Result {
    let files = &measured.health.files;
    let stored = family!(
        "_stored",
        "bytes",
        "Bytes that are stored: uploads (also those that are planned), the database, and its log."
    );
    let by_kind = [
        ("uploads", measured.upload_bytes),
        ("database", measured.database_file_bytes),
        ("database_log", files.log_bytes),
    ];
    families.gauges(stored, by_kind.map(|(kind, bytes)| ([("kind", kind)], bytes as f64)))?;
    let free = family!("_disk_free", "bytes", "Bytes that are free on the disk with the data directory.");
    families.gauge(free, Some(files.disk_free_bytes as f64))?;
    let reserve = family!("_disk_reserve", "bytes", "Bytes of the disk that stay free for what frees space.");
    families.gauge(reserve, Some(files.disk_reserve_bytes as f64))?;
    let age = family!("_backup_age", "seconds", "Age of the last backup. Missing if none is known.");
    families.gauge(age, measured.health.backup_age_seconds().map(|seconds| seconds as f64))?;
    let missing = family!(
        "_backup_missing",
        "files",
        "Damaged files that the last backup does not have. Missing if no backup is known."
    );
    families.gauge(missing, files.last_backup.as_ref().map(|backup| backup.missing_files as f64))?;
    let checked = family!(
        "_backup_check_age",
        "seconds",
        "Time since a backup was last restored to check it. Missing if none is known."
    );
    families.gauge(checked, measured.health.backup_check_age_seconds().map(|seconds| seconds as f64))?;
    let found = family!(
        "_backup_check",
        "problems",
        "Problems that the last check of a backup found. Missing if none is known."
    );
    let check = files.last_backup.as_ref().and_then(|backup| backup.check.as_ref());
    families.gauge(found, check.map(|check| check.problems as f64))
}

impl ProcessFigures {
    fn write(&self, families: &mut Families) -> fmt::Result {
        let family = |name, unit, help| Family { name, unit, help };
        let cpu = family("process_cpu", "seconds", "CPU time of the process.");
        families.counters(cpu, self.cpu_seconds.map(|seconds| ([], seconds)))?;
        for (name, unit, help, value) in [
            ("process_resident_memory", "bytes", "Memory of the process in RAM.", self.resident_bytes),
            ("process", "threads", "Threads of the process.", self.threads),
            ("process_open", "fds", "Open files of the process.", self.open_files),
            ("process_max", "fds", "Maximum number of open files of the process.", self.max_files),
            ("process_start_time", "seconds", "Start of the process, in Unix time.", Some(self.started_at)),
        ] {
            families.gauge(family(name, unit, help), value)?;
        }
        Ok(())
    }
}
