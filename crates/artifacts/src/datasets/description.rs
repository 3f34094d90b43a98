//! Datasets in zips, described from as few bytes as possible: Parquet footers, first rows, and dataset
//! metadata files.

use std::{
    collections::BTreeMap,
    io::{Cursor, Read},
    path::Path,
};

use marketplace_text::encoding::Encoding;
use zip::{CompressionMethod, ZipArchive};

use super::{
    Dataset, FileSummary, Format, Peculiarity, Table, csv, detect_format,
    json_lines::JsonLinesReader,
    parquet,
    robotics::{self, LayoutDetector},
    table_path,
};
use crate::{
    Limits, ReadError,
    archive::{self, BudgetedFile, OpenArchive},
    contents, lfs_pointers,
};

/// Maximum number of tables that are described.
const MAX_TABLES: usize = 100;

/// Maximum number of columns that are described in total. Columns of tables beyond it are left out.
const MAX_TOTAL_COLUMNS: usize = 50_000;

/// Maximum number of bytes in total that are decompressed to reach the footers of compressed Parquet files.
const MAX_UNPACKED_BYTES: u64 = 64 << 20;

/// Maximum number of Parquet footers that are read.
const MAX_FOOTERS: u64 = 10_000;

/// Maximum number of dataset metadata files that are read.
const MAX_INFO_FILES: usize = 10;

/// Number of entries between two checks for cancellation.
const CHECK_EVERY_ENTRIES: usize = 4_096;

/// Number of footers between two checks for cancellation.
const CHECK_EVERY_FOOTERS: u64 = 64;

/// A file entry of a zip.
struct ListedFile {
    index: usize,
    path: String,
    size: u64,
    is_stored: bool,
}

/// Describes the dataset in the zip at a path. Returns `None` if it has neither tables nor recordings. Stops
/// when `should_continue` returns false.
pub fn describe_zip(
    path: &Path,
    limits: Limits,
    should_continue: &dyn Fn() -> bool,
) -> Result<Option<Dataset>, ReadError> {
    let OpenArchive { archive, .. } = archive::open_archive(path, limits)?;
    let mut reader = DatasetReader {
        archive,
        remaining_footers: MAX_FOOTERS,
        remaining_unpacked_bytes: MAX_UNPACKED_BYTES,
        should_continue,
    };
    let DatasetFiles { tables, infos, layout } = find_dataset_files(&reader.archive, should_continue)?;
    let mut read = Vec::new();
    for file in infos {
        let mut bytes = Vec::new();
        if file.size <= robotics::MAX_INFO_BYTES
            && reader.read_head(&file, robotics::MAX_INFO_BYTES, &mut bytes)?
        {
            read.push((file.path, bytes));
        }
    }
    let robotics = layout.detect(&read);
    if tables.is_empty() && robotics.is_none() {
        return Ok(None);
    }
    let further_tables = tables.len().saturating_sub(MAX_TABLES) as u64;
    let (mut described, mut remaining_columns) = (Vec::new(), MAX_TOTAL_COLUMNS);
    for ((path, format), files) in tables.into_iter().take(MAX_TABLES) {
        let mut table = reader.describe_table(path, format, &files)?;
        table.columns.truncate(remaining_columns);
        remaining_columns -= table.columns.len();
        described.push(table);
    }
    let rows = described.iter().map(|table| table.rows).sum::<Option<u64>>().filter(|_| further_tables == 0);
    Ok(Some(Dataset { tables: described, further_tables, rows, robotics }))
}

/// The files of a zip that belong to a dataset.
struct DatasetFiles {
    tables: BTreeMap<(String, Format), Vec<ListedFile>>,
    infos: Vec<ListedFile>,
    layout: LayoutDetector,
}

fn find_dataset_files(
    archive: &ZipArchive<BudgetedFile>,
    should_continue: &dyn Fn() -> bool,
) -> Result<DatasetFiles, ReadError> {
    let (mut tables, mut infos, mut layout) =
        (BTreeMap::<_, Vec<ListedFile>>::new(), Vec::new(), LayoutDetector::default());
    for index in 0..archive.len() {
        if index % CHECK_EVERY_ENTRIES == 0 && !should_continue() {
            return Err(ReadError::Canceled);
        }
        let entry = archive.by_index_data(index).map_err(archive::from_zip_error)?;
        let name = entry.name().map_err(archive::from_zip_error)?;
        let Some(components) = archive::path_components(&name) else { continue };
        let path = components.join("/");
        if entry.is_dir() || entry.encrypted() || contents::is_extra(&path) {
            continue;
        }
        let is_stored = entry.compression() == CompressionMethod::Stored;
        let file = ListedFile { index, path, size: entry.size(), is_stored };
        layout.add_file(&file.path);
        if robotics::is_info_path(&file.path) && infos.len() < MAX_INFO_FILES {
            infos.push(file);
        } else if let Some(format) = components.last().and_then(|name| detect_format(name)) {
            tables.entry((table_path(&file.path), format)).or_default().push(file);
        }
    }
    Ok(DatasetFiles { tables, infos, layout })
}

struct DatasetReader<'g> {
    archive: ZipArchive<BudgetedFile>,
    /// Number of footers that may still be read.
    remaining_footers: u64,
    /// Number of bytes that may still be decompressed for footers.
    remaining_unpacked_bytes: u64,
    should_continue: &'g dyn Fn() -> bool,
}

impl DatasetReader<'_> {
    fn describe_table(
        &mut self,
        path: String,
        format: Format,
        files: &[ListedFile],
    ) -> Result<Table, ReadError> {
        let mut first: Option<FileSummary> = None;
        let mut rows = Some(0_u64);
        for file in files {
            if first.is_some() && rows.is_none() {
                break;
            }
            let facts = self.summarize_file(format, file)?;
            let counted = facts.as_ref().and_then(|facts| facts.rows);
            rows = rows.zip(counted).map(|(rows, more)| rows.saturating_add(more));
            first = first.or(Some(facts.unwrap_or_default()));
        }
        let FileSummary { columns, sample, peculiarity, .. } = first.unwrap_or_default();
        // A table of one file keeps the name of that file.
        let path = match files {
            [only] => only.path.clone(),
            _ => path,
        };
        Ok(Table { path, files: files.len() as u64, format, columns, rows, sample, peculiarity })
    }

    /// Returns the facts about a file, or `None` if it exceeds a budget or is invalid.
    fn summarize_file(
        &mut self,
        format: Format,
        file: &ListedFile,
    ) -> Result<Option<FileSummary>, ReadError> {
        let mut bytes = Vec::new();
        if format == Format::Parquet {
            return self.summarize_parquet(file);
        }
        if !self.read_head(file, csv::HEAD_BYTES as u64, &mut bytes)? || lfs_pointers::is_pointer(&bytes) {
            return Ok(None);
        }
        let summary = match format {
            Format::Csv | Format::Tsv => csv::summarize_head(format, &bytes),
            Format::JsonLines | Format::Parquet => {
                let mut lines = JsonLinesReader::default();
                lines.push(&bytes);
                let is_complete = file.size <= csv::HEAD_BYTES as u64;
                let summary = if is_complete { lines.finish().ok() } else { Some(lines.partial_summary()) };
                summary.map(|facts| FileSummary { rows: None, ..facts }).unwrap_or_default()
            }
        };
        let is_utf_8 = Encoding::of_text(&bytes) == Encoding::Utf8;
        let peculiarity = if is_utf_8 { summary.peculiarity } else { Some(Peculiarity::Encoding) };
        Ok(Some(FileSummary { peculiarity, ..summary }))
    }

    fn summarize_parquet(&mut self, file: &ListedFile) -> Result<Option<FileSummary>, ReadError> {
        if self.remaining_footers.is_multiple_of(CHECK_EVERY_FOOTERS) && !(self.should_continue)() {
            return Err(ReadError::Canceled);
        }
        let Some(remaining) = self.remaining_footers.checked_sub(1) else { return Ok(None) };
        self.remaining_footers = remaining;
        if file.is_stored {
            return match self.archive.by_index_seek(file.index) {
                Ok(mut data) => Ok(parquet::summarize_footer(&mut data, file.size).ok()),
                Err(error) => archive::ignore_archive_error(error).map(|()| None),
            };
        }
        let Some(remaining) = self.remaining_unpacked_bytes.checked_sub(file.size) else { return Ok(None) };
        self.remaining_unpacked_bytes = remaining;
        let mut bytes = Vec::new();
        let is_read = self.read_head(file, file.size, &mut bytes)?;
        Ok(if is_read { parquet::summarize_footer(&mut Cursor::new(bytes), file.size).ok() } else { None })
    }

    /// Reads the beginning of a file up to a maximum size. Returns false if the file is damaged.
    fn read_head(
        &mut self,
        file: &ListedFile,
        max_bytes: u64,
        bytes: &mut Vec<u8>,
    ) -> Result<bool, ReadError> {
        let read = self.archive.by_index(file.index);
        match read.and_then(|data| Ok(data.take(max_bytes).read_to_end(bytes)?)) {
            Ok(_) => Ok(true),
            Err(error) => archive::ignore_archive_error(error).map(|()| false),
        }
    }
}
