//! Exports: the state of a world as one ZIP archive, which others can read, compare, and import.
//!
//! `market.json` has the properties of the market besides its rows; `tables/` has a file for each table with a row per line;
//! `blobs/` has the files. The index is not part of it, since it is derived from the database. The same state gives the same
//! bytes.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::Path,
    sync::Arc,
};

use super::{
    error::{WorldError, WorldResult},
    market_file::{self, MarketFile},
    settings::GivenSettings,
    template::WorldKey,
};
use crate::{
    artifacts::file_sets::FileSetWriter,
    blobs,
    clock::ClockState,
    error::{Error, Result},
    market::{Market, Reader},
    private_files,
    store::{table_import, table_rows},
};

/// The state of a world besides its market.
pub(super) struct ExportedState {
    /// The state of the clock.
    pub clock: ClockState,
    /// Settings that differ from those of other worlds.
    pub settings: GivenSettings,
    /// API keys that were valid when the world began.
    pub keys: Arc<[WorldKey]>,
}

/// Writes the state of a world, which no request changes meanwhile, to an empty file.
pub(super) fn write(market: &Market, state: &ExportedState, to: File) -> WorldResult<File> {
    // Files that the database refers to are not deleted meanwhile.
    let _hold = market.blobs().hold_files().map_err(WorldError::Files)?;
    let mut tree = Tree::default();
    let files = market.data_dir().join(blobs::DIRECTORY);
    if files.exists() {
        tree.add(&files, blobs::DIRECTORY, true).map_err(WorldError::Files)?;
    }
    let mut archive = FileSetWriter::new(to);
    market.read_blocking(|reader| write_database(reader, state, tree.empty_directories, &mut archive))?;
    for path in &tree.files {
        write_file(&market.data_dir().join(path), path, &mut archive).map_err(WorldError::Files)?;
    }
    archive.finish().map_err(WorldError::Files)
}

fn write_database(
    reader: &Reader,
    state: &ExportedState,
    directories: Vec<String>,
    archive: &mut FileSetWriter,
) -> Result<()> {
    let rows = reader.rows;
    let ExportedState { clock, settings, keys } = state;
    let version = table_rows::schema_version(rows)?;
    let mut file = MarketFile::new(version, clock, settings, keys, table_rows::sequences(rows)?);
    file.directories = directories;
    let mut text = serde_json::to_vec_pretty(&file).map_err(Error::internal)?;
    text.push(b'\n');
    archive.start(market_file::NAME, 0).and_then(|()| archive.write_all(&text)).map_err(Error::internal)?;
    for table in table_rows::tables(rows)? {
        let mut is_empty = true;
        table_rows::for_each_row(rows, &table, |row| {
            if std::mem::take(&mut is_empty) {
                archive.start(&table_import::file_name(&table.name), 0).map_err(Error::internal)?;
            }
            writeln!(archive, "{row}").map_err(Error::internal)
        })?;
    }
    Ok(())
}

/// The files of a market.
#[derive(Default)]
struct Tree {
    /// Paths of files, in their order.
    files: Vec<String>,
    /// Paths of directories without entries, which repositories have.
    empty_directories: Vec<String>,
}

impl Tree {
    /// Adds the files of a directory, apart from locks and unfinished files, whose names begin with a point.
    fn add(&mut self, directory: &Path, path: &str, is_top: bool) -> io::Result<()> {
        let mut names = fs::read_dir(directory)?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect::<io::Result<Vec<String>>>()?;
        names.retain(|name| !(name.starts_with('.') || is_top && name == blobs::TEMPORARY_FILES));
        names.sort_unstable();
        if names.is_empty() && !is_top {
            self.empty_directories.push(path.to_owned());
        }
        for name in names {
            let (entry, path) = (directory.join(&name), format!("{path}/{name}"));
            if entry.is_dir() {
                self.add(&entry, &path, false)?;
            } else if !is_top {
                self.files.push(path);
            }
        }
        Ok(())
    }
}

fn write_file(from: &Path, path: &str, archive: &mut FileSetWriter) -> io::Result<()> {
    // An upload may have ended meanwhile.
    if let Some(mut file) = private_files::if_found(File::open(from))? {
        archive.start(path, file.metadata()?.len())?;
        io::copy(&mut file, archive)?;
    }
    Ok(())
}
