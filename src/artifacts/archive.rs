//! ZIP archives: analyzed from their central directory, without unpacking anything except a README.
//!
//! Archives that could harm whoever unpacks them are rejected: paths that point outside the archive, links,
//! encrypted files, two files with the same name, files that overlap, and archives that unpack to far more
//! than their size. Only the central directory at the end of the archive and the sizes that it states are
//! judged here; whether the data agrees is up to the checks that read it (`contents.rs`). Nothing is ever
//! written.

mod contents;

pub use contents::visit;

use std::{
    cell::Cell,
    collections::{BTreeMap, HashSet},
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
    rc::Rc,
};

use serde::{Deserialize, Serialize};
use zip::{ZipArchive, read::ZipFileEntry, result::ZipError};

use super::{
    Limits, Refusal, Unread,
    contents::{Root, shown},
    readme,
    structure::{NodeKind, Structure, Tree},
};

/// Bytes of central directory that are allowed for each permitted file.
const LIST_BYTES_PER_FILE: u64 = 512;

/// Bytes of central directory that are always allowed.
const MIN_LIST_BYTES: u64 = 1 << 20;

/// Archives that unpack to at most this many bytes are exempt from the limit on the compression ratio.
const SMALL_BYTES: u64 = 100_000_000;

/// Maximum number of bytes of an archive that are read to get its README.
const MAX_README_BYTES: u64 = 1 << 20;

/// Maximum length of a file name in bytes, as in common file systems.
const MAX_NAME: usize = 255;

/// Maximum number of file extensions that are stored.
const MAX_EXTENSIONS: usize = 100;

/// Number of entries between two cancellation checks.
const LOOK_EVERY: usize = 4_096;

/// Maximum number of characters of a file extension. A longer one is taken for a name that contains a dot.
const MAX_EXTENSION: usize = 12;

/// Summary of an archive, from its central directory and its README.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// Number of files, without directories.
    pub files: u64,
    /// Total unpacked size of the files in bytes.
    pub bytes: u64,
    /// Number of files by extension, in lower case and without the dot. Only the most common extensions are
    /// included.
    pub extensions: BTreeMap<String, u64>,
    /// Tree of directories and files.
    pub structure: Structure,
    /// The single top-level directory that contains all files, if there is one.
    pub root: Option<String>,
    /// First paragraph of the README, if there is one.
    pub description: Option<String>,
}

/// Analyzes the archive at a path, for as long as `go_on` returns true.
pub fn read(path: &Path, limits: Limits, go_on: &dyn Fn() -> bool) -> Result<Reading, Unread> {
    let Opened { mut archive, packed, meter } = open(path, limits)?;
    let listed = list(&archive, packed, limits, go_on)?;
    if archive.has_overlapping_entries().map_err(unreadable)? {
        let what = "Some files in the ZIP archive overlap, which no packing program produces. Pack it again.";
        return Err(Refusal(what.to_owned()).into());
    }
    // An unreadable README does not make the archive invalid: the checks report problems of its data.
    meter.left.set(MAX_README_BYTES);
    let description = match listed.readme.map(|index| beginning(&mut archive, index)) {
        Some(Ok(bytes)) => readme::description(&bytes),
        Some(Err(ZipError::Io(cause))) if cause.raw_os_error().is_some() => {
            return Err(Unread::Broken(cause));
        }
        Some(Err(_)) | None => None,
    };
    Ok(Reading { description, ..listed.reading })
}

/// An archive whose central directory was read.
pub(in crate::artifacts) struct Opened {
    pub(in crate::artifacts) archive: ZipArchive<Metered>,
    /// Size of the archive file in bytes.
    pub(in crate::artifacts) packed: u64,
    meter: Rc<Meter>,
}

/// Opens an archive and reads its central directory, which must not exceed the limit on its size.
pub(in crate::artifacts) fn open(path: &Path, limits: Limits) -> Result<Opened, Unread> {
    let file = File::open(path).map_err(Unread::Broken)?;
    let packed = file.metadata().map_err(Unread::Broken)?.len();
    let meter = Rc::new(Meter {
        left: Cell::new(limits.files.saturating_mul(LIST_BYTES_PER_FILE).max(MIN_LIST_BYTES)),
        files: limits.files,
        is_exceeded: Cell::new(false),
    });
    let opened = ZipArchive::new(Metered { file, meter: Rc::clone(&meter) });
    if meter.is_exceeded.get() {
        return Err(too_many(limits).into());
    }
    let archive = opened.map_err(unreadable)?;
    meter.left.set(u64::MAX);
    Ok(Opened { archive, packed, meter })
}

/// Summary of the central directory, and the index of the README.
struct Listed {
    reading: Reading,
    readme: Option<usize>,
}

fn list(
    archive: &ZipArchive<Metered>,
    packed: u64,
    limits: Limits,
    go_on: &dyn Fn() -> bool,
) -> Result<Listed, Unread> {
    let refuse = |what: String| Err(Unread::Refused(Refusal(what)));
    if archive.len() as u64 > limits.files {
        return Err(too_many(limits).into());
    }
    // The library stores only one entry per name, so the loop below does not see exact duplicates.
    if archive.has_duplicate_names() {
        return refuse("Two files have the same name. Rename one and pack the archive again.".to_owned());
    }
    let (mut tree, mut extensions) = (Tree::default(), BTreeMap::<String, u64>::new());
    let (mut files, mut bytes) = (0, 0_u64);
    let (mut readmes, mut known) = (Vec::new(), HashSet::new());
    let mut root = Root::default();
    for index in 0..archive.len() {
        if index % LOOK_EVERY == 0 && !go_on() {
            return Err(Unread::Stopped);
        }
        let entry = archive.by_index_data(index).map_err(unreadable)?;
        let name = entry.name().map_err(unreadable)?;
        let steps = harmless(&entry, &name)?;
        let (Some(first), Some(last)) = (steps.first().copied(), steps.last().copied()) else { continue };
        // Metadata that macOS adds is not part of the vendor's files.
        if first == "__MACOSX" {
            continue;
        }
        if (entry.is_dir() || name.ends_with('\\')) && entry.size() == 0 {
            tree.add(steps, NodeKind::Folder);
            continue;
        }
        let path = steps.join("/");
        if !known.insert(path.clone()) {
            return refuse(format!(
                "Two files have the path {}. Rename one and pack the archive again.",
                shown(&path)
            ));
        }
        files += 1;
        bytes = bytes.saturating_add(entry.size());
        if let Some(extension) = extension(last) {
            *extensions.entry(extension).or_default() += 1;
        }
        root.see(&path);
        if let (Some(rank), 1..=2) = (readme::rank(last), steps.len()) {
            readmes.push((steps.len(), rank, index));
        }
        tree.add(steps, NodeKind::File);
    }
    if bytes > SMALL_BYTES && bytes / packed.max(1) > limits.ratio {
        let times = bytes / packed.max(1);
        return refuse(format!(
            "The ZIP archive unpacks to {times} times its size; the limit is {} times. Remove filler data.",
            limits.ratio
        ));
    }
    let depth = if root.folder().is_some() { 2 } else { 1 };
    let readme = readmes.into_iter().filter(|(steps, ..)| *steps == depth).min().map(|(.., index)| index);
    let structure = tree.into_structure();
    let extensions = commonest(extensions);
    let root = root.folder().map(str::to_owned);
    Ok(Listed { reading: Reading { files, bytes, extensions, structure, root, description: None }, readme })
}

/// Returns the components of an entry's path (none for the root itself), or why the entry could do harm.
fn harmless<'n>(entry: &ZipFileEntry, name: &'n str) -> Result<Vec<&'n str>, Refusal> {
    let refuse = |why: String| Err(Refusal(format!("{} {why}", shown(name))));
    let Some(steps) = steps(name) else {
        return refuse("points outside the archive. Remove such paths and pack it again.".to_owned());
    };
    if steps.iter().any(|step| step.len() > MAX_NAME) {
        return refuse(format!("has a name of more than {MAX_NAME} bytes. Use a shorter name."));
    }
    if is_link(entry) {
        return refuse("is a link. Include the linked file itself instead.".to_owned());
    }
    if entry.encrypted() {
        return refuse("needs a password. Pack the archive without a password.".to_owned());
    }
    Ok(steps)
}

/// Whether an entry is a link. The Unix mode counts even if the entry claims to come from a system without
/// links.
fn is_link(entry: &ZipFileEntry) -> bool {
    entry.is_symlink() || (entry.external_attributes() >> 16) & 0o170_000 == 0o120_000
}

/// Returns the most common extensions. Listings show them, and an archive may contain any number of made-up
/// ones.
fn commonest(extensions: BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let mut all: Vec<(String, u64)> = extensions.into_iter().collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    all.truncate(MAX_EXTENSIONS);
    all.into_iter().collect()
}

/// Returns the first bytes of a file.
fn beginning(archive: &mut ZipArchive<Metered>, index: usize) -> Result<Vec<u8>, ZipError> {
    let mut bytes = Vec::new();
    archive.by_index(index)?.take(readme::READ_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Splits the path of an entry into its components (none for the root itself). Returns `None` if the path
/// points outside the archive on this system or on any other one.
pub(super) fn steps(name: &str) -> Option<Vec<&str>> {
    if name.contains('\0') || name.starts_with(['/', '\\']) {
        return None;
    }
    let steps: Vec<&str> = name.split(['/', '\\']).filter(|step| !step.is_empty() && *step != ".").collect();
    let is_drive = |step: &&str| {
        step.len() > 1 && step.as_bytes()[1] == b':' && step.as_bytes()[0].is_ascii_alphabetic()
    };
    // Windows drops trailing dots and spaces of a name, so names other than `..` may also lead to the parent.
    let leads_up = |step: &&str| step.trim_end_matches(['.', ' ']).is_empty();
    (!steps.iter().any(leads_up) && !steps.first().is_some_and(is_drive)).then_some(steps)
}

fn extension(name: &str) -> Option<String> {
    let (stem, extension) = name.rsplit_once('.')?;
    let is_one = !stem.is_empty()
        && (1..=MAX_EXTENSION).contains(&extension.len())
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_one.then(|| extension.to_ascii_lowercase())
}

fn too_many(limits: Limits) -> Refusal {
    Refusal(format!(
        "The ZIP archive has more than {} files and directories, or their names are too long. Split it.",
        limits.files
    ))
}

/// Converts an error of the ZIP library into a message for the vendor, or into an I/O error that is worth a
/// retry.
pub(super) fn unreadable(error: ZipError) -> Unread {
    let what = match error {
        ZipError::Io(cause) if cause.raw_os_error().is_some() => return Unread::Broken(cause),
        ZipError::UnsupportedArchive(_) => {
            "The ZIP archive uses an unsupported format. Pack it in one part, with Deflate or Zstandard."
        }
        _ => "The ZIP archive is damaged or incomplete. Pack and upload it again.",
    };
    Refusal(what.to_owned()).into()
}

/// Limit on what may be read, because the library keeps the central directory in memory.
#[derive(Debug)]
struct Meter {
    /// Number of bytes that may still be read; `u64::MAX` means unlimited.
    left: Cell<u64>,
    /// Maximum number of files that the central directory may state.
    files: u64,
    /// Whether a read was denied because it exceeded a limit.
    is_exceeded: Cell<bool>,
}

/// A file whose reads are limited by a [`Meter`].
pub(super) struct Metered {
    file: File,
    meter: Rc<Meter>,
}

impl Metered {
    fn exceed(&self) -> io::Error {
        self.meter.is_exceeded.set(true);
        io::Error::new(io::ErrorKind::InvalidData, "the read exceeds the limit")
    }
}

impl Read for Metered {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Check before reading: a record may claim to be as large as the file.
        let left = self.meter.left.get();
        if left < u64::MAX && buffer.len() as u64 > left {
            return Err(self.exceed());
        }
        let count = self.file.read(buffer)?;
        self.meter.left.set(if left == u64::MAX { left } else { left - count as u64 });
        // The library reserves memory for as many files as the ZIP64 record states, before it reads the first
        // one.
        if let Some(record) = buffer[..count].strip_prefix(b"PK\x06\x06").filter(|record| record.len() >= 52)
        {
            let stated =
                |at: usize| u64::from_le_bytes(record[at - 4..at + 4].try_into().expect("eight bytes"));
            if stated(24).max(stated(32)) > self.meter.files {
                return Err(self.exceed());
            }
        }
        Ok(count)
    }
}

impl Seek for Metered {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

#[cfg(test)]
mod tests;
