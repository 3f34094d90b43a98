//! Checks that a codebase has tests, recognized by directory or file name, and in Rust by test attributes.

use std::sync::LazyLock;

use marketplace_domain::written::counted;
use regex::bytes::Regex;

use super::{
    Check, Chunk, FileAction, Finding, Rule,
    samples::{Samples, Share},
    words::words,
};
use crate::contents::{Entry, EntryKind, Root, split_path};

/// Tests exist.
pub static TESTS_PRESENT: Rule = Rule::recommended("tests_present", "Tests were found");

/// Extensions of source files that may have tests.
const CODE_EXTENSIONS: [&str; 41] = [
    "rs", "py", "js", "jsx", "mjs", "cjs", "ts", "tsx", "go", "java", "kt", "kts", "scala", "cs", "fs", "vb",
    "c", "cc", "cpp", "cxx", "m", "mm", "swift", "rb", "php", "ex", "exs", "erl", "hs", "ml", "clj", "dart",
    "lua", "jl", "r", "zig", "sh", "pl", "pm", "t", "groovy",
];

/// Names of directories that contain tests.
const TEST_DIRECTORIES: [&str; 6] = ["test", "tests", "__tests__", "e2e", "testing", "testsuite"];

/// Names of directories that contain tests in some languages, and the extensions of those. In other languages, they contain
/// specifications, for example.
const TEST_DIRECTORIES_BY_LANGUAGE: [(&[&str], &[&str]); 2] = [
    (&["spec", "specs"], &["rb", "js", "jsx", "mjs", "cjs", "ts", "tsx", "lua", "php", "groovy"]),
    (&["t", "xt"], &["t", "pl", "pm"]),
];

/// Matches the attributes of tests in a Rust file: those that are only compiled for tests, and those of libraries.
static TEST_ATTRIBUTE: LazyLock<Regex> = LazyLock::new(|| {
    let configured = r"cfg\(\s*(?:(?:all|any)\(\s*)*(?:(?:[^()\]]|\([^()\]]*\))*,\s*)?test\s*[,)]";
    let named = r"(?:\w+\s*::\s*)*(?:test|\w+_test|rstest|test_case|quickcheck)\s*[\](]";
    Regex::new(&format!(r"(?-u)#\[\s*(?:{configured}|{named})")).expect("the pattern is valid")
});

/// Check for [`TESTS_PRESENT`].
#[derive(Debug, Default)]
pub struct TestsPresent {
    /// Whether there is a source file, even if it cannot be read.
    applies: bool,
    /// Number of source files that were read.
    source_files: u64,
    tests: Samples,
    current_file: Option<SourceFile>,
}

/// A source file.
#[derive(Debug)]
struct SourceFile {
    path: String,
    is_rust: bool,
    has_tests: bool,
}

impl Check for TestsPresent {
    fn start_file(&mut self, entry: &Entry<'_>) -> FileAction {
        self.current_file = None;
        let extension = extension(entry.name());
        let is_source = entry.kind == EntryKind::File && CODE_EXTENSIONS.contains(&extension.as_str());
        self.applies |= is_source;
        if !is_source || !entry.is_file() {
            return FileAction::Skip;
        }
        let (is_rust, has_tests) = (extension == "rs", is_test_path(entry.path));
        self.current_file = Some(SourceFile { path: entry.path.to_owned(), is_rust, has_tests });
        if is_rust && !has_tests { FileAction::Read } else { FileAction::Skip }
    }

    fn chunk(&mut self, chunk: Chunk<'_>) {
        if let Some(file) = self.current_file.as_mut().filter(|file| file.is_rust) {
            file.has_tests = file.has_tests || TEST_ATTRIBUTE.is_match(chunk.text);
        }
    }

    fn end_file(&mut self, problem: Option<&str>) {
        let Some(file) = self.current_file.take().filter(|_| problem.is_none()) else { return };
        self.source_files += 1;
        if file.has_tests {
            self.tests.add_file(&file.path);
        }
    }

    fn finish(self: Box<Self>, _root: &Root) -> Vec<Finding> {
        if !self.applies {
            return Vec::new();
        }
        let count = counted(self.source_files, "source file", "source files");
        vec![if self.tests.is_empty() {
            let message = format!(
                "No tests were found in {count}. Add tests. They are recognized by their directory (such as \
                 tests/), their file name (such as test_io.py or io_test.go), or Rust test attributes."
            );
            Finding::failed(&TESTS_PRESENT, &message)
        } else {
            let share = Share { part: self.tests.count(), total: self.source_files };
            let message =
                format!("{} of {count} contain tests ({share}): {}.", self.tests.count(), self.tests);
            Finding::passed(&TESTS_PRESENT, &message)
        }]
    }
}

/// Returns the extension of a file name in lowercase.
fn extension(name: &str) -> String {
    name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase()
}

/// Whether a source file contains tests, judged by its path.
fn is_test_path(path: &str) -> bool {
    let (directories, name) = split_path(path);
    let extension = extension(name);
    let is_in = |names: &[&str]| {
        directories.split('/').any(|component| names.iter().any(|name| component.eq_ignore_ascii_case(name)))
    };
    let is_in_directory_of_language = TEST_DIRECTORIES_BY_LANGUAGE
        .iter()
        .any(|(names, extensions)| extensions.contains(&extension.as_str()) && is_in(names));
    // Perl runs the files that end in `.t` as tests.
    let stem = name.strip_suffix(&format!(".{extension}")).unwrap_or(name);
    is_in(&TEST_DIRECTORIES) || is_in_directory_of_language || extension == "t" || is_test_name(stem)
}

/// Whether the name of a source file, without its extension, is that of a test.
fn is_test_name(stem: &str) -> bool {
    let is_test = |word: &&str| ["test", "tests"].iter().any(|name| word.eq_ignore_ascii_case(name));
    let is_spec = words(stem).nth(1).is_some()
        && words(stem).last().is_some_and(|word| word.eq_ignore_ascii_case("spec"));
    let has_test_part = stem.split('.').any(|part| {
        let mut words: Vec<&str> = words(part).collect();
        words.pop_if(|word| *word == "Case");
        words.first().is_some_and(is_test) || words.last().is_some_and(is_test)
    });
    // Integration tests of Maven.
    let is_integration_test =
        stem.strip_suffix("IT").is_some_and(|rest| rest.ends_with(|last: char| last.is_lowercase()));
    is_spec
        || has_test_part
        || is_integration_test
        || stem == "conftest"
        || stem.rsplit_once('.').is_some_and(|(_, last)| last == "cy")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quality_checks::tests::findings_of;
    use marketplace_domain::quality_checks::CheckStatus;

    #[test]
    fn tests_are_recognized_by_path() {
        for path in [
            "tests/suite.rs",
            "a/__tests__/x.js",
            "pkg/io_test.go",
            "test_io.py",
            "conftest.py",
            "a/IoTest.java",
            "IoTests.cs",
            "a/io.test.tsx",
            "a/io.spec.ts",
            "lib/io_spec.rb",
            "TestIo.php",
            "src/Test/java/X.java",
            "a/UserIT.java",
            "a/io.cy.ts",
            "a/io_test.pb.go",
            "a/IoTestCase.php",
            "spec/support/io.rb",
            "specs/io.ts",
            "t/basic.t",
            "t/lib/Io.pm",
            "src/IoSpec.groovy",
            "lib/test_io.pl",
        ] {
            assert!(is_test_path(path), "{path}");
        }
        for path in [
            "src/io.rs",
            "contest.py",
            "latest.js",
            "attest/io.go",
            "Testament.java",
            "a/IT.java",
            "protest.c",
            "COMMIT.c",
            "EDIT.go",
            "specs/openapi.py",
            "spec/schema.go",
            "spec.py",
            "t/io.py",
            "lib/Latest.pm",
        ] {
            assert!(!is_test_path(path), "{path}");
        }
    }

    #[test]
    fn tests_are_recognized_by_attributes() {
        for attribute in [
            "#[test]",
            "#[cfg(test)]",
            "#[cfg(all(test, feature = \"a\"))]",
            "#[cfg(all(feature = \"a\", not(windows), test))]",
            "#[cfg(any(test, fuzzing))]",
            "#[rstest]",
            "#[async_std::test]",
            "#[tokio::test(flavor = \"multi_thread\")]",
            "#[sqlx::test]",
            "#[wasm_bindgen_test]",
            "#[test_case(1; \"one\")]",
        ] {
            assert!(TEST_ATTRIBUTE.is_match(attribute.as_bytes()), "{attribute}");
        }
        for attribute in [
            "#[cfg(not(test))]",
            "#[cfg(all(unix, not(test)))]",
            "#[cfg(feature = \"test\")]",
            "#[cfg(not(any(unix, test)))]",
            "#[testify]",
            "#[serial_test::serial]",
        ] {
            assert!(!TEST_ATTRIBUTE.is_match(attribute.as_bytes()), "{attribute}");
        }
    }

    #[test]
    fn code_without_source_files_has_no_tests_to_look_for() {
        let files = [("README.md", &b"# A"[..]), ("main.tf", b"a = 1\n")];
        assert_eq!(findings_of(TestsPresent::default(), &files, 40), []);
    }

    #[test]
    fn tests_are_counted() {
        let run_check = |files: &[(&str, &str)]| {
            let files: Vec<_> = files.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
            findings_of(TestsPresent::default(), &files, 40).remove(0)
        };
        let code = "fn main() {}; fn more() {} ";
        let found = run_check(&[
            ("a.rs", code),
            ("b.rs", &format!("{code}{code}#[cfg(test)]")),
            ("c_test.go", ""),
            ("d.md", ""),
        ]);
        assert_eq!(found.message, r#"2 of 3 source files contain tests (66%): "b.rs"; "c_test.go"."#);
        let without_tests = run_check(&[("a.rs", code), ("README.md", "#[test]")]);
        assert_eq!(
            (without_tests.status, without_tests.message.contains("1 source file")),
            (CheckStatus::Failed, true)
        );
    }
}
