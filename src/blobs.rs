//! Files that the market keeps beside its database. Knows no rows; whoever writes a file notes its digest.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};
use uuid::Uuid;

/// Bytes that are copied at a time.
const CHUNK: usize = 1 << 20;

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Its size.
    pub size_bytes: u64,
    /// Its SHA-256 digest in hexadecimal.
    pub sha256: String,
}

/// The folder of a market's files.
#[derive(Clone, Debug)]
pub struct Blobs {
    folder: PathBuf,
}

impl Blobs {
    /// The files under a folder, which is made when the first comes.
    pub fn new(folder: impl Into<PathBuf>) -> Blobs {
        Blobs { folder: folder.into() }
    }

    /// Where an upload lies.
    pub fn upload(&self, id: Uuid) -> PathBuf {
        self.folder.join("uploads").join(format!("{id}.zip"))
    }

    /// Copies an upload in, whole or not at all.
    pub fn put_upload(&self, id: Uuid, source: &mut dyn Read) -> io::Result<Written> {
        let path = self.upload(id);
        let folder = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        let written = copy(source, &mut file)?;
        file.as_file().sync_all()?;
        file.persist(&path).map_err(|error| error.error)?;
        File::open(folder)?.sync_all()?;
        Ok(written)
    }

    /// Takes an upload away.
    pub fn remove_upload(&self, id: Uuid) -> io::Result<()> {
        fs::remove_file(self.upload(id))
    }

    /// What an upload holds now.
    pub fn measure_upload(&self, id: Uuid) -> io::Result<Written> {
        measure(&self.upload(id))
    }
}

fn measure(path: &Path) -> io::Result<Written> {
    copy(&mut File::open(path)?, &mut io::sink())
}

fn copy(source: &mut dyn Read, to: &mut dyn Write) -> io::Result<Written> {
    let (mut digest, mut size_bytes, mut chunk) = (Sha256::new(), 0, vec![0; CHUNK]);
    loop {
        let count = source.read(&mut chunk)?;
        if count == 0 {
            break;
        }
        to.write_all(&chunk[..count])?;
        digest.update(&chunk[..count]);
        size_bytes += count as u64;
    }
    to.flush()?;
    Ok(Written { size_bytes, sha256: format!("{:x}", digest.finalize()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_kept_as_it_came() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = Blobs::new(folder.path().join("blobs"));
        let id = Uuid::from_u128(7);
        let written = blobs.put_upload(id, &mut &b"abc"[..]).unwrap();
        assert_eq!(written.size_bytes, 3);
        assert_eq!(written.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(blobs.measure_upload(id).unwrap(), written);
        let names: Vec<_> = fs::read_dir(folder.path().join("blobs/uploads")).unwrap().collect();
        assert_eq!(names.len(), 1, "nothing is left beside it");
        blobs.remove_upload(id).unwrap();
        assert!(blobs.measure_upload(id).is_err());
    }
}
