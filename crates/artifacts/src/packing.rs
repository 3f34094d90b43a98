//! ZIP archives for bundles: the files of a commit, and the files of a sample. The same files give the same bytes: they
//! are in the order in which they are visited, without times.

pub mod forecast;
pub mod names;

use std::{
    collections::BTreeSet,
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
};

use marketplace_domain::{
    excerpt::{excerpt, quoted},
    samples::{DEFAULT_FILE_BYTES, DEFAULT_FILES, Selection},
};
use serde::{Deserialize, Serialize};
use zip::{ZipWriter, result::ZipError};

use super::{
    Limits, ReadError, Rejection, archive,
    contents::{Entry, EntryKind, FileAction, Visitor},
    file_sets::{BUFFER_BYTES, file_options},
    git, readme,
};

use self::names::{PackedNames, packed_name};

/// Name of the file that [`pack_archive`] creates.
pub const OUTPUT_FILE: &str = "files.zip";

/// From this size on, ZIP64 is needed, which the writer must know in advance.
const ZIP64_BYTES: u64 = u32::MAX as u64;

/// Which files an archive has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileSelection {
    /// All files.
    All,
    /// The README, the license, and the first files by path, without large files.
    Default,
    /// The files with these paths, and those in directories with these paths.
    Paths(Vec<String>),
}

impl FileSelection {
    /// Returns the files of a sample.
    pub fn of_sample(selection: &Selection) -> FileSelection {
        selection.paths.clone().map_or(FileSelection::Default, FileSelection::Paths)
    }
}

/// A packed archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackedFiles {
    /// Number of files.
    pub files: u64,
}

/// Writes files of a commit to an archive.
pub fn pack_repository(
    directory: &Path,
    limits: git::Limits,
    commit: &str,
    selection: &FileSelection,
    to: File,
) -> Result<PackedFiles, ReadError> {
    let repository = git::Repository::open_at(directory, limits, commit)?;
    pack(selection, to, |visitor| git::visit_files(&repository, limits, &|| true, visitor))
}

/// Writes files of an archive to a new archive in `directory`.
pub fn pack_archive(
    path: &Path,
    limits: Limits,
    selection: &FileSelection,
    directory: &Path,
) -> Result<PackedFiles, ReadError> {
    let to = File::create_new(directory.join(OUTPUT_FILE)).map_err(ReadError::Io)?;
    pack(selection, to, |visitor| archive::visit(path, limits, visitor, &|| true))
}

fn pack(
    selection: &FileSelection,
    to: File,
    visit: impl Fn(&mut dyn Visitor) -> Result<(), ReadError>,
) -> Result<PackedFiles, ReadError> {
    let wanted = match selection {
        FileSelection::All => Wanted::All,
        FileSelection::Paths(paths) => Wanted::Paths(Selection::path_set(paths)),
        FileSelection::Default => {
            let mut chooser = Chooser::default();
            visit(&mut chooser)?;
            Wanted::Chosen(chooser.finish())
        }
    };
    let zip = ZipWriter::new(BufWriter::with_capacity(BUFFER_BYTES, to));
    let mut packer =
        Packer { zip, wanted, names: PackedNames::default(), files: 0, is_packing: false, failure: None };
    visit(&mut packer)?;
    packer.finish()
}

/// Whether a path names a file below the root, so that it can be unpacked anywhere.
fn is_safe(path: &str) -> bool {
    let is_name = |part: &str| !matches!(part, "" | "." | "..") && !part.eq_ignore_ascii_case(".git");
    u16::try_from(path.len()).is_ok() && !path.contains('\0') && path.split('/').all(is_name)
}

/// The files to pack.
enum Wanted<'a> {
    All,
    Paths(BTreeSet<&'a str>),
    Chosen(BTreeSet<String>),
}

impl Wanted<'_> {
    fn has(&self, path: &str) -> bool {
        match self {
            Wanted::All => true,
            Wanted::Paths(paths) => Selection::selects(paths, path),
            Wanted::Chosen(paths) => paths.contains(path),
        }
    }
}

/// Writes the files that it visits to an archive.
struct Packer<'a> {
    zip: ZipWriter<BufWriter<File>>,
    wanted: Wanted<'a>,
    names: PackedNames,
    files: u64,
    /// Whether the current file is packed.
    is_packing: bool,
    /// The first error. Nothing is written after it.
    failure: Option<ReadError>,
}

impl Packer<'_> {
    fn start(&mut self, entry: &Entry<'_>) -> Result<FileAction, ZipError> {
        let options = file_options().large_file(entry.size >= ZIP64_BYTES);
        let options = if entry.is_executable { options.unix_permissions(0o755) } else { options };
        let name = packed_name(entry.path);
        match entry.kind {
            EntryKind::Link { target: Some(target) } => {
                self.zip.add_symlink(name, target, options)?;
                self.files += 1;
            }
            _ if entry.is_file() => {
                self.zip.start_file(name, options)?;
                self.files += 1;
                return Ok(FileAction::Read);
            }
            _ => {}
        }
        Ok(FileAction::Skip)
    }

    fn fail(&mut self, error: ReadError) {
        self.failure.get_or_insert(error);
    }

    fn finish(self) -> Result<PackedFiles, ReadError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        if self.files == 0 && !matches!(self.wanted, Wanted::All) {
            return Err(Rejection("The sample names no file of the data.".to_owned()).into());
        }
        let written = self.zip.finish().map_err(io::Error::other).and_then(|mut file| file.flush());
        written.map_err(ReadError::Io)?;
        Ok(PackedFiles { files: self.files })
    }
}

impl Visitor for Packer<'_> {
    fn start_file(&mut self, entry: &Entry<'_>) -> FileAction {
        self.is_packing = self.failure.is_none() && is_safe(entry.path) && self.wanted.has(entry.path);
        if !self.is_packing {
            return FileAction::Skip;
        }
        if entry.is_too_large || entry.is_encrypted {
            self.fail(Rejection("A file is too large, or needs a password.".to_owned()).into());
            return FileAction::Skip;
        }
        if entry.kind != EntryKind::Submodule && !self.names.add(entry.path) {
            let name = quoted(&excerpt(entry.path));
            self.fail(
                Rejection(format!("Another file, or a directory, has the name of the file {name}.")).into(),
            );
            return FileAction::Skip;
        }
        match self.start(entry) {
            Ok(action) => action,
            Err(cause) => {
                self.fail(ReadError::Io(io::Error::other(cause)));
                FileAction::Skip
            }
        }
    }

    fn chunk(&mut self, bytes: &[u8]) {
        if self.failure.is_none()
            && let Err(cause) = self.zip.write_all(bytes)
        {
            self.fail(ReadError::Io(cause));
        }
    }

    fn end_file(&mut self, problem: Option<&str>) {
        // Files that are not packed are checked, too, but may be damaged.
        if let Some(problem) = problem.filter(|_| self.is_packing) {
            self.fail(Rejection(format!("A file of the archive {problem}.")).into());
        }
    }
}

/// Chooses the files of a sample for which the vendor has not chosen any.
#[derive(Default)]
struct Chooser {
    /// The README and the license with the lowest rank: their numbers of directories, ranks, and paths.
    readme: Option<(usize, usize, String)>,
    license: Option<(usize, usize, String)>,
    first: BTreeSet<String>,
}

/// Returns the rank of the name of a license, or `None` if the name is not that of one.
fn license_rank(name: &str) -> Option<usize> {
    const NAMES: [&str; 4] = ["license", "licence", "copying", "unlicense"];
    let stem = name.split('.').next().unwrap_or(name);
    NAMES.iter().position(|license| stem.eq_ignore_ascii_case(license))
}

impl Chooser {
    fn finish(self) -> BTreeSet<String> {
        let named = [self.readme, self.license].into_iter().flatten().map(|(.., path)| path);
        self.first.into_iter().chain(named).collect()
    }
}

impl Visitor for Chooser {
    fn start_file(&mut self, entry: &Entry<'_>) -> FileAction {
        if !entry.is_file() || entry.is_extra() || entry.size > DEFAULT_FILE_BYTES || !is_safe(entry.path) {
            return FileAction::Skip;
        }
        let depth = entry.path.matches('/').count();
        for (best, rank) in
            [(&mut self.readme, readme::rank(entry.name())), (&mut self.license, license_rank(entry.name()))]
        {
            if let Some(rank) = rank {
                let found = (depth, rank, entry.path.to_owned());
                if best.as_ref().is_none_or(|best| found < *best) {
                    *best = Some(found);
                }
            }
        }
        let is_first = |last: &String| entry.path < last.as_str();
        if self.first.len() < DEFAULT_FILES || self.first.last().is_some_and(is_first) {
            self.first.insert(entry.path.to_owned());
            if self.first.len() > DEFAULT_FILES {
                self.first.pop_last();
            }
        }
        FileAction::Skip
    }

    fn chunk(&mut self, _: &[u8]) {}

    fn end_file(&mut self, _: Option<&str>) {}
}

#[cfg(test)]
mod tests;
