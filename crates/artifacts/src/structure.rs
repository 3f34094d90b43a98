//! Tree of directories and files as the API returns it: directories first, then by name, limited in depth and
//! size.

use std::collections::BTreeMap;

use marketplace_domain::string_enum::string_enum;
use serde::{Deserialize, Serialize};

string_enum! {
    /// Kind of a node in the tree of files.
    NodeKind {
        /// A directory.
        Directory = "folder",
        /// A file.
        File = "file",
    }
}

/// Maximum number of levels that are included.
const MAX_DEPTH: u32 = 8;

/// Maximum number of nodes that are included. If there are more, fewer levels are included.
const MAX_NODES: usize = 20_000;

/// A directory or a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Name without the path of the parent directory.
    pub name: String,
    /// Directory or file.
    pub kind: NodeKind,
    /// Children of a directory, down to the maximum depth. Empty for files.
    pub children: Vec<Node>,
}

/// Tree of directories and files, limited in depth and size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Structure {
    /// Number of levels that are included, at least 1.
    pub max_depth: u32,
    /// Nodes of the first level.
    pub roots: Vec<Node>,
}

impl Structure {
    /// Whether the tree has at most the maximum depth and number of nodes, and no name is longer than
    /// `max_name_bytes`.
    pub(super) fn is_within_limits(&self, max_name_bytes: usize) -> bool {
        let mut nodes: Vec<(&Node, u32)> = self.roots.iter().map(|node| (node, 1)).collect();
        let mut count = 0;
        while let Some((node, depth)) = nodes.pop() {
            count += 1;
            if count > MAX_NODES || depth > self.max_depth || node.name.len() > max_name_bytes {
                return false;
            }
            nodes.extend(node.children.iter().map(|child| (child, depth + 1)));
        }
        (1..=MAX_DEPTH).contains(&self.max_depth)
    }
}

/// Builds a [`Structure`] from paths. It is never deeper than what can be included, however deep the paths
/// are.
#[derive(Debug, Default)]
pub struct Tree {
    root: Level,
    /// Number of nodes on each level.
    counts: [usize; MAX_DEPTH as usize],
}

/// Children of a directory by name. Files have no value.
#[derive(Debug, Default)]
struct Level(BTreeMap<String, Option<Level>>);

impl Tree {
    /// Adds a file, or a directory that may be empty, by its path. Ignores nodes on levels that are too large
    /// to be included.
    pub fn add<'a>(&mut self, path: impl IntoIterator<Item = &'a str>, kind: NodeKind) {
        let mut components = path.into_iter().peekable();
        let mut level = &mut self.root;
        for depth in 0..self.counts.len() {
            let Some(name) = components.next() else { return };
            let is_directory = components.peek().is_some() || kind == NodeKind::Directory;
            if !level.0.contains_key(name) {
                if self.counts[..=depth].iter().sum::<usize>() > MAX_NODES {
                    return;
                }
                self.counts[depth] += 1;
            }
            let child = level.0.entry(name.to_owned()).or_default();
            if !is_directory {
                return;
            }
            level = child.get_or_insert_default();
        }
    }

    /// Converts the tree into what is included: as many levels as fit into the maximum number of nodes. The
    /// first level is always included, but may be truncated.
    pub fn into_structure(self) -> Structure {
        let mut total = 0;
        let fitting_levels = self.counts.iter().take_while(|count| {
            total += **count;
            **count > 0 && total <= MAX_NODES
        });
        let max_depth = (fitting_levels.count() as u32).max(1);
        let mut roots = self.root.into_nodes(max_depth);
        roots.truncate(MAX_NODES);
        Structure { max_depth, roots }
    }
}

impl Level {
    fn into_nodes(self, depth: u32) -> Vec<Node> {
        let (mut directories, mut files) = (Vec::new(), Vec::new());
        for (name, directory) in self.0 {
            match directory {
                Some(directory) => {
                    let children = if depth > 1 { directory.into_nodes(depth - 1) } else { Vec::new() };
                    directories.push(Node { name, kind: NodeKind::Directory, children });
                }
                None => files.push(Node { name, kind: NodeKind::File, children: Vec::new() }),
            }
        }
        directories.append(&mut files);
        directories
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn structure(paths: &[&str]) -> Structure {
        let mut tree = Tree::default();
        for path in paths {
            let kind = if path.ends_with('/') { NodeKind::Directory } else { NodeKind::File };
            tree.add(path.trim_end_matches('/').split('/'), kind);
        }
        tree.into_structure()
    }

    fn names(nodes: &[Node]) -> Vec<&str> {
        nodes.iter().map(|node| node.name.as_str()).collect()
    }

    #[test]
    fn directories_come_first_then_names() {
        let structure = structure(&["b.txt", "z/1", "a/2", "empty/", "B.txt", "a/b/c", "a/10"]);
        assert_eq!(names(&structure.roots), ["a", "empty", "z", "B.txt", "b.txt"]);
        assert_eq!(names(&structure.roots[0].children), ["b", "10", "2"]);
        assert_eq!(
            structure.roots[1],
            Node { name: "empty".to_owned(), kind: NodeKind::Directory, children: vec![] }
        );
        assert_eq!(structure.max_depth, 3);
    }

    #[test]
    fn path_that_is_file_and_directory_becomes_directory() {
        for paths in [&["a", "a/b"], &["a/b", "a"]] {
            let structure = structure(paths);
            assert_eq!((names(&structure.roots), structure.roots[0].kind), (vec!["a"], NodeKind::Directory));
        }
    }

    #[test]
    fn deep_and_wide_trees_are_truncated() {
        let deep = vec!["x"; 40_000].join("/");
        let mut nodes = &structure(&[&deep]).roots;
        let mut levels = 1;
        while let Some(node) = nodes.first().filter(|node| !node.children.is_empty()) {
            (nodes, levels) = (&node.children, levels + 1);
        }
        assert_eq!(levels, MAX_DEPTH);
        let mut tree = Tree::default();
        for index in 0..MAX_NODES {
            tree.add(["few", &index.to_string()], NodeKind::File);
        }
        let structure = tree.into_structure();
        assert_eq!((structure.max_depth, structure.roots.len()), (1, 1));
        let mut tree = Tree::default();
        for index in 0..=MAX_NODES {
            tree.add([index.to_string().as_str()], NodeKind::File);
        }
        assert_eq!(tree.into_structure().roots.len(), MAX_NODES);
        let mut tree = Tree::default();
        for index in 0..MAX_NODES as u32 * 4 {
            let index = index.to_string();
            tree.add([index.as_str(), "a", "b", "c"], NodeKind::File);
        }
        assert!(
            tree.counts.iter().sum::<usize>() < MAX_NODES * 3,
            "nodes that cannot be included are not stored"
        );
        assert_eq!(Tree::default().into_structure(), Structure { max_depth: 1, roots: vec![] });
    }
}
