//! Files of the repository that tests generate, or a part of them.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Whether files are updated instead of compared. `.ci/update` sets the variable.
pub fn is_update() -> bool {
    std::env::var_os("UPDATE_GENERATED").is_some()
}

/// Returns the location of a file of the repository.
fn locate(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Returns the text of a file of the repository.
pub fn read(path: &str) -> String {
    fs::read_to_string(locate(path)).unwrap()
}

/// Asserts that a file of the repository has these contents. Writes it if files are updated and it has others.
pub fn assert_current(path: &str, contents: impl AsRef<[u8]>) {
    let file = locate(path);
    if fs::read(&file).is_ok_and(|current| current == contents.as_ref()) {
        return;
    }
    assert!(is_update(), "{path} is out of date. Run `.ci/update`.");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, contents).unwrap();
}
