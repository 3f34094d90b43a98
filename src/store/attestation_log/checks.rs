//! Whether the stored hashes of the logs of attestations, their heads, and the attestations agree.

use std::collections::BTreeMap;

use super::{BLOCK, BLOCK_LEVEL, Log, list};
use crate::{
    domain::{
        checkpoints::SignedCheckpoint,
        merkle::{Hash, Subtree, leaf_hash, node_hash, root_of_leaves},
    },
    error::Result,
    store::Reader,
};

/// Returns a description of each difference, at most one for each log, and one for each attestation. Reads all leaves.
pub fn find_inconsistencies(reader: &Reader) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for log in list(reader, u32::MAX)? {
        let origin = &log.origin;
        found.extend(
            check(reader, &log)?.map(|problem| format!("the log of attestations {origin} {problem}")),
        );
    }
    found.extend(find_other_leaves(reader)?);
    Ok(found)
}

/// Computes the tree from its leaves, and compares its nodes and heads. Returns the first difference.
fn check(reader: &Reader, log: &Log) -> Result<Option<String>> {
    const LEAVES: &str = "SELECT block, hashes FROM attestation_log_leaves WHERE log = ?1 ORDER BY block";
    const NODES: &str = "SELECT level, position, hash FROM attestation_log_nodes WHERE log = ?1";
    const HEADS: &str = "SELECT size, note FROM attestation_log_heads WHERE log = ?1";
    let mut nodes = BTreeMap::new();
    reader.for_each_row(NODES, [log.row_id], |row| {
        let subtree = Subtree { level: row.get(0)?, position: row.get(1)? };
        nodes.insert(subtree, row.get::<_, Hash>(2)?);
        Ok(())
    })?;
    let mut heads: BTreeMap<u64, String> = BTreeMap::new();
    reader.for_each_row(HEADS, [log.row_id], |row| {
        heads.insert(row.get(0)?, row.get(1)?);
        Ok(())
    })?;
    // The complete subtrees so far, the largest first.
    let mut complete: Vec<(Subtree, Hash)> = Vec::new();
    let (mut blocks, mut problem, mut has_head) = (0, None, true);
    reader.for_each_row(LEAVES, [log.row_id], |row| {
        let (block, bytes): (u64, Vec<u8>) = (row.get(0)?, row.get(1)?);
        if problem.is_some() {
            return Ok(());
        }
        let (leaves, _) = bytes.as_chunks();
        if block != blocks {
            problem = Some(format!("lacks the leaves of block {blocks}"));
            return Ok(());
        }
        blocks += 1;
        let mut node = (Subtree { level: BLOCK_LEVEL, position: block }, root_of_leaves(leaves));
        loop {
            let (subtree, hash) = node;
            if nodes.remove(&subtree) != Some(hash) {
                let Subtree { level, position } = subtree;
                problem = Some(format!("has another hash of node {position} of level {level}"));
                return Ok(());
            }
            match complete.pop_if(|(left, _)| Some(*left) == subtree.left_sibling()) {
                Some((_, left)) => node = (subtree.parent(), node_hash(&left, &hash)),
                None => break,
            }
        }
        complete.push(node);
        has_head = false;
        if let Some(note) = heads.remove(&(blocks * BLOCK as u64)) {
            problem = check_head(&note, log, blocks, &complete);
            has_head = true;
        }
        Ok(())
    })?;
    let problem = problem.or((!has_head).then(|| "has leaves after its last head".to_owned()));
    let last = heads.keys().next().map(|size| format!("has a head with {size} leaves, but not these leaves"));
    let more =
        nodes.keys().next().map(|node| format!("has a node of level {} without its leaves", node.level));
    Ok(problem.or(last).or(more))
}

fn check_head(note: &str, log: &Log, blocks: u64, complete: &[(Subtree, Hash)]) -> Option<String> {
    let mut hashes = complete.iter().rev().map(|(_, hash)| *hash);
    let last = hashes.next()?;
    let root = hashes.fold(last, |right, left| node_hash(&left, &right));
    let size = blocks * BLOCK as u64;
    let head = SignedCheckpoint::parse(note).map(|signed| signed.checkpoint.head);
    let is_same =
        head.is_some_and(|head| head.origin == log.origin && head.size == size && head.root == root);
    (!is_same).then(|| format!("has another head with {size} leaves"))
}

/// Compares attestations with their hashes, and with their leaves.
fn find_other_leaves(reader: &Reader) -> Result<Vec<String>> {
    const SQL: &str = "SELECT e.envelope, t.leaf_hash, t.leaf, l.hashes, p.uuid FROM attestations t
         JOIN purchases p ON p.id = t.purchase JOIN attestation_envelopes e ON e.purchase = t.purchase
         LEFT JOIN attestation_log_leaves l ON l.log = t.log AND l.block = t.leaf / 32
         ORDER BY t.purchase";
    let mut found = Vec::new();
    reader.for_each_row(SQL, [], |row| {
        let hash = leaf_hash(row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?);
        let (leaf, block): (Option<usize>, Option<Vec<u8>>) = (row.get(2)?, row.get(3)?);
        let is_logged = leaf.is_none_or(|leaf| {
            block.is_some_and(|block| block.as_chunks().0.get(leaf % BLOCK) == Some(&hash))
        });
        let purchase = || row.get::<_, uuid::Uuid>(4);
        if row.get::<_, Hash>(1)? != hash {
            found.push(format!("the attestation of purchase {} has another hash", purchase()?));
        } else if !is_logged {
            found.push(format!("the log of attestations lacks the attestation of purchase {}", purchase()?));
        }
        Ok(())
    })?;
    Ok(found)
}
