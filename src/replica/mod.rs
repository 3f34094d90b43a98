//! A replica: a server that reads a copy of the database, which Litestream keeps current, and forwards changes to the primary.
//!
//! The copy is in a directory of its own, with an index of its own. If Litestream cannot continue, the database is restored to
//! another directory. The server switches to it between two requests, and the first copy is deleted after its last request.
//! [`FollowedFile`](crate::store::FollowedFile) says how the file is read while it changes.
//!
//! The primary is here, too: it runs Litestream as long as its generation is the newest one (`generations`), and a promotion begins
//! another.

mod endpoint;
mod forwarding;
mod generations;
mod litestream;
mod primary;
mod promotion;
mod reporting;
mod served_copy;
mod shared;
mod supervision;

pub use endpoint::{ReplicaEndpoint, ReplicaMonitoringEndpoint, ReplicaServer, serve};
pub use litestream::{LITESTREAM_SUBCOMMAND, exec_below_parent};
pub use primary::{REPLICATION_STOP_TIMEOUT, Replication, refuse_former_primary};
pub use promotion::{Promotion, promote};
pub use reporting::REPORT_TIMEOUT;
