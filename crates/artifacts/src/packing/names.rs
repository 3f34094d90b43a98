//! Names of files in an archive. Each name is unique among files and directories; otherwise, unpacking would lose a file.

use std::{borrow::Cow, collections::HashSet};

use xxhash_rust::xxh3::xxh3_128;

/// Returns the name of a file in an archive. A backslash separates directories for some programs, so it is written as its code.
pub fn packed_name(path: &str) -> Cow<'_, str> {
    if path.contains('\\') { path.replace('\\', "%5C").into() } else { path.into() }
}

/// The names of files in an archive so far, and of their directories, as hashes: paths can be long.
#[derive(Debug, Default)]
pub struct PackedNames {
    files: HashSet<u128>,
    directories: HashSet<u128>,
}

impl PackedNames {
    /// Adds the file with a path. Returns whether it can be unpacked beside those so far.
    pub fn add(&mut self, path: &str) -> bool {
        let name = packed_name(path);
        let own = xxh3_128(name.as_bytes());
        let mut is_free = !self.directories.contains(&own) && self.files.insert(own);
        for (end, _) in name.rmatch_indices('/') {
            let directory = xxh3_128(name[..end].as_bytes());
            is_free &= !self.files.contains(&directory);
            if !self.directories.insert(directory) {
                // So are the directories above it.
                break;
            }
        }
        is_free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_one_file_and_no_directory() {
        for (paths, refused) in [
            (&["a", "b/a", "b/c/a", "b/c/b"][..], &[][..]),
            (&["a", "b", "a"], &[2]),
            (&["a%5Cb", "a\\b"], &[1]),
            (&["src", "src/x/y"], &[1]),
            (&["src/x/y", "src/x/z", "src/x", "src"], &[2, 3]),
        ] {
            let mut names = PackedNames::default();
            let found: Vec<usize> = paths
                .iter()
                .enumerate()
                .filter(|(_, path)| !names.add(path))
                .map(|(index, _)| index)
                .collect();
            assert_eq!(found, refused, "{paths:?}");
        }
    }
}
