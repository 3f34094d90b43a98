//! Files that are uploaded, and their parts.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use sha2::{Digest, Sha256};

use crate::{
    cli::{CommandError, progress::CliProgress},
    regular_files,
    search::Progress,
};

/// Number of bytes of a file that are read together.
const CHUNK: usize = 1 << 20;

/// A regular file that is uploaded.
pub struct SourceFile {
    path: PathBuf,
    size_bytes: u64,
}

impl SourceFile {
    /// Checks that a path is that of a regular file. A pipe or a device could be endless.
    pub fn new(path: &Path) -> Result<SourceFile, CommandError> {
        let found = open(path).and_then(|file| file.metadata()).map_err(|cause| cannot_read(path, &cause))?;
        Ok(SourceFile { path: path.to_owned(), size_bytes: found.len() })
    }

    /// Returns the name of the file without its directory.
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Returns the size in bytes.
    pub const fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Returns the first bytes of the file, up to this number.
    pub fn first_bytes(&self, count: u64) -> Result<Vec<u8>, CommandError> {
        let mut bytes = Vec::new();
        let read = open(&self.path).and_then(|file| file.take(count).read_to_end(&mut bytes));
        read.map_err(|cause| cannot_read(&self.path, &cause))?;
        Ok(bytes)
    }

    /// Returns the SHA-256 digest of the file in hexadecimal.
    pub fn sha256(&self, progress: &dyn Progress) -> Result<String, CommandError> {
        let (mut digest, mut done) = (Sha256::new(), 0);
        let mut chunk = vec![0; CHUNK];
        let mut read = || -> io::Result<()> {
            let mut file = open(&self.path)?;
            loop {
                let count = file.read(&mut chunk)?;
                if count == 0 {
                    return Ok(());
                }
                digest.update(&chunk[..count]);
                done += count as u64;
                progress.advance(done, self.size_bytes.max(done));
            }
        };
        read().map_err(|cause| cannot_read(&self.path, &cause))?;
        Ok(format!("{:x}", digest.finalize()))
    }

    /// Returns a part of the file. `arrived` is the number of bytes of other parts that have arrived.
    pub fn part(
        &self,
        range: &Range<u64>,
        arrived: u64,
        progress: &Arc<CliProgress>,
    ) -> Result<FilePart, CommandError> {
        let open_part = || {
            let mut file = open(&self.path)?;
            file.seek(SeekFrom::Start(range.start))?;
            Ok(file)
        };
        Ok(FilePart {
            file: open_part().map_err(|cause: io::Error| cannot_read(&self.path, &cause))?,
            length: range.end - range.start,
            sent: 0,
            arrived,
            size_bytes: self.size_bytes,
            progress: Arc::clone(progress),
        })
    }
}

/// Opens a regular file. The server has limits of its own for uploads.
fn open(path: &Path) -> io::Result<File> {
    regular_files::open(path, u64::MAX)
}

fn cannot_read(path: &Path, cause: &io::Error) -> CommandError {
    CommandError::Other(format!("cannot read {}: {cause}", path.display()))
}

/// A part of a file, which reports how much of it was read.
pub struct FilePart {
    /// The file, from the first byte of the part on.
    file: File,
    length: u64,
    sent: u64,
    arrived: u64,
    size_bytes: u64,
    progress: Arc<CliProgress>,
}

impl FilePart {
    /// Returns the number of bytes.
    pub const fn length(&self) -> u64 {
        self.length
    }

    /// Returns the file, from the first byte of the part on.
    pub fn into_file(self) -> File {
        self.file
    }
}

impl Read for FilePart {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let max_bytes = (self.length - self.sent).min(buffer.len() as u64) as usize;
        let count = self.file.read(&mut buffer[..max_bytes])?;
        self.sent += count as u64;
        self.progress.advance(self.arrived + self.sent, self.size_bytes);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_read() {
        let directory = tempfile::tempdir().unwrap();
        for path in [directory.path(), Path::new("/dev/zero")] {
            let Err(error) = SourceFile::new(path) else { panic!("{} is refused", path.display()) };
            assert!(error.to_string().ends_with("and not a regular file"), "{error}");
        }
        let path = directory.path().join("a");
        std::fs::write(&path, "abc").unwrap();
        let file = SourceFile::new(&path).unwrap();
        assert_eq!((file.name().as_str(), file.size_bytes()), ("a", 3));
        assert_eq!(file.first_bytes(2).unwrap(), b"ab");
        assert!(file.sha256(&()).unwrap().starts_with("ba7816bf"));
    }
}
