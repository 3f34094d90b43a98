//! Demo markets of `--demo`.

use std::path::Path;

use super::{CommandError, CommandResult};
use crate::{
    clock::Clock,
    fixtures::{
        self,
        demo_image::{self, DEMO_TIME},
    },
    market::{self, DATABASE_FILE, Market, OpenError, RESTORE_MARKER, ServeLock},
    private_files,
    store::Durability,
};

/// Creates the demo market in a directory that has no market. Its clock begins at [`DEMO_TIME`] and then runs with that of
/// the system.
pub(super) fn create(directory: &Path, durability: Durability) -> CommandResult {
    private_files::create_dir_all(directory)
        .map_err(|cause| OpenError::directory(directory.to_owned(), cause))?;
    market::check_not_foreign(directory)?;
    private_files::create_as_owner_of(directory);
    let _lock = ServeLock::acquire(directory)?;
    if [DATABASE_FILE, RESTORE_MARKER].iter().any(|name| directory.join(name).exists()) {
        return Ok(());
    }
    let offset = DEMO_TIME.0 - Clock::System.now().0;
    Ok(demo_image::unpack(directory, Some(offset), durability)?)
}

/// Completes the demo market. A market without teams, which has another clock, becomes one.
pub(super) fn complete(market: &Market) -> CommandResult {
    if !fixtures::has_demo(market)? {
        if !fixtures::is_market_empty(market)? {
            return Err(CommandError::Other(format!(
                "{} already contains another market; omit --demo to serve it, or choose another directory with \
                 --data",
                market.data_dir().display()
            )));
        }
        let set = fixtures::demo_set().map_err(fixtures::SeedError::from)?;
        fixtures::seed(market, &set)?;
    }
    demo_image::copy_uploads(market).map_err(|cause| {
        CommandError::Other(format!("the uploads of the demo market cannot be stored: {cause}"))
    })
}
