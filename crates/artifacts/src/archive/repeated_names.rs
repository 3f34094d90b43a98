//! Finds entries of an archive with the same name. The library keeps only one of them and does not compare headers, so this
//! module does. Some programs list a directory more than once, which is harmless.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom},
};

/// Signature of the header of an entry in the central directory.
const LISTED_MARK: &[u8] = b"PK\x01\x02";

/// Signature of the header before the data of an entry.
const LOCAL_MARK: &[u8] = b"PK\x03\x04";

/// Length in bytes of a header in the central directory, without the name and the fields after it.
const LISTED_BYTES: usize = 46;

/// Length in bytes of a header before the data, without the name and what follows it.
const LOCAL_BYTES: usize = 30;

/// The flag of an entry whose checksum and sizes follow its data, in the first byte of the flags.
const SIZES_FOLLOW: u8 = 1 << 3;

/// What has the same name in an archive.
pub(super) enum RepeatedNames {
    /// Two files, or a file and a directory, with this name.
    Files(String),
    /// Only directories.
    Directories {
        /// Whether the headers before the data are exactly those that the central directory lists.
        is_consistent: bool,
    },
}

/// An entry of the central directory.
struct DirectoryEntry {
    name: Vec<u8>,
    header: [u8; LISTED_BYTES],
}

impl DirectoryEntry {
    /// Whether it is a directory, as [`super::is_directory`] decides.
    fn is_directory(&self) -> bool {
        matches!(self.name.last(), Some(b'/' | b'\\')) && number(&self.header, 24) == 0
    }

    fn offset(&self) -> u64 {
        number(&self.header, 42)
    }
}

/// Reads the repeated names of an archive whose central directory is at this offset. Fails if there is none.
pub(super) fn read(file: &File, directory_at: u64) -> io::Result<RepeatedNames> {
    let mut reader = BufReader::new(file);
    let mut listed = read_directory(&mut reader, directory_at)?;
    let mut are_directories = HashMap::new();
    for entry in &listed {
        let is_directory = entry.is_directory();
        if are_directories.insert(&entry.name, is_directory).is_some_and(|other| !(other && is_directory)) {
            return Ok(RepeatedNames::Files(String::from_utf8_lossy(&entry.name).into_owned()));
        }
    }
    if are_directories.len() == listed.len() {
        return Err(ErrorKind::InvalidData.into());
    }
    drop(are_directories);
    listed.sort_unstable_by_key(DirectoryEntry::offset);
    let is_consistent = are_consistent(&mut reader, &listed, directory_at)?;
    Ok(RepeatedNames::Directories { is_consistent })
}

fn read_directory(reader: &mut BufReader<&File>, at: u64) -> io::Result<Vec<DirectoryEntry>> {
    reader.seek(SeekFrom::Start(at))?;
    let mut listed = Vec::new();
    loop {
        let mut header = [0; LISTED_BYTES];
        // What follows the directory may be shorter.
        match reader.read_exact(&mut header) {
            Err(cause) if cause.kind() == ErrorKind::UnexpectedEof => return Ok(listed),
            result => result?,
        }
        if !header.starts_with(LISTED_MARK) {
            return Ok(listed);
        }
        let mut name = vec![0; length(&header, 28)];
        reader.read_exact(&mut name)?;
        reader.seek_relative((length(&header, 30) + length(&header, 32)) as i64)?;
        listed.push(DirectoryEntry { name, header });
    }
}

/// Whether the headers before the data are those that the central directory lists, in the order of their offsets. Between them
/// is no space for another one. Archives of more than 4 GB are not understood.
fn are_consistent(
    reader: &mut BufReader<&File>,
    listed: &[DirectoryEntry],
    directory_at: u64,
) -> io::Result<bool> {
    let mut end = 0;
    for entry in listed {
        if !has_no_space(end, entry.offset()) {
            return Ok(false);
        }
        reader.seek(SeekFrom::Start(entry.offset()))?;
        let mut local = [0; LOCAL_BYTES];
        reader.read_exact(&mut local)?;
        let mut name = vec![0; length(&local, 26)];
        reader.read_exact(&mut name)?;
        // Flags and method; checksum and sizes.
        let is_same = local.starts_with(LOCAL_MARK)
            && name == entry.name
            && local[6..10] == entry.header[8..12]
            && (local[6] & SIZES_FOLLOW != 0 || local[14..26] == entry.header[16..28]);
        if !is_same {
            return Ok(false);
        }
        let head = LOCAL_BYTES + name.len() + length(&local, 28);
        end = entry.offset() + head as u64 + number(&entry.header, 20);
    }
    Ok(has_no_space(end, directory_at))
}

/// Whether there is no header between two offsets: the bytes after the data of an entry are shorter than a header.
fn has_no_space(from: u64, to: u64) -> bool {
    to.checked_sub(from).is_some_and(|gap| gap < LOCAL_BYTES as u64)
}

/// Returns the number in four bytes of a header.
fn number(header: &[u8], at: usize) -> u64 {
    u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes")).into()
}

/// Returns the length in two bytes of a header.
fn length(header: &[u8], at: usize) -> usize {
    u16::from_le_bytes([header[at], header[at + 1]]).into()
}
