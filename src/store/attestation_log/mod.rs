//! The logs of attestations: hash trees to which leaves are appended, and their signed heads.

pub mod checks;

use super::{Reader, Writer, row::FromRow};
use crate::{
    domain::{
        merkle::{Hash, Subtree, node_hash, root_of_leaves},
        row_ids::{LogRowId, PurchaseRowId},
        time::Timestamp,
    },
    error::Result,
};

/// The level of the subtree above a block of leaves.
pub const BLOCK_LEVEL: u32 = 5;

/// Number of leaves that are stored together.
pub const BLOCK: usize = 1 << BLOCK_LEVEL;

/// A log.
#[derive(Clone, Debug, FromRow)]
#[row(by_position)]
pub struct Log {
    /// Its row ID.
    pub row_id: LogRowId,
    /// Its name.
    pub origin: String,
    /// The last head of the log before, as it was formatted; `None` for the first log.
    pub predecessor: Option<String>,
    /// Whether nothing is appended any more.
    pub is_ended: bool,
}

const LOGS: &str = "SELECT id, origin, predecessor, is_ended FROM attestation_logs";

/// Returns the newest logs, at most `limit`, the newest first.
pub fn list(reader: &Reader, limit: u32) -> Result<Vec<Log>> {
    reader.query_all(&format!("{LOGS} ORDER BY id DESC LIMIT ?1"), [limit], Log::from_row)
}

/// Returns the log with a name.
pub fn find(reader: &Reader, origin: &str) -> Result<Option<Log>> {
    reader.query_first(&format!("{LOGS} WHERE origin = ?1"), [origin], Log::from_row)
}

/// Inserts a log.
pub fn insert(writer: &Writer, origin: &str, predecessor: Option<String>) -> Result<Log> {
    const SQL: &str = "INSERT INTO attestation_logs (origin, predecessor) VALUES (?1, ?2)";
    let row_id = LogRowId(writer.insert(SQL, (origin, &predecessor))?);
    Ok(Log { row_id, origin: origin.to_owned(), predecessor, is_ended: false })
}

/// Ends the log in use. The next leaves begin a new one.
pub fn end(writer: &Writer) -> Result<()> {
    writer.run("UPDATE attestation_logs SET is_ended = 1 WHERE is_ended = 0", [])
}

/// A signed head of a log.
#[derive(Clone, Debug, FromRow)]
#[row(by_position)]
pub struct Head {
    /// Number of leaves.
    pub size: u64,
    /// The signed checkpoint.
    pub note: String,
    /// Time of the signature.
    pub signed_at: Timestamp,
}

const HEADS: &str = "SELECT size, note, signed_at FROM attestation_log_heads";

/// Returns heads of a log with fewer than `before` leaves, at most `limit`, the largest first.
pub fn list_heads(reader: &Reader, log: LogRowId, before: u64, limit: u32) -> Result<Vec<Head>> {
    let sql = format!("{HEADS} WHERE log = ?1 AND size < ?2 ORDER BY size DESC LIMIT ?3");
    reader.query_all(&sql, (log, before, limit), Head::from_row)
}

/// Returns the newest head of a log; `None` before the first.
pub fn find_newest_head(reader: &Reader, log: LogRowId) -> Result<Option<Head>> {
    Ok(list_heads(reader, log, i64::MAX as u64, 1)?.pop())
}

/// Returns the latest time of a head of any log; `None` if there is none. Reads all heads.
pub fn find_last_time(reader: &Reader) -> Result<Option<Timestamp>> {
    reader.query_one("SELECT max(signed_at) FROM attestation_log_heads", [], |row| row.get(0))
}

/// Returns the first head of a log that has a leaf.
pub fn find_first_head(reader: &Reader, log: LogRowId, leaf: u64) -> Result<Option<Head>> {
    let sql = format!("{HEADS} WHERE log = ?1 AND size > ?2 ORDER BY size LIMIT 1");
    reader.query_first(&sql, (log, leaf), Head::from_row)
}

/// Whether a log has a head with this number of leaves.
pub fn has_head(reader: &Reader, log: LogRowId, size: u64) -> Result<bool> {
    const SQL: &str = "SELECT EXISTS (SELECT 1 FROM attestation_log_heads WHERE log = ?1 AND size = ?2)";
    reader.query_one(SQL, (log, size), |row| row.get(0))
}

/// Inserts a head.
pub fn insert_head(writer: &Writer, log: LogRowId, head: &Head) -> Result<()> {
    const SQL: &str =
        "INSERT INTO attestation_log_heads (log, size, note, signed_at) VALUES (?1, ?2, ?3, ?4)";
    writer.run(SQL, (log, head.size, &head.note, head.signed_at.0))
}

/// Returns the hash of a complete subtree.
pub fn hash_at(reader: &Reader, log: LogRowId, subtree: Subtree) -> Result<Hash> {
    const NODE: &str =
        "SELECT hash FROM attestation_log_nodes WHERE log = ?1 AND level = ?2 AND position = ?3";
    const LEAVES: &str = "SELECT hashes FROM attestation_log_leaves WHERE log = ?1 AND block = ?2";
    let Subtree { level, position } = subtree;
    if level >= BLOCK_LEVEL {
        return reader.query_one(NODE, (log, level, position), |row| row.get(0));
    }
    let block: Vec<u8> =
        reader.query_one(LEAVES, (log, position >> (BLOCK_LEVEL - level)), |row| row.get(0))?;
    let (leaves, _) = block.as_chunks();
    let begin = (position << level) as usize % BLOCK;
    Ok(root_of_leaves(&leaves[begin..begin + (1 << level)]))
}

/// Appends a block of leaves, and the nodes above it that it completes.
pub fn append(writer: &Writer, log: LogRowId, block: u64, leaves: &[Hash; BLOCK]) -> Result<()> {
    const LEAVES: &str = "INSERT INTO attestation_log_leaves (log, block, hashes) VALUES (?1, ?2, ?3)";
    const NODE: &str =
        "INSERT INTO attestation_log_nodes (log, level, position, hash) VALUES (?1, ?2, ?3, ?4)";
    writer.execute(LEAVES, (log, block, leaves.as_flattened()))?;
    let (mut node, mut hash) = (Subtree { level: BLOCK_LEVEL, position: block }, root_of_leaves(leaves));
    loop {
        writer.execute(NODE, (log, node.level, node.position, &hash))?;
        let Some(left) = node.left_sibling() else { return Ok(()) };
        hash = node_hash(&hash_at(writer, log, left)?, &hash);
        node = node.parent();
    }
}

/// An attestation that no head has.
#[derive(Clone, Debug, FromRow)]
#[row(by_position)]
pub struct Unlogged {
    /// The purchase.
    pub purchase: PurchaseRowId,
    /// The hash of its leaf.
    pub leaf: Hash,
    /// Time at which it was made.
    pub created_at: Timestamp,
}

/// Returns attestations that the key in use has signed, and that no head has, at most `limit`.
pub fn list_unlogged(reader: &Reader, limit: u32) -> Result<Vec<Unlogged>> {
    const SQL: &str = "SELECT purchase, leaf_hash, created_at FROM attestations
         WHERE log IS NULL AND key = (SELECT key FROM signing_secrets) LIMIT ?1";
    reader.query_all(SQL, [limit], Unlogged::from_row)
}

/// Records which leaf of a log an attestation is.
pub fn set_leaf(writer: &Writer, purchase: PurchaseRowId, log: LogRowId, leaf: u64) -> Result<()> {
    const SQL: &str = "UPDATE attestations SET log = ?2, leaf = ?3 WHERE purchase = ?1";
    writer.run(SQL, (purchase, log, leaf))
}

/// An attestation as the log knows it.
#[derive(Clone, Debug, FromRow)]
#[row(by_position)]
pub struct Entry {
    /// The envelope.
    pub envelope: Vec<u8>,
    /// Its log, and the number of leaves before its own; `None` unless a head has it.
    #[row(pair)]
    pub place: Option<(LogRowId, u64)>,
    /// Whether a head will have it: the key that has signed it is in use.
    pub is_awaited: bool,
}

/// Returns the attestation of a purchase; `None` if there is none.
pub fn find_entry(reader: &Reader, purchase: PurchaseRowId) -> Result<Option<Entry>> {
    const SQL: &str =
        "SELECT envelope, log, leaf, EXISTS (SELECT 1 FROM signing_secrets s WHERE s.key = t.key)
         FROM attestations t JOIN attestation_envelopes USING (purchase) WHERE purchase = ?1";
    reader.query_first(SQL, [purchase], Entry::from_row)
}
