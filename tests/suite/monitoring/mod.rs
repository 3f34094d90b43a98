//! Monitoring: whether a server is alive and ready, and its metrics.

mod files;
mod metrics;
mod readiness;
mod samples;
