//! The bytes that directories occupy together, if they share files by hard links.

use std::{collections::HashMap, fs::Metadata, io, os::unix::fs::MetadataExt, path::Path};

use super::local::list_dir;
use crate::private_files;

/// A file of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskFile {
    /// Device and number of the file, which its links have in common.
    id: (u64, u64),
    bytes: u64,
    has_links: bool,
}

impl DiskFile {
    fn new(file: &Metadata) -> DiskFile {
        DiskFile { id: (file.dev(), file.ino()), bytes: file.len(), has_links: file.nlink() > 1 }
    }

    /// Returns the size in bytes, or 0 if the file was also in another directory when it was listed.
    pub const fn own_bytes(&self) -> u64 {
        if self.has_links { 0 } else { self.bytes }
    }
}

/// Returns the files in a directory and its subdirectories. Costs one system call per file.
pub fn list_disk_files(directory: &Path) -> io::Result<Vec<DiskFile>> {
    let mut files = Vec::new();
    add_files(directory, &mut files)?;
    Ok(files)
}

fn add_files(directory: &Path, files: &mut Vec<DiskFile>) -> io::Result<()> {
    for entry in list_dir(directory)? {
        match private_files::if_found(entry.metadata())? {
            Some(file) if file.is_dir() => add_files(&entry.path(), files)?,
            Some(file) => files.push(DiskFile::new(&file)),
            // It was deleted meanwhile.
            None => {}
        }
    }
    Ok(())
}

/// The files of several directories, each counted once.
#[derive(Debug, Default)]
pub struct DiskUsage {
    files: HashMap<(u64, u64), u64>,
}

impl DiskUsage {
    /// Adds the files of a directory.
    pub fn add(&mut self, files: &[DiskFile]) {
        self.files.extend(files.iter().map(|file| (file.id, file.bytes)));
    }

    /// Returns the sum of the sizes in bytes.
    pub fn bytes(&self) -> u64 {
        self.files.values().sum()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn links_are_counted_once() {
        let directory = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| directory.path().join(name));
        fs::create_dir_all(one.join("below")).unwrap();
        fs::create_dir_all(&other).unwrap();
        fs::write(one.join("below/shared"), [0; 100]).unwrap();
        fs::write(one.join("own"), [0; 20]).unwrap();
        fs::hard_link(one.join("below/shared"), other.join("link")).unwrap();
        let lists = [&one, &other].map(|path| list_disk_files(path).unwrap());
        let own = lists.each_ref().map(|files| files.iter().map(DiskFile::own_bytes).sum::<u64>());
        assert_eq!(own, [20, 0]);
        let mut usage = DiskUsage::default();
        for files in lists {
            usage.add(&files);
        }
        assert_eq!(usage.bytes(), 120);
        assert!(list_disk_files(&directory.path().join("missing")).unwrap().is_empty());
    }
}
