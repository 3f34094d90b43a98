//! The `marketplace sweep` command.

use clap::Args;

use super::{CommandResult, GlobalOptions, print_line};
use crate::operations::{self, cleanup::Swept};

/// Delete files that are no longer needed. Safe while a server is running, and on a full disk.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  marketplace sweep --data ./market\n\nDeletes copies of detached repositories, files of bundles whose purchase was refunded, uploads\nwhose grant was revoked or has expired, and responses that were stored for idempotency keys more\nthan a day ago. A server does the same in the background."
)]
pub struct Sweep {}

impl Sweep {
    pub(super) fn run(options: &GlobalOptions) -> CommandResult {
        let market = options.open_market(false)?;
        // Earlier sort values are not worth a message: they are small, and nothing else shows them.
        let swept = operations::cleanup::sweep(&market)?;
        let Swept {
            repositories,
            bundle_files,
            is_backup_running,
            uploads,
            in_use,
            responses,
            sort_changes: _,
        } = swept;
        print_line(format_args!(
            "deleted {repositories} copies of repositories, {bundle_files} files of bundles, {uploads} uploads, and \
             {responses} stored responses"
        ));
        if is_backup_running {
            print_line(
                "a backup is running, or a bundle is being prepared, so copies of repositories and files of bundles \
                 were kept; sweep again later",
            );
        }
        if in_use > 0 {
            print_line(format_args!("{in_use} uploads are in use; run `marketplace sweep` again later"));
        }
        Ok(())
    }
}
