//! ZIP archives: analyzed from their central directory, without unpacking anything except a README.
//!
//! Archives that are unsafe to unpack are rejected: paths that point outside the archive, links,
//! encrypted files, two files with the same name, files that are also directories, files that overlap, and archives that unpack to far more
//! than their size. Only the central directory at the end of the archive and the sizes that it states are
//! judged here; whether the data agrees is up to the checks that read it (`contents.rs`). Nothing is ever
//! written.

mod formats;
mod repeated_names;
mod unpack;

pub use unpack::visit;

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

use repeated_names::RepeatedNames;

use super::{
    Limits, ReadError, Rejection,
    contents::{self, Root, quoted},
    readme,
    structure::{Structure, Tree},
};

/// Bytes of central directory that are allowed for each permitted file.
const DIRECTORY_BYTES_PER_FILE: u64 = 512;

/// Bytes of central directory that are always allowed.
const MIN_DIRECTORY_BYTES: u64 = 1 << 20;

/// Archives that unpack to at most this many bytes are exempt from the limit on the compression ratio.
const RATIO_EXEMPT_BYTES: u64 = 100_000_000;

/// Maximum number of bytes of an archive that are read to get its README.
const MAX_README_BYTES: u64 = 1 << 20;

/// Maximum length of a file name in bytes, as in common file systems.
const MAX_NAME_BYTES: usize = 255;

/// Maximum number of file extensions that are stored.
const MAX_EXTENSIONS: usize = 100;

/// What the record at the end of an archive begins with.
const END_MARK: &[u8] = b"PK\x05\x06";

/// Maximum size of that record in bytes, with its comment.
const MAX_END_BYTES: u64 = 22 + 65_535;

/// Problem of a file whose path is also the path of a directory.
const FILE_AND_DIRECTORY: &str = "is a file and a directory";

/// Number of entries between two cancellation checks.
const ENTRIES_PER_CANCEL_CHECK: usize = 4_096;

/// Maximum number of characters of a file extension. A longer one is taken for a name that contains a dot.
const MAX_EXTENSION_CHARS: usize = 12;

/// Summary of an archive, from its central directory and its README.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveSummary {
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

/// Analyzes the archive at a path, for as long as `should_continue` returns true.
pub fn read_summary(
    path: &Path,
    limits: Limits,
    should_continue: &dyn Fn() -> bool,
) -> Result<ArchiveSummary, ReadError> {
    let OpenArchive { mut archive, archive_size, repeated_names, budget } = open_archive(path, limits)?;
    if let Some(RepeatedNames::Files(name)) = repeated_names {
        return Err(two_files(&name).into());
    }
    let scanned = scan_directory(&archive, archive_size, limits, should_continue)?;
    if archive.has_overlapping_entries().map_err(from_zip_error)? {
        let message =
            "Some files in the ZIP archive overlap, which no packing program produces. Pack it again.";
        return Err(Rejection(message.to_owned()).into());
    }
    // An unreadable README does not make the archive invalid: the checks report problems of its data.
    budget.remaining_bytes.set(MAX_README_BYTES);
    let description = match scanned.readme.map(|index| read_start(&mut archive, index)) {
        Some(Ok(bytes)) => readme::description(&bytes),
        Some(Err(error)) => ignore_archive_error(error).map(|()| None)?,
        None => None,
    };
    Ok(ArchiveSummary { description, ..scanned.summary })
}

/// Whether a file is an archive, judged by its beginning and end: a zip, or another format, which is rejected by its name.
pub fn looks_like_archive(file: &mut (impl Read + Seek)) -> io::Result<bool> {
    let mut start = Vec::new();
    file.by_ref().take(formats::START_BYTES as u64).read_to_end(&mut start)?;
    if start.starts_with(b"PK") || formats::other_format(&start).is_some() {
        return Ok(true);
    }
    // A program that unpacks itself precedes the zip.
    let size = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(size.saturating_sub(MAX_END_BYTES)))?;
    let mut end = Vec::new();
    file.by_ref().take(MAX_END_BYTES).read_to_end(&mut end)?;
    Ok(end.windows(END_MARK.len()).any(|bytes| bytes == END_MARK))
}

/// An archive whose central directory was read.
pub(crate) struct OpenArchive {
    pub(crate) archive: ZipArchive<BudgetedFile>,
    /// Size of the archive file in bytes.
    pub(crate) archive_size: u64,
    repeated_names: Option<RepeatedNames>,
    budget: Rc<ReadBudget>,
}

/// Opens an archive and reads its central directory, which must not exceed the limit on its size.
pub(crate) fn open_archive(path: &Path, limits: Limits) -> Result<OpenArchive, ReadError> {
    let file = File::open(path).map_err(ReadError::Io)?;
    let archive_size = file.metadata().map_err(ReadError::Io)?.len();
    let mut start = Vec::new();
    (&file).take(formats::START_BYTES as u64).read_to_end(&mut start).map_err(ReadError::Io)?;
    let budget = Rc::new(ReadBudget {
        remaining_bytes: Cell::new(
            limits.max_files.saturating_mul(DIRECTORY_BYTES_PER_FILE).max(MIN_DIRECTORY_BYTES),
        ),
        max_files: limits.max_files,
        is_exceeded: Cell::new(false),
    });
    let opened = ZipArchive::new(BudgetedFile { file, budget: Rc::clone(&budget) });
    if budget.is_exceeded.get() {
        return Err(too_many_entries(limits).into());
    }
    let archive = opened.map_err(|error| match from_zip_error(error) {
        ReadError::Rejected(rejection) => {
            formats::other_format(&start).map_or(rejection, formats::not_a_zip).into()
        }
        other => other,
    })?;
    budget.remaining_bytes.set(u64::MAX);
    let repeated_names = if archive.has_duplicate_names() {
        let file = File::open(path).map_err(ReadError::Io)?;
        let read = repeated_names::read(&file, archive.central_directory_start());
        Some(read.map_err(|cause| from_zip_error(ZipError::Io(cause)))?)
    } else {
        None
    };
    Ok(OpenArchive { archive, archive_size, repeated_names, budget })
}

/// Summary of the central directory, and the index of the README.
struct ScannedDirectory {
    summary: ArchiveSummary,
    readme: Option<usize>,
}

/// Fails if an archive unpacks to too many times its size.
fn check_ratio(bytes: u64, archive_size: u64, limits: Limits) -> Result<(), Rejection> {
    let times = bytes / archive_size.max(1);
    if bytes > RATIO_EXEMPT_BYTES && times > limits.max_ratio {
        return Err(Rejection(format!(
            "The ZIP archive unpacks to {times} times its size; the limit is {} times, the setting `archives.max_ratio`. \
             Remove filler data.",
            limits.max_ratio
        )));
    }
    Ok(())
}

fn scan_directory(
    archive: &ZipArchive<BudgetedFile>,
    archive_size: u64,
    limits: Limits,
    should_continue: &dyn Fn() -> bool,
) -> Result<ScannedDirectory, ReadError> {
    let reject = |message: String| Err(ReadError::Rejected(Rejection(message)));
    if archive.len() as u64 > limits.max_files {
        return Err(too_many_entries(limits).into());
    }
    if let Some(path) = files_that_are_directories(archive)?.values().next() {
        let path = quoted(path);
        return reject(format!("{path} {FILE_AND_DIRECTORY}. Rename one and pack the archive again."));
    }
    let (mut tree, mut extensions) = (Tree::default(), BTreeMap::<String, u64>::new());
    let (mut files, mut bytes) = (0, 0_u64);
    let (mut readmes, mut seen_paths) = (Vec::new(), HashSet::new());
    let mut root = Root::default();
    for index in 0..archive.len() {
        if index % ENTRIES_PER_CANCEL_CHECK == 0 && !should_continue() {
            return Err(ReadError::Canceled);
        }
        let entry = archive.by_index_data(index).map_err(from_zip_error)?;
        let name = entry.name().map_err(from_zip_error)?;
        let components = safe_components(&entry, &name)?;
        let Some(last) = components.last().copied() else { continue };
        let path = components.join("/");
        if contents::is_extra(&path) {
            continue;
        }
        if is_directory(&entry, &name) {
            tree.add_directory(components);
            continue;
        }
        if !seen_paths.insert(path.clone()) {
            return Err(two_files(&path).into());
        }
        files += 1;
        bytes = bytes.saturating_add(entry.size());
        if let Some(extension) = file_extension(last) {
            *extensions.entry(extension).or_default() += 1;
        }
        root.add_path(&path);
        if let (Some(rank), 1..=2) = (readme::described_rank(last), components.len()) {
            readmes.push((components.len(), rank, index));
        }
        tree.add_file(components, entry.size());
    }
    check_ratio(bytes, archive_size, limits)?;
    let depth = if root.directory().is_some() { 2 } else { 1 };
    let readme =
        readmes.into_iter().filter(|(components, ..)| *components == depth).min().map(|(.., index)| index);
    let (structure, extensions) = (tree.into_structure(), most_common(extensions));
    let root = root.directory().map(str::to_owned);
    let summary = ArchiveSummary { files, bytes, extensions, structure, root, description: None };
    Ok(ScannedDirectory { summary, readme })
}

/// Whether an entry is a directory. Some programs of Windows mark directories by their names only.
fn is_directory(entry: &ZipFileEntry, name: &str) -> bool {
    (entry.is_dir() || name.ends_with('\\')) && entry.size() == 0
}

/// Returns the paths of files that are also directories, by the index of the entry: they cannot be unpacked.
fn files_that_are_directories(
    archive: &ZipArchive<BudgetedFile>,
) -> Result<BTreeMap<usize, String>, ReadError> {
    let mut paths = Vec::with_capacity(archive.len());
    for index in 0..archive.len() {
        let entry = archive.by_index_data(index).map_err(from_zip_error)?;
        let name = entry.name().map_err(from_zip_error)?;
        let Some(components) = path_components(&name) else { continue };
        let end = if is_directory(&entry, &name) { "/" } else { "" };
        paths.push((components.join("/") + end, index));
    }
    // What is in a directory follows it.
    paths.sort_unstable_by(|(left, _), (right, _)| left.split('/').cmp(right.split('/')));
    let is_in = |path: &str, file: &str| path.strip_prefix(file).is_some_and(|rest| rest.starts_with('/'));
    let found = paths.windows(2).filter(|pair| is_in(&pair[1].0, &pair[0].0));
    Ok(found.map(|pair| (pair[0].1, pair[0].0.clone())).collect())
}

/// Returns the components of an entry's path (none for the root itself), or why the entry could do harm.
fn safe_components<'n>(entry: &ZipFileEntry, name: &'n str) -> Result<Vec<&'n str>, Rejection> {
    let reject = |reason: String| Err(Rejection(format!("{} {reason}", quoted(name))));
    if name.contains('\0') {
        return reject("has the character NUL in its name. Rename it and pack the archive again.".to_owned());
    }
    let Some(components) = path_components(name) else {
        return reject("points outside the archive. Remove such paths and pack it again.".to_owned());
    };
    if components.iter().any(|component| component.len() > MAX_NAME_BYTES) {
        return reject(format!("has a name of more than {MAX_NAME_BYTES} bytes. Use a shorter name."));
    }
    if is_link(entry) {
        return reject("is a link. Include the linked file itself instead.".to_owned());
    }
    if entry.encrypted() {
        return reject("needs a password. Pack the archive without a password.".to_owned());
    }
    Ok(components)
}

/// Whether an entry is a link. The Unix mode counts even if the entry claims to come from a system without
/// links.
fn is_link(entry: &ZipFileEntry) -> bool {
    entry.is_symlink() || (entry.external_attributes() >> 16) & 0o170_000 == 0o120_000
}

/// Returns the most common extensions. Listings show them, and an archive may contain any number of made-up
/// ones.
fn most_common(extensions: BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let mut sorted: Vec<(String, u64)> = extensions.into_iter().collect();
    sorted.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    sorted.truncate(MAX_EXTENSIONS);
    sorted.into_iter().collect()
}

/// Returns the first bytes of a file.
fn read_start(archive: &mut ZipArchive<BudgetedFile>, index: usize) -> Result<Vec<u8>, ZipError> {
    let mut bytes = Vec::new();
    archive.by_index(index)?.take(readme::MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Splits the path of an entry into its components (none for the root itself). Returns `None` if the path
/// points outside the archive on this system or on any other one, or if no system can store it.
pub(super) fn path_components(name: &str) -> Option<Vec<&str>> {
    if name.contains('\0') || name.starts_with(['/', '\\']) {
        return None;
    }
    let components: Vec<&str> =
        name.split(['/', '\\']).filter(|component| !component.is_empty() && *component != ".").collect();
    let is_drive = |component: &&str| {
        component.len() > 1
            && component.as_bytes()[1] == b':'
            && component.as_bytes()[0].is_ascii_alphabetic()
    };
    // Windows drops trailing dots and spaces of a name, so names other than `..` may also lead to the parent.
    let leads_up = |component: &&str| component.trim_end_matches(['.', ' ']).is_empty();
    (!components.iter().any(leads_up) && !components.first().is_some_and(is_drive)).then_some(components)
}

fn file_extension(name: &str) -> Option<String> {
    let (stem, extension) = name.rsplit_once('.')?;
    let is_extension = !stem.is_empty()
        && (1..=MAX_EXTENSION_CHARS).contains(&extension.len())
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_extension.then(|| extension.to_ascii_lowercase())
}

fn two_files(path: &str) -> Rejection {
    Rejection(format!("Two files have the path {}. Rename one and pack the archive again.", quoted(path)))
}

fn too_many_entries(limits: Limits) -> Rejection {
    Rejection(format!(
        "The ZIP archive has more than {} files and directories, which is the setting `archives.max_files`, or their names are \
         too long. Split it.",
        limits.max_files
    ))
}

/// Ignores an error that the archive caused, and returns one that the machine caused.
pub(crate) fn ignore_archive_error(error: ZipError) -> Result<(), ReadError> {
    match error {
        ZipError::Io(cause) if cause.raw_os_error().is_some() => Err(ReadError::Io(cause)),
        _ => Ok(()),
    }
}

/// Converts an error of the ZIP library into a message for the vendor, or into an I/O error that is worth a
/// retry.
pub(super) fn from_zip_error(error: ZipError) -> ReadError {
    let message = match error {
        ZipError::Io(cause) if cause.raw_os_error().is_some() => return ReadError::Io(cause),
        ZipError::UnsupportedArchive(_) => {
            "The ZIP archive uses an unsupported format. Pack it in one part, with Deflate or Zstandard."
        }
        _ => "The ZIP archive is damaged or incomplete. Pack and upload it again.",
    };
    Rejection(message.to_owned()).into()
}

/// Limit on what may be read, because the library keeps the central directory in memory.
#[derive(Debug)]
struct ReadBudget {
    /// Number of bytes that may still be read; `u64::MAX` means unlimited.
    remaining_bytes: Cell<u64>,
    /// Maximum number of files that the central directory may state.
    max_files: u64,
    /// Whether a read was denied because it exceeded a limit.
    is_exceeded: Cell<bool>,
}

/// A file whose reads are limited by a [`ReadBudget`].
pub(super) struct BudgetedFile {
    file: File,
    budget: Rc<ReadBudget>,
}

impl BudgetedFile {
    fn exceeded_error(&self) -> io::Error {
        self.budget.is_exceeded.set(true);
        io::Error::new(io::ErrorKind::InvalidData, "the read exceeds the limit")
    }
}

impl Read for BudgetedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Check before reading: a record may claim to be as large as the file.
        let remaining = self.budget.remaining_bytes.get();
        if remaining < u64::MAX && buffer.len() as u64 > remaining {
            return Err(self.exceeded_error());
        }
        let count = self.file.read(buffer)?;
        self.budget.remaining_bytes.set(if remaining == u64::MAX {
            remaining
        } else {
            remaining - count as u64
        });
        // The library reserves memory for as many files as the ZIP64 record states, before it reads the first
        // one.
        if let Some(record) = buffer[..count].strip_prefix(b"PK\x06\x06").filter(|record| record.len() >= 52)
        {
            let stated =
                |at: usize| u64::from_le_bytes(record[at - 4..at + 4].try_into().expect("eight bytes"));
            if stated(24).max(stated(32)) > self.budget.max_files {
                return Err(self.exceeded_error());
            }
        }
        Ok(count)
    }
}

impl Seek for BudgetedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

#[cfg(test)]
mod tests;
