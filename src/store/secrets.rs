//! The secrets of the market, and the record of seeded fixture sets.

use super::{Reader, Writer};
use crate::{domain::time::Timestamp, error::Result};

/// Name of the secret that encrypts positions. A database that has it counts its commits.
pub const POSITIONS: &str = "positions";

/// Name of the secret that identifies a copy of a market that was restored from a backup.
pub const COPY_SECRET: &str = "copy";

/// Name of the secret on which all later secrets of a copy of a server's market depend: nobody can compute them from its seed.
pub const ORIGIN: &str = "origin";

/// Returns the secret with this name.
pub fn find(reader: &Reader, name: &str) -> Result<Option<[u8; 32]>> {
    reader.query_first("SELECT value FROM secrets WHERE name = ?1", [name], |row| row.get(0))
}

/// Inserts a secret, unless one with this name exists.
pub fn insert(writer: &Writer, name: &str, value: &[u8; 32]) -> Result<()> {
    const SQL: &str = "INSERT INTO secrets (name, value) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    writer.run(SQL, (name, value))
}

/// Whether a fixture set with this digest was seeded.
pub fn is_seeded(reader: &Reader, digest: &[u8; 32]) -> Result<bool> {
    reader
        .query_one("SELECT count(*) FROM seeds WHERE digest = ?1", [digest], |row| row.get::<_, i64>(0))
        .map(|n| n > 0)
}

/// Returns the names of the seeded fixture sets, oldest first.
pub fn seeded_names(reader: &Reader) -> Result<Vec<String>> {
    reader.query_all("SELECT name FROM seeds ORDER BY seeded_at, name", [], |row| row.get(0))
}

/// Records that a fixture set was seeded.
pub fn record_seed(writer: &Writer, digest: &[u8; 32], name: &str, at: Timestamp) -> Result<()> {
    writer.run("INSERT INTO seeds (digest, name, seeded_at) VALUES (?1, ?2, ?3)", (digest, name, at))
}
