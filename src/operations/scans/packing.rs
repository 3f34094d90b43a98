//! Packs the files of a directory into a zip, as a vendor would do before an upload. Does not parse the files.

use std::{
    fs::{self, File, Metadata},
    io::{self, Read, Write},
    os::unix::fs::MetadataExt,
    path::Path,
};

use super::report::LeftOut;
use crate::{
    artifacts::{
        Limits, ReadError, Rejection, contents::quoted, file_sets::FileSetWriter,
        quality_checks::places::MAX_PLACES,
    },
    blobs::DiskSpace,
    private_files, regular_files,
};

/// Number of bytes that are copied between two checks for cancellation.
const CHUNK_BYTES: usize = 1 << 20;

/// Number of bytes of paths that are allowed for each permitted file.
const PATH_BYTES_PER_FILE: u64 = 512;

/// How much smaller than its files a zip can be.
const MAX_DEFLATE_RATIO: u64 = 1_032;

/// What packing may use.
pub(super) struct Bounds<'b> {
    pub limits: Limits,
    /// Maximum size of the zip in bytes.
    pub max_upload_bytes: u64,
    /// The disk with the zip.
    pub disk: &'b DiskSpace,
    /// Directory with the zip, which is not packed itself.
    pub work_directory: &'b Path,
    /// Packing stops when it returns false.
    pub should_continue: &'b dyn Fn() -> bool,
}

/// What was not packed.
#[derive(Debug, Default)]
pub(super) struct Skipped {
    /// The first files.
    pub files: Vec<LeftOut>,
    /// Number of those that are only counted.
    pub further: u64,
}

/// Packs a file, or the files below a directory, to a new zip. Links are left out, since they may lead anywhere, and so are
/// devices and the like. Returns what was left out.
pub(super) fn pack(path: &Path, to: &Path, bounds: &Bounds) -> Result<Skipped, ReadError> {
    let mut packing = Packing::new(to, bounds)?;
    let metadata = fs::metadata(path).map_err(|cause| unreadable(path, &cause))?;
    if metadata.is_dir() {
        packing.add_directory(path)?;
    } else {
        let name = path.file_name().unwrap_or_default().to_str().ok_or_else(|| not_utf8(path))?;
        packing.add_file(path, name, &metadata)?;
    }
    packing.archive.finish().map_err(ReadError::Io)?;
    Ok(packing.skipped)
}

/// Returns the error for data whose zip would be larger than an upload may be.
pub(super) fn too_large(max_upload_bytes: u64) -> ReadError {
    Rejection(format!(
        "The zip has more than {max_upload_bytes} bytes, which is the setting `blobs.max_upload_bytes`. Split it."
    ))
    .into()
}

struct Packing<'p> {
    archive: FileSetWriter,
    /// The same file, for its size.
    packed: File,
    /// Identity of the directory with the zip.
    work_directory: (u64, u64),
    chunk: Vec<u8>,
    /// Number of files and directories so far.
    entries: u64,
    /// Total length of their paths.
    path_bytes: u64,
    /// Total size of the files so far.
    bytes: u64,
    bounds: &'p Bounds<'p>,
    skipped: Skipped,
}

impl<'p> Packing<'p> {
    /// Begins a new zip.
    fn new(to: &Path, bounds: &'p Bounds<'p>) -> Result<Packing<'p>, ReadError> {
        let packed = private_files::create(to).map_err(ReadError::Io)?;
        let work_directory = fs::metadata(bounds.work_directory).map_err(ReadError::Io)?;
        Ok(Packing {
            archive: FileSetWriter::new(packed.try_clone().map_err(ReadError::Io)?),
            packed,
            work_directory: identity(&work_directory),
            chunk: vec![0; CHUNK_BYTES],
            entries: 0,
            path_bytes: 0,
            bytes: 0,
            bounds,
            skipped: Skipped::default(),
        })
    }

    /// Adds the files below a directory: of each directory first its own files by name, then those of the directories in it.
    fn add_directory(&mut self, root: &Path) -> Result<(), ReadError> {
        let mut pending = vec![String::new()];
        while let Some(prefix) = pending.pop() {
            let directory = root.join(&prefix);
            let entries: io::Result<Vec<fs::DirEntry>> = fs::read_dir(&directory).and_then(|entries| {
                // A directory with more entries is refused below.
                let max = usize::try_from(self.bounds.limits.max_files).unwrap_or(usize::MAX);
                entries.take(max.saturating_add(2)).collect()
            });
            let mut entries = entries.map_err(|cause| unreadable(&directory, &cause))?;
            entries.sort_by_key(fs::DirEntry::file_name);
            let mut below = Vec::new();
            for entry in entries {
                let name = entry.file_name().into_string().map_err(|_| not_utf8(&entry.path()))?;
                let path = format!("{prefix}{name}");
                // Does not follow links.
                let metadata = entry.metadata().map_err(|cause| unreadable(&entry.path(), &cause))?;
                if identity(&metadata) == self.work_directory {
                    continue;
                }
                self.count_entry(&path)?;
                if metadata.is_dir() {
                    below.push(format!("{path}/"));
                } else if metadata.is_file() {
                    self.add_file(&entry.path(), &path, &metadata)?;
                } else {
                    self.skip(path, &metadata);
                }
            }
            pending.extend(below.into_iter().rev());
        }
        Ok(())
    }

    fn skip(&mut self, path: String, metadata: &Metadata) {
        if self.skipped.files.len() >= MAX_PLACES {
            self.skipped.further += 1;
            return;
        }
        let reason =
            if metadata.is_symlink() { "is a link, which is not followed" } else { "is not a regular file" };
        self.skipped.files.push(LeftOut { path, reason: reason.to_owned() });
    }

    fn count_entry(&mut self, path: &str) -> Result<(), ReadError> {
        if !(self.bounds.should_continue)() {
            return Err(ReadError::Canceled);
        }
        self.entries += 1;
        self.path_bytes += path.len() as u64;
        let max = self.bounds.limits.max_files;
        if self.entries > max || self.path_bytes > max.saturating_mul(PATH_BYTES_PER_FILE) {
            let message = format!(
                "The directory has more than {max} files and directories, which is the setting `archives.max_files`, or their \
                 names are too long. Scan a smaller one."
            );
            return Err(Rejection(message).into());
        }
        Ok(())
    }

    /// Adds a file with the size that it had when its metadata was read, so that a growing file has an end.
    fn add_file(&mut self, file: &Path, path: &str, metadata: &Metadata) -> Result<(), ReadError> {
        let &Bounds { max_upload_bytes, disk, should_continue, .. } = self.bounds;
        self.bytes = self.bytes.saturating_add(metadata.len());
        if self.bytes / MAX_DEFLATE_RATIO > max_upload_bytes {
            return Err(too_large(max_upload_bytes));
        }
        let file_to_read = regular_files::open(file, u64::MAX).map_err(|cause| unreadable(file, &cause))?;
        let mut from = file_to_read.take(metadata.len());
        self.archive.start(path, metadata.len()).map_err(ReadError::Io)?;
        loop {
            if !should_continue() {
                return Err(ReadError::Canceled);
            }
            disk.ensure(CHUNK_BYTES as u64).map_err(|_| no_space())?;
            if self.packed.metadata().map_err(ReadError::Io)?.len() > max_upload_bytes {
                return Err(too_large(max_upload_bytes));
            }
            match from.read(&mut self.chunk).map_err(|cause| unreadable(file, &cause))? {
                0 => return Ok(()),
                count => self.archive.write_all(&self.chunk[..count]).map_err(ReadError::Io)?,
            }
        }
    }
}

/// Returns what identifies a file or a directory.
fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

fn no_space() -> ReadError {
    let message = "there is no space to pack the files: the directory for temporary files (TMPDIR) has less free space than the \
                   setting `data.reserve_mb`";
    ReadError::Io(io::Error::new(io::ErrorKind::StorageFull, message))
}

fn not_utf8(path: &Path) -> ReadError {
    let path = quoted(&path.to_string_lossy());
    Rejection(format!("The name of {path} is not in UTF-8, as those in a zip are. Rename it.")).into()
}

fn unreadable(path: &Path, cause: &io::Error) -> ReadError {
    Rejection(format!("{} cannot be read: {cause}.", quoted(&path.to_string_lossy()))).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blobs::Reservations;

    /// Packs with these limits, and lets a test do it step by step. Returns the zip.
    fn packed(max_files: u64, test: impl FnOnce(&Path, &mut Packing)) -> zip::ZipArchive<File> {
        let directory = tempfile::tempdir().unwrap();
        let (root, work) = (directory.path().join("root"), directory.path().join("work"));
        fs::create_dir_all(&root).unwrap();
        fs::create_dir_all(&work).unwrap();
        let disk = DiskSpace::new(work.clone(), 0, Reservations::default());
        let bounds = Bounds {
            limits: Limits { max_files, max_ratio: 200 },
            max_upload_bytes: 1 << 20,
            disk: &disk,
            work_directory: &work,
            should_continue: &|| true,
        };
        let zip = work.join("packed.zip");
        let mut packing = Packing::new(&zip, &bounds).unwrap();
        test(&root, &mut packing);
        packing.archive.finish().unwrap();
        zip::ZipArchive::new(File::open(zip).unwrap()).unwrap()
    }

    #[test]
    fn growing_file_is_packed_as_it_was() {
        let mut archive = packed(10, |root, packing| {
            let path = root.join("log");
            fs::write(&path, "12345").unwrap();
            let metadata = fs::metadata(&path).unwrap();
            fs::write(&path, "1234567890").unwrap();
            packing.add_file(&path, "log", &metadata).unwrap();
        });
        assert_eq!(archive.by_index(0).unwrap().size(), 5);
    }

    #[test]
    fn total_length_of_paths_is_limited() {
        for (depth, expected) in [(4, true), (5, false)] {
            packed(5, |root, packing| {
                let path: std::path::PathBuf = (0..depth).map(|_| "d".repeat(255)).collect();
                fs::create_dir_all(root.join(path)).unwrap();
                assert_eq!(packing.add_directory(root).is_ok(), expected, "{depth}");
            });
        }
    }
}
