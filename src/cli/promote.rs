//! The `marketplace promote` command.

use clap::Args;

use super::{CommandError, CommandResult, GlobalOptions, init_logging, open_directory, print_line, verify};
use crate::{
    domain::written::counted,
    market::{OpenError, OpenMode, ServeLock},
    private_files, replica,
    store::{self, Durability},
};

/// Make this machine the primary, with what the last one has replicated to `replication.destination`.
///
/// The last primary changes nothing from then on, whether or not it can be reached.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  marketplace promote --data /var/lib/marketplace\n\nThe data directory must have no market, and may be that of a replica that was stopped. Then start the server without --replica, and set replica.primary_url of the replicas. See docs/replicas.md."
)]
pub struct Promote {
    /// The last primary is stopped, so do not wait until it stops by itself.
    #[arg(long)]
    primary_is_stopped: bool,
}

impl Promote {
    pub(super) fn run(&self, options: &GlobalOptions) -> CommandResult {
        let settings = options.load_layers()?.resolve()?;
        init_logging(&settings, "warn");
        if settings.replication.destination.is_empty() {
            return Err(CommandError::Usage(
                "the setting replication.destination is empty; set it to that of the last primary".to_owned(),
            ));
        }
        let directory = settings.data.folder.clone();
        private_files::create_dir_all(&directory)
            .map_err(|cause| OpenError::directory(directory.clone(), cause))?;
        private_files::create_as_owner_of(&directory);
        let lock = ServeLock::acquire(&directory)?;
        let promotion = replica::promote(&settings, self.primary_is_stopped, |line| print_line(line))?;
        let market = open_directory(&directory, settings, OpenMode::Command, Durability::Full)?;
        market.update_index(market.latest_change()?, &())?;
        let last = market.read_blocking(|reader| {
            let newest = store::events::find_bounds(reader.rows)?.newest;
            store::events::find(reader.rows, newest)
        })?;
        drop(lock);
        let seconds = counted(promotion.took.as_secs(), "second", "seconds");
        print_line(format_args!("this machine has generation {}, after {seconds}", promotion.generation));
        match last {
            Some(last) => print_line(format_args!(
                "the last event that it has is of {}; what came later was not replicated",
                last.occurred_at
            )),
            None => print_line("it has no event"),
        }
        print_line(
            "copies of repositories are not replicated: before you start the server, copy the directory blobs from the last \
             primary or a backup",
        );
        print_line("checking the database and all files; the server can be started meanwhile");
        verify::verify(&market, verify::Report::default())
    }
}
