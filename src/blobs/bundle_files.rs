//! Files that were made for bundles, named by their digests: ZIP archives of commits and samples, and lines of tasks.
//! They are in the data directory, like the copies of repositories.

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Read},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::{Blobs, CleanupLock, FileHold, StoredFile, local};

/// Number of bytes that are hashed at a time.
const CHUNK: usize = 1 << 20;

/// Size and digests of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashedFile {
    /// Size in bytes, and SHA-256 digest.
    pub file: StoredFile,
    /// CRC-32 checksum.
    pub crc32: u32,
}

/// Returns the CRC-32 checksum of a document of a bundle.
pub fn crc32(document: &[u8]) -> u32 {
    crc32fast::hash(document)
}

/// Reads everything from a reader, and returns its size and digests. `before_chunk` is called before each chunk of 1 MiB;
/// its error ends the reading.
pub fn hash_for_bundle<E: From<io::Error>>(
    source: &mut dyn Read,
    mut before_chunk: impl FnMut() -> Result<(), E>,
) -> Result<HashedFile, E> {
    let (mut sha256, mut crc32, mut size_bytes) = (Sha256::new(), crc32fast::Hasher::new(), 0);
    let mut chunk = vec![0; CHUNK];
    loop {
        before_chunk()?;
        let count = match source.read(&mut chunk) {
            Err(cause) if cause.kind() == ErrorKind::Interrupted => continue,
            other => other?,
        };
        if count == 0 {
            let sha256 = format!("{:x}", sha256.finalize());
            return Ok(HashedFile { file: StoredFile { size_bytes, sha256 }, crc32: crc32.finalize() });
        }
        sha256.update(&chunk[..count]);
        crc32.update(&chunk[..count]);
        size_bytes += count as u64;
    }
}

impl Blobs {
    /// Returns the path of the file with this SHA-256 digest.
    pub fn bundle_file_path(&self, sha256: &str) -> PathBuf {
        self.local.bundle_files().join(sha256)
    }

    /// Moves a file from the staging directory into the storage, under its digest. Until the hold is dropped, no cleanup
    /// deletes it, so the caller can store a reference to it.
    pub fn store_bundle_file(&self, from: &Path, sha256: &str, _hold: &FileHold) -> io::Result<()> {
        let to = self.bundle_file_path(sha256);
        // A file with this name has the same bytes.
        if to.try_exists()? { fs::remove_file(from) } else { local::persist_file(from, &to) }
    }

    /// Whether the file with this digest exists.
    pub fn has_bundle_file(&self, sha256: &str) -> bool {
        self.bundle_file_path(sha256).is_file()
    }

    /// Deletes all files of bundles for which `is_referenced` returns false. Returns their number.
    pub fn cleanup_bundle_files(
        &self,
        _: &CleanupLock,
        is_referenced: impl Fn(&str) -> bool,
    ) -> io::Result<u64> {
        let mut deleted = 0;
        for entry in local::list_dir(&self.local.bundle_files())? {
            if !is_referenced(&entry.file_name().to_string_lossy()) {
                fs::remove_file(entry.path())?;
                deleted += 1;
            }
        }
        Ok(deleted)
    }

    /// Reads exactly `length` bytes of an upload from an offset.
    pub fn read_upload_range(&self, id: Uuid, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        match &self.s3 {
            Some(s3) => {
                let bytes = s3.read_range(id, offset..offset + length as u64)?;
                if bytes.len() == length { Ok(bytes) } else { Err(ErrorKind::UnexpectedEof.into()) }
            }
            None => read_range(&self.local.upload_path(id), offset, length),
        }
    }

    /// Reads exactly `length` bytes of the file with a digest from an offset.
    pub fn read_bundle_file_range(&self, sha256: &str, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        read_range(&self.bundle_file_path(sha256), offset, length)
    }
}

fn read_range(path: &Path, offset: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    File::open(path)?.read_exact_at(&mut bytes, offset)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_kept_while_they_are_referenced_or_held() {
        let directory = tempfile::tempdir().unwrap();
        let blobs = Blobs::new(directory.path().join("blobs"), None);
        let hash = |bytes: &[u8]| hash_for_bundle(&mut &*bytes, || io::Result::Ok(())).unwrap();
        let hold = blobs.hold_files().unwrap();
        for bytes in [b"abc", b"abc", b"abd"] {
            let staging = blobs.staging_dir().unwrap();
            let file = staging.path().join("file");
            fs::write(&file, bytes).unwrap();
            blobs.store_bundle_file(&file, &hash(bytes).file.sha256, &hold).unwrap();
            assert!(!file.exists());
        }
        let kept = hash(b"abc");
        assert_eq!((kept.crc32, kept.file.size_bytes), (0x3524_41c2, 3));
        let kept = kept.file.sha256;
        assert!(blobs.try_lock_for_cleanup().unwrap().is_none(), "it is held");
        drop(hold);
        let lock = blobs.try_lock_for_cleanup().unwrap().unwrap();
        assert_eq!(blobs.cleanup_bundle_files(&lock, |sha256| sha256 == kept).unwrap(), 1);
        assert_eq!(blobs.read_bundle_file_range(&kept, 1, 2).unwrap(), b"bc");
        assert!(blobs.read_bundle_file_range(&kept, 1, 3).is_err());
        assert!(blobs.has_bundle_file(&kept) && !blobs.has_bundle_file("other"));
    }
}
