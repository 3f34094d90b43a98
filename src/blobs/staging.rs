//! Unfinished uploads in the built-in store. The parts of an upload are written directly to their offsets in
//! one file, in any order and repeatedly; a marker file per part records that it was received completely.

use std::{
    collections::HashMap,
    fmt,
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};
use uuid::Uuid;
use xxhash_rust::xxh3::Xxh3;

use super::{CompletionOutcome, Reservation, StoredFile, UploadLock, UploadedPart, local};
use crate::{domain::uploads::PartLayout, private_files};

/// Number of bytes that are read at a time.
const CHUNK: usize = 1 << 20;

/// The directory of unfinished uploads. Callers hold the lock of the upload.
#[derive(Clone, Debug)]
pub(super) struct StagedUploads {
    directory: PathBuf,
}

/// Writes one part. If it is dropped before [`finish`](PartWriter::finish), there is no marker file, so the
/// part counts as not received.
pub struct PartWriter {
    file: File,
    digest: Box<Xxh3>,
    remaining_bytes: u64,
    size: u64,
    number: u32,
    directory: PathBuf,
    reservation: Reservation,
    _lock: UploadLock,
}

impl fmt::Debug for PartWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "PartWriter({} in {}, {} left)",
            self.number,
            self.directory.display(),
            self.remaining_bytes
        )
    }
}

impl StagedUploads {
    pub(super) fn new(directory: PathBuf) -> StagedUploads {
        StagedUploads { directory }
    }

    fn upload_dir(&self, id: Uuid) -> PathBuf {
        self.directory.join(id.to_string())
    }

    /// Starts writing a part. `lock` is held until the writer is dropped.
    pub(super) fn start_part(
        &self,
        lock: UploadLock,
        layout: PartLayout,
        number: u32,
    ) -> io::Result<PartWriter> {
        let (offset, size) = layout.part(number).ok_or(io::ErrorKind::InvalidInput)?;
        let directory = self.upload_dir(lock.id());
        private_files::create_dir_all(&directory)?;
        // The data of an earlier attempt is overwritten, so its marker must go first.
        private_files::remove_if_exists(&directory.join(number.to_string()))?;
        let mut options = private_files::open_options();
        let mut file = options.create(true).truncate(false).write(true).open(directory.join("data"))?;
        file.seek(SeekFrom::Start(offset))?;
        let digest = Box::new(Xxh3::new());
        Ok(PartWriter {
            file,
            digest,
            remaining_bytes: size,
            size,
            number,
            directory,
            reservation: Reservation::default(),
            _lock: lock,
        })
    }

    /// Returns the received parts, ordered by part number.
    pub(super) fn received_parts(&self, id: Uuid) -> io::Result<Vec<UploadedPart>> {
        let mut parts = Vec::new();
        for entry in local::list_dir(&self.upload_dir(id))? {
            let name = entry.file_name();
            let Some(number) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
            parts.extend(UploadedPart::parse_marker(number, &fs::read_to_string(entry.path())?));
        }
        parts.sort_by_key(|part| part.part_number);
        Ok(parts)
    }

    /// Moves the data to `to` if all parts are in `received` and match the given part numbers and entity
    /// tags.
    pub(super) fn complete_upload(
        &self,
        id: Uuid,
        layout: PartLayout,
        received: &[UploadedPart],
        parts: &[(u32, String)],
        to: &Path,
    ) -> io::Result<CompletionOutcome> {
        let missing = missing_parts(layout, received, parts);
        if !missing.is_empty() {
            return Ok(CompletionOutcome::Missing(missing));
        }
        let directory = self.upload_dir(id);
        let data = directory.join("data");
        let mut file = File::open(&data)?;
        // Sync, then verify each part: data that was lost in a system crash counts as missing.
        file.sync_all()?;
        let mut file_digest = Sha256::new();
        let mut chunk = vec![0; CHUNK];
        for part in received {
            let mut digest = Xxh3::new();
            let mut remaining = part.size_bytes;
            while remaining > 0 {
                let max_bytes = chunk.len().min(remaining as usize);
                let count = file.read(&mut chunk[..max_bytes])?;
                if count == 0 {
                    break;
                }
                digest.update(&chunk[..count]);
                file_digest.update(&chunk[..count]);
                remaining -= count as u64;
            }
            if compute_etag(&digest) != part.etag {
                private_files::remove_if_exists(&directory.join(part.part_number.to_string()))?;
                return Ok(CompletionOutcome::Missing(vec![part.part_number]));
            }
        }
        local::persist_file(&data, to)?;
        fs::remove_dir_all(directory)?;
        Ok(CompletionOutcome::Complete(StoredFile {
            size_bytes: layout.size_bytes,
            sha256: format!("{:x}", file_digest.finalize()),
        }))
    }

    /// Deletes an upload and its parts.
    pub(super) fn abort_upload(&self, id: Uuid) -> io::Result<()> {
        private_files::remove_dir_if_exists(&self.upload_dir(id))
    }

    /// Returns the IDs of all uploads.
    pub(super) fn list(&self) -> io::Result<Vec<Uuid>> {
        let entries = local::list_dir(&self.directory)?;
        Ok(entries.iter().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
    }
}

impl PartWriter {
    /// Writes into space that was reserved for the part.
    #[must_use]
    pub fn with_reservation(self, reservation: Reservation) -> PartWriter {
        PartWriter { reservation, ..self }
    }

    /// Writes the next bytes. Returns false, and writes nothing, if they exceed the size of the part.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<bool> {
        let Some(remaining) = self.remaining_bytes.checked_sub(bytes.len() as u64) else { return Ok(false) };
        self.file.write_all(bytes)?;
        self.digest.update(bytes);
        self.reservation.use_bytes(bytes.len() as u64);
        self.remaining_bytes = remaining;
        Ok(true)
    }

    /// Completes the part and returns its entity tag, or `None` if bytes are missing, or another process has
    /// deleted the upload meanwhile.
    pub fn finish(mut self) -> io::Result<Option<String>> {
        if self.remaining_bytes > 0 {
            return Ok(None);
        }
        self.file.flush()?;
        let etag = compute_etag(&self.digest);
        let marker = private_files::create(&self.directory.join(self.number.to_string()));
        let Some(mut marker) = private_files::if_found(marker)? else { return Ok(None) };
        marker.write_all(format!("{} {etag}", self.size).as_bytes())?;
        Ok(Some(etag))
    }
}

impl UploadedPart {
    /// Parses a marker file, which holds the size and the entity tag. `None` if a crash left it incomplete.
    fn parse_marker(part_number: u32, marker: &str) -> Option<UploadedPart> {
        let (size, etag) = marker.split_once(' ')?;
        let is_complete = etag.len() == 32;
        is_complete.then_some(UploadedPart {
            part_number,
            size_bytes: size.parse().ok()?,
            etag: etag.to_owned(),
        })
    }
}

/// Returns the numbers of the parts that were not received, or are not requested with their entity tag, if
/// that is known. An upload in one piece may be requested without a tag.
pub fn missing_parts(layout: PartLayout, received: &[UploadedPart], requested: &[(u32, String)]) -> Vec<u32> {
    let received: HashMap<u32, &str> =
        received.iter().map(|part| (part.part_number, part.etag.as_str())).collect();
    let requested: HashMap<u32, &str> =
        requested.iter().map(|(number, etag)| (*number, etag.as_str())).collect();
    let is_complete = |number: &u32| {
        received.get(number).is_some_and(|etag| match requested.get(number) {
            Some(given) => etag.is_empty() || given == etag,
            None => layout.is_single(),
        })
    };
    (1..=layout.part_count()).filter(|number| !is_complete(number)).collect()
}

fn compute_etag(digest: &Xxh3) -> String {
    format!("{:032x}", digest.digest128())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{blobs::upload_locks::UploadLocks, domain::upload_activity::UploadStep};

    fn lock_part(id: Uuid, number: u32) -> UploadLock {
        UploadLocks::default().try_lock(id, UploadStep::ReceivePart(number)).unwrap()
    }

    fn put(
        staging: &StagedUploads,
        id: Uuid,
        layout: PartLayout,
        number: u32,
        bytes: &[u8],
    ) -> Option<String> {
        let mut writer = staging.start_part(lock_part(id, number), layout, number).unwrap();
        assert!(writer.write(bytes).unwrap());
        writer.finish().unwrap()
    }

    fn complete(
        staging: &StagedUploads,
        id: Uuid,
        layout: PartLayout,
        parts: &[(u32, String)],
        to: &Path,
    ) -> CompletionOutcome {
        staging.complete_upload(id, layout, &staging.received_parts(id).unwrap(), parts, to).unwrap()
    }

    #[test]
    fn parts_may_arrive_in_any_order() {
        let directory = tempfile::tempdir().unwrap();
        let (staging, id) = (StagedUploads::new(directory.path().join("staged")), Uuid::from_u128(1));
        let layout = PartLayout { size_bytes: 2_500, part_bytes: 1_000 };
        let part = |number: u32| vec![number as u8; layout.part(number).unwrap().1 as usize];
        let to = directory.path().join("whole");
        assert!(
            matches!(complete(&staging, id, layout, &[], &to), CompletionOutcome::Missing(parts) if parts == [1, 2, 3])
        );
        let third = put(&staging, id, layout, 3, &part(3)).unwrap();
        put(&staging, id, layout, 1, b"cut off").ok_or(()).unwrap_err();
        let first = put(&staging, id, layout, 1, &part(1)).unwrap();
        let numbers: Vec<u32> =
            staging.received_parts(id).unwrap().iter().map(|part| part.part_number).collect();
        assert_eq!(numbers, [1, 3]);
        let second = put(&staging, id, layout, 2, &part(2)).unwrap();
        let wrong_etags = [(1, first.clone()), (2, third.clone()), (3, third.clone())];
        assert!(
            matches!(complete(&staging, id, layout, &wrong_etags, &to), CompletionOutcome::Missing(parts) if parts == [2])
        );
        let parts = [(1, first), (2, second), (3, third)];
        for (listed, expected) in [(&parts[..0], &[1, 2, 3][..]), (&parts[..1], &[2, 3]), (&parts[1..], &[1])]
        {
            assert!(
                matches!(complete(&staging, id, layout, listed, &to), CompletionOutcome::Missing(parts) if parts == expected)
            );
        }
        let CompletionOutcome::Complete(written) = complete(&staging, id, layout, &parts, &to) else {
            panic!()
        };
        assert_eq!(local::copy_and_hash(&mut File::open(&to).unwrap(), &mut io::sink()).unwrap(), written);
        assert!(!staging.upload_dir(id).exists());
    }

    #[test]
    fn parts_are_listed_with_their_tags_unless_there_is_only_one() {
        let (single, multipart) = (PartLayout::new(3), PartLayout { size_bytes: 5, part_bytes: 2 });
        let part = |(number, etag): &(u32, &str)| (*number, (*etag).to_owned());
        let received = |parts: &[(u32, &str)]| -> Vec<UploadedPart> {
            let parts = parts.iter().map(part);
            parts.map(|(part_number, etag)| UploadedPart { part_number, etag, size_bytes: 1 }).collect()
        };
        for (layout, known, listed, expected) in [
            (single, &[(1, "a")][..], &[][..], &[][..]),
            (single, &[(1, "a")], &[(1, "a")], &[]),
            (single, &[(1, "a")], &[(1, "b")], &[1]),
            (single, &[], &[], &[1]),
            (multipart, &[(1, "a"), (2, "b"), (3, "c")], &[], &[1, 2, 3]),
            (multipart, &[(1, "a"), (2, "b"), (3, "c")], &[(3, "c"), (1, "a"), (9, "b")], &[2]),
            (multipart, &[(1, "a"), (2, "b"), (3, "c")], &[(3, "c"), (2, "a"), (1, "a")], &[2]),
            (multipart, &[(1, "a"), (2, ""), (3, "c")], &[(3, "c"), (2, "x"), (1, "a")], &[]),
        ] {
            let listed: Vec<(u32, String)> = listed.iter().map(part).collect();
            assert_eq!(missing_parts(layout, &received(known), &listed), expected, "{listed:?}");
        }
    }

    #[test]
    fn damaged_part_counts_as_missing() {
        let directory = tempfile::tempdir().unwrap();
        let (staging, id) = (StagedUploads::new(directory.path().join("staged")), Uuid::from_u128(1));
        let layout = PartLayout::new(3);
        put(&staging, id, layout, 1, b"abc").unwrap();
        fs::write(staging.upload_dir(id).join("data"), b"ab").unwrap();
        let to = directory.path().join("whole");
        assert!(
            matches!(complete(&staging, id, layout, &[], &to), CompletionOutcome::Missing(parts) if parts == [1])
        );
        assert!(staging.received_parts(id).unwrap().is_empty());
        put(&staging, id, layout, 1, b"abd").unwrap();
        assert!(matches!(complete(&staging, id, layout, &[], &to), CompletionOutcome::Complete(_)));
    }

    #[test]
    fn part_is_limited_to_its_size() {
        let directory = tempfile::tempdir().unwrap();
        let (staging, id) = (StagedUploads::new(directory.path().join("staged")), Uuid::from_u128(1));
        let layout = PartLayout::new(3);
        let mut writer = staging.start_part(lock_part(id, 1), layout, 1).unwrap();
        assert!(!writer.write(b"abcd").unwrap());
        drop(writer);
        assert!(staging.received_parts(id).unwrap().is_empty());
        assert_eq!(staging.list().unwrap(), [id]);
        staging.abort_upload(id).unwrap();
        assert!(!staging.upload_dir(id).exists());
        staging.abort_upload(id).unwrap();
    }

    #[test]
    fn part_of_a_deleted_upload_is_not_received() {
        let directory = tempfile::tempdir().unwrap();
        let (staging, id) = (StagedUploads::new(directory.path().join("staged")), Uuid::from_u128(1));
        let mut writer = staging.start_part(lock_part(id, 1), PartLayout::new(3), 1).unwrap();
        assert!(writer.write(b"abc").unwrap());
        staging.abort_upload(id).unwrap();
        assert_eq!(writer.finish().unwrap(), None);
    }
}
