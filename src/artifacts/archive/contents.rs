//! One pass over everything that a zip holds: each file is unpacked to its end and checked against the list, whoever wants
//! to see its bytes. Knows nothing of what is looked for.

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

/// Bytes of a piece.
const PIECE: usize = 65_536;

/// Entries between two looks at whether to go on.
const LOOK_EVERY_ENTRIES: usize = 64;

/// Bytes between two looks at whether to go on.
const LOOK_EVERY_BYTES: u64 = 4 << 20;

/// Files of attributes that are shown first.
const MAX_FIRST: usize = 1_000;

/// Shows every file of the archive at a path to a visitor, in the order of its list but for files of attributes, which come
/// first. Goes on while `go_on` says so.
///
/// What cannot be read of a file is told to the visitor; an error means that there is no list of files, or that the machine
/// failed. No more is unpacked than the limits allow, however small the archive claims its files to be.
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
        // With two files of one name every header would be called inconsistent, while only those two are.
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

/// Entries that come before all others, since they say something of those: files of attributes, the outer ones first.
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

/// What is under way while an archive is shown.
struct Pass<'v> {
    is_strict: bool,
    /// Bytes that may still be unpacked.
    left: u64,
    /// Files that were not unpacked, since there is too much of them.
    skipped: u64,
    /// Bytes unpacked since the last look at whether to go on.
    unseen: u64,
    buffer: Vec<u8>,
    visitor: &'v mut dyn Visitor,
    go_on: &'v dyn Fn() -> bool,
}

impl Pass<'_> {
    /// Shows an entry, and answers how large the list says that it is.
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
        // What macOS adds of its own is none of the vendor's files, so it is only met where it is damaged.
        let wanted = if is_extra { Wanted::Nothing } else { self.visitor.begin(&entry) };
        let fault = if is_encrypted {
            Some("needs a password")
        } else if size > self.left {
            self.skipped += 1;
            Some("was not unpacked, since the zip holds too much for its size")
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

    /// Unpacks an entry to its end, and answers why that is not possible.
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
                return Ok(Some("is packed in a way that is not read here"));
            }
            Err(_) => return Ok(Some("stands otherwise in the list of files than before its data")),
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
        Ok((bytes != size).then_some("is shorter than the list of files says"))
    }
}

/// What is wrong with data that cannot be read; an error where it is the machine that failed.
fn fault_of(cause: io::Error) -> Result<&'static str, Unread> {
    if cause.raw_os_error().is_some() {
        return Err(Unread::Broken(cause));
    }
    // The library has no other way to tell a wrong checksum.
    let is_checksum = cause.to_string().contains("checksum");
    Ok(if is_checksum { "has data that does not fit its checksum" } else { "has damaged data" })
}

#[cfg(test)]
mod tests;
