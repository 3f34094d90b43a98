//! The keys by which the market signs.

use super::{Reader, Writer};
use crate::{
    domain::{attestations::PublicKey, time::Timestamp},
    error::Result,
};

/// Returns the public keys, the newest first.
pub fn list(reader: &Reader) -> Result<Vec<PublicKey>> {
    const SQL: &str = "SELECT public_key, valid_from, ended_at FROM signing_keys ORDER BY id DESC";
    reader.query_all(SQL, [], |row| {
        let bytes: Vec<u8> = row.get(0)?;
        Ok(PublicKey::new(&bytes, row.get(1)?, row.get(2)?))
    })
}

/// Returns the seed of the key in use; `None` before there is one.
pub fn find_seed(reader: &Reader) -> Result<Option<[u8; 32]>> {
    reader.query_first("SELECT seed FROM signing_secrets", [], |row| row.get(0))
}

/// Returns the time from which the key in use is valid; `None` before there is one.
pub fn find_valid_from(reader: &Reader) -> Result<Option<Timestamp>> {
    const SQL: &str = "SELECT k.valid_from FROM signing_keys k JOIN signing_secrets s ON s.key = k.id";
    reader.query_first(SQL, [], |row| row.get(0))
}

/// Ends the key in use, and deletes its seed.
pub fn end(writer: &Writer, at: Timestamp) -> Result<()> {
    delete_seed(writer)?;
    writer.run("UPDATE signing_keys SET ended_at = ?1 WHERE ended_at IS NULL", [at])
}

/// Adds the key with this seed, which is in use now, and is valid from a time on.
pub fn insert(writer: &Writer, public_key: &[u8], seed: &[u8; 32], at: Timestamp) -> Result<()> {
    let key = writer
        .insert("INSERT INTO signing_keys (public_key, valid_from) VALUES (?1, ?2)", (public_key, at))?;
    writer.run("INSERT INTO signing_secrets (key, seed) VALUES (?1, ?2)", (key, seed))
}

/// Deletes the seed of the key in use, in a copy of the market.
pub fn delete_seed(writer: &Writer) -> Result<()> {
    writer.run("DELETE FROM signing_secrets", [])
}
