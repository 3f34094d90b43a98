//! ZIP archives that are written file by file. The same files in the same order give the same bytes.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
};

use zip::{CompressionMethod, DateTime, ZipWriter, write::SimpleFileOptions};

/// Number of bytes that are written together.
pub(crate) const BUFFER_BYTES: usize = 1 << 18;

/// From this size on, ZIP64 is needed, which the writer must know in advance. Lower than necessary, since it is compared with a
/// hint.
const ZIP64_BYTES: u64 = 1 << 30;

/// Returns the options of a file that is compressed and has no time, so that the same files give the same bytes.
pub(crate) fn file_options() -> SimpleFileOptions {
    SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644)
}

/// Writes an archive.
pub struct FileSetWriter(ZipWriter<BufWriter<File>>);

impl FileSetWriter {
    /// Starts an archive in an empty file.
    pub fn new(to: File) -> FileSetWriter {
        FileSetWriter(ZipWriter::new(BufWriter::with_capacity(BUFFER_BYTES, to)))
    }

    /// Starts the next file. All bytes that are written from now on belong to it. `size_hint` is its approximate size; it only
    /// decides whether the file may have 4 GB or more.
    pub fn start(&mut self, path: &str, size_hint: u64) -> io::Result<()> {
        let options = file_options().large_file(size_hint >= ZIP64_BYTES);
        self.0.start_file(path, options).map_err(io::Error::other)
    }

    /// Ends the archive.
    pub fn finish(self) -> io::Result<File> {
        let mut buffer = self.0.finish().map_err(io::Error::other)?;
        buffer.flush()?;
        buffer.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

impl Write for FileSetWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
