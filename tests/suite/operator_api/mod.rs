//! The operator API: what its operations do, refuse, and record.

mod calls;
mod jobs;
mod opportunities;
mod tasksets;
mod taxonomy;
