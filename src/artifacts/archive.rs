//! Zips: what is in them, from their lists of files, without unpacking anything but a README.
//!
//! Whatever could harm who unpacks them is refused: ways out of the archive, links, passwords, two files of one name, files
//! that overlap, and little data that becomes much. Nothing is ever written.

use std::{
    cell::Cell,
    collections::BTreeMap,
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
    rc::Rc,
};

use zip::{ZipArchive, result::ZipError};

use super::{
    Limits, Refusal, Unread, readme,
    structure::{NodeKind, Structure, Tree},
};

/// Bytes that a list of files may have for each file that is allowed.
const LIST_BYTES_PER_FILE: u64 = 512;

/// Bytes that any list of files may have.
const MIN_LIST_BYTES: u64 = 1 << 20;

/// Archives that unpack to no more than this are never too dense.
const SMALL_BYTES: u64 = 100_000_000;

/// What is said of zips that end early or hold nonsense.
const DAMAGED: &str = "The zip is damaged or not whole. Pack it again, and upload it again.";

/// Entries between two looks at whether to go on.
const LOOK_EVERY: usize = 4_096;

/// Characters of an extension at most; what is longer is a name with a dot in it.
const MAX_EXTENSION: usize = 12;

/// What was read of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Files, without folders.
    pub files: u64,
    /// Bytes of all of them, unpacked.
    pub bytes: u64,
    /// Files by their extensions, in lower case and without the dot.
    pub extensions: BTreeMap<String, u64>,
    /// Folders and files.
    pub structure: Structure,
    /// What its README says first.
    pub description: Option<String>,
}

/// Reads the archive at a path. Goes on while `go_on` says so.
pub fn read(path: &Path, limits: Limits, go_on: &dyn Fn() -> bool) -> Result<Reading, Unread> {
    let file = File::open(path).map_err(Unread::Broken)?;
    let packed = file.metadata().map_err(Unread::Broken)?.len();
    let left = Rc::new(Cell::new(limits.files.saturating_mul(LIST_BYTES_PER_FILE).max(MIN_LIST_BYTES)));
    let metered = Metered { file, left: Rc::clone(&left) };
    let mut archive = ZipArchive::new(metered).map_err(|error| unreadable(error, limits))?;
    left.set(u64::MAX);
    let listed = list(&archive, packed, limits, go_on)?;
    if archive.has_overlapping_entries().map_err(|error| unreadable(error, limits))? {
        let what = "Files of the zip lie over each other, as no packing program writes them. Pack it again.";
        return Err(Refusal(what.to_owned()).into());
    }
    let description = match listed.readme {
        Some(index) => {
            let bytes = beginning(&mut archive, index).map_err(|error| unreadable(error, limits))?;
            readme::description(&bytes)
        }
        None => None,
    };
    Ok(Reading { description, ..listed.reading })
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
    if archive.has_duplicate_names() {
        return refuse("Two files of the zip have the same name. Rename one, and pack it again.".to_owned());
    }
    let (mut tree, mut extensions) = (Tree::default(), BTreeMap::<String, u64>::new());
    let (mut files, mut bytes) = (0, 0_u64);
    let mut paths = Vec::new();
    for index in 0..archive.len() {
        if index % LOOK_EVERY == 0 && !go_on() {
            return Err(Unread::Stopped);
        }
        let entry = archive.by_index_data(index).map_err(|error| unreadable(error, limits))?;
        let name = entry.name().map_err(|error| unreadable(error, limits))?;
        let Some(steps) = steps(&name) else {
            return refuse(format!(
                "{} leads out of the zip. Pack it again without such paths.",
                shown(&name)
            ));
        };
        if entry.is_symlink() {
            return refuse(format!("{} is a link. Pack what it leads to instead.", shown(&name)));
        }
        if entry.encrypted() {
            return refuse(format!("{} needs a password. Pack it without one.", shown(&name)));
        }
        if entry.is_dir() || name.ends_with('\\') {
            tree.add(steps, NodeKind::Folder);
            continue;
        }
        files += 1;
        bytes = bytes.saturating_add(entry.size());
        if let Some(extension) = extension(steps.last().copied().unwrap_or_default()) {
            *extensions.entry(extension).or_default() += 1;
        }
        paths.push((index, name.replace('\\', "/")));
        tree.add(steps, NodeKind::File);
    }
    if bytes > SMALL_BYTES && bytes / packed.max(1) > limits.ratio {
        let times = bytes / packed.max(1);
        return refuse(format!(
            "The zip unpacks to {times} times its size, and at most {} times are read. Pack what it stands for.",
            limits.ratio
        ));
    }
    let readme = readme_among(&paths);
    let structure = tree.into_structure();
    Ok(Listed { reading: Reading { files, bytes, extensions, structure, description: None }, readme })
}

/// The README in the root: in the zip's own, or in the only folder that everything lies in.
fn readme_among(paths: &[(usize, String)]) -> Option<usize> {
    let first = paths.first()?.1.split('/').next()?;
    let is_wrapped =
        paths.iter().all(|(_, path)| path.strip_prefix(first).is_some_and(|rest| rest.starts_with('/')));
    let in_root = paths.iter().filter_map(|(index, path)| {
        let name = if is_wrapped { &path[first.len() + 1..] } else { path };
        Some((readme::rank(name)?, *index))
    });
    in_root.min().map(|(_, index)| index)
}

/// The first bytes of a file.
fn beginning(archive: &mut ZipArchive<Metered>, index: usize) -> Result<Vec<u8>, ZipError> {
    let mut bytes = Vec::new();
    archive.by_index(index)?.take(readme::READ_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The names on the way to an entry; nothing where it leads out of the archive.
fn steps(name: &str) -> Option<Vec<&str>> {
    if name.contains('\0') || name.starts_with(['/', '\\']) || name.get(1..2) == Some(":") {
        return None;
    }
    let steps: Vec<&str> = name.split(['/', '\\']).filter(|step| !step.is_empty() && *step != ".").collect();
    (!steps.is_empty() && !steps.contains(&"..")).then_some(steps)
}

fn extension(name: &str) -> Option<String> {
    let (stem, extension) = name.rsplit_once('.')?;
    let is_one = !stem.is_empty()
        && (1..=MAX_EXTENSION).contains(&extension.len())
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_one.then(|| extension.to_ascii_lowercase())
}

/// A name as a message may hold it.
fn shown(name: &str) -> String {
    let shown: String = name.chars().filter(|letter| !letter.is_control()).take(100).collect();
    format!("{shown:?}")
}

fn too_many(limits: Limits) -> Refusal {
    Refusal(format!("The zip holds more than {} files and folders. Split it.", limits.files))
}

/// Why a zip cannot be read, for its vendor. What the machine could not read is tried again.
fn unreadable(error: ZipError, limits: Limits) -> Unread {
    let what = match error {
        ZipError::Io(cause) => match cause.kind() {
            _ if is_too_long(&cause) => return too_many(limits).into(),
            io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                DAMAGED
            }
            _ => return Unread::Broken(cause),
        },
        ZipError::UnsupportedArchive(_) | ZipError::CompressionMethodNotSupported(_) => {
            "The zip is packed in a way that is not read here. Pack it with Deflate or Zstandard, in one part."
        }
        ZipError::InvalidPassword => "The zip needs a password. Pack it without one.",
        _ => DAMAGED,
    };
    Refusal(what.to_owned()).into()
}

fn is_too_long(cause: &io::Error) -> bool {
    cause.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<ListTooLong>)
}

/// A file of which so many bytes are read at most, since a list of files is held in memory.
struct Metered {
    file: File,
    left: Rc<Cell<u64>>,
}

/// The list of files is longer than may be.
#[derive(Debug, thiserror::Error)]
#[error("the list of files is too long")]
struct ListTooLong;

impl Read for Metered {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        let left = self.left.get().checked_sub(count as u64).ok_or_else(|| io::Error::other(ListTooLong))?;
        self.left.set(left);
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
