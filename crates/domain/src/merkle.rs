//! The hash tree of an append-only log, by RFC 6962: its roots, and the proofs that a leaf is in a tree, and that a tree
//! continues an earlier one. Trees are stored as the hashes of their complete subtrees, which never change.

use sha2::{Digest as _, Sha256};

/// A hash of a leaf, or of a node.
pub type Hash = [u8; 32];

/// A complete subtree, which has 2<sup>level</sup> leaves. A single leaf has the level 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Subtree {
    /// Its height.
    pub level: u32,
    /// How many subtrees of this level come before it.
    pub position: u64,
}

impl Subtree {
    /// Returns the subtree of the same level before it, if both have the same parent.
    pub const fn left_sibling(self) -> Option<Subtree> {
        match self.position % 2 {
            1 => Some(Subtree { level: self.level, position: self.position - 1 }),
            _ => None,
        }
    }

    /// Returns the subtree of which it is a half.
    #[must_use]
    pub const fn parent(self) -> Subtree {
        Subtree { level: self.level + 1, position: self.position / 2 }
    }
}

/// Returns the hash of a leaf with these bytes.
pub fn leaf_hash(leaf: &[u8]) -> Hash {
    Sha256::new().chain_update([0]).chain_update(leaf).finalize().into()
}

/// Returns the hash of a node with these children.
pub fn node_hash(left: &Hash, right: &Hash) -> Hash {
    Sha256::new().chain_update([1]).chain_update(left).chain_update(right).finalize().into()
}

/// Returns the root of a tree with `size` leaves. `hash_at` returns hashes of complete subtrees.
pub fn root<E>(size: u64, hash_at: impl FnMut(Subtree) -> Result<Hash, E>) -> Result<Hash, E> {
    range_root(Range { begin: 0, end: size }, hash_at)
}

/// Returns the root of a tree with these leaves.
pub fn root_of_leaves(leaves: &[Hash]) -> Hash {
    match leaves {
        [] => Sha256::digest([]).into(),
        [leaf] => *leaf,
        _ => {
            let (left, right) = leaves.split_at(leaves.len().next_power_of_two() / 2);
            node_hash(&root_of_leaves(left), &root_of_leaves(right))
        }
    }
}

/// Returns the proof that the leaf at `index` is in the tree with `size` leaves, from the leaf up. The leaf must be in the tree.
pub fn inclusion_proof<E>(
    index: u64,
    size: u64,
    mut hash_at: impl FnMut(Subtree) -> Result<Hash, E>,
) -> Result<Vec<Hash>, E> {
    let (mut range, mut siblings) = (Range { begin: 0, end: size }, Vec::new());
    while range.len() > 1 {
        let (left, right) = range.split();
        let sibling;
        (range, sibling) = if index < left.end { (left, right) } else { (right, left) };
        siblings.push(sibling);
    }
    siblings.into_iter().rev().map(|sibling| range_root(sibling, &mut hash_at)).collect()
}

/// Whether the proof shows that the leaf with this hash is at `index` in the tree with this size and root.
pub fn is_included(leaf: &Hash, index: u64, proof: &[Hash], size: u64, root: &Hash) -> bool {
    if index >= size {
        return false;
    }
    let (mut node, mut last, mut hash) = (index, size - 1, *leaf);
    for sibling in proof {
        if last == 0 {
            return false;
        }
        if node % 2 == 1 || node == last {
            hash = node_hash(sibling, &hash);
            (node, last) = skip_missing(node, last);
        } else {
            hash = node_hash(&hash, sibling);
        }
        (node, last) = (node / 2, last / 2);
    }
    last == 0 && hash == *root
}

/// Returns the proof that the tree with `to` leaves begins with the one with `from` leaves, which has at least 1, and at most
/// `to`.
pub fn consistency_proof<E>(
    from: u64,
    to: u64,
    mut hash_at: impl FnMut(Subtree) -> Result<Hash, E>,
) -> Result<Vec<Hash>, E> {
    let (mut range, mut parts) = (Range { begin: 0, end: to }, Vec::new());
    while range.end > from {
        let (left, right) = range.split();
        let other;
        (range, other) = if from <= left.end { (left, right) } else { (right, left) };
        parts.push(other);
    }
    // The earlier tree is known as a whole.
    if range.begin > 0 {
        parts.push(range);
    }
    parts.into_iter().rev().map(|part| range_root(part, &mut hash_at)).collect()
}

/// Whether the proof shows that the tree `to` begins with the tree `from`, each with its size and root.
pub fn is_consistent(from: (u64, &Hash), to: (u64, &Hash), proof: &[Hash]) -> bool {
    let ((from, old_root), (to, new_root)) = (from, to);
    if from == 0 || from >= to {
        return from > 0 && from == to && proof.is_empty() && old_root == new_root;
    }
    // A tree that is complete is a part itself.
    let (first, rest) = match proof {
        _ if from.is_power_of_two() => (old_root, proof),
        [first, rest @ ..] => (first, rest),
        [] => return false,
    };
    let shift = (from - 1).trailing_ones();
    let (mut node, mut last) = ((from - 1) >> shift, (to - 1) >> shift);
    let (mut old, mut new) = (*first, *first);
    for part in rest {
        if last == 0 {
            return false;
        }
        if node % 2 == 1 || node == last {
            (old, new) = (node_hash(part, &old), node_hash(part, &new));
            (node, last) = skip_missing(node, last);
        } else {
            new = node_hash(&new, part);
        }
        (node, last) = (node / 2, last / 2);
    }
    last == 0 && old == *old_root && new == *new_root
}

/// Goes up while the node is the last one of its level and has no sibling: the next level contains it unchanged.
const fn skip_missing(mut node: u64, mut last: u64) -> (u64, u64) {
    while node != 0 && node.is_multiple_of(2) {
        (node, last) = (node / 2, last / 2);
    }
    (node, last)
}

/// Leaves that are below one node of a tree.
#[derive(Clone, Copy)]
struct Range {
    begin: u64,
    end: u64,
}

impl Range {
    const fn len(self) -> u64 {
        self.end - self.begin
    }

    /// Returns the leaves below the children of the node. The left child has the most leaves that a complete subtree can have.
    const fn split(self) -> (Range, Range) {
        let middle = self.begin + (1 << (self.len() - 1).ilog2());
        (Range { begin: self.begin, end: middle }, Range { begin: middle, end: self.end })
    }
}

/// Returns the hash of the node above a range.
fn range_root<E>(range: Range, mut hash_at: impl FnMut(Subtree) -> Result<Hash, E>) -> Result<Hash, E> {
    let mut end = range.end;
    let mut hash = None;
    // Its complete subtrees from right to left, the smallest first.
    while end > range.begin {
        let level = (end - range.begin).trailing_zeros();
        end -= 1 << level;
        let left = hash_at(Subtree { level, position: end >> level })?;
        hash = Some(hash.map_or(left, |right| node_hash(&left, &right)));
    }
    Ok(hash.unwrap_or_else(|| root_of_leaves(&[])))
}

#[cfg(test)]
mod tests {
    use std::{convert::Infallible, sync::LazyLock};

    use proptest::prelude::*;

    use super::*;
    use data_encoding::HEXLOWER;

    const MAX: u64 = 70;

    static LEAVES: LazyLock<Vec<Hash>> =
        LazyLock::new(|| (0..=MAX).map(|number| leaf_hash(&number.to_be_bytes())).collect());

    #[expect(clippy::unnecessary_wraps, reason = "as a store returns it")]
    fn hash_at(subtree: Subtree) -> Result<Hash, Infallible> {
        let begin = (subtree.position << subtree.level) as usize;
        Ok(root_of_leaves(&LEAVES[begin..begin + (1 << subtree.level)]))
    }

    fn root_of(size: u64) -> Hash {
        root_of_leaves(&LEAVES[..size as usize])
    }

    /// The leaves and the roots of the tests of Certificate Transparency.
    #[test]
    fn roots_are_those_of_the_reference() {
        let leaves: [&[u8]; 8] = [
            b"",
            b"\x00",
            b"\x10",
            b"\x20\x21",
            b"\x30\x31",
            b"\x40\x41\x42\x43",
            b"\x50\x51\x52\x53\x54\x55\x56\x57",
            b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
        ];
        let hashes: Vec<Hash> = leaves.iter().map(|leaf| leaf_hash(leaf)).collect();
        let roots = [
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
            "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
            "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
            "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
            "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
            "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
            "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
        ];
        for (size, root) in roots.iter().enumerate() {
            assert_eq!(HEXLOWER.encode(&root_of_leaves(&hashes[..size])), *root, "{size}");
        }
    }

    #[test]
    fn proofs_hold_for_their_leaf_and_trees_only() {
        for size in 1..=MAX {
            let tree = root_of(size);
            assert_eq!(root(size, hash_at).unwrap(), tree);
            for index in 0..size {
                let (leaf, proof) = (LEAVES[index as usize], inclusion_proof(index, size, hash_at).unwrap());
                for other in 0..=size {
                    assert_eq!(is_included(&leaf, other, &proof, size, &tree), other == index);
                }
                assert!(!is_included(&leaf, index, &proof, size, &root_of(size + 1)));
            }
            for from in 1..=size {
                let (old, proof) = (root_of(from), consistency_proof(from, size, hash_at).unwrap());
                assert!(is_consistent((from, &old), (size, &tree), &proof), "{from} {size}");
                let others = [(from + 1, size, &old, &tree), (from, size, &tree, &old)];
                for (from, size, old, tree) in others {
                    let is_same = from == size && old == tree && proof.is_empty();
                    assert!(is_same || !is_consistent((from, old), (size, tree), &proof), "{from} {size}");
                }
            }
        }
    }

    #[test]
    fn empty_trees_prove_nothing() {
        assert!(!is_included(&leaf_hash(b""), 0, &[], 0, &root_of(0)));
        assert!(!is_consistent((0, &root_of(0)), (1, &root_of(1)), &[]));
        assert!(!is_consistent((2, &root_of(2)), (1, &root_of(1)), &[]));
    }

    proptest! {
        #[test]
        fn a_changed_proof_does_not_hold(
            size in 1..=MAX, leaf in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), by in 1u8..,
        ) {
            let (index, tree) = (leaf.index(size as usize) as u64, root_of(size));
            let hash = LEAVES[index as usize];
            let proof = inclusion_proof(index, size, hash_at).unwrap();
            let change = |proof: &[Hash]| {
                let mut bytes: Vec<u8> = proof.concat();
                let at = at.index(bytes.len());
                bytes[at] ^= by;
                bytes.chunks(32).map(|hash| hash.try_into().unwrap()).collect::<Vec<Hash>>()
            };
            if !proof.is_empty() {
                prop_assert!(!is_included(&hash, index, &change(&proof), size, &tree));
                prop_assert!(!is_included(&hash, index, &proof[1..], size, &tree));
            }
            prop_assert!(!is_included(&hash, index, &[&proof[..], &[tree]].concat(), size, &tree));
            let from = index + 1;
            let (old, proof) = (root_of(from), consistency_proof(from, size, hash_at).unwrap());
            if !proof.is_empty() {
                prop_assert!(!is_consistent((from, &old), (size, &tree), &change(&proof)));
                prop_assert!(!is_consistent((from, &old), (size, &tree), &proof[1..]));
            }
            prop_assert!(!is_consistent((from, &old), (size, &tree), &[&proof[..], &[tree]].concat()));
        }
    }
}
