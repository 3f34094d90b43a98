//! The rows of a market, for what no API shows.

use marketplace::market::{DATABASE_FILE, Market};
use rusqlite::Connection;

/// Connects to a copy of the database of a market as it is now. Only one connection to the database of a world may be
/// open.
pub fn connect_to_copy(market: &Market) -> Connection {
    let copy = tempfile::tempdir().unwrap();
    let copy_files = || {
        for name in [DATABASE_FILE.to_owned(), format!("{DATABASE_FILE}-wal")] {
            let from = market.data_dir().join(&name);
            if from.exists() {
                std::fs::copy(from, copy.path().join(name)).unwrap();
            }
        }
    };
    if market.is_world() {
        market.pause(copy_files).unwrap();
    } else {
        copy_files();
    }
    let rows = Connection::open(copy.path().join(DATABASE_FILE)).unwrap();
    // The files are open from now on, so they can be deleted.
    rows.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(())).unwrap();
    rows
}
