//! One pass over all files of a ZIP archive: each file is unpacked completely and compared with the central
//! directory, whether or not the visitor wants its bytes. Knows nothing of what the visitor looks for.

use std::{
    collections::HashSet,
    io::{self, Read},
    path::Path,
};

use zip::{ZipArchive, read::ZipReadOptions, result::ZipError};

use super::{Metered, Opened, SMALL_BYTES, is_link, open, steps, unreadable};
use crate::artifacts::{
    Limits, Unread,
    contents::{Entry, EntryKind, Visitor, Wanted, WholeFault},
};

/// Size of a chunk in bytes.
const PIECE: usize = 65_536;

/// Number of entries between two cancellation checks.
const LOOK_EVERY_ENTRIES: usize = 64;

/// Number of bytes between two cancellation checks.
const LOOK_EVERY_BYTES: u64 = 4 << 20;

/// Maximum number of `.gitattributes` files that are visited before all other files.
const MAX_FIRST: usize = 1_000;

/// Passes every file of the archive at a path to a visitor, for as long as `go_on` returns true. The order is
/// that of the central directory, except that `.gitattributes` files come first.
///
/// Problems of single files are reported to the visitor. An error means that the central directory cannot be
/// read, or that this machine failed. Never unpacks more than the limits allow, however small the archive
/// claims its files to be.
pub fn visit(
    path: &Path,
    limits: Limits,
    visitor: &mut dyn Visitor,
    go_on: &dyn Fn() -> bool,
) -> Result<(), Unread> {
    let Opened { mut archive, packed, .. } = open(path, limits)?;
    if archive.len() as u64 > limits.files {
        return Err(super::too_many(limits).into());
    }
    match archive.validate_header_consistency() {
        Ok(()) => {}
        Err(ZipError::Io(cause)) if cause.raw_os_error().is_some() => return Err(Unread::Broken(cause)),
        Err(_) => visitor.whole(WholeFault::Inconsistent),
    }
    let mut pass = Pass {
        // If two files have the same name, the library calls every header inconsistent, not only those two.
        is_strict: !archive.has_duplicate_names(),
        left: SMALL_BYTES.max(packed.saturating_mul(limits.ratio)),
        skipped: 0,
        unseen: 0,
        buffer: vec![0; PIECE],
        visitor,
        go_on,
    };
    let first = first(&archive)?;
    let is_first: HashSet<usize> = first.iter().copied().collect();
    let others = (0..archive.len()).filter(|index| !is_first.contains(index));
    let mut bytes = 0_u64;
    for (count, index) in first.iter().copied().chain(others).enumerate() {
        if count % LOOK_EVERY_ENTRIES == 0 && !go_on() {
            return Err(Unread::Stopped);
        }
        bytes = bytes.saturating_add(pass.show(&mut archive, index)?);
    }
    if pass.skipped > 0 {
        let times = bytes / packed.max(1);
        pass.visitor.whole(WholeFault::TooDense { times });
    }
    Ok(())
}

/// Returns the indexes of `.gitattributes` files, outer ones first. They precede all other files because they
/// describe them.
fn first(archive: &ZipArchive<Metered>) -> Result<Vec<usize>, Unread> {
    let mut found = Vec::new();
    for index in 0..archive.len() {
        let listed = archive.by_index_data(index).map_err(unreadable)?;
        if listed.name_raw().ends_with(b".gitattributes") && found.len() < MAX_FIRST {
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
    left: u64,
    /// Number of files that were not unpacked because the limit on bytes was reached.
    skipped: u64,
    /// Number of bytes unpacked since the last cancellation check.
    unseen: u64,
    buffer: Vec<u8>,
    visitor: &'v mut dyn Visitor,
    go_on: &'v dyn Fn() -> bool,
}

impl Pass<'_> {
    /// Passes an entry to the visitor. Returns the entry's size according to the central directory.
    fn show(&mut self, archive: &mut ZipArchive<Metered>, index: usize) -> Result<u64, Unread> {
        let listed = archive.by_index_data(index).map_err(unreadable)?;
        let name = listed.name().map_err(unreadable)?.into_owned();
        if (listed.is_dir() || name.ends_with('\\')) && listed.size() == 0 {
            return Ok(0);
        }
        let steps = steps(&name);
        let is_extra = steps.as_ref().is_some_and(|steps| steps.first() == Some(&"__MACOSX"));
        let joined = steps.map(|steps| steps.join("/"));
        let kind = if is_link(&listed) { EntryKind::Link { target: None } } else { EntryKind::File };
        let (size, is_encrypted, leads_out) = (listed.size(), listed.encrypted(), joined.is_none());
        let path = joined.as_deref().unwrap_or(&name);
        let entry = Entry { kind, is_encrypted, leads_out, ..Entry::file(path, size) };
        // Metadata that macOS adds is not part of the vendor's files, so it is only visited if it is damaged.
        let wanted = if is_extra { Wanted::Nothing } else { self.visitor.begin(&entry) };
        let fault = if is_encrypted {
            Some("needs a password")
        } else if size > self.left {
            self.skipped += 1;
            Some("was not unpacked because the archive unpacks to far more than its size")
        } else {
            self.left -= size;
            self.unpack(archive, index, size, wanted == Wanted::All)?
        };
        if is_extra && fault.is_some() {
            self.visitor.begin(&entry);
        }
        if !is_extra || fault.is_some() {
            self.visitor.end(fault);
        }
        Ok(size)
    }

    /// Unpacks an entry completely. Returns what is wrong with its data, if anything.
    fn unpack(
        &mut self,
        archive: &mut ZipArchive<Metered>,
        index: usize,
        size: u64,
        is_wanted: bool,
    ) -> Result<Option<&'static str>, Unread> {
        let options = ZipReadOptions::new().enforce_header_consistency(self.is_strict);
        let mut data = match archive.by_index_with_options(index, options) {
            Ok(data) => data,
            Err(ZipError::Io(cause)) => return fault_of(cause).map(Some),
            Err(ZipError::UnsupportedArchive(_) | ZipError::CompressionMethodNotSupported(_)) => {
                return Ok(Some("uses an unsupported compression method"));
            }
            Err(_) => return Ok(Some("has a local header that contradicts the central directory")),
        };
        let mut bytes = 0_u64;
        loop {
            let count = match data.read(&mut self.buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => continue,
                Err(cause) => return fault_of(cause).map(Some),
            };
            bytes += count as u64;
            self.unseen += count as u64;
            if self.unseen >= LOOK_EVERY_BYTES {
                self.unseen = 0;
                if !(self.go_on)() {
                    return Err(Unread::Stopped);
                }
            }
            if is_wanted {
                self.visitor.piece(&self.buffer[..count]);
            }
        }
        Ok((bytes != size).then_some("is shorter than the central directory says"))
    }
}

/// Returns what is wrong with data that cannot be read, or an error if this machine failed.
fn fault_of(cause: io::Error) -> Result<&'static str, Unread> {
    if cause.raw_os_error().is_some() {
        return Err(Unread::Broken(cause));
    }
    // The library reports a wrong checksum only by the text of its error.
    let is_checksum = cause.to_string().contains("checksum");
    Ok(if is_checksum { "has data that does not match its checksum" } else { "has corrupt data" })
}

#[cfg(test)]
mod tests;
