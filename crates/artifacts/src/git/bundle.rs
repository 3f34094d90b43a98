//! Git bundles: files with a list of refs and one pack. The list is short text; the pack is not parsed here.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

use super::formats::UnsupportedFormat;
use crate::{ReadError, Rejection};

/// What the supported versions of bundles begin with.
const SIGNATURES: [&str; 2] = ["# v2 git bundle", "# v3 git bundle"];

/// Maximum size in bytes of what precedes the pack.
const MAX_HEADER_BYTES: u64 = 1 << 20;

/// The only supported capability of version 3: the usual kind of object IDs.
const SUPPORTED_CAPABILITY: &str = "@object-format=sha1";

/// Branches that are taken if a repository does not say which one is its default branch.
const DEFAULT_BRANCHES: [&str; 2] = ["refs/heads/main", "refs/heads/master"];

/// Whether a file begins like a bundle.
pub fn is_bundle(start: &[u8]) -> bool {
    SIGNATURES.iter().any(|signature| start.starts_with(signature.as_bytes()))
}

/// Returns the header of a bundle with this newest commit.
pub fn header(head: &str) -> String {
    format!("{}\n{head} HEAD\n\n", SIGNATURES[0])
}

/// A bundle whose header was read.
#[derive(Debug)]
pub struct OpenBundle {
    /// ID of the newest commit of the default branch, in hexadecimal.
    pub head: String,
    /// The rest of the file, which is the pack.
    pub pack: BufReader<File>,
}

/// Opens the bundle at a path. Fails if it lacks commits that others are based on, or has no default branch.
pub fn open(path: &Path) -> Result<OpenBundle, ReadError> {
    let mut pack = BufReader::new(File::open(path).map_err(ReadError::Io)?);
    let head = read_header(&mut pack)?;
    Ok(OpenBundle { head, pack })
}

/// Reads the header. Returns the ID of the newest commit of the default branch.
fn read_header(file: &mut impl BufRead) -> Result<String, ReadError> {
    let mut remaining = file.take(MAX_HEADER_BYTES);
    let mut refs = BTreeMap::new();
    let signature = read_line(&mut remaining)?;
    if !SIGNATURES.contains(&signature.as_str()) {
        return reject("The file is not a Git bundle of version 2 or 3.");
    }
    loop {
        let line = read_line(&mut remaining)?;
        match line.as_bytes().first() {
            None => break,
            Some(b'@') if line == SUPPORTED_CAPABILITY => {}
            Some(b'@') if line == "@object-format=sha256" => {
                return Err(UnsupportedFormat::Sha256.rejection().into());
            }
            Some(b'@') => return reject("The bundle needs capabilities other than `object-format=sha1`."),
            Some(b'-') => {
                return reject(
                    "The bundle lacks commits that others are based on. Make it with `git bundle create FILE --all`.",
                );
            }
            Some(_) => match line.split_once(' ') {
                Some((id, name)) if is_id(id) => drop(refs.insert(name.to_owned(), id.to_owned())),
                _ => return reject("The list of refs in the bundle is damaged."),
            },
        }
    }
    Ok(default_commit(&refs)?.to_owned())
}

/// Returns the commit of the default branch: `HEAD`, or else `main`, `master`, or the only branch.
pub(super) fn default_commit(refs: &BTreeMap<String, String>) -> Result<&str, Rejection> {
    let named = ["HEAD"].into_iter().chain(DEFAULT_BRANCHES).find_map(|name| refs.get(name));
    let mut branches = refs.iter().filter(|(name, _)| name.starts_with("refs/heads/"));
    let only = branches.next().filter(|_| branches.next().is_none()).map(|(_, id)| id);
    named.or(only).map(String::as_str).ok_or_else(|| {
        let message = "The repository has no HEAD, and no branch named main or master.";
        Rejection(message.to_owned())
    })
}

/// Whether a text is the ID of an object in hexadecimal.
pub(crate) fn is_id(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Reads a line without its end.
fn read_line(file: &mut impl BufRead) -> Result<String, ReadError> {
    let mut line = Vec::new();
    file.read_until(b'\n', &mut line).map_err(ReadError::Io)?;
    if line.pop() != Some(b'\n') {
        return reject("The list of refs in the bundle is too long, or does not end.");
    }
    Ok(String::from_utf8_lossy(&line).into_owned())
}

fn reject<T>(message: &str) -> Result<T, ReadError> {
    Err(Rejection(message.to_owned()).into())
}

/// Copies the pack of a bundle to a file, if it has at most `max_bytes`. Returns false if it has more.
pub(super) fn copy_pack(pack: &mut impl Read, to: &Path, max_bytes: u64) -> io::Result<bool> {
    let mut file = File::create(to)?;
    let bytes = io::copy(&mut pack.take(max_bytes.saturating_add(1)), &mut file)?;
    Ok(bytes <= max_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head_of(text: &str) -> Result<String, String> {
        match read_header(&mut text.as_bytes()) {
            Ok(head) => Ok(head),
            Err(ReadError::Rejected(rejection)) => Err(rejection.0),
            Err(error) => panic!("{error:?}"),
        }
    }

    #[test]
    fn default_branch_of_a_bundle_is_found() {
        let (one, two) = ("1".repeat(40), "2".repeat(40));
        for (refs, expected) in [
            (format!("{one} refs/heads/main\n{two} HEAD\n"), &two),
            (format!("{one} refs/heads/main\n{two} refs/heads/zeta\n"), &one),
            (format!("{one} refs/heads/a\n{two} refs/heads/master\n"), &two),
            (format!("{one} refs/heads/a\n{two} refs/tags/v1\n"), &one),
        ] {
            assert_eq!(head_of(&format!("# v2 git bundle\n{refs}\nPACK")).as_ref(), Ok(expected), "{refs}");
        }
        let versioned = format!("# v3 git bundle\n@object-format=sha1\n{one} HEAD\n\n");
        assert_eq!(head_of(&versioned), Ok(one.clone()));
        assert_eq!(head_of(&header(&two)), Ok(two));
    }

    #[test]
    fn bundles_that_cannot_be_copied_are_rejected() {
        let id = "1".repeat(40);
        for (text, expected) in [
            ("PK".to_owned(), "does not end"),
            ("# v4 git bundle\n".to_owned(), "version 2 or 3"),
            (format!("# v2 git bundle\n{id} HEAD\n"), "does not end"),
            (format!("# v2 git bundle\n-{id} before\n{id} HEAD\n\n"), "lacks commits"),
            (format!("# v3 git bundle\n@filter=blob:none\n{id} HEAD\n\n"), "capabilities"),
            (format!("# v3 git bundle\n@object-format=sha256\n{id}{id} HEAD\n\n"), "SHA-256"),
            ("# v2 git bundle\nxyz HEAD\n\n".to_owned(), "damaged"),
            (format!("# v2 git bundle\n{id} refs/heads/a\n{id} refs/heads/b\n\n"), "no HEAD"),
            (format!("# v2 git bundle\n{id} {}\n\n", "x".repeat(2 << 20)), "too long"),
        ] {
            let error = head_of(&text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
