//! Files that are read to their end, while their bytes come in pieces. Parquet begins at its end, so it is put aside until
//! then: in memory, or where it is larger in a file without a name.

use std::{
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
};

use bytes::Bytes;

use super::{Facts, Fault, Format, csv::Csv, json_lines::JsonLines, parquet};

/// Bytes of a file that are kept in memory.
const MAX_MEMORY: usize = 32 << 20;

/// Bytes of a file that is put aside at most.
const MAX_ASIDE: u64 = 4 << 30;

/// A file, while its bytes come.
pub enum Whole {
    /// A file of rows of fields.
    Csv(Box<Csv>),
    /// A file of lines of JSON.
    JsonLines(Box<JsonLines>),
    /// A file of Parquet, and the folder that it may be put aside in.
    Parquet(Aside, PathBuf),
}

/// Bytes that are put aside.
pub enum Aside {
    /// In memory.
    Memory(Vec<u8>),
    /// In a file that nobody else can open, and its size.
    File(File, u64),
    /// Nowhere, since the machine failed.
    Broken(io::Error),
    /// Nowhere, since there are too many.
    TooLarge,
}

/// How reading a file ended.
#[derive(Debug)]
pub enum End {
    /// It was read, and says so.
    Read(Facts),
    /// It cannot be read.
    Faulty(Fault),
    /// It is too large to be put aside, so that it was not read.
    TooLarge,
    /// The machine failed.
    Broken(io::Error),
}

impl Whole {
    /// A file of a format and a size, before its bytes. What memory is too small for is put aside in a folder.
    pub fn of(format: Format, size: u64, folder: &Path) -> Whole {
        match format {
            Format::Csv | Format::Tsv => Whole::Csv(Box::new(Csv::of(format))),
            Format::JsonLines => Whole::JsonLines(Box::default()),
            Format::Parquet if size > MAX_ASIDE => Whole::Parquet(Aside::TooLarge, PathBuf::new()),
            Format::Parquet => Whole::Parquet(Aside::Memory(Vec::new()), folder.to_owned()),
        }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        match self {
            Whole::Csv(csv) => csv.push(bytes),
            Whole::JsonLines(lines) => lines.push(bytes),
            Whole::Parquet(aside, folder) => aside.push(bytes, MAX_MEMORY, folder),
        }
    }

    /// How it ended, once all bytes were given.
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
        let Aside::File(file, 125) = aside else { panic!("not in a file") };
        let bytes = ::parquet::file::reader::ChunkReader::get_bytes(&file, 55, 70).unwrap();
        assert_eq!(&bytes[..], [&[1; 5][..], &[2; 30], &[3; 30], &[4; 5]].concat());
        assert!(matches!(
            Whole::of(Format::Parquet, MAX_ASIDE + 1, &std::env::temp_dir()).conclude(),
            End::TooLarge
        ));
    }
}
