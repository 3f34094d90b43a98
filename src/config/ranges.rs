//! The ranges of numeric settings.

use super::settings::Settings;
use crate::domain::jobs::MAX_ATTEMPTS;

impl Settings {
    /// Returns the numeric settings that have a range: key, value, minimum, and maximum.
    pub(super) fn ranges(&self) -> Vec<(&'static str, f64, f64, f64)> {
        let (server, limits, repositories) = (&self.server, &self.limits, &self.repositories);
        let children = &self.child_processes;
        vec![
            ("server.drain_seconds", server.drain_seconds as f64, 0.0, 3600.0),
            ("server.max_connections", f64::from(server.max_connections), 1.0, 1e5),
            ("server.max_header_bytes", f64::from(server.max_header_bytes), 8192.0, 1e6),
            ("server.max_connections_per_address", f64::from(server.max_connections_per_address), 0.0, 1e5),
            (
                "server.max_idle_connections_per_address",
                f64::from(server.max_idle_connections_per_address),
                0.0,
                1e5,
            ),
            ("server.write_seconds", f64::from(server.write_seconds), 1.0, 3600.0),
            ("server.min_bytes_per_second", f64::from(server.min_bytes_per_second), 0.0, 1e6),
            ("server.rate_window_seconds", f64::from(server.rate_window_seconds), 1.0, 3600.0),
            ("server.header_seconds", f64::from(server.header_seconds), 1.0, 3600.0),
            ("server.body_seconds", f64::from(server.body_seconds), 1.0, 3600.0),
            ("server.answer_seconds", f64::from(server.answer_seconds), 0.0, 3600.0),
            ("limits.in_flight", f64::from(limits.in_flight), 0.0, 1e5),
            ("limits.queue", f64::from(limits.queue), 0.0, 1e5),
            ("limits.queue_milliseconds", f64::from(limits.queue_milliseconds), 1.0, 1e4),
            ("limits.bodies", f64::from(limits.bodies), 0.0, 1e5),
            ("limits.bodies_per_team", f64::from(limits.bodies_per_team), 0.0, 1e5),
            ("limits.bodies_per_address", f64::from(limits.bodies_per_address), 0.0, 1e5),
            ("limits.downloads", f64::from(limits.downloads), 0.0, 1e5),
            ("limits.downloads_per_team", f64::from(limits.downloads_per_team), 0.0, 1e5),
            ("limits.downloads_per_address", f64::from(limits.downloads_per_address), 0.0, 1e5),
            ("limits.memory_mb", f64::from(limits.memory_mb), 0.0, 1e6),
            ("limits.spool_mb", f64::from(limits.spool_mb), 0.0, 1e6),
            ("server.max_body_bytes", server.max_body_bytes as f64, 1024.0, 1e9),
            ("data.readers", f64::from(self.data.readers), 1.0, 64.0),
            ("data.reserve_mb", self.data.reserve_mb as f64, 0.0, 1e9),
            ("quotas.assets", self.quotas.assets as f64, 0.0, 1e12),
            ("quotas.groups", self.quotas.groups as f64, 0.0, 1e12),
            ("quotas.upload_gb", self.quotas.upload_gb as f64, 0.0, 1e9),
            ("quotas.idempotency_keys", self.quotas.idempotency_keys as f64, 0.0, 1e12),
            ("quotas.idempotency_mb", self.quotas.idempotency_mb as f64, 0.0, 1e9),
            ("index.writer_memory_mb", self.index.writer_memory_mb as f64, 16.0, 4096.0),
            ("index.writer_threads", self.index.writer_threads as f64, 1.0, 8.0),
            ("archives.max_files", self.archives.max_files as f64, 1.0, 1e7),
            ("archives.max_seconds", f64::from(self.archives.max_seconds), 1.0, 86_400.0),
            ("archives.max_ratio", self.archives.max_ratio as f64, 1.0, 1e6),
            ("blobs.max_upload_bytes", self.blobs.max_upload_bytes as f64, 1e3, 5e12),
            ("repositories.max_bytes", repositories.max_bytes as f64, 1e4, 1e12),
            ("repositories.max_files", repositories.max_files as f64, 1.0, 1e7),
            ("repositories.max_file_bytes", repositories.max_file_bytes as f64, 1e4, 1e9),
            ("repositories.max_seconds", f64::from(repositories.max_seconds), 1.0, 86_400.0),
            ("repositories.attempts", f64::from(repositories.attempts), 1.0, f64::from(MAX_ATTEMPTS)),
            ("repositories.idle_seconds", f64::from(repositories.idle_seconds), 1.0, 600.0),
            ("jobs.copies", f64::from(self.jobs.copies), 1.0, 64.0),
            ("jobs.readings", f64::from(self.jobs.readings), 1.0, 64.0),
            ("jobs.started", f64::from(self.jobs.started), 1.0, 256.0),
            ("child_processes.memory_mb", children.memory_mb as f64, 64.0, 1e6),
            ("child_processes.cpu_seconds", children.cpu_seconds as f64, 1.0, 86_400.0),
            ("child_processes.open_files", children.open_files as f64, 16.0, 1e5),
            ("child_processes.file_mb", children.file_mb as f64, 1.0, 1e7),
            ("child_processes.reply_mb", children.reply_mb as f64, 1.0, 64.0),
            ("browse_gate.required_published", self.browse_gate.required_published as f64, 0.0, 1e6),
            ("quality.credits_per_run", self.quality.credits_per_run, 0.0, 1e6),
            ("fees.buyer_percent", self.fees.buyer_percent, 0.0, 100.0),
            ("fees.platform_percent", self.fees.platform_percent, 0.0, 100.0),
            ("offers.expire_days", f64::from(self.offers.expire_days), 1.0, 3650.0),
            ("purchases.pending_days", f64::from(self.purchases.pending_days), 1.0, 3650.0),
            ("purchases.refund_days", f64::from(self.purchases.refund_days), 0.0, 3650.0),
            ("keys.rotation_overlap_hours", f64::from(self.keys.rotation_overlap_hours), 0.0, 8760.0),
            ("payouts.hold_days", f64::from(self.payouts.hold_days), 0.0, 3650.0),
            ("estimations.spread_percent", self.estimations.spread_percent as f64, 0.0, 100.0),
        ]
    }
}
