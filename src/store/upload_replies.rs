//! Replies of child processes that read uploads. An upload that is attached to many assets is read once per task.

use super::{Reader, Writer};
use crate::{
    domain::row_ids::UploadRowId,
    error::{Error, Result},
};

/// Compression level: replies are written once and read a few times.
const COMPRESSION_LEVEL: i32 = 1;

/// Maximum size of a reply in bytes, unpacked.
const MAX_REPLY_BYTES: usize = 64 << 20;

/// What a reply depends on, besides the upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplyKey {
    /// Row ID of the upload.
    pub upload: UploadRowId,
    /// What was done, and within which limits, as JSON.
    pub task: String,
    /// Version of the program and of the file. A reply of another version does not count.
    pub version: String,
}

/// Returns the stored reply.
pub fn find(reader: &Reader, key: &ReplyKey) -> Result<Option<Vec<u8>>> {
    const SQL: &str = "SELECT reply FROM upload_replies WHERE upload = ?1 AND task = ?2 AND version = ?3";
    let packed: Option<Vec<u8>> =
        reader.query_first(SQL, (key.upload, &key.task, &key.version), |row| row.get(0))?;
    let unpack = |bytes: Vec<u8>| zstd::bulk::decompress(&bytes, MAX_REPLY_BYTES).map_err(Error::internal);
    packed.map(unpack).transpose()
}

/// A reply that is compressed for storage.
#[derive(Debug)]
pub struct PackedReply(Vec<u8>);

/// Compresses a reply. Do this outside of a transaction.
pub fn pack(reply: &[u8]) -> Result<PackedReply> {
    zstd::bulk::compress(reply, COMPRESSION_LEVEL).map(PackedReply).map_err(Error::internal)
}

/// Stores a reply. Replaces one of another version.
pub fn upsert(writer: &Writer, key: &ReplyKey, reply: &PackedReply) -> Result<()> {
    const SQL: &str = "INSERT INTO upload_replies (upload, task, version, reply) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (upload, task) DO UPDATE SET version = excluded.version, reply = excluded.reply";
    writer.run(SQL, (key.upload, &key.task, &key.version, &reply.0))
}
