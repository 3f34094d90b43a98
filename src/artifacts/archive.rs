//! Zips: what is in them, from their lists of files, without unpacking anything but a README.
//!
//! Whatever could harm who unpacks them is refused: ways out of the archive, links, passwords, two files of one name, files
//! that overlap, and little data that becomes much. What is judged is the list at the archive's end, with the sizes that it
//! states; whether the data agrees is for checks that read it (`contents.rs`). Nothing is ever written.

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

/// Bytes that a list of files may have for each file that is allowed.
const LIST_BYTES_PER_FILE: u64 = 512;

/// Bytes that any list of files may have.
const MIN_LIST_BYTES: u64 = 1 << 20;

/// Archives that unpack to no more than this are never too dense.
const SMALL_BYTES: u64 = 100_000_000;

/// Bytes of an archive that are read for its README.
const MAX_README_BYTES: u64 = 1 << 20;

/// Bytes of a name at most, as file systems have it.
const MAX_NAME: usize = 255;

/// Extensions that are kept at most.
const MAX_EXTENSIONS: usize = 100;

/// Entries between two looks at whether to go on.
const LOOK_EVERY: usize = 4_096;

/// Characters of an extension at most; what is longer is a name with a dot in it.
const MAX_EXTENSION: usize = 12;

/// What was read of an archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// Files, without folders.
    pub files: u64,
    /// Bytes of all of them, unpacked.
    pub bytes: u64,
    /// Files by their extensions, in lower case and without the dot.
    pub extensions: BTreeMap<String, u64>,
    /// Folders and files.
    pub structure: Structure,
    /// The only folder that everything lies in, if there is one.
    pub root: Option<String>,
    /// What its README says first.
    pub description: Option<String>,
}

/// Reads the archive at a path. Goes on while `go_on` says so.
pub fn read(path: &Path, limits: Limits, go_on: &dyn Fn() -> bool) -> Result<Reading, Unread> {
    let Opened { mut archive, packed, meter } = open(path, limits)?;
    let listed = list(&archive, packed, limits, go_on)?;
    if archive.has_overlapping_entries().map_err(unreadable)? {
        let what = "Files of the zip lie over each other, as no packing program writes them. Pack it again.";
        return Err(Refusal(what.to_owned()).into());
    }
    // A README that cannot be read is no fault of the archive: checks say what is wrong with its data.
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

/// An archive whose list was read.
pub(in crate::artifacts) struct Opened {
    pub(in crate::artifacts) archive: ZipArchive<Metered>,
    /// Its size as it is.
    pub(in crate::artifacts) packed: u64,
    meter: Rc<Meter>,
}

/// Opens an archive and reads its list, as far as lists may be long.
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

/// What the list of files says, and which of them is the README.
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
    // The library keeps one of each name, so that two of the very same are not met below.
    if archive.has_duplicate_names() {
        return refuse("There are two files of one name. Rename one, and pack it again.".to_owned());
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
        // What macOS adds of its own is none of the vendor's files.
        if first == "__MACOSX" {
            continue;
        }
        if (entry.is_dir() || name.ends_with('\\')) && entry.size() == 0 {
            tree.add(steps, NodeKind::Folder);
            continue;
        }
        let path = steps.join("/");
        if !known.insert(path.clone()) {
            return refuse(format!("There are two files {}. Rename one, and pack it again.", shown(&path)));
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
            "The zip unpacks to {times} times its size, and at most {} times are read. Leave out what only fills it.",
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

/// The names on the way to an entry, none where it is the root itself; or why the entry could do harm.
fn harmless<'n>(entry: &ZipFileEntry, name: &'n str) -> Result<Vec<&'n str>, Refusal> {
    let refuse = |why: String| Err(Refusal(format!("{} {why}", shown(name))));
    let Some(steps) = steps(name) else {
        return refuse("leads out of the zip. Pack it again without such paths.".to_owned());
    };
    if steps.iter().any(|step| step.len() > MAX_NAME) {
        return refuse(format!("has a name of more than {MAX_NAME} bytes. Shorten it."));
    }
    if is_link(entry) {
        return refuse("is a link. Pack what it leads to instead.".to_owned());
    }
    if entry.encrypted() {
        return refuse("needs a password. Pack it without one.".to_owned());
    }
    Ok(steps)
}

/// Whether an entry is a link. The mode says so, too, where the entry claims to come from a system without links.
fn is_link(entry: &ZipFileEntry) -> bool {
    entry.is_symlink() || (entry.external_attributes() >> 16) & 0o170_000 == 0o120_000
}

/// The extensions that most files have: listings show them, and made-up ones have no end.
fn commonest(extensions: BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let mut all: Vec<(String, u64)> = extensions.into_iter().collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    all.truncate(MAX_EXTENSIONS);
    all.into_iter().collect()
}

/// The first bytes of a file.
fn beginning(archive: &mut ZipArchive<Metered>, index: usize) -> Result<Vec<u8>, ZipError> {
    let mut bytes = Vec::new();
    archive.by_index(index)?.take(readme::READ_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The names on the way to an entry, none where it is the root itself; nothing where it leads out of the archive, here or
/// where paths are written otherwise.
pub(super) fn steps(name: &str) -> Option<Vec<&str>> {
    if name.contains('\0') || name.starts_with(['/', '\\']) {
        return None;
    }
    let steps: Vec<&str> = name.split(['/', '\\']).filter(|step| !step.is_empty() && *step != ".").collect();
    let is_drive = |step: &&str| {
        step.len() > 1 && step.as_bytes()[1] == b':' && step.as_bytes()[0].is_ascii_alphabetic()
    };
    // Windows drops dots and spaces at the end of a name, so that others than `..` lead upwards, too.
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
        "The zip holds more than {} files and folders, or their names are too long. Split it.",
        limits.files
    ))
}

/// Why a zip cannot be read, for its vendor. What the machine could not read is tried again.
pub(super) fn unreadable(error: ZipError) -> Unread {
    let what = match error {
        ZipError::Io(cause) if cause.raw_os_error().is_some() => return Unread::Broken(cause),
        ZipError::UnsupportedArchive(_) => {
            "The zip is packed in a way that is not read here. Pack it with Deflate or Zstandard, in one part."
        }
        _ => "The zip is damaged or not whole. Pack it again, and upload it again.",
    };
    Refusal(what.to_owned()).into()
}

/// How much may be read, since a list of files is held in memory.
#[derive(Debug)]
struct Meter {
    /// Bytes that may still be read.
    left: Cell<u64>,
    /// Files that a list may have.
    files: u64,
    /// Whether more was asked for.
    is_exceeded: Cell<bool>,
}

/// A file that is read under a meter.
pub(super) struct Metered {
    file: File,
    meter: Rc<Meter>,
}

impl Metered {
    fn exceed(&self) -> io::Error {
        self.meter.is_exceeded.set(true);
        io::Error::new(io::ErrorKind::InvalidData, "more is asked for than may be read")
    }
}

impl Read for Metered {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Before anything is read: a record may say that it is as large as the file.
        let left = self.meter.left.get();
        if left < u64::MAX && buffer.len() as u64 > left {
            return Err(self.exceed());
        }
        let count = self.file.read(buffer)?;
        self.meter.left.set(if left == u64::MAX { left } else { left - count as u64 });
        // The library makes room for as many files as the record of a large zip states, before it reads the first.
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
