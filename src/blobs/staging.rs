//! Unfinished uploads in the built-in store. The parts of an upload are written directly to their offsets in
//! one file, in any order and repeatedly; a marker file per part records that it was received completely.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use sha2::{Digest, Sha256};
use uuid::Uuid;
use xxhash_rust::xxh3::Xxh3;

use super::{Finished, Received, Written, local};
use crate::domain::uploads::Split;

/// Number of bytes that are read at a time.
const CHUNK: usize = 1 << 20;

/// Stands for all parts of an upload in `busy`. Part numbers start at 1.
const ALL: u32 = 0;

/// The directory of unfinished uploads.
#[derive(Clone, Debug)]
pub(super) struct Staging {
    folder: PathBuf,
    /// Parts that are being written, and uploads that are being completed.
    busy: Arc<Mutex<HashSet<(Uuid, u32)>>>,
}

/// Writes one part. If it is dropped before [`finish`](PartWriter::finish), there is no marker file, so the
/// part counts as not received.
pub struct PartWriter {
    file: File,
    digest: Box<Xxh3>,
    left: u64,
    size: u64,
    number: u32,
    folder: PathBuf,
    _hold: Hold,
}

impl fmt::Debug for PartWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PartWriter({} in {}, {} left)", self.number, self.folder.display(), self.left)
    }
}

/// An exclusive lock on a part or on an upload, released on drop.
#[derive(Debug)]
pub(super) struct Hold {
    busy: Arc<Mutex<HashSet<(Uuid, u32)>>>,
    what: (Uuid, u32),
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.what);
    }
}

impl Staging {
    pub(super) fn new(folder: PathBuf) -> Staging {
        Staging { folder, busy: Arc::default() }
    }

    fn of(&self, id: Uuid) -> PathBuf {
        self.folder.join(id.to_string())
    }

    /// Locks a part, or all parts of an upload. Returns `None` if another caller has the lock.
    fn hold(&self, id: Uuid, number: u32) -> Option<Hold> {
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        let is_free = !busy.contains(&(id, number))
            && !busy.contains(&(id, ALL))
            && (number != ALL || !busy.iter().any(|(other, _)| *other == id));
        is_free.then(|| {
            busy.insert((id, number));
            Hold { busy: Arc::clone(&self.busy), what: (id, number) }
        })
    }

    /// Locks an upload in an S3-compatible store. Returns `None` if the upload is being completed.
    pub(super) fn hold_all(&self, id: Uuid) -> Option<Hold> {
        self.hold(id, ALL)
    }

    /// Starts writing a part. Returns `None` if another caller is writing it.
    pub(super) fn write(&self, id: Uuid, split: Split, number: u32) -> io::Result<Option<PartWriter>> {
        let (begin, size) = split.part(number).ok_or(io::ErrorKind::InvalidInput)?;
        let Some(hold) = self.hold(id, number) else { return Ok(None) };
        let folder = self.of(id);
        fs::create_dir_all(&folder)?;
        // The data of an earlier attempt is overwritten, so its marker must go first.
        unmark(&folder, number)?;
        let mut file =
            OpenOptions::new().create(true).truncate(false).write(true).open(folder.join("data"))?;
        file.seek(SeekFrom::Start(begin))?;
        let digest = Box::new(Xxh3::new());
        Ok(Some(PartWriter { file, digest, left: size, size, number, folder, _hold: hold }))
    }

    /// Returns the received parts, ordered by part number.
    pub(super) fn received(&self, id: Uuid) -> io::Result<Vec<Received>> {
        let mut parts = Vec::new();
        for entry in local::list(&self.of(id))? {
            let name = entry.file_name();
            let Some(number) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
            parts.extend(Received::of_mark(number, &fs::read_to_string(entry.path())?));
        }
        parts.sort_by_key(|part| part.part_number);
        Ok(parts)
    }

    /// Moves the data to `to` if all parts were received and match the given part numbers and entity tags.
    pub(super) fn finish(
        &self,
        id: Uuid,
        split: Split,
        parts: &[(u32, String)],
        to: &Path,
    ) -> io::Result<Finished> {
        let Some(_hold) = self.hold(id, ALL) else { return Ok(Finished::Busy) };
        let received = self.received(id)?;
        let missing = missing(split, &received, parts);
        if !missing.is_empty() {
            return Ok(Finished::Missing(missing));
        }
        let folder = self.of(id);
        let data = folder.join("data");
        let mut file = File::open(&data)?;
        // Sync, then verify each part: data that was lost in a system crash counts as missing.
        file.sync_all()?;
        let mut whole = Sha256::new();
        let mut chunk = vec![0; CHUNK];
        for part in &received {
            let mut digest = Xxh3::new();
            let mut left = part.size_bytes;
            while left > 0 {
                let most = chunk.len().min(left as usize);
                let count = file.read(&mut chunk[..most])?;
                if count == 0 {
                    break;
                }
                digest.update(&chunk[..count]);
                whole.update(&chunk[..count]);
                left -= count as u64;
            }
            if etag(&digest) != part.etag {
                unmark(&folder, part.part_number)?;
                return Ok(Finished::Missing(vec![part.part_number]));
            }
        }
        local::keep(&data, to)?;
        fs::remove_dir_all(folder)?;
        Ok(Finished::Whole(Written {
            size_bytes: split.size_bytes,
            sha256: format!("{:x}", whole.finalize()),
        }))
    }

    /// Deletes an upload and its parts.
    pub(super) fn abort(&self, id: Uuid) -> io::Result<()> {
        match fs::remove_dir_all(self.of(id)) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }

    /// Deletes all uploads for which `is_named` returns false.
    pub(super) fn sweep(&self, is_named: impl Fn(Uuid) -> bool) -> io::Result<()> {
        for entry in local::list(&self.folder)? {
            let id: Option<Uuid> = entry.file_name().to_string_lossy().parse().ok();
            if !id.is_some_and(&is_named) {
                fs::remove_dir_all(entry.path())?;
            }
        }
        Ok(())
    }
}

impl PartWriter {
    /// Writes the next bytes. Returns false, and writes nothing, if they exceed the size of the part.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<bool> {
        let Some(left) = self.left.checked_sub(bytes.len() as u64) else { return Ok(false) };
        self.file.write_all(bytes)?;
        self.digest.update(bytes);
        self.left = left;
        Ok(true)
    }

    /// Completes the part and returns its entity tag, or `None` if bytes are missing.
    pub fn finish(mut self) -> io::Result<Option<String>> {
        if self.left > 0 {
            return Ok(None);
        }
        self.file.flush()?;
        let etag = etag(&self.digest);
        fs::write(self.folder.join(self.number.to_string()), format!("{} {etag}", self.size))?;
        Ok(Some(etag))
    }
}

impl Received {
    /// Parses a marker file, which holds the size and the entity tag. `None` if a crash left it incomplete.
    fn of_mark(part_number: u32, mark: &str) -> Option<Received> {
        let (size, etag) = mark.split_once(' ')?;
        let is_whole = etag.len() == 32;
        is_whole.then_some(Received { part_number, size_bytes: size.parse().ok()?, etag: etag.to_owned() })
    }
}

/// Returns the numbers of the parts that were not received or do not match their given entity tag. Parts
/// without a given tag always match.
fn missing(split: Split, received: &[Received], named: &[(u32, String)]) -> Vec<u32> {
    let received: HashMap<u32, &str> =
        received.iter().map(|part| (part.part_number, part.etag.as_str())).collect();
    let named: HashMap<u32, &str> = named.iter().map(|(number, etag)| (*number, etag.as_str())).collect();
    let is_here = |number: &u32| {
        received.get(number).is_some_and(|etag| named.get(number).is_none_or(|named| named == etag))
    };
    (1..=split.count()).filter(|number| !is_here(number)).collect()
}

fn etag(digest: &Xxh3) -> String {
    format!("{:032x}", digest.digest128())
}

/// Deletes the marker file of a part, if it exists.
fn unmark(folder: &Path, number: u32) -> io::Result<()> {
    match fs::remove_file(folder.join(number.to_string())) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(staging: &Staging, id: Uuid, split: Split, number: u32, bytes: &[u8]) -> Option<String> {
        let mut writer = staging.write(id, split, number).unwrap().unwrap();
        assert!(writer.write(bytes).unwrap());
        writer.finish().unwrap()
    }

    #[test]
    fn parts_are_put_together_in_any_order() {
        let folder = tempfile::tempdir().unwrap();
        let (staging, id) = (Staging::new(folder.path().join("staged")), Uuid::from_u128(1));
        let split = Split { size_bytes: 2_500, part_bytes: 1_000 };
        let part = |number: u32| vec![number as u8; split.part(number).unwrap().1 as usize];
        let to = folder.path().join("whole");
        assert!(
            matches!(staging.finish(id, split, &[], &to).unwrap(), Finished::Missing(parts) if parts == [1, 2, 3])
        );
        let third = put(&staging, id, split, 3, &part(3)).unwrap();
        put(&staging, id, split, 1, b"cut off").ok_or(()).unwrap_err();
        let first = put(&staging, id, split, 1, &part(1)).unwrap();
        let numbers: Vec<u32> = staging.received(id).unwrap().iter().map(|part| part.part_number).collect();
        assert_eq!(numbers, [1, 3]);
        let second = put(&staging, id, split, 2, &part(2)).unwrap();
        let wrong = [(1, first.clone()), (2, third.clone()), (3, third.clone())];
        assert!(
            matches!(staging.finish(id, split, &wrong, &to).unwrap(), Finished::Missing(parts) if parts == [2])
        );
        let right = [(1, first), (2, second), (3, third)];
        let Finished::Whole(written) = staging.finish(id, split, &right, &to).unwrap() else { panic!() };
        assert_eq!(local::measure(&to).unwrap(), written);
        assert!(!staging.of(id).exists());
    }

    #[test]
    fn what_is_damaged_on_the_disk_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        let (staging, id) = (Staging::new(folder.path().join("staged")), Uuid::from_u128(1));
        let split = Split::of(3);
        put(&staging, id, split, 1, b"abc").unwrap();
        fs::write(staging.of(id).join("data"), b"ab").unwrap();
        let to = folder.path().join("whole");
        assert!(
            matches!(staging.finish(id, split, &[], &to).unwrap(), Finished::Missing(parts) if parts == [1])
        );
        assert!(staging.received(id).unwrap().is_empty());
        put(&staging, id, split, 1, b"abd").unwrap();
        assert!(matches!(staging.finish(id, split, &[], &to).unwrap(), Finished::Whole(_)));
    }

    #[test]
    fn a_part_is_written_by_one_and_takes_no_more_than_belongs_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let (staging, id) = (Staging::new(folder.path().join("staged")), Uuid::from_u128(1));
        let split = Split::of(3);
        let mut writer = staging.write(id, split, 1).unwrap().unwrap();
        assert!(staging.write(id, split, 1).unwrap().is_none());
        assert!(matches!(
            staging.finish(id, split, &[], &folder.path().join("whole")).unwrap(),
            Finished::Busy
        ));
        assert!(!writer.write(b"abcd").unwrap());
        drop(writer);
        assert!(staging.received(id).unwrap().is_empty());
        staging.sweep(|_| true).unwrap();
        assert!(staging.of(id).exists());
        staging.sweep(|_| false).unwrap();
        assert!(!staging.of(id).exists());
        staging.abort(id).unwrap();
    }
}
