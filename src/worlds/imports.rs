//! Imports: templates made from exported worlds. The file may come from anyone.

use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
};

use super::{
    error::{WorldError, WorldResult, refused},
    import_checks,
    market_file::{self, MarketFile},
    opener::Opener,
    settings::{GivenSettings, WorldSettings},
    template::{DEFAULT_SEED, START, Template},
};
use crate::{
    artifacts::{
        Limits,
        contents::{Entry, EntryKind, quoted},
        extraction::{self, ExtractionError},
    },
    blobs,
    clock::ClockState,
    config::SettingsSources,
    error::{Error, LocSegment, Problem, Result},
    market::{DATABASE_FILE, Market},
    private_files,
    store::table_import,
};

/// Maximum size of a file in bytes.
pub const MAX_FILE_BYTES: u64 = 256 << 20;

/// Maximum size of what is in a file in bytes.
const MAX_UNPACKED_BYTES: u64 = 2 << 30;

/// Limits on the archive.
const LIMITS: Limits = Limits { max_files: 100_000, max_ratio: 100 };

/// Problem with a file that cannot be unpacked.
const NO_WORLD: &str = "The file is not an exported world, or it is damaged or too large. Take the file that \
     `GET /sandbox/v1/worlds/{world}/export` returns.";

/// Maximum size of `market.json` in bytes.
const MAX_MARKET_FILE_BYTES: u64 = 1 << 20;

/// Maximum size of a row in bytes.
const MAX_ROW_BYTES: u64 = 64 << 20;

/// Maximum number of directories that contain a file, and maximum length of their names in bytes.
const MAX_DEPTH: usize = 32;
const MAX_NAME_BYTES: usize = 255;

/// The directory for unpacked files that are not files of the market.
const ROWS: &str = "import";

/// Creates a template of an exported world in a directory that does not exist. Also returns the settings that were given to
/// the world. `change` can change the market before the template is complete.
pub(super) fn read(
    opener: &Opener,
    sources: &SettingsSources,
    file: &Path,
    directory: &Path,
    change: impl FnOnce(&Market) -> Result<()>,
) -> WorldResult<(Template, GivenSettings)> {
    private_files::create_dir_all(directory).map_err(WorldError::Files)?;
    // Deletes the directory if the file is refused.
    let place = Template::new(directory.to_owned(), ClockState::new(START, false, DEFAULT_SEED));
    unpack(file, directory)?;
    let rows = directory.join(ROWS);
    let market = MarketFile::parse(&read_market_file(&rows.join(market_file::NAME))?)?;
    let clock = market.clock()?;
    let counts = clock.clone();
    create_directories(&market, directory)?;
    let database = directory.join(DATABASE_FILE);
    table_import::create(&database, market.schema_version, &market.sequences, |filling| {
        insert_rows(filling, &rows)
    })
    .map_err(in_file)?;
    fs::remove_dir_all(&rows).map_err(WorldError::Files)?;
    let given: GivenSettings = market.settings.into_iter().collect();
    let settings = WorldSettings::resolve(sources, GivenSettings::default())?.resolved;
    let complete = |market: &Market| {
        import_checks::check(market, &counts)?;
        Ok(change(market)?)
    };
    let template = place.with_index(opener, &settings, (clock, market.keys.into()), complete);
    let template = template.map_err(import_checks::of_rows)?;
    Ok((template, given))
}

/// Says of problems that their places are in `market.json`.
pub(super) fn in_market_file(error: Error) -> Error {
    match error {
        Error::Invalid(problems) => {
            let path = [LocSegment::Name(market_file::NAME.to_owned())];
            Error::Invalid(problems.into_iter().map(|problem| problem.nested_in(&path)).collect())
        }
        other => other,
    }
}

/// Like [`in_market_file`], for problems that are not with the rows of a table.
fn in_file(error: Error) -> Error {
    let is_of_rows = |problem: &Problem| problem.body_path().starts_with("tables/");
    match &error {
        Error::Invalid(problems) if problems.iter().any(is_of_rows) => error,
        _ => in_market_file(error),
    }
}

/// Unpacks an archive: the files of the market to their places, and the others to [`ROWS`].
fn unpack(file: &Path, directory: &Path) -> WorldResult<()> {
    let mut target = |entry: &Entry<'_>| {
        target(entry).ok_or_else(|| {
            let message = "An exported world has `market.json`, files of rows in `tables/`, and files in directories of \
                           `blobs/`. There must be nothing else.";
            refused(&[entry.path], message)
        })
    };
    let extracted = extraction::extract(file, LIMITS, MAX_UNPACKED_BYTES, directory, &mut target);
    extracted.map_err(|error| match error {
        ExtractionError::NotAllowed(error) => error.into(),
        ExtractionError::File(path, message) => refused(&[&path], message).into(),
        ExtractionError::Archive => refused(&[], NO_WORLD).into(),
        ExtractionError::Io(cause) => WorldError::Files(cause),
    })
}

/// Returns the path to which a file of an archive is unpacked; `None` if it is not one of an exported world.
fn target(entry: &Entry<'_>) -> Option<PathBuf> {
    if entry.kind != EntryKind::File || entry.is_outside {
        return None;
    }
    match safe_names(entry.path)?[..] {
        [market_file::NAME] => Some(Path::new(ROWS).join(market_file::NAME)),
        ["tables", name] => Some(Path::new(ROWS).join("tables").join(name)),
        [blobs::DIRECTORY, _, _, ..] => blob_path(entry.path),
        _ => None,
    }
}

/// Returns the path of a file or directory of the market; `None` if the name is not allowed.
fn blob_path(path: &str) -> Option<PathBuf> {
    match safe_names(path)?[..] {
        [blobs::DIRECTORY, directory, ..] if directory != blobs::TEMPORARY_FILES => Some(PathBuf::from(path)),
        _ => None,
    }
}

/// Returns the names of a path that leads to a place below the current directory.
fn safe_names(path: &str) -> Option<Vec<&str>> {
    let is_name = |name: &&str| {
        (1..=MAX_NAME_BYTES).contains(&name.len())
            && !name.starts_with('.')
            && !name.contains(|character: char| character.is_control() || character == '\\')
    };
    let names: Vec<&str> = path.split('/').collect();
    (names.len() <= MAX_DEPTH && names.iter().all(is_name)).then_some(names)
}

/// Creates the directories without files.
fn create_directories(market: &MarketFile, directory: &Path) -> WorldResult<()> {
    for path in &market.directories {
        let target = blob_path(path).ok_or_else(|| {
            refused(&[market_file::NAME, "directories", path], "There is no place for this directory.")
        })?;
        private_files::create_dir_all(&directory.join(target)).map_err(WorldError::Files)?;
    }
    Ok(())
}

fn read_market_file(path: &Path) -> Result<String> {
    let missing =
        |_| refused(&[], format!("The archive has no `{}`, so it is no exported world.", market_file::NAME));
    let mut text = String::new();
    let file = File::open(path).map_err(missing)?;
    let length = file.take(MAX_MARKET_FILE_BYTES + 1).read_to_string(&mut text);
    match length {
        Ok(length) if length as u64 <= MAX_MARKET_FILE_BYTES => Ok(text),
        _ => Err(refused(&[market_file::NAME], "The file is no text, or larger than 1 MB.")),
    }
}

/// Inserts the rows of all files.
fn insert_rows(filling: &table_import::Filling, directory: &Path) -> Result<()> {
    let files = private_files::if_found(fs::read_dir(directory.join("tables"))).map_err(Error::internal)?;
    let mut names = files
        .into_iter()
        .flatten()
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<io::Result<Vec<String>>>()
        .map_err(Error::internal)?;
    names.sort_unstable();
    for name in names {
        let name = format!("tables/{name}");
        let Some(table) = filling.table(&name) else {
            return Err(refused(&[&name], format!("There is no table for the file {}.", quoted(&name))));
        };
        let mut file = BufReader::new(File::open(directory.join(&name)).map_err(Error::internal)?);
        let mut line = String::new();
        for number in 1.. {
            line.clear();
            let read = file.by_ref().take(MAX_ROW_BYTES + 1).read_line(&mut line);
            match read {
                Ok(0) => break,
                Ok(length) if length as u64 <= MAX_ROW_BYTES => filling.insert(table, number, &line)?,
                _ => {
                    let message = format!("The line is no text, or larger than {MAX_ROW_BYTES} bytes.");
                    return Err(refused(&[&name, &number.to_string()], message));
                }
            }
        }
    }
    Ok(())
}
