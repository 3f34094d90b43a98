//! Pointers of Git LFS, which stand for files whose content is on another server.

use marketplace_text::encoding;

/// Maximum size of a pointer in bytes.
const MAX_BYTES: usize = 1_024;

/// Beginnings of the first line, which names the format: the current name, and the name in the first versions.
const VERSIONS: [&str; 2] =
    ["version https://git-lfs.github.com/spec/", "version https://hawser.github.com/spec/"];

/// Why the content of a pointer cannot be used, as a predicate that follows its path in a message.
pub const PROBLEM: &str = "is a pointer of Git LFS without the content of the file";

/// Whether a file is a pointer of Git LFS.
pub fn is_pointer(bytes: &[u8]) -> bool {
    if bytes.len() > MAX_BYTES {
        return false;
    }
    let Some(text) = encoding::decode(bytes) else { return false };
    let mut lines = text.lines();
    let has_version =
        lines.next().is_some_and(|line| VERSIONS.iter().any(|version| line.starts_with(version)));
    let has_line = |start: &str| lines.clone().any(|line| line.starts_with(start));
    has_version && has_line("oid ") && has_line("size ")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A pointer to a file of 73,400,320 bytes.
    pub const POINTER: &str = "version https://git-lfs.github.com/spec/v1\n\
         oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 73400320\n";

    #[test]
    fn pointers_are_recognized_by_their_lines() {
        let with_extension = POINTER.replace("oid", "ext-0-foo sha256:4d7a\noid");
        let by_windows = POINTER.replace('\n', "\r\n");
        let old = POINTER.replace("git-lfs", "hawser");
        let with_mark = format!("\u{feff}{POINTER}");
        for pointer in [POINTER, &with_extension, &by_windows, &old, &with_mark, POINTER.trim_end()] {
            assert!(is_pointer(pointer.as_bytes()), "{pointer}");
        }
        let long = POINTER.to_owned() + &"x".repeat(1_024);
        let prose = "version https://git-lfs.github.com/spec/v1\nis the first line of a pointer.\n";
        for other in ["", "version 1\noid 2\nsize 3\n", &long, prose, &format!("# Pointers\n{POINTER}")] {
            assert!(!is_pointer(other.as_bytes()), "{other}");
        }
    }
}
