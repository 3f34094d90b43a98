//! One pass over all files of a ZIP archive: each file is unpacked completely and compared with the central
//! directory, even if the visitor does not read it.

use std::{
    collections::{BTreeMap, HashSet},
    io::{self, Read},
    path::Path,
};

use zip::{ZipArchive, read::ZipReadOptions, result::ZipError};

use super::{
    BudgetedFile, FILE_AND_DIRECTORY, OpenArchive, RATIO_EXEMPT_BYTES, RepeatedNames,
    files_that_are_directories, formats, from_zip_error, ignore_archive_error, is_directory, is_link,
    open_archive, path_components,
};
use crate::{
    Limits, ReadError,
    contents::{self, ArchiveProblem, Entry, EntryKind, FileAction, Visitor},
};

/// Size of a chunk in bytes.
const CHUNK_BYTES: usize = 65_536;

/// Number of entries between two cancellation checks.
const ENTRIES_PER_CANCEL_CHECK: usize = 64;

/// Number of bytes between two cancellation checks.
const BYTES_PER_CANCEL_CHECK: u64 = 4 << 20;

/// Maximum number of `.gitattributes` files that are visited before all other files.
const MAX_ATTRIBUTES_FILES: usize = 1_000;

/// Passes every file of the archive at a path to a visitor, for as long as `should_continue` returns true.
/// The order is that of the central directory, except that `.gitattributes` files come first.
///
/// Problems of single files are reported to the visitor. An error means that the central directory cannot be
/// read, or that this machine failed. Never unpacks more than the limits allow, regardless of the sizes that the
/// archive states.
pub fn visit(
    path: &Path,
    limits: Limits,
    visitor: &mut dyn Visitor,
    should_continue: &dyn Fn() -> bool,
) -> Result<(), ReadError> {
    let OpenArchive { mut archive, archive_size, repeated_names, .. } = open_archive(path, limits)?;
    if archive.len() as u64 > limits.max_files {
        return Err(super::too_many_entries(limits).into());
    }
    // Files that overlap are inconsistent, too, and make the validation read the same headers many times.
    let validated = archive.has_overlapping_entries().and_then(|is_overlapping| match &repeated_names {
        _ if is_overlapping => Ok(false),
        None => archive.validate_header_consistency().map(|()| true),
        Some(RepeatedNames::Files(_)) => Ok(false),
        Some(RepeatedNames::Directories { is_consistent }) => Ok(*is_consistent),
    });
    if !validated.or_else(|error| ignore_archive_error(error).map(|()| false))? {
        visitor.archive_problem(ArchiveProblem::Inconsistent);
    }
    let mut pass = Pass {
        // If two entries have the same name, the library calls every header inconsistent, not only those two.
        is_strict: repeated_names.is_none(),
        remaining_bytes: RATIO_EXEMPT_BYTES.max(archive_size.saturating_mul(limits.max_ratio)),
        skipped_files: 0,
        unchecked_bytes: 0,
        are_directories: files_that_are_directories(&archive)?,
        buffer: vec![0; CHUNK_BYTES],
        visitor,
        should_continue,
    };
    let first = attributes_files(&archive)?;
    let is_attributes_file: HashSet<usize> = first.iter().copied().collect();
    let others = (0..archive.len()).filter(|index| !is_attributes_file.contains(index));
    let mut total_bytes = 0_u64;
    for (count, index) in first.iter().copied().chain(others).enumerate() {
        if count % ENTRIES_PER_CANCEL_CHECK == 0 && !should_continue() {
            return Err(ReadError::Canceled);
        }
        total_bytes = total_bytes.saturating_add(pass.visit_entry(&mut archive, index)?);
    }
    if pass.skipped_files > 0 {
        let times = total_bytes / archive_size.max(1);
        pass.visitor.archive_problem(ArchiveProblem::TooDense { times });
    }
    Ok(())
}

/// Returns the indexes of `.gitattributes` files, outer ones first. They precede all other files because they
/// describe them.
fn attributes_files(archive: &ZipArchive<BudgetedFile>) -> Result<Vec<usize>, ReadError> {
    let mut found = Vec::new();
    for index in 0..archive.len() {
        let listed = archive.by_index_data(index).map_err(from_zip_error)?;
        if listed.name_raw().ends_with(b".gitattributes") && found.len() < MAX_ATTRIBUTES_FILES {
            found.push((listed.name_raw().split(|byte| *byte == b'/').count(), index));
        }
    }
    found.sort_unstable();
    Ok(found.into_iter().map(|(_, index)| index).collect())
}

/// State of a pass over an archive.
struct Pass<'v> {
    is_strict: bool,
    /// Number of bytes that may still be unpacked.
    remaining_bytes: u64,
    /// Number of files that were not unpacked because the limit on bytes was reached.
    skipped_files: u64,
    /// Number of bytes unpacked since the last cancellation check.
    unchecked_bytes: u64,
    /// Files that are also directories, by the index of the entry.
    are_directories: BTreeMap<usize, String>,
    buffer: Vec<u8>,
    visitor: &'v mut dyn Visitor,
    should_continue: &'v dyn Fn() -> bool,
}

impl Pass<'_> {
    /// Passes an entry to the visitor. Returns the entry's size according to the central directory.
    fn visit_entry(
        &mut self,
        archive: &mut ZipArchive<BudgetedFile>,
        index: usize,
    ) -> Result<u64, ReadError> {
        let listed = archive.by_index_data(index).map_err(from_zip_error)?;
        let name = listed.name().map_err(from_zip_error)?.into_owned();
        if is_directory(&listed, &name) {
            return Ok(0);
        }
        let components = path_components(&name);
        let joined_path = components.map(|components| components.join("/"));
        let kind = if is_link(&listed) { EntryKind::Link { target: None } } else { EntryKind::File };
        let unsupported = formats::unsupported_compression(listed.compression());
        let (size, is_encrypted, is_outside) = (listed.size(), listed.encrypted(), joined_path.is_none());
        let path = joined_path.as_deref().unwrap_or(&name);
        let entry = Entry { kind, is_encrypted, is_outside, ..Entry::file(path, size) };
        let is_system_file = !is_outside && contents::is_system_file(path);
        let is_visited = !is_system_file || self.visitor.visits_system_files();
        let action = if is_visited { self.visitor.start_file(&entry) } else { FileAction::Skip };
        let problem = if is_encrypted {
            Some("needs a password".to_owned())
        } else if unsupported.is_some() {
            unsupported
        } else if size > self.remaining_bytes {
            self.skipped_files += 1;
            Some("was not unpacked because the archive unpacks to far more than its size".to_owned())
        } else {
            self.remaining_bytes -= size;
            let problem = self.unpack(archive, index, size, action == FileAction::Read)?;
            let is_directory = self.are_directories.contains_key(&index);
            problem.or(is_directory.then_some(FILE_AND_DIRECTORY)).map(str::to_owned)
        };
        if !is_visited && problem.is_some() {
            self.visitor.start_file(&entry);
        }
        if is_visited || problem.is_some() {
            self.visitor.end_file(problem.as_deref());
        }
        Ok(size)
    }

    /// Unpacks an entry completely. Returns the problem with its data, if there is one.
    fn unpack(
        &mut self,
        archive: &mut ZipArchive<BudgetedFile>,
        index: usize,
        size: u64,
        is_read: bool,
    ) -> Result<Option<&'static str>, ReadError> {
        // The library reports a wrong checksum only by the text of its error, so it is checked here instead.
        let options = ZipReadOptions::new().enforce_header_consistency(self.is_strict).ignore_crc32(true);
        let mut data = match archive.by_index_with_options(index, options) {
            Ok(data) => data,
            Err(ZipError::Io(cause)) => return data_problem(cause).map(Some),
            Err(ZipError::UnsupportedArchive(_)) => return Ok(Some("uses an unsupported feature of ZIP")),
            Err(_) => return Ok(Some("has a local header that contradicts the central directory")),
        };
        let (mut bytes, mut checksum) = (0_u64, crc32fast::Hasher::new());
        loop {
            // Decompression may return a few bytes at a time, and each chunk has a fixed cost.
            let count = match read_full(&mut data, &mut self.buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(cause) => return data_problem(cause).map(Some),
            };
            checksum.update(&self.buffer[..count]);
            bytes += count as u64;
            self.unchecked_bytes += count as u64;
            if self.unchecked_bytes >= BYTES_PER_CANCEL_CHECK {
                self.unchecked_bytes = 0;
                if !(self.should_continue)() {
                    return Err(ReadError::Canceled);
                }
            }
            if is_read {
                self.visitor.chunk(&self.buffer[..count]);
            }
        }
        Ok(if checksum.finalize() != data.crc32() {
            Some("has data that does not match its checksum")
        } else if bytes != size {
            Some("is shorter than the central directory says")
        } else {
            None
        })
    }
}

/// Reads until the buffer is full or the data ends. Returns the number of bytes.
fn read_full(data: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match data.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(cause),
        }
    }
    Ok(filled)
}

/// Returns the problem with unreadable data, or an error if this machine failed.
fn data_problem(cause: io::Error) -> Result<&'static str, ReadError> {
    if cause.raw_os_error().is_some() {
        return Err(ReadError::Io(cause));
    }
    Ok("has corrupt data")
}

#[cfg(test)]
mod tests;
