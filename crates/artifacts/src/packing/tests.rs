//! Archives of visited files, read with the library.

use std::io::Read;

use zip::DateTime;

use super::*;

type Files = Vec<(&'static str, &'static [u8])>;

fn packed(selection: &FileSelection, files: &Files) -> Result<Vec<(String, Vec<u8>)>, ReadError> {
    let to = tempfile::tempfile().unwrap();
    let visit = |visitor: &mut dyn Visitor| {
        for (path, bytes) in files {
            let entry = Entry { is_executable: *path == "run", ..Entry::file(path, bytes.len() as u64) };
            if visitor.start_file(&entry) == FileAction::Read {
                visitor.chunk(bytes);
            }
            visitor.end_file(None);
        }
        Ok(())
    };
    pack(selection, to.try_clone().unwrap(), visit)?;
    let mut zip = zip::ZipArchive::new(to).unwrap();
    let count = zip.len();
    let file = |index| {
        let mut file = zip.by_index(index).unwrap();
        assert_eq!(file.last_modified(), Some(DateTime::default()));
        let mode = if file.name().unwrap() == "run" { 0o755 } else { 0o644 };
        assert_eq!(file.unix_mode().map(|mode| mode & 0o777), Some(mode));
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        (file.name().unwrap().into_owned(), bytes)
    };
    Ok((0..count).map(file).collect())
}

fn names(selection: &FileSelection, files: &Files) -> Vec<String> {
    packed(selection, files).unwrap().into_iter().map(|(name, _)| name).collect()
}

#[test]
fn all_files_are_packed_except_those_that_leave_their_directory() {
    let files: Files = vec![
        ("b", b"2"),
        ("run", b"3"),
        ("../x", b"4"),
        ("a/../y", b""),
        ("a//z", b""),
        ("c\\d", b"5"),
        ("..\\e", b"6"),
        (".git/hooks/pre-commit", b""),
    ];
    let found = packed(&FileSelection::All, &files).unwrap();
    let expected = [("b", b"2"), ("run", b"3"), ("c%5Cd", b"5"), ("..%5Ce", b"6")];
    assert_eq!(found, expected.map(|(name, bytes)| (name.to_owned(), bytes.to_vec())));
    assert_eq!(names(&FileSelection::All, &Vec::new()), [""; 0]);
}

#[test]
fn no_file_is_lost_to_another_with_the_same_name() {
    for files in [
        [("b", b"1"), ("b", b"2")],
        [("c\\d", b"1"), ("c%5Cd", b"2")],
        [("src", b"1"), ("src/x", b"2")],
        [("src/x", b"1"), ("src", b"2")],
    ] {
        let files = files.map(|(name, bytes)| (name, &bytes[..])).to_vec();
        assert!(matches!(packed(&FileSelection::All, &files), Err(ReadError::Rejected(_))), "{files:?}");
    }
}

#[test]
fn paths_select_files_and_directories() {
    let files: Files = vec![("src/a", b""), ("src/b/c", b""), ("srcs", b""), ("d", b"")];
    let paths = |paths: &[&str]| FileSelection::Paths(paths.iter().map(|path| (*path).to_owned()).collect());
    assert_eq!(names(&paths(&["src/", "d"]), &files), ["src/a", "src/b/c", "d"]);
    assert!(matches!(packed(&paths(&["x"]), &files), Err(ReadError::Rejected(_))));
}

#[test]
fn default_sample_has_the_readme_the_license_and_the_first_small_files() {
    let large: &'static [u8] = vec![0; DEFAULT_FILE_BYTES as usize + 1].leak();
    let mut files: Files = vec![("a-large", large), ("z/README.md", b""), ("z/LICENSE.txt", b"")];
    for number in 0..30 {
        files.push((format!("m/{number:02}").leak(), b""));
    }
    files.push(("y/z/README", b""));
    let mut found = names(&FileSelection::Default, &files);
    found.sort();
    let mut expected: Vec<String> = (0..20).map(|number| format!("m/{number:02}")).collect();
    expected.extend(["z/LICENSE.txt".to_owned(), "z/README.md".to_owned()]);
    assert_eq!(found, expected);
}

#[test]
fn problem_of_a_packed_file_is_the_reason() {
    let visit = |visitor: &mut dyn Visitor| {
        visitor.start_file(&Entry::file("a", 1));
        visitor.end_file(Some("uses an unsupported compression method"));
        Ok(())
    };
    match pack(&FileSelection::All, tempfile::tempfile().unwrap(), visit) {
        Err(ReadError::Rejected(Rejection(message))) => {
            assert_eq!(message, "A file of the archive uses an unsupported compression method.");
        }
        other => panic!("{other:?}"),
    }
}
