//! Layout of a ZIP archive whose files are stored without compression. It is computed from the names, sizes, and checksums of
//! the files alone, so any range of the archive can be produced without reading the earlier bytes. Large sizes use ZIP64.

use std::borrow::Cow;

/// From these values on, sizes, offsets, and counts are in fields of ZIP64.
const ZIP64_BYTES: u64 = u32::MAX as u64;
const ZIP64_FILES: usize = u16::MAX as usize;

/// Version of the format that a reader needs: with directories in names, and with ZIP64.
const VERSION: u16 = 20;
const VERSION_ZIP64: u16 = 45;

/// The system whose file attributes the archive has: Unix.
const MADE_BY: u16 = (3 << 8) | VERSION_ZIP64;

/// A regular file that its owner can write, and everybody can read.
const ATTRIBUTES: u32 = 0o100_644 << 16;

/// Flag for names in UTF-8.
const UTF_8: u16 = 1 << 11;

/// 1 January 1980, the first day that the format has, and midnight.
const DATE: u16 = (1 << 5) | 1;
const TIME: u16 = 0;

/// A file of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEntry {
    /// Path in the archive, at most 65,535 bytes.
    pub path: String,
    /// Size in bytes.
    pub size_bytes: u64,
    /// CRC-32 checksum.
    pub crc32: u32,
}

/// An archive.
#[derive(Debug)]
pub struct ZipLayout {
    entries: Vec<StoredEntry>,
    /// Offset of the header of each entry.
    offsets: Vec<u64>,
    directory_offset: u64,
    /// The central directory and the end of the archive.
    directory: Vec<u8>,
}

/// Consecutive bytes of an archive.
#[derive(Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// Bytes of the archive itself.
    Bytes(Cow<'a, [u8]>),
    /// Bytes of a file.
    File {
        /// Index of the file.
        index: usize,
        /// Offset in the file.
        offset: u64,
        /// Number of bytes until the end of the file.
        length: u64,
    },
}

impl ZipLayout {
    /// Lays out an archive with these files, in this order.
    pub fn new(entries: Vec<StoredEntry>) -> ZipLayout {
        let mut offsets = Vec::with_capacity(entries.len());
        let mut next = 0;
        for entry in &entries {
            offsets.push(next);
            next += header_length(entry) + entry.size_bytes;
        }
        let mut directory = Vec::new();
        for (entry, offset) in entries.iter().zip(&offsets) {
            write_directory_entry(&mut directory, entry, *offset);
        }
        write_end(&mut directory, entries.len(), next);
        ZipLayout { entries, offsets, directory_offset: next, directory }
    }

    /// Returns the size of the archive in bytes.
    pub const fn size_bytes(&self) -> u64 {
        self.directory_offset + self.directory.len() as u64
    }

    /// Returns the bytes of the archive from an offset to the end of the part that contains it, or none at the end of
    /// the archive.
    pub fn part_at(&self, offset: u64) -> Option<Part<'_>> {
        if offset >= self.directory_offset {
            let start = usize::try_from(offset - self.directory_offset).ok()?;
            let rest = self.directory.get(start..).filter(|rest| !rest.is_empty())?;
            return Some(Part::Bytes(rest.into()));
        }
        // The first entry begins at 0, so there is one at or before every offset.
        let index = self.offsets.partition_point(|start| *start <= offset) - 1;
        let (entry, start) = (&self.entries[index], offset - self.offsets[index]);
        let header_length = header_length(entry);
        Some(if start < header_length {
            let mut header = header(entry);
            header.drain(..start as usize);
            Part::Bytes(header.into())
        } else {
            let offset = start - header_length;
            Part::File { index, offset, length: entry.size_bytes - offset }
        })
    }
}

/// Length of the fixed part of a local header in bytes.
pub const HEADER_BYTES: usize = 30;

/// What follows in an archive after the files before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A local header of this length in bytes.
    Header(usize),
    /// The central directory, or the end of an archive without files.
    Directory,
}

/// Returns the kind of the structure that begins with these bytes, which are the fixed part of a local header, or at least 4
/// bytes of a directory. `None` if it is neither.
pub fn read_next(start: &[u8]) -> Option<Next> {
    let number = |at: usize| Some(usize::from(u16::from_le_bytes(start.get(at..at + 2)?.try_into().ok()?)));
    match start.get(..4)? {
        b"PK\x03\x04" => Some(Next::Header(HEADER_BYTES + number(26)? + number(28)?)),
        b"PK\x01\x02" | b"PK\x05\x06" => Some(Next::Directory),
        _ => None,
    }
}

/// Reads a whole local header; `None` unless it is exactly as [`ZipLayout`] writes it.
pub fn read_header(bytes: &[u8]) -> Option<StoredEntry> {
    let number = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let name = usize::from(u16::from_le_bytes(bytes.get(26..28)?.try_into().ok()?));
    let path = std::str::from_utf8(bytes.get(HEADER_BYTES..HEADER_BYTES + name)?).ok()?.to_owned();
    let size_bytes = match number(22)? {
        u32::MAX => {
            let at = HEADER_BYTES + name + 4;
            u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?)
        }
        size => u64::from(size),
    };
    let entry = StoredEntry { path, size_bytes, crc32: number(14)? };
    (header(&entry) == bytes).then_some(entry)
}

fn is_zip64(entry: &StoredEntry) -> bool {
    entry.size_bytes >= ZIP64_BYTES
}

/// Returns the length of the local header of an entry.
fn header_length(entry: &StoredEntry) -> u64 {
    HEADER_BYTES as u64 + entry.path.len() as u64 + if is_zip64(entry) { 20 } else { 0 }
}

/// Writes the common part of local headers and the central directory: from the version to the size.
fn write_common(to: &mut Vec<u8>, entry: &StoredEntry, version: u16) {
    // Version, flags, method (stored), time, and date.
    for field in [version, UTF_8, 0, TIME, DATE] {
        to.extend(field.to_le_bytes());
    }
    to.extend(entry.crc32.to_le_bytes());
    let size = saturated(entry.size_bytes);
    // Compressed and not.
    to.extend(size.to_le_bytes());
    to.extend(size.to_le_bytes());
    to.extend((entry.path.len() as u16).to_le_bytes());
}

fn header(entry: &StoredEntry) -> Vec<u8> {
    let mut header = Vec::with_capacity(header_length(entry) as usize);
    header.extend(b"PK\x03\x04");
    write_common(&mut header, entry, if is_zip64(entry) { VERSION_ZIP64 } else { VERSION });
    header.extend((if is_zip64(entry) { 20_u16 } else { 0 }).to_le_bytes());
    header.extend(entry.path.as_bytes());
    if is_zip64(entry) {
        write_extra(&mut header, &[entry.size_bytes, entry.size_bytes]);
    }
    header
}

fn write_extra(to: &mut Vec<u8>, values: &[u64]) {
    to.extend(1_u16.to_le_bytes());
    to.extend((8 * values.len() as u16).to_le_bytes());
    for value in values {
        to.extend(value.to_le_bytes());
    }
}

fn write_directory_entry(to: &mut Vec<u8>, entry: &StoredEntry, offset: u64) {
    let mut extra = if is_zip64(entry) { vec![entry.size_bytes; 2] } else { Vec::new() };
    if offset >= ZIP64_BYTES {
        extra.push(offset);
    }
    to.extend(b"PK\x01\x02");
    to.extend(MADE_BY.to_le_bytes());
    write_common(to, entry, if extra.is_empty() { VERSION } else { VERSION_ZIP64 });
    let extra_length = if extra.is_empty() { 0 } else { 4 + 8 * extra.len() as u16 };
    // Lengths of the extra field and of the comment, disk, and internal attributes.
    for field in [extra_length, 0, 0, 0] {
        to.extend(field.to_le_bytes());
    }
    to.extend(ATTRIBUTES.to_le_bytes());
    to.extend(saturated(offset).to_le_bytes());
    to.extend(entry.path.as_bytes());
    if !extra.is_empty() {
        write_extra(to, &extra);
    }
}

/// Writes the end of an archive. `directory` is the complete central directory, which begins at `offset`.
fn write_end(directory: &mut Vec<u8>, count: usize, offset: u64) {
    let size = directory.len() as u64;
    if count >= ZIP64_FILES || size >= ZIP64_BYTES || offset >= ZIP64_BYTES {
        let end = offset + size;
        directory.extend(b"PK\x06\x06");
        // Size of the rest of this record, versions, and disks.
        directory.extend(44_u64.to_le_bytes());
        directory.extend(MADE_BY.to_le_bytes());
        directory.extend(VERSION_ZIP64.to_le_bytes());
        directory.extend([0; 8]);
        for field in [count as u64, count as u64, size, offset] {
            directory.extend(field.to_le_bytes());
        }
        directory.extend(b"PK\x06\x07");
        directory.extend([0; 4]);
        directory.extend(end.to_le_bytes());
        directory.extend(1_u32.to_le_bytes());
    }
    let count = count.min(ZIP64_FILES) as u16;
    directory.extend(b"PK\x05\x06");
    directory.extend([0; 4]);
    directory.extend(count.to_le_bytes());
    directory.extend(count.to_le_bytes());
    directory.extend(saturated(size).to_le_bytes());
    directory.extend(saturated(offset).to_le_bytes());
    directory.extend([0; 2]);
}

/// Returns a number, or the mark that it is in a field of ZIP64.
fn saturated(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_they_are_written() {
        for size_bytes in [0, 5, ZIP64_BYTES - 1, ZIP64_BYTES, 1 << 40] {
            let entry = StoredEntry { path: "a/\u{e9}".to_owned(), size_bytes, crc32: 0x0102_0304 };
            let bytes = header(&entry);
            assert_eq!(read_next(&bytes), Some(Next::Header(bytes.len())));
            assert_eq!(read_header(&bytes), Some(entry));
            for at in 0..bytes.len() {
                let mut changed = bytes.clone();
                changed[at] ^= 0x40;
                assert_ne!(read_header(&changed), read_header(&bytes), "{at}");
                assert_eq!(read_header(&bytes[..at]), None, "{at}");
            }
        }
        assert_eq!(read_next(b"PK\x01\x02"), Some(Next::Directory));
        assert_eq!((read_next(b"PK\x03\x04"), read_next(b"abcd"), read_next(b"")), (None, None, None));
    }
}
