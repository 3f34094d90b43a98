//! ZIP archives of a few files.

use std::{
    collections::BTreeMap,
    io::{Cursor, Read as _, Write as _},
};

use marketplace::domain::{
    bundles::EntryDigest,
    zip_layout::{Part, StoredEntry, ZipLayout},
};
use zip::{CompressionMethod, ZipArchive, ZipWriter, write::SimpleFileOptions};

/// Returns a ZIP archive of files with these names and contents.
pub fn zip_of<B: AsRef<[u8]>>(files: &[(&str, B)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content.as_ref()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Returns a zip with a README, a source file, and `filling` bytes, all stored without compression.
pub fn zip_with_filling(filling: usize) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    writer.start_file("README.md", options).unwrap();
    writer.write_all(b"# Ledger\n\nKeeps accounts.\n").unwrap();
    writer.start_file("src/main.rs", options).unwrap();
    writer.write_all(b"fn main() {}\n").unwrap();
    writer.start_file("filling.bin", options).unwrap();
    writer.write_all(&(0..filling).map(|at| (at % 251) as u8).collect::<Vec<_>>()).unwrap();
    writer.finish().unwrap().into_inner()
}

/// Returns a bundle as the market writes it, with these files.
pub fn bundle_of(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let entry = |(path, bytes): &(String, Vec<u8>)| StoredEntry {
        path: path.clone(),
        size_bytes: bytes.len() as u64,
        crc32: EntryDigest::of(bytes).crc32,
    };
    let layout = ZipLayout::new(files.iter().map(entry).collect());
    let mut bundle = Vec::new();
    while let Some(part) = layout.part_at(bundle.len() as u64) {
        match part {
            Part::Bytes(bytes) => bundle.extend_from_slice(&bytes),
            Part::File { index, .. } => bundle.extend_from_slice(&files[index].1),
        }
    }
    bundle
}

/// Returns the files of an archive by name.
pub fn unzip(bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).unwrap();
    let count = archive.len();
    let file = |index| {
        let mut file = archive.by_index(index).unwrap();
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        (file.name().unwrap().into_owned(), bytes)
    };
    (0..count).map(file).collect()
}

/// Compresses bytes by gzip, as one member.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
