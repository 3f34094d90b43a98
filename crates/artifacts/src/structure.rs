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
    /// Sizes of the files in bytes, in the order of the tree (depth first). Empty if they are not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<u64>,
}

impl Structure {
    /// Whether the tree has at most the maximum depth and number of nodes, no name is longer than `max_name_bytes`, and each file
    /// has a size of at most `max_bytes`, or none has one.
    pub(super) fn is_within_limits(&self, max_name_bytes: usize, max_bytes: u64) -> bool {
        let mut nodes: Vec<(&Node, u32)> = self.roots.iter().map(|node| (node, 1)).collect();
        let (mut count, mut files) = (0, 0);
        while let Some((node, depth)) = nodes.pop() {
            count += 1;
            if count > MAX_NODES || depth > self.max_depth || node.name.len() > max_name_bytes {
                return false;
            }
            files += usize::from(node.kind == NodeKind::File);
            nodes.extend(node.children.iter().map(|child| (child, depth + 1)));
        }
        (1..=MAX_DEPTH).contains(&self.max_depth)
            && (self.sizes.is_empty() || self.sizes.len() == files)
            && self.sizes.iter().all(|size| *size <= max_bytes)
    }

    /// Passes each node with its path, in the order of the tree.
    pub(super) fn for_each_node(&self, visit: &mut dyn FnMut(&str, &Visited)) {
        let mut sizes = self.sizes.iter().copied();
        walk(&self.roots, &mut String::new(), 1, &mut sizes, visit);
    }

    /// Whether the content of directories at this depth may have been left out.
    pub(super) const fn is_cut(&self, node: &Node, depth: u32) -> bool {
        matches!(node.kind, NodeKind::Directory) && node.children.is_empty() && depth >= self.max_depth
    }

    /// Whether nodes of the first level may have been left out.
    pub(super) const fn are_roots_cut(&self) -> bool {
        self.roots.len() >= MAX_NODES
    }
}

/// A node, as a walk through the tree finds it.
pub(super) struct Visited<'a> {
    pub(super) node: &'a Node,
    /// Starts at 1.
    pub(super) depth: u32,
    /// Size of a file in bytes, if it is known.
    pub(super) size: Option<u64>,
}

fn walk(
    nodes: &[Node],
    path: &mut String,
    depth: u32,
    sizes: &mut dyn Iterator<Item = u64>,
    visit: &mut dyn FnMut(&str, &Visited),
) {
    let parent = path.len();
    for node in nodes {
        path.push_str(&node.name);
        let size = if node.kind == NodeKind::File { sizes.next() } else { None };
        visit(path, &Visited { node, depth, size });
        path.push('/');
        walk(&node.children, path, depth + 1, sizes, visit);
        path.truncate(parent);
    }
}

/// Builds a [`Structure`] from paths. It is never deeper than the included tree, even if the paths are.
#[derive(Debug, Default)]
pub struct Tree {
    root: Level,
    /// Number of nodes on each level.
    counts: [usize; MAX_DEPTH as usize],
}

/// Children of a directory by name.
#[derive(Debug, Default)]
struct Level(BTreeMap<String, Child>);

/// A file with its size in bytes, or a directory.
#[derive(Debug)]
enum Child {
    File(u64),
    Directory(Level),
}

impl Tree {
    /// Adds a file of a size in bytes by its path. Ignores nodes on levels that are too large to be included.
    pub fn add_file<'a>(&mut self, path: impl IntoIterator<Item = &'a str>, size: u64) {
        self.add(path, Some(size));
    }

    /// Adds a directory, which may be empty, by its path. Ignores nodes on levels that are too large to be included.
    pub fn add_directory<'a>(&mut self, path: impl IntoIterator<Item = &'a str>) {
        self.add(path, None);
    }

    /// Adds a file of a size, or a directory.
    fn add<'a>(&mut self, path: impl IntoIterator<Item = &'a str>, size: Option<u64>) {
        let mut components = path.into_iter().peekable();
        let mut level = &mut self.root;
        for depth in 0..self.counts.len() {
            let Some(name) = components.next() else { return };
            if !level.0.contains_key(name) {
                if self.counts[..=depth].iter().sum::<usize>() > MAX_NODES {
                    return;
                }
                self.counts[depth] += 1;
            }
            let file = size.filter(|_| components.peek().is_none());
            let child = level.0.entry(name.to_owned()).or_insert(Child::File(file.unwrap_or_default()));
            if file.is_some() {
                return;
            }
            // A path that is both a file and a directory counts as a directory.
            if let Child::File(_) = child {
                *child = Child::Directory(Level::default());
            }
            let Child::Directory(directory) = child else { return };
            level = directory;
        }
    }

    /// Converts the tree into the included part: as many levels as fit into the maximum number of nodes. The
    /// first level is always included, but may be truncated.
    pub fn into_structure(self) -> Structure {
        let mut total = 0;
        let fitting_levels = self.counts.iter().take_while(|count| {
            total += **count;
            **count > 0 && total <= MAX_NODES
        });
        let max_depth = (fitting_levels.count() as u32).max(1);
        let mut sizes = Vec::new();
        let mut roots = self.root.into_nodes(max_depth, &mut sizes);
        // Only a first level that is too large for more levels is truncated. Its files are the last nodes.
        let left_out = roots.split_off(roots.len().min(MAX_NODES));
        let files = left_out.iter().filter(|node| node.kind == NodeKind::File).count();
        sizes.truncate(sizes.len() - files);
        Structure { max_depth, roots, sizes }
    }
}

impl Level {
    /// Converts a level into its nodes, and appends the sizes of the files in them.
    fn into_nodes(self, depth: u32, sizes: &mut Vec<u64>) -> Vec<Node> {
        let (mut directories, mut files, mut own_sizes) = (Vec::new(), Vec::new(), Vec::new());
        for (name, child) in self.0 {
            match child {
                Child::Directory(directory) => {
                    let children =
                        if depth > 1 { directory.into_nodes(depth - 1, sizes) } else { Vec::new() };
                    directories.push(Node { name, kind: NodeKind::Directory, children });
                }
                Child::File(size) => {
                    own_sizes.push(size);
                    files.push(Node { name, kind: NodeKind::File, children: Vec::new() });
                }
            }
        }
        sizes.append(&mut own_sizes);
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
            let components = path.trim_end_matches('/').split('/');
            if path.ends_with('/') {
                tree.add_directory(components);
            } else {
                tree.add_file(components, path.len() as u64);
            }
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
        assert_eq!((structure.max_depth, &structure.sizes[..]), (3, &[5, 4, 3, 3, 5, 5][..]));
        let mut files = Vec::new();
        structure.for_each_node(&mut |path, visited| {
            files.extend(visited.size.map(|size| (path.to_owned(), size)));
        });
        assert!(files.len() == 6 && files.iter().all(|(path, size)| path.len() as u64 == *size), "{files:?}");
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
            tree.add_file(["few", &index.to_string()], 1);
        }
        let structure = tree.into_structure();
        assert_eq!((structure.max_depth, structure.roots.len()), (1, 1));
        let mut tree = Tree::default();
        for index in 0..=MAX_NODES {
            tree.add_file([index.to_string().as_str()], 1);
        }
        let structure = tree.into_structure();
        assert_eq!((structure.roots.len(), structure.sizes.len()), (MAX_NODES, MAX_NODES));
        let mut tree = Tree::default();
        for index in 0..MAX_NODES as u32 * 4 {
            let index = index.to_string();
            tree.add_file([index.as_str(), "a", "b", "c"], 1);
        }
        assert!(
            tree.counts.iter().sum::<usize>() < MAX_NODES * 3,
            "nodes that cannot be included are not stored"
        );
        assert_eq!(
            Tree::default().into_structure(),
            Structure { max_depth: 1, roots: vec![], sizes: vec![] }
        );
    }
}
