//! The `marketplace sweep` command.

use clap::Args;

use super::{CommandResult, GlobalOptions, print_line};
use crate::{
    domain::written::counted,
    operations::{self, cleanup::Swept},
};

/// Delete files that are no longer needed. Safe while a server is running, and on a full disk.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  marketplace sweep --data ./market\n\nDeletes copies of detached repositories, files of bundles that were deleted, uploads whose grant was revoked or has expired, uploads that no asset has had for 30 days and no purchase contains, responses that were stored for idempotency keys more than a day ago, and events, entries of the audit, and deliveries to webhooks that are older than events.keep_days. A server does the same in the background."
)]
pub struct Sweep {}

impl Sweep {
    pub(super) fn run(options: &GlobalOptions) -> CommandResult {
        let market = options.open_market(false)?;
        let swept = operations::cleanup::sweep(&market)?;
        // Earlier sort values are not worth a message: they are small, and nothing else shows them.
        let Swept {
            repositories,
            bundle_files,
            is_backup_running,
            uploads,
            in_use,
            responses,
            old_records,
            sort_changes: _,
            deliveries,
        } = swept;
        print_line(format_args!(
            "deleted {}, {}, {}, and {}",
            counted(repositories, "copy of a repository", "copies of repositories"),
            counted(bundle_files, "file of bundles", "files of bundles"),
            counted(uploads, "upload", "uploads"),
            counted(responses, "stored response", "stored responses")
        ));
        if old_records.events > 0 {
            print_line(format_args!("removed {}", counted(old_records.events, "old event", "old events")));
        }
        if deliveries > 0 {
            print_line(format_args!("deleted {} to webhooks", counted(deliveries, "delivery", "deliveries")));
        }
        if is_backup_running {
            print_line(
                "a backup is running, or a bundle is being prepared, so copies of repositories, files of bundles, and \
                 uploads were kept; sweep again later",
            );
        }
        if in_use > 0 {
            print_line(format_args!("uploads in use: {in_use}; run `marketplace sweep` again later"));
        }
        Ok(())
    }
}
