//! The repositories of a world, which its Git hosts have instead of those of the network: the compiled-in ones of the
//! documents' examples, and those that were added. Each is a Git bundle in the directory of the market.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use include_dir::{Dir, include_dir};

use crate::{market::Market, private_files};

/// Name of the directory in that of a market.
pub const DIRECTORY: &str = "repositories";

/// Maximum number of characters of an owner and of a name, so that `owner/name` has at most 200.
const MAX_NAME_LENGTH: usize = 99;

/// The compiled-in repositories, which `fixtures/make` builds.
static EXAMPLES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/fixtures/bundles");

/// Whether a text can be the owner or the name of a repository: letters, digits, `_`, `-`, and `.`. It must not be `.` and must
/// not begin with `..`.
pub fn is_name(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let after_dot = text.strip_prefix('.').unwrap_or(text);
    after_dot.starts_with(|first: char| first != '.')
        && text.bytes().all(is_allowed)
        && text.len() <= MAX_NAME_LENGTH
}

/// Returns the base URL of the repositories of a world.
pub fn base_url(market: &Market) -> String {
    format!("file://{}", directory(market).display())
}

/// Returns the directory of the repositories of a world, which may not exist.
pub fn directory(market: &Market) -> PathBuf {
    let directory = market.data_dir().join(DIRECTORY);
    std::path::absolute(&directory).unwrap_or(directory)
}

/// Returns the path of a repository of a world, `owner/name`.
pub fn path_of(market: &Market, full_name: &str) -> PathBuf {
    directory(market).join(format!("{full_name}.git"))
}

/// Writes a compiled-in repository to the directory of a world when it is requested, unless another one with this name
/// was added.
pub fn provide(market: &Market, full_name: &str) -> io::Result<()> {
    let path = path_of(market, full_name);
    let Some(file) = EXAMPLES.get_file(format!("{full_name}.bundle")).filter(|_| !path.exists()) else {
        return Ok(());
    };
    let staging = market.blobs().staging_dir()?;
    let written = staging.path().join("bundle");
    fs::write(&written, file.contents())?;
    place(&written, &path)
}

/// Moves a complete file to its path. A world that was forked earlier keeps the file that was there.
pub fn place(from: &Path, to: &Path) -> io::Result<()> {
    private_files::create_dir_all(to.parent().unwrap_or(to))?;
    fs::rename(from, to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifacts::git::bundle;

    #[test]
    fn names_stay_in_their_directory() {
        for name in ["harbour", ".github", "a.b", "_", "A-9", "a.."] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", ".", "..", "..a", "a/b", "a\\b", "a b", "%2e", "é", &"x".repeat(100)] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn repositories_of_the_examples_are_compiled_in() {
        let files: Vec<_> = EXAMPLES.dirs().flat_map(include_dir::Dir::files).collect();
        let names: Vec<String> =
            files.iter().map(|file| file.path().with_extension("").display().to_string()).collect();
        for name in ["parlour-search", "quoin-ledger", "racklane-core", "tenant-portal"] {
            assert!(names.contains(&format!("lumen-codeworks/{name}")), "{name}");
        }
        assert!(names.contains(&"tideclock/harbour".to_owned()) && names.len() == 5);
        for file in files {
            let bytes = file.contents();
            assert!(bundle::is_bundle(bytes) && bytes.len() < 16 << 10, "{:?}", file.path());
        }
    }
}
