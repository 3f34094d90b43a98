//! Packing the files of a directory to a zip, as a vendor would do before the upload. Nothing of them is parsed here.

use std::{
    fs::{self, File, Metadata},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use super::report::LeftOut;
use crate::{
    artifacts::{Limits, ReadError, Rejection, contents::quoted, file_sets::FileSetWriter},
    private_files, regular_files,
};

/// Number of bytes that are copied between two checks for cancellation.
const CHUNK_BYTES: usize = 1 << 20;

/// Packs a file, or the files below a directory, to a new zip. Links are left out, since they may lead anywhere, and so are
/// devices and the like. Stops when `should_continue` returns false. Returns what was left out.
pub(super) fn pack(
    path: &Path,
    to: &Path,
    limits: Limits,
    should_continue: &dyn Fn() -> bool,
) -> Result<Vec<LeftOut>, ReadError> {
    let mut packing = Packing {
        archive: FileSetWriter::new(private_files::create(to).map_err(ReadError::Io)?),
        chunk: vec![0; CHUNK_BYTES],
        entries: 0,
        limits,
        should_continue,
        left_out: Vec::new(),
    };
    let metadata = fs::metadata(path).map_err(|cause| unreadable(path, &cause))?;
    if metadata.is_dir() {
        packing.add_directory(path)?;
    } else {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        packing.add_file(path, &name, &metadata)?;
    }
    packing.archive.finish().map_err(ReadError::Io)?;
    Ok(packing.left_out)
}

struct Packing<'p> {
    archive: FileSetWriter,
    chunk: Vec<u8>,
    /// Number of files and directories so far.
    entries: u64,
    limits: Limits,
    should_continue: &'p dyn Fn() -> bool,
    left_out: Vec<LeftOut>,
}

impl Packing<'_> {
    /// Adds the files below a directory, in the order of their paths.
    fn add_directory(&mut self, root: &Path) -> Result<(), ReadError> {
        let mut pending: Vec<(PathBuf, String)> = vec![(root.to_owned(), String::new())];
        while let Some((directory, prefix)) = pending.pop() {
            let entries: io::Result<Vec<fs::DirEntry>> = fs::read_dir(&directory).and_then(|entries| {
                // A directory with more entries is refused below.
                let max = usize::try_from(self.limits.max_files).unwrap_or(usize::MAX);
                entries.take(max.saturating_add(1)).collect()
            });
            let mut entries = entries.map_err(|cause| unreadable(&directory, &cause))?;
            entries.sort_by_key(fs::DirEntry::file_name);
            let mut below = Vec::new();
            for entry in entries {
                let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
                // Does not follow links.
                let metadata = entry.metadata().map_err(|cause| unreadable(&entry.path(), &cause))?;
                self.count_entry()?;
                if metadata.is_dir() {
                    below.push((entry.path(), format!("{path}/")));
                } else if metadata.is_file() {
                    self.add_file(&entry.path(), &path, &metadata)?;
                } else {
                    let reason = if metadata.is_symlink() {
                        "is a link, which is not followed"
                    } else {
                        "is no regular file"
                    };
                    self.left_out.push(LeftOut { path, reason: reason.to_owned() });
                }
            }
            pending.extend(below.into_iter().rev());
        }
        Ok(())
    }

    fn count_entry(&mut self) -> Result<(), ReadError> {
        self.entries += 1;
        let max = self.limits.max_files;
        if self.entries > max {
            let message = format!(
                "The directory has more than {max} files and directories, which is the setting `archives.max_files`. \
                 Scan a smaller one."
            );
            return Err(Rejection(message).into());
        }
        Ok(())
    }

    fn add_file(&mut self, file: &Path, path: &str, metadata: &Metadata) -> Result<(), ReadError> {
        let mut from: File = regular_files::open(file, u64::MAX).map_err(|cause| unreadable(file, &cause))?;
        self.archive.start(path, metadata.len()).map_err(ReadError::Io)?;
        loop {
            if !(self.should_continue)() {
                return Err(ReadError::Canceled);
            }
            match from.read(&mut self.chunk).map_err(|cause| unreadable(file, &cause))? {
                0 => return Ok(()),
                count => self.archive.write_all(&self.chunk[..count]).map_err(ReadError::Io)?,
            }
        }
    }
}

fn unreadable(path: &Path, cause: &io::Error) -> ReadError {
    Rejection(format!("{} cannot be read: {cause}.", quoted(&path.to_string_lossy()))).into()
}
