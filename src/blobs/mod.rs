//! Files that the market keeps beside its database: uploads, in its own folder or in an S3-compatible store, and copies of
//! repositories. Knows no rows; whoever writes a file notes its digest.

mod local;
mod s3;
pub mod signatures;
mod staging;

use std::{
    collections::BTreeMap,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use uuid::Uuid;

pub use s3::S3;
pub use staging::PartWriter;

use self::{local::Local, staging::Staging};
use crate::domain::{
    time::Timestamp,
    uploads::{ADDRESS_SECONDS, Split, Upload},
};

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Its size.
    pub size_bytes: u64,
    /// Its SHA-256 digest in hexadecimal.
    pub sha256: String,
}

/// A part that was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// Its number, from 1.
    pub part_number: u32,
    /// Its tag.
    pub etag: String,
    /// Its size.
    pub size_bytes: u64,
}

/// How putting an upload together ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finished {
    /// It is whole, and kept.
    Whole(Written),
    /// These parts are missing, or are others than those that were named.
    Missing(Vec<u32>),
    /// Somebody still sends a part.
    Busy,
}

/// Where a part is sent with PUT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The address, which is signed.
    pub url: String,
    /// Headers that go with it.
    pub headers: BTreeMap<String, String>,
    /// Until when it counts.
    pub expires_at: Timestamp,
}

/// What addresses are made of.
#[derive(Clone, Copy, Debug)]
pub struct Signer<'a> {
    /// The base of the server's own addresses.
    pub base_url: &'a str,
    /// What signs them.
    pub secret: &'a [u8; 32],
    /// The time.
    pub now: Timestamp,
}

/// An upload as a file on this machine.
#[derive(Debug)]
pub struct Fetched {
    path: PathBuf,
    /// What goes when it is not needed any more.
    _copy: Option<tempfile::TempDir>,
}

impl Fetched {
    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A market's files.
#[derive(Clone, Debug)]
pub struct Blobs {
    local: Local,
    staging: Staging,
    s3: Option<Arc<S3>>,
}

impl Blobs {
    /// The files under a folder, which is made when the first comes; uploads lie in the S3-compatible store, if there is one.
    pub fn new(folder: impl Into<PathBuf>, s3: Option<S3>) -> Blobs {
        let folder = folder.into();
        Blobs {
            staging: Staging::new(folder.join("staged")),
            local: Local::new(folder),
            s3: s3.map(Arc::new),
        }
    }

    /// Begins an upload. Answers what the store calls it, where that is something else than its id.
    pub fn begin(&self, id: Uuid, split: Split) -> io::Result<Option<String>> {
        match &self.s3 {
            Some(s3) if !split.is_single() => s3.begin(id).map(Some),
            _ => Ok(None),
        }
    }

    /// Where parts of an upload are sent, by their numbers.
    pub fn addresses(&self, upload: &Upload, numbers: &[u32], signer: Signer) -> io::Result<Vec<Address>> {
        let expires_at = signer.now.plus_micros(ADDRESS_SECONDS * 1_000_000);
        let sizes: Option<Vec<u64>> =
            numbers.iter().map(|number| Some(upload.split.part(*number)?.1)).collect();
        let sizes = sizes.ok_or(io::ErrorKind::InvalidInput)?;
        let urls = match &self.s3 {
            Some(s3) => s3.addresses(upload, numbers)?,
            None => numbers
                .iter()
                .zip(&sizes)
                .map(|(number, size)| {
                    let path = part_path(upload.id, *number);
                    let (size, expires) = (size.to_string(), expires_at.seconds().to_string());
                    let signature = signatures::sign(signer.secret, &["PUT", &path, &size, &expires]);
                    let base = signer.base_url;
                    format!("{base}{path}?size={size}&expires={expires}&signature={signature}")
                })
                .collect(),
        };
        let address = |(url, size): (String, u64)| {
            let headers = BTreeMap::from([("Content-Length".to_owned(), size.to_string())]);
            Address { url, headers, expires_at }
        };
        Ok(urls.into_iter().zip(sizes).map(address).collect())
    }

    /// The parts of an upload that were received, in order.
    pub fn received(&self, upload: &Upload) -> io::Result<Vec<Received>> {
        match &self.s3 {
            Some(s3) => s3.received(upload),
            None => self.staging.received(upload.id),
        }
    }

    /// Begins to write a part into the built-in store; nothing where somebody else writes it, or where uploads go elsewhere.
    pub fn write_part(&self, id: Uuid, split: Split, number: u32) -> io::Result<Option<PartWriter>> {
        if self.s3.is_some() { Ok(None) } else { self.staging.write(id, split, number) }
    }

    /// Makes one of the parts, if these are the ones and none is missing.
    pub fn finish(&self, upload: &Upload, parts: &[(u32, String)]) -> io::Result<Finished> {
        match &self.s3 {
            Some(s3) => match self.staging.hold_all(upload.id) {
                Some(_hold) => s3.finish(upload, parts),
                None => Ok(Finished::Busy),
            },
            None => self.staging.finish(upload.id, upload.split, parts, &self.local.upload(upload.id)),
        }
    }

    /// Forgets an upload on its way.
    pub fn abort(&self, upload: &Upload) -> io::Result<()> {
        match &self.s3 {
            Some(s3) => s3.abort(upload),
            None => self.staging.abort(upload.id),
        }
    }

    /// Forgets uploads on their way into the built-in store that nobody names.
    pub fn sweep_staged(&self, is_named: impl Fn(Uuid) -> bool) -> io::Result<()> {
        self.staging.sweep(is_named)
    }

    /// Copies an upload in, whole or not at all.
    pub fn put_upload(&self, id: Uuid, source: &mut dyn Read) -> io::Result<Written> {
        match &self.s3 {
            Some(s3) => s3.put(id, source),
            None => self.local.put_upload(id, source),
        }
    }

    /// Takes an upload away.
    pub fn remove_upload(&self, id: Uuid) -> io::Result<()> {
        match &self.s3 {
            Some(s3) => s3.remove(id),
            None => self.local.remove_upload(id),
        }
    }

    /// Whether an upload is there.
    pub fn has_upload(&self, id: Uuid) -> io::Result<bool> {
        match &self.s3 {
            Some(s3) => Ok(s3.size_of(id)?.is_some()),
            None => self.local.upload(id).try_exists(),
        }
    }

    /// What an upload holds now.
    pub fn measure_upload(&self, id: Uuid) -> io::Result<Written> {
        match &self.s3 {
            Some(s3) => s3.copy_to(id, &mut io::sink()),
            None => self.local.measure_upload(id),
        }
    }

    /// An upload as a file on this machine: the very one, or a copy that goes when it is dropped.
    pub fn fetch(&self, id: Uuid) -> io::Result<Fetched> {
        let Some(s3) = &self.s3 else { return Ok(Fetched { path: self.local.upload(id), _copy: None }) };
        let workshop = self.workshop()?;
        let path = workshop.path().join("upload.zip");
        s3.copy_to(id, &mut std::fs::File::create(&path)?)?;
        Ok(Fetched { path, _copy: Some(workshop) })
    }

    /// Where the copy of the repository lies that was linked to an asset at a time.
    pub fn repository(&self, asset: Uuid, attached_at: Timestamp) -> PathBuf {
        self.local.repository(asset, attached_at)
    }

    /// Keeps the copy of a repository that was made in the workshop, in the place of an earlier one.
    pub fn keep_repository(&self, from: &Path, asset: Uuid, attached_at: Timestamp) -> io::Result<()> {
        self.local.keep_repository(from, asset, attached_at)
    }

    /// Takes away copies of repositories that nobody names.
    pub fn sweep_repositories(&self, is_named: impl Fn(Uuid, Timestamp) -> bool) -> io::Result<()> {
        self.local.sweep_repositories(is_named)
    }

    /// A folder for what is not kept yet, on the disk of what is. It goes when it is dropped.
    pub fn workshop(&self) -> io::Result<tempfile::TempDir> {
        self.local.workshop()
    }

    /// Takes away what a process left in the workshop that is gone.
    pub fn clear_workshop(&self) -> io::Result<()> {
        self.local.clear_workshop()
    }
}

/// Where a part is sent to the built-in store.
pub fn part_path(id: Uuid, number: u32) -> String {
    format!("/v2/blobs/uploads/{id}/{number}")
}
