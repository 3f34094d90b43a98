//! Incremental readers that read a file completely, chunk by chunk. The metadata of Parquet is at the end of
//! the file, so its bytes are buffered until then: in memory, or, for larger files, spilled to an unnamed
//! temporary file.

use std::{
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
};

use bytes::Bytes;

use super::{Facts, Fault, Format, csv::Csv, json_lines::JsonLines, parquet};

/// Maximum number of bytes that are buffered in memory.
const MAX_MEMORY: usize = 32 << 20;

/// Maximum size in bytes of a file that is spilled to a temporary file.
const MAX_ASIDE: u64 = 4 << 30;

/// Incremental reader of one file, by format.
pub enum Whole {
    /// A CSV or TSV file.
    Csv(Box<Csv>),
    /// A JSON Lines file.
    JsonLines(Box<JsonLines>),
    /// A Parquet file: its buffered bytes, and the directory for the temporary file.
    Parquet(Aside, PathBuf),
}

/// The buffered bytes of a Parquet file.
pub enum Aside {
    /// Buffered in memory.
    Memory(Vec<u8>),
    /// Spilled to an unnamed temporary file of this size in bytes.
    File(File, u64),
    /// Dropped, because the temporary file could not be written.
    Broken(io::Error),
    /// Dropped, because the file is too large.
    TooLarge,
}

/// The outcome of reading a file.
#[derive(Debug)]
pub enum End {
    /// The file was read completely.
    Read(Facts),
    /// The file is invalid.
    Faulty(Fault),
    /// The file was not read, because it is too large to be spilled.
    TooLarge,
    /// An I/O operation of this machine failed.
    Broken(io::Error),
}

impl Whole {
    /// Creates a reader for a file of a format and a size in bytes. A large Parquet file is
    /// spilled to a temporary file in the given directory.
    pub fn of(format: Format, size: u64, folder: &Path) -> Whole {
        match format {
            Format::Csv | Format::Tsv => Whole::Csv(Box::new(Csv::of(format))),
            Format::JsonLines => Whole::JsonLines(Box::default()),
            Format::Parquet if size > MAX_ASIDE => Whole::Parquet(Aside::TooLarge, PathBuf::new()),
            Format::Parquet => Whole::Parquet(Aside::Memory(Vec::new()), folder.to_owned()),
        }
    }

    /// Processes the next chunk of the file.
    pub fn push(&mut self, bytes: &[u8]) {
        match self {
            Whole::Csv(csv) => csv.push(bytes),
            Whole::JsonLines(lines) => lines.push(bytes),
            Whole::Parquet(aside, folder) => aside.push(bytes, MAX_MEMORY, folder),
        }
    }

    /// Returns the outcome after the last chunk of the file.
    pub fn conclude(self) -> End {
        let read = match self {
            Whole::Csv(csv) => csv.conclude(),
            Whole::JsonLines(lines) => lines.conclude(),
            Whole::Parquet(Aside::Memory(bytes), _) => parquet::read_all(Bytes::from(bytes)),
            Whole::Parquet(Aside::File(file, _), _) => parquet::read_all(file),
            Whole::Parquet(Aside::TooLarge, _) => return End::TooLarge,
            Whole::Parquet(Aside::Broken(cause), _) => return End::Broken(cause),
        };
        read.map_or_else(End::Faulty, End::Read)
    }
}

impl Aside {
    fn push(&mut self, bytes: &[u8], max_memory: usize, folder: &Path) {
        let pushed = match self {
            Aside::Memory(memory) if memory.len() + bytes.len() <= max_memory => {
                memory.extend_from_slice(bytes);
                return;
            }
            Aside::Memory(memory) => tempfile::tempfile_in(folder).and_then(|mut file| {
                file.write_all(memory)?;
                file.write_all(bytes)?;
                Ok(Aside::File(file, (memory.len() + bytes.len()) as u64))
            }),
            Aside::File(_, size) if *size + bytes.len() as u64 > MAX_ASIDE => Ok(Aside::TooLarge),
            Aside::File(file, size) => {
                *size += bytes.len() as u64;
                match file.write_all(bytes) {
                    Ok(()) => return,
                    Err(cause) => Err(cause),
                }
            }
            Aside::Broken(_) | Aside::TooLarge => return,
        };
        *self = pushed.unwrap_or_else(Aside::Broken);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_aside_is_the_same_in_a_file() {
        let mut aside = Aside::Memory(Vec::new());
        for piece in [&[1_u8; 60][..], &[2; 30], &[3; 30], &[4; 5]] {
            aside.push(piece, 100, &std::env::temp_dir());
        }
        let Aside::File(file, 125) = aside else { panic!("not spilled to a file") };
        let bytes = ::parquet::file::reader::ChunkReader::get_bytes(&file, 55, 70).unwrap();
        assert_eq!(&bytes[..], [&[1; 5][..], &[2; 30], &[3; 30], &[4; 5]].concat());
        assert!(matches!(
            Whole::of(Format::Parquet, MAX_ASIDE + 1, &std::env::temp_dir()).conclude(),
            End::TooLarge
        ));
    }
}
