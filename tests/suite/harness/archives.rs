//! ZIP archives of a few files.

use std::io::{Cursor, Write as _};

use zip::{ZipWriter, write::SimpleFileOptions};

/// Returns a ZIP archive of files with these names and texts.
pub fn zip_of(files: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in files {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}
