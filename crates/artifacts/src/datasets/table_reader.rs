//! Incremental readers that read a file completely, chunk by chunk. The metadata of Parquet is at the end of
//! the file, so its bytes are buffered until then: in memory, or, for larger files, spilled to an unnamed
//! temporary file.

use std::{
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
};

use bytes::Bytes;

use super::{
    FileSummary, Format, TableError, csv::CsvReader, json_lines::JsonLinesReader, parquet,
    parquet_limits::Budget,
};

/// Maximum number of bytes that are buffered in memory.
const MAX_MEMORY_BYTES: usize = 32 << 20;

/// Maximum size in bytes of a file that is spilled to a temporary file.
const MAX_SPILL_BYTES: u64 = 4 << 30;

/// Incremental reader of one file, by format.
pub enum TableReader {
    /// A CSV or TSV file.
    Csv(Box<CsvReader>),
    /// A JSON Lines file.
    JsonLines(Box<JsonLinesReader>),
    /// A Parquet file: its buffered bytes, and the directory for the temporary file.
    Parquet(SpillBuffer, PathBuf),
}

/// The buffered bytes of a Parquet file.
pub enum SpillBuffer {
    /// Buffered in memory.
    Memory(Vec<u8>),
    /// Spilled to an unnamed temporary file of this size in bytes.
    File(File, u64),
    /// Dropped, because the temporary file could not be written.
    Failed(io::Error),
    /// Dropped, because the file is too large.
    TooLarge,
}

/// The outcome of reading a file.
#[derive(Debug)]
pub enum ReadOutcome {
    /// The file was read completely.
    Read(FileSummary),
    /// The file is invalid.
    Invalid(TableError),
    /// The file was not read, because it is too large to be spilled.
    TooLarge,
    /// An I/O operation of this machine failed.
    Failed(io::Error),
}

impl TableReader {
    /// Creates a reader for a file of a format and a size in bytes. A large Parquet file is
    /// spilled to a temporary file in the given directory.
    pub fn new(format: Format, size: u64, directory: &Path) -> TableReader {
        match format {
            Format::Csv | Format::Tsv => TableReader::Csv(Box::new(CsvReader::new(format))),
            Format::JsonLines => TableReader::JsonLines(Box::default()),
            Format::Parquet if size > MAX_SPILL_BYTES => {
                TableReader::Parquet(SpillBuffer::TooLarge, PathBuf::new())
            }
            Format::Parquet => TableReader::Parquet(SpillBuffer::Memory(Vec::new()), directory.to_owned()),
        }
    }

    /// Processes the next chunk of the file.
    pub fn push(&mut self, bytes: &[u8]) {
        match self {
            TableReader::Csv(csv) => csv.push(bytes),
            TableReader::JsonLines(lines) => lines.push(bytes),
            TableReader::Parquet(buffer, directory) => buffer.push(bytes, MAX_MEMORY_BYTES, directory),
        }
    }

    /// Returns the outcome after the last chunk of the file. All files of the data share the `budget`.
    pub fn finish(self, budget: &mut Budget) -> ReadOutcome {
        let read = match self {
            TableReader::Csv(csv) => csv.finish(),
            TableReader::JsonLines(lines) => lines.finish(),
            TableReader::Parquet(SpillBuffer::Memory(bytes), _) => {
                parquet::read_file(Bytes::from(bytes), budget)
            }
            TableReader::Parquet(SpillBuffer::File(file, _), _) => parquet::read_file(file, budget),
            TableReader::Parquet(SpillBuffer::TooLarge, _) => return ReadOutcome::TooLarge,
            TableReader::Parquet(SpillBuffer::Failed(cause), _) => return ReadOutcome::Failed(cause),
        };
        read.map_or_else(ReadOutcome::Invalid, ReadOutcome::Read)
    }
}

impl SpillBuffer {
    fn push(&mut self, bytes: &[u8], max_memory: usize, directory: &Path) {
        let pushed = match self {
            SpillBuffer::Memory(memory) if memory.len() + bytes.len() <= max_memory => {
                memory.extend_from_slice(bytes);
                return;
            }
            SpillBuffer::Memory(memory) => tempfile::tempfile_in(directory).and_then(|mut file| {
                file.write_all(memory)?;
                file.write_all(bytes)?;
                Ok(SpillBuffer::File(file, (memory.len() + bytes.len()) as u64))
            }),
            SpillBuffer::File(_, size) if *size + bytes.len() as u64 > MAX_SPILL_BYTES => {
                Ok(SpillBuffer::TooLarge)
            }
            SpillBuffer::File(file, size) => {
                *size += bytes.len() as u64;
                match file.write_all(bytes) {
                    Ok(()) => return,
                    Err(cause) => Err(cause),
                }
            }
            SpillBuffer::Failed(_) | SpillBuffer::TooLarge => return,
        };
        *self = pushed.unwrap_or_else(SpillBuffer::Failed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spilled_file_has_the_same_bytes() {
        let mut buffer = SpillBuffer::Memory(Vec::new());
        for chunk in [&[1_u8; 60][..], &[2; 30], &[3; 30], &[4; 5]] {
            buffer.push(chunk, 100, &std::env::temp_dir());
        }
        let SpillBuffer::File(file, 125) = buffer else { panic!("not spilled to a file") };
        let bytes = ::parquet::file::reader::ChunkReader::get_bytes(&file, 55, 70).unwrap();
        assert_eq!(&bytes[..], [&[1; 5][..], &[2; 30], &[3; 30], &[4; 5]].concat());
        assert!(matches!(
            TableReader::new(Format::Parquet, MAX_SPILL_BYTES + 1, &std::env::temp_dir())
                .finish(&mut Budget::default()),
            ReadOutcome::TooLarge
        ));
    }
}
