//! Copies of markets that are open.

use std::{
    fs,
    io::{self, ErrorKind, Write},
    path::Path,
};

use super::{
    error::{WorldError, WorldResult},
    files,
};
use crate::{
    blobs,
    error::{Error, Result},
    market::{DATABASE_FILE, INDEX_DIRECTORY, Market},
    private_files,
    search::IndexDirectory,
    store,
};

/// Number of times that the index is copied again because a file was replaced meanwhile.
const MAX_ATTEMPTS: usize = 10;

/// Copies the data directory of a market that is open. The target must not exist. The copy contains everything that was
/// committed before, and nothing that is committed meanwhile.
pub fn copy(market: &Market, to: &Path) -> WorldResult<()> {
    // Files that the database refers to are not deleted meanwhile.
    let _hold = market.blobs().hold_files().map_err(WorldError::Files)?;
    copy_records(market, to)?;
    let from = market.data_dir().join(blobs::DIRECTORY);
    if from.exists() {
        files::copy_blobs(&from, &to.join(blobs::DIRECTORY)).map_err(WorldError::Files)?;
    }
    Ok(())
}

/// Like [`copy`], but without uploads, repositories, and bundles: a copy for reading records only.
pub fn copy_records(market: &Market, to: &Path) -> WorldResult<()> {
    private_files::create_dir_all(to).map_err(WorldError::Files)?;
    // The index may be older than the database, which has the changes that it lacks, but not newer.
    copy_index(&market.data_dir().join(INDEX_DIRECTORY), &to.join(INDEX_DIRECTORY))?;
    let database = to.join(DATABASE_FILE);
    copy_database(market, &database)?;
    store::snapshots::delete_state_of_server(&database).map_err(WorldError::from)
}

/// Copies the files of an index. The list of files is replaced as a whole, but the files that it names can be replaced while
/// they are copied. So the copy is opened as a check.
fn copy_index(from: &Path, to: &Path) -> WorldResult<()> {
    let mut attempts = 1;
    loop {
        let is_last = attempts == MAX_ATTEMPTS;
        match files::link_tree(from, to) {
            Ok(()) => match IndexDirectory::open_existing(to) {
                Ok(_) => return Ok(()),
                Err(error) if is_last => return Err(error.into()),
                Err(_) => {}
            },
            Err(cause) if cause.kind() != ErrorKind::NotFound || is_last => {
                return Err(WorldError::Files(cause));
            }
            Err(_) => {}
        }
        fs::remove_dir_all(to).map_err(WorldError::Files)?;
        attempts += 1;
    }
}

fn copy_database(market: &Market, to: &Path) -> Result<()> {
    let file = private_files::create(to).map_err(Error::internal)?;
    let mut file = io::BufWriter::with_capacity(1 << 16, file);
    market.read_blocking(|reader| {
        store::snapshots::for_each_page(reader.rows, |page| file.write_all(page).map_err(Error::internal))
    })?;
    file.flush().map_err(Error::internal)
}
