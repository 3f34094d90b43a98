//! The ranges of numeric settings.

use toml::Value;

use super::agents::ANSWER_BYTES;
use crate::domain::jobs::MAX_ATTEMPTS;

const MAX_REPOSITORY_ATTEMPTS: f64 = MAX_ATTEMPTS as f64;

/// Numeric settings with their minimum and maximum.
pub(super) const RANGES: [(&str, f64, f64); 87] = [
    ("server.drain_seconds", 0.0, 3600.0),
    ("server.max_connections", 1.0, 1e5),
    ("server.max_header_bytes", 8192.0, 1e6),
    ("server.max_connections_per_address", 0.0, 1e5),
    ("server.max_idle_connections_per_address", 0.0, 1e5),
    ("server.write_seconds", 1.0, 3600.0),
    ("server.min_bytes_per_second", 0.0, 1e6),
    ("server.rate_window_seconds", 1.0, 3600.0),
    ("server.header_seconds", 1.0, 3600.0),
    ("server.body_seconds", 1.0, 3600.0),
    ("server.answer_seconds", 0.0, 3600.0),
    ("server.max_body_bytes", 1024.0, 1e9),
    ("tls.hsts_seconds", 0.0, 1e9),
    ("replica.max_forwarded", 1.0, 1e5),
    ("limits.catalog", 0.0, 1e9),
    ("limits.history", 0.0, 1e9),
    ("limits.sales", 0.0, 1e9),
    ("limits.purchases", 0.0, 1e9),
    ("limits.quality_checks", 0.0, 1e9),
    ("limits.uploads", 0.0, 1e9),
    ("limits.other", 0.0, 1e9),
    ("limits.address", 0.0, 1e9),
    ("limits.in_flight", 0.0, 1e5),
    ("limits.queue", 0.0, 1e5),
    ("limits.queue_milliseconds", 1.0, 1e4),
    ("limits.burst_milliseconds", 0.0, 1e4),
    ("limits.bodies", 0.0, 1e5),
    ("limits.bodies_per_team", 0.0, 1e5),
    ("limits.bodies_per_address", 0.0, 1e5),
    ("limits.downloads", 0.0, 1e5),
    ("limits.downloads_per_team", 0.0, 1e5),
    ("limits.downloads_per_address", 0.0, 1e5),
    ("limits.held", 0.0, 1e5),
    ("limits.held_per_principal", 0.0, 1e5),
    ("limits.memory_mb", 0.0, 1e6),
    ("limits.spool_mb", 0.0, 1e6),
    ("data.readers", 0.0, 64.0),
    ("data.reserve_mb", 0.0, 1e9),
    ("quotas.assets", 0.0, 1e12),
    ("quotas.groups", 0.0, 1e12),
    ("quotas.upload_gb", 0.0, 1e9),
    ("quotas.idempotency_keys", 0.0, 1e12),
    ("quotas.idempotency_mb", 0.0, 1e9),
    ("index.writer_memory_mb", 16.0, 4096.0),
    ("index.writer_threads", 1.0, 8.0),
    ("archives.max_files", 1.0, 1e7),
    ("archives.max_seconds", 1.0, 86_400.0),
    ("archives.max_ratio", 1.0, 1e6),
    ("blobs.max_upload_bytes", 1e3, 5e12),
    ("repositories.max_bytes", 1e4, 1e12),
    ("repositories.max_files", 1.0, 1e7),
    ("repositories.max_file_bytes", 1e4, 1e9),
    ("repositories.max_seconds", 1.0, 86_400.0),
    ("repositories.attempts", 1.0, MAX_REPOSITORY_ATTEMPTS),
    ("repositories.idle_seconds", 1.0, 600.0),
    ("jobs.copies", 1.0, 64.0),
    ("jobs.readings", 1.0, 64.0),
    ("jobs.started", 1.0, 256.0),
    ("child_processes.memory_mb", 64.0, 1e6),
    ("child_processes.cpu_seconds", 1.0, 86_400.0),
    ("child_processes.open_files", 16.0, 1e5),
    ("child_processes.file_mb", 1.0, 1e7),
    ("child_processes.reply_mb", 1.0, 64.0),
    ("browse_gate.required_published", 0.0, 1e6),
    ("quality.credits_per_run", 0.0, 1e6),
    ("fees.buyer_percent", 0.0, 100.0),
    ("fees.platform_percent", 0.0, 100.0),
    ("offers.expire_days", 1.0, 3650.0),
    ("purchases.pending_days", 1.0, 3650.0),
    ("purchases.refund_days", 0.0, 3650.0),
    ("keys.rotation_overlap_hours", 0.0, 8760.0),
    ("console.session_hours", 1.0, 8760.0),
    ("console.session_idle_minutes", 1.0, 525_600.0),
    ("sandbox.max_worlds", 1.0, 1e5),
    ("sandbox.max_snapshots_per_world", 1.0, 1e5),
    ("sandbox.max_mb", 0.0, 1e7),
    ("agents.max_answer_bytes", *ANSWER_BYTES.start() as f64, *ANSWER_BYTES.end() as f64),
    ("webhooks.max_endpoints", 0.0, 1e4),
    ("webhooks.concurrent_attempts", 1.0, 1e3),
    ("payouts.hold_days", 0.0, 3650.0),
    ("payouts.change_delay_days", 0.0, 3650.0),
    ("events.keep_days", 0.0, 36_500.0),
    ("estimations.cents_per_thousand_lines", 0.0, 1e9),
    ("estimations.cents_per_commit", 0.0, 1e9),
    ("estimations.cents_per_contributor", 0.0, 1e9),
    ("estimations.rare_language_percent", 0.0, 1e4),
    ("estimations.spread_percent", 0.0, 100.0),
];

/// Returns the problem with the number of a setting that has to be in a range.
pub(super) fn check(value: &Value, min: f64, max: f64) -> Result<(), String> {
    let number = value.as_float().or_else(|| value.as_integer().map(|number| number as f64));
    match number {
        Some(number) if !(min..=max).contains(&number) => {
            let shown = if number.is_nan() { "NaN".to_owned() } else { value.to_string() };
            Err(format!("must be between {min} and {max}, but is {shown}"))
        }
        _ => Ok(()),
    }
}
