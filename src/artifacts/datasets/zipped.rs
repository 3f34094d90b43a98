//! Datasets in zips, described from as few bytes as possible: Parquet footers, first rows, and dataset
//! metadata files.

use std::{
    collections::BTreeMap,
    io::{Cursor, Read},
    path::Path,
};

use zip::{CompressionMethod, ZipArchive, result::ZipError};

use super::{
    Dataset, Facts, Format, Table, csv, format,
    json_lines::JsonLines,
    parquet, pattern,
    robotics::{self, Layout},
};
use crate::artifacts::{
    Limits, Unread,
    archive::{self, Metered, Opened},
};

/// Maximum number of tables that are described.
const MAX_TABLES: usize = 100;

/// Maximum number of bytes in total that are decompressed to reach the footers of compressed Parquet files.
const MAX_UNPACKED: u64 = 64 << 20;

/// Maximum number of Parquet footers that are read.
const MAX_FOOTERS: u64 = 10_000;

/// Maximum number of dataset metadata files that are read.
const MAX_INFOS: usize = 10;

/// Number of entries between two checks for cancellation.
const LOOK_EVERY: usize = 4_096;

/// Number of footers between two checks for cancellation.
const LOOK_EVERY_FOOTERS: u64 = 64;

/// A file entry of a zip.
struct File {
    index: usize,
    path: String,
    size: u64,
    is_stored: bool,
}

/// Describes the dataset in the zip at a path. Returns `None` if it has neither tables nor recordings. Stops
/// when `go_on` returns false.
pub fn read(path: &Path, limits: Limits, go_on: &dyn Fn() -> bool) -> Result<Option<Dataset>, Unread> {
    let Opened { archive, .. } = archive::open(path, limits)?;
    let mut reading = Reading { archive, footers: MAX_FOOTERS, unpacked: MAX_UNPACKED, go_on };
    let Listed { tables, infos, layout } = list(&reading.archive, go_on)?;
    let mut read = Vec::new();
    for file in infos {
        let mut bytes = Vec::new();
        if file.size <= robotics::MAX_INFO && reading.head(&file, robotics::MAX_INFO, &mut bytes)? {
            read.push((file.path, bytes));
        }
    }
    let robotics = layout.conclude(&read);
    if tables.is_empty() && robotics.is_none() {
        return Ok(None);
    }
    let further_tables = tables.len().saturating_sub(MAX_TABLES) as u64;
    let mut described = Vec::new();
    for ((path, format), files) in tables.into_iter().take(MAX_TABLES) {
        described.push(reading.table(path, format, &files)?);
    }
    let rows = described.iter().map(|table| table.rows).sum::<Option<u64>>().filter(|_| further_tables == 0);
    Ok(Some(Dataset { tables: described, further_tables, rows, robotics }))
}

/// The files of a zip that belong to a dataset.
struct Listed {
    tables: BTreeMap<(String, Format), Vec<File>>,
    infos: Vec<File>,
    layout: Layout,
}

fn list(archive: &ZipArchive<Metered>, go_on: &dyn Fn() -> bool) -> Result<Listed, Unread> {
    let (mut tables, mut infos, mut layout) =
        (BTreeMap::<_, Vec<File>>::new(), Vec::new(), Layout::default());
    for index in 0..archive.len() {
        if index % LOOK_EVERY == 0 && !go_on() {
            return Err(Unread::Stopped);
        }
        let entry = archive.by_index_data(index).map_err(archive::unreadable)?;
        let name = entry.name().map_err(archive::unreadable)?;
        let Some(steps) = archive::steps(&name) else { continue };
        if entry.is_dir() || entry.encrypted() || steps.first() == Some(&"__MACOSX") {
            continue;
        }
        let is_stored = entry.compression() == CompressionMethod::Stored;
        let file = File { index, path: steps.join("/"), size: entry.size(), is_stored };
        layout.see(&file.path);
        if robotics::is_info(&file.path) && infos.len() < MAX_INFOS {
            infos.push(file);
        } else if let Some(format) = steps.last().and_then(|name| format(name)) {
            tables.entry((pattern(&file.path), format)).or_default().push(file);
        }
    }
    Ok(Listed { tables, infos, layout })
}

struct Reading<'g> {
    archive: ZipArchive<Metered>,
    /// Number of footers that may still be read.
    footers: u64,
    /// Number of bytes that may still be decompressed for footers.
    unpacked: u64,
    go_on: &'g dyn Fn() -> bool,
}

impl Reading<'_> {
    fn table(&mut self, path: String, format: Format, files: &[File]) -> Result<Table, Unread> {
        let mut first: Option<Facts> = None;
        let mut rows = Some(0_u64);
        for file in files {
            if first.is_some() && rows.is_none() {
                break;
            }
            let facts = self.facts(format, file)?;
            let counted = facts.as_ref().and_then(|facts| facts.rows);
            rows = rows.zip(counted).map(|(rows, more)| rows.saturating_add(more));
            first = first.or(Some(facts.unwrap_or_default()));
        }
        let Facts { columns, sample, .. } = first.unwrap_or_default();
        // A table of one file keeps the name of that file.
        let path = match files {
            [only] => only.path.clone(),
            _ => path,
        };
        Ok(Table { path, files: files.len() as u64, format, columns, rows, sample })
    }

    /// Returns the facts about a file, or `None` if it exceeds a budget or is invalid.
    fn facts(&mut self, format: Format, file: &File) -> Result<Option<Facts>, Unread> {
        let mut bytes = Vec::new();
        if format == Format::Parquet {
            return self.footer(file);
        }
        if !self.head(file, csv::HEAD as u64, &mut bytes)? {
            return Ok(None);
        }
        Ok(Some(match format {
            Format::Csv | Format::Tsv => csv::beginning(format, &bytes),
            Format::JsonLines | Format::Parquet => {
                let mut lines = JsonLines::default();
                lines.push(&bytes);
                let is_whole = file.size <= csv::HEAD as u64;
                let whole = if is_whole { lines.conclude().ok() } else { Some(lines.beginning()) };
                whole.map(|facts| Facts { rows: None, ..facts }).unwrap_or_default()
            }
        }))
    }

    fn footer(&mut self, file: &File) -> Result<Option<Facts>, Unread> {
        if self.footers.is_multiple_of(LOOK_EVERY_FOOTERS) && !(self.go_on)() {
            return Err(Unread::Stopped);
        }
        let Some(left) = self.footers.checked_sub(1) else { return Ok(None) };
        self.footers = left;
        if file.is_stored {
            return match self.archive.by_index_seek(file.index) {
                Ok(mut data) => Ok(parquet::facts(&mut data, file.size).ok()),
                Err(error) => broken(error).map(|()| None),
            };
        }
        let Some(left) = self.unpacked.checked_sub(file.size) else { return Ok(None) };
        self.unpacked = left;
        let mut bytes = Vec::new();
        let is_read = self.head(file, file.size, &mut bytes)?;
        Ok(if is_read { parquet::facts(&mut Cursor::new(bytes), file.size).ok() } else { None })
    }

    /// Reads the beginning of a file up to a maximum size. Returns false if the file is damaged.
    fn head(&mut self, file: &File, most: u64, bytes: &mut Vec<u8>) -> Result<bool, Unread> {
        let read = self.archive.by_index(file.index);
        match read.and_then(|data| Ok(data.take(most).read_to_end(bytes)?)) {
            Ok(_) => Ok(true),
            Err(error) => broken(error).map(|()| false),
        }
    }
}

/// Ignores an error that the file caused, and returns one that the machine caused.
fn broken(error: ZipError) -> Result<(), Unread> {
    match error {
        ZipError::Io(cause) if cause.raw_os_error().is_some() => Err(Unread::Broken(cause)),
        _ => Ok(()),
    }
}
