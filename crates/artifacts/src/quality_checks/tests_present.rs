//! Checks that a codebase has tests, recognized by directory or file name, and in Rust by test attributes.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::{
    Check, Chunk, FileAction, Finding, Rule,
    samples::{Samples, percent, with_noun},
};
use crate::contents::{Entry, Root};

/// Tests exist.
pub static TESTS_PRESENT: Rule = Rule::recommended("tests_present", "Tests were found");

/// Extensions of source files that may have tests.
const CODE_EXTENSIONS: [&str; 37] = [
    "rs", "py", "js", "jsx", "mjs", "cjs", "ts", "tsx", "go", "java", "kt", "kts", "scala", "cs", "fs", "vb",
    "c", "cc", "cpp", "cxx", "m", "mm", "swift", "rb", "php", "ex", "exs", "erl", "hs", "ml", "clj", "dart",
    "lua", "jl", "r", "zig", "sh",
];

/// Names of directories that contain tests.
const TEST_DIRECTORIES: [&str; 8] =
    ["test", "tests", "spec", "specs", "__tests__", "e2e", "testing", "testsuite"];

/// Matches the attributes of tests in a Rust file.
static TEST_ATTRIBUTE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?-u)#\[(?:cfg\(test\)|test|tokio::test)").expect("the pattern is valid"));

/// Check for [`TESTS_PRESENT`].
#[derive(Debug, Default)]
pub struct TestsPresent {
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
        let name = entry.name();
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
        if !entry.is_file() || !CODE_EXTENSIONS.contains(&extension.as_str()) {
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
        let count = with_noun(self.source_files, "source file", "source files");
        vec![if self.tests.is_empty() {
            let message = format!(
                "No tests were found in {count}. Add tests. They are recognized by their directory (such as \
                 tests/), their file name (such as test_io.py or io_test.go), or Rust test attributes."
            );
            Finding::failed(&TESTS_PRESENT, &message)
        } else {
            let share = percent(self.tests.count(), self.source_files);
            let message =
                format!("{} of {count} contain tests ({share}%): {}.", self.tests.count(), self.tests);
            Finding::passed(&TESTS_PRESENT, &message)
        }]
    }
}

/// Whether a source file contains tests, judged by its path.
fn is_test_path(path: &str) -> bool {
    let (directories, name) = path.rsplit_once('/').unwrap_or(("", path));
    if directories
        .split('/')
        .any(|component| TEST_DIRECTORIES.iter().any(|directory| component.eq_ignore_ascii_case(directory)))
    {
        return true;
    }
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    let suffixes = ["_test", "_tests", "_spec", "Test", "Tests", "TestCase", "Spec", "IT", "-test", "-spec"];
    let infixes = [".test.", ".spec.", ".tests.", ".cy."];
    let has_camel_case_prefix = ["Test", "Tests"].iter().any(|prefix| {
        stem.strip_prefix(prefix)
            .is_some_and(|rest| rest.starts_with(|character: char| character.is_ascii_uppercase()))
    });
    matches!(stem, "test" | "tests" | "conftest")
        || stem.starts_with("test_")
        || has_camel_case_prefix
        || suffixes.iter().any(|suffix| stem.ends_with(suffix) && stem.len() > suffix.len())
        || infixes.iter().any(|infix| name.contains(infix))
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
        ] {
            assert!(!is_test_path(path), "{path}");
        }
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
