//! Parts that this server receives. If the store is elsewhere, a part is kept in a file until it is complete, and then sent
//! there.

use std::{
    fmt,
    fs::File,
    io::{self, Seek, Write},
    sync::Arc,
};

use super::{Blobs, PartWriter, Reservation, S3, UploadLock};
use crate::domain::uploads::Upload;

/// Receives the bytes of a part.
#[derive(Debug)]
pub enum PartReceiver {
    /// Into the built-in store.
    Stored(Box<PartWriter>),
    /// For another store.
    Relayed(RelayedPart),
}

/// A part for another store.
pub struct RelayedPart {
    store: Arc<S3>,
    upload: Upload,
    number: u32,
    size: u64,
    file: File,
    received_bytes: u64,
    reservation: Reservation,
    _lock: UploadLock,
}

impl fmt::Debug for RelayedPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RelayedPart({} of {}, {} bytes so far)", self.number, self.upload.id, self.received_bytes)
    }
}

impl Blobs {
    /// Starts receiving a part of the locked upload, which has room in the reserved space.
    pub fn receive_part(
        &self,
        lock: UploadLock,
        upload: &Upload,
        number: u32,
        reservation: Reservation,
    ) -> io::Result<PartReceiver> {
        let Some(store) = &self.s3 else {
            let writer = self.start_part(lock, upload.layout, number)?;
            return Ok(PartReceiver::Stored(Box::new(writer.with_reservation(reservation))));
        };
        let (_, size) = upload.layout.part(number).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(PartReceiver::Relayed(RelayedPart {
            store: Arc::clone(store),
            upload: upload.clone(),
            number,
            size,
            file: self.temporary_file()?,
            received_bytes: 0,
            reservation,
            _lock: lock,
        }))
    }
}

impl From<PartWriter> for PartReceiver {
    fn from(writer: PartWriter) -> PartReceiver {
        PartReceiver::Stored(Box::new(writer))
    }
}

impl PartReceiver {
    /// Writes the next bytes. Returns false, and writes nothing, if they exceed the size of the part.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<bool> {
        match self {
            PartReceiver::Stored(writer) => writer.write(bytes),
            PartReceiver::Relayed(part) => part.write(bytes),
        }
    }

    /// Completes the part and returns its entity tag, or `None` if bytes are missing, or the upload was deleted meanwhile.
    pub fn finish(self) -> io::Result<Option<String>> {
        match self {
            PartReceiver::Stored(writer) => writer.finish(),
            PartReceiver::Relayed(part) => part.finish(),
        }
    }
}

impl RelayedPart {
    fn write(&mut self, bytes: &[u8]) -> io::Result<bool> {
        let received = self.received_bytes + bytes.len() as u64;
        if received > self.size {
            return Ok(false);
        }
        self.file.write_all(bytes)?;
        self.reservation.use_bytes(bytes.len() as u64);
        self.received_bytes = received;
        Ok(true)
    }

    fn finish(mut self) -> io::Result<Option<String>> {
        if self.received_bytes < self.size {
            return Ok(None);
        }
        self.file.rewind()?;
        self.store.put_part(&self.upload, self.number, self.file, self.size)
    }
}
