//! Which file a parser of a child process reads, for the parent of a child that ends while it does.

use std::{
    fs::File,
    io::{self, Read, Seek},
    os::{fd::AsFd, unix::fs::FileExt},
};

/// Maximum size in bytes of a path that is recorded. The next process gets it in its arguments.
const MAX_PATH_BYTES: usize = 4_096;

/// The file that a parser reads. It is recorded in the file of the reply, which is empty until the child replies.
#[derive(Debug, Default)]
pub struct ParsedFile {
    /// The file of the reply. Without it, nothing is recorded.
    record: Option<File>,
    /// Paths of files at which earlier processes ended.
    fatal: Vec<String>,
}

impl ParsedFile {
    /// Creates the record of a child process, whose standard output is the file of the reply.
    pub(super) fn of_child(fatal: Vec<String>) -> io::Result<ParsedFile> {
        let record = io::stdout().as_fd().try_clone_to_owned()?;
        Ok(ParsedFile { record: Some(record.into()), fatal })
    }

    /// Runs a parser on a file. Returns `None` if an earlier process ended at this file: the parser is not run.
    pub fn parse<T>(&self, path: &str, parser: impl FnOnce() -> T) -> Option<T> {
        if self.fatal.iter().any(|fatal| fatal == path) {
            return None;
        }
        if let Some(record) = self.record.as_ref().filter(|_| path.len() <= MAX_PATH_BYTES) {
            // If it fails, the parent does not learn the path.
            let _ = record.write_all_at(path.as_bytes(), 0);
        }
        let parsed = parser();
        if let Some(record) = &self.record {
            let _ = record.set_len(0);
        }
        Some(parsed)
    }
}

/// Returns the path that a child has recorded in the file of its reply, if it ended while it read that file. Any
/// other text that a child writes is at most a path that none of its files has.
pub(super) fn find(mut reply: &File) -> Option<String> {
    let mut path = String::new();
    reply.rewind().ok()?;
    reply.take(MAX_PATH_BYTES as u64 + 1).read_to_string(&mut path).ok()?;
    let is_path = (1..=MAX_PATH_BYTES).contains(&path.len()) && !path.chars().any(char::is_control);
    is_path.then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_is_recorded_while_the_file_is_parsed() {
        let reply = tempfile::tempfile().unwrap();
        let current =
            ParsedFile { record: Some(reply.try_clone().unwrap()), fatal: vec!["bad.parquet".to_owned()] };
        assert_eq!(find(&reply), None);
        let found = current.parse("d/a.parquet", || find(&reply));
        assert_eq!(found, Some(Some("d/a.parquet".to_owned())));
        assert_eq!(find(&reply), None);
        assert_eq!(
            current.parse("bad.parquet", || panic!("an earlier process ended at this file")),
            None::<()>
        );
    }
}
