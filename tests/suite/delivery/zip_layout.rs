//! The layout is checked with another implementation, which reads archives that exist only as ranges.

use std::io::{self, Read, Seek, SeekFrom};

use marketplace::domain::zip_layout::{Part, StoredEntry, ZipLayout};
use zip::ZipArchive;

/// The bytes of an archive: those of its files are computed from the index of the file.
struct Virtual {
    layout: ZipLayout,
    position: u64,
}

fn byte_of(index: usize) -> u8 {
    b'a' + (index % 26) as u8
}

impl Read for Virtual {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = match self.layout.part_at(self.position) {
            None => 0,
            Some(Part::Bytes(bytes)) => {
                let count = bytes.len().min(buffer.len());
                buffer[..count].copy_from_slice(&bytes[..count]);
                count
            }
            Some(Part::File { index, length, .. }) => {
                let count = length.min(buffer.len() as u64) as usize;
                buffer[..count].fill(byte_of(index));
                count
            }
        };
        self.position += count as u64;
        Ok(count)
    }
}

impl Seek for Virtual {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(by) => self.layout.size_bytes().checked_add_signed(by),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

fn archive(sizes: &[u64]) -> Virtual {
    let entry = |(index, size_bytes): (usize, &u64)| {
        let crc32 = if *size_bytes < 1 << 20 {
            crc32fast::hash(&vec![byte_of(index); *size_bytes as usize])
        } else {
            7
        };
        StoredEntry { path: format!("{index}/file"), size_bytes: *size_bytes, crc32 }
    };
    Virtual { layout: ZipLayout::new(sizes.iter().enumerate().map(entry).collect()), position: 0 }
}

fn whole(archive: &mut Virtual) -> Vec<u8> {
    let mut bytes = Vec::new();
    archive.position = 0;
    archive.read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes.len() as u64, archive.layout.size_bytes());
    bytes
}

#[test]
fn archive_is_read_by_another_implementation() {
    for sizes in [&[][..], &[0], &[5, 0, 70_000, 1]] {
        let mut zip = ZipArchive::new(archive(sizes)).unwrap();
        assert_eq!(zip.len(), sizes.len());
        for (index, size) in sizes.iter().enumerate() {
            let mut file = zip.by_index(index).unwrap();
            assert_eq!(file.name().unwrap(), format!("{index}/file"));
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).unwrap();
            assert_eq!(bytes, vec![byte_of(index); *size as usize], "the checksum was compared, too");
        }
    }
}

#[test]
fn every_range_is_that_of_the_whole() {
    let mut found = archive(&[3, 0, 9]);
    let bytes = whole(&mut found);
    for start in 0..=bytes.len() {
        found.position = start as u64;
        let mut rest = Vec::new();
        found.read_to_end(&mut rest).unwrap();
        assert_eq!(rest, bytes[start..], "{start}");
    }
    assert_eq!(found.layout.part_at(u64::MAX), None);
}

#[test]
fn archives_above_four_gigabytes_are_zip64() {
    let four = 1 << 32;
    for sizes in [&[four - 2, 5][..], &[four - 1, 5], &[four, 5], &[7, 5 * four, 9], &[1 << 45]] {
        let mut zip = ZipArchive::new(archive(sizes)).unwrap();
        for (index, size) in sizes.iter().enumerate() {
            let mut file = zip.by_index(index).unwrap();
            assert_eq!((file.size(), file.compressed_size()), (*size, *size), "{sizes:?}");
            let mut start = [0; 1];
            file.read_exact(&mut start).unwrap();
            assert_eq!(start[0], byte_of(index), "{sizes:?}");
        }
    }
}

#[test]
fn more_files_than_the_format_counts_are_zip64() {
    for count in [65_534, 65_535, 65_536, 70_000] {
        let mut zip = ZipArchive::new(archive(&vec![1; count])).unwrap();
        assert_eq!(zip.len(), count);
        let mut last = String::new();
        zip.by_index(count - 1).unwrap().read_to_string(&mut last).unwrap();
        assert_eq!(last.as_bytes(), [byte_of(count - 1)]);
    }
}
