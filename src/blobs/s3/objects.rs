//! Objects with any keys, for backups: small ones at once, large ones in parts, and lists of them.

use std::{
    collections::HashMap,
    io::{self, Read, Write},
    sync::Arc,
};

use futures_util::StreamExt;
use object_store::{
    ObjectStore, ObjectStoreExt, PutMode, PutPayload,
    multipart::{MultipartStore, PartId},
    path::Path,
};

use super::{PART_BYTES, S3};

impl S3 {
    fn key(&self, name: &str) -> Path {
        Path::from(format!("{}{name}", self.prefix))
    }

    /// Returns the sizes of all objects whose names begin with a directory, by name.
    pub fn list_objects(&self, directory: &str) -> io::Result<HashMap<String, u64>> {
        let prefix = self.key(directory);
        self.block_on(async {
            let mut objects = self.store.list(Some(&prefix));
            let mut sizes = HashMap::new();
            while let Some(object) = objects.next().await.transpose()? {
                let name = object.location.as_ref().strip_prefix(self.prefix.as_str());
                sizes.extend(name.map(|name| (name.to_owned(), object.size)));
            }
            Ok(sizes)
        })
    }

    /// Whether there is an object whose name begins with a directory.
    pub fn has_objects(&self, directory: &str) -> io::Result<bool> {
        let prefix = self.key(directory);
        self.block_on(async { Ok(self.store.list(Some(&prefix)).next().await.transpose()?.is_some()) })
    }

    /// Returns the size of an object; `None` if there is none.
    pub fn object_size(&self, name: &str) -> io::Result<Option<u64>> {
        Ok(self.head_object(&self.key(name))?.map(|(size, _)| size))
    }

    /// Creates an object. Fails with [`io::ErrorKind::AlreadyExists`] if it exists.
    pub fn create_object(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let (key, payload) = (self.key(name), PutPayload::from(content.to_vec()));
        let put = self.store.put_opts(&key, payload, PutMode::Create.into());
        self.block_on(put).map(drop)
    }

    /// Deletes an object.
    pub fn delete_object(&self, name: &str) -> io::Result<()> {
        self.block_on(self.store.delete(&self.key(name)))
    }
}

/// Reads an object in parts, so that no request takes long.
#[derive(Debug)]
pub struct ObjectReader {
    store: Arc<S3>,
    key: Path,
    size: u64,
    position: u64,
    part: io::Cursor<Vec<u8>>,
}

impl ObjectReader {
    /// Opens an object of this size.
    pub fn new(store: Arc<S3>, name: &str, size: u64) -> ObjectReader {
        let key = store.key(name);
        ObjectReader { store, key, size, position: 0, part: io::Cursor::default() }
    }
}

impl Read for ObjectReader {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.part.read(to)?;
        if read > 0 || self.position >= self.size || to.is_empty() {
            return Ok(read);
        }
        let end = self.size.min(self.position + PART_BYTES as u64);
        let range = self.position..end;
        let part: Vec<u8> = self.store.block_on(self.store.store.get_range(&self.key, range))?.into();
        if part.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.position += part.len() as u64;
        self.part = io::Cursor::new(part);
        self.part.read(to)
    }
}

/// Writes an object, which exists when it is finished. If it is dropped before, it is not created.
#[derive(Debug)]
pub struct ObjectWriter {
    store: Arc<S3>,
    key: Path,
    buffer: Vec<u8>,
    /// Number of bytes of the parts that were sent.
    sent_bytes: u64,
    /// Entity tag of the object that has the name before it is replaced. Read only if there is more than one part.
    earlier: Option<String>,
    /// ID of the upload in the store, and its parts, once there is more than one.
    upload: Option<(String, Vec<PartId>)>,
}

impl ObjectWriter {
    /// Starts an object.
    pub fn new(store: Arc<S3>, name: &str) -> ObjectWriter {
        let key = store.key(name);
        ObjectWriter { store, key, buffer: Vec::new(), sent_bytes: 0, earlier: None, upload: None }
    }

    /// Creates the object, or replaces an earlier one of this name.
    pub fn finish(mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.buffer);
        if self.upload.is_none() {
            return self.store.block_on(self.store.store.put(&self.key, PutPayload::from(rest))).map(|_| ());
        }
        if !rest.is_empty() {
            self.send_part(rest)?;
        }
        let Some((id, parts)) = self.upload.as_ref() else { return Ok(()) };
        self.store.join(&self.key, (id, parts.clone()), self.sent_bytes, self.earlier.as_deref())?;
        self.upload = None;
        Ok(())
    }

    fn send_part(&mut self, part: Vec<u8>) -> io::Result<()> {
        let store = &self.store;
        if self.upload.is_none() {
            self.earlier = store.head_object(&self.key)?.map(|(_, tag)| tag);
            self.upload = Some((store.block_on(store.store.create_multipart(&self.key))?, Vec::new()));
        }
        let Some((id, parts)) = self.upload.as_mut() else { return Ok(()) };
        let (size, payload) = (part.len() as u64, PutPayload::from(part));
        let sent = store.block_on(store.store.put_part(&self.key, id, parts.len(), payload))?;
        parts.push(sent);
        self.sent_bytes += size;
        Ok(())
    }
}

impl Write for ObjectWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(PART_BYTES - self.buffer.len());
        self.buffer.extend_from_slice(&bytes[..taken]);
        if self.buffer.len() == PART_BYTES {
            let part = std::mem::take(&mut self.buffer);
            self.send_part(part)?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for ObjectWriter {
    fn drop(&mut self) {
        if let Some((id, _)) = self.upload.take()
            && let Err(cause) = self.store.block_on(self.store.store.abort_multipart(&self.key, &id))
        {
            tracing::warn!(%cause, key = %self.key, "an incomplete upload to the store of backups was not deleted");
        }
    }
}
