//! What those who run a server watch: whether it is alive and ready, and its metrics.

mod files;
mod metrics;
mod readiness;
mod samples;
