//! Patterns for the files of a table: what they match, and whether they match files of other tables.

use crate::artifacts::datasets::Table;

/// Splits a path before the name of its file.
fn split(path: &str) -> (&str, &str) {
    path.split_at(path.rfind('/').map_or(0, |slash| slash + 1))
}

/// Whether the pattern of a table of several files matches files of another table.
pub fn includes(table: &Table, other: &Table) -> bool {
    if table.files == 1 || table.path == other.path {
        return false;
    }
    let (directory, name) = split(&table.path);
    let (other_directory, other_name) = split(&other.path);
    let file = if other.files == 1 { other_name.to_owned() } else { other_name.replace('*', "0") };
    // Some programs let `*` match slashes.
    let file = format!("{other_directory}{file}");
    file.strip_prefix(directory).is_some_and(|file| matches(&name.split('*').collect::<Vec<_>>(), file))
}

/// Whether a name consists of these parts, and of text that begins with a digit between them.
fn matches(parts: &[&str], name: &str) -> bool {
    let [first, middle @ .., last] = parts else { return parts == [name] };
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    for part in middle {
        // If a later place fits, the first one does.
        let after = |at: usize| rest.get(at..)?.strip_prefix(part).filter(|rest| begins_with_digit(rest));
        match (1..rest.len()).find_map(after) {
            Some(after) if begins_with_digit(rest) => rest = after,
            _ => return false,
        }
    }
    begins_with_digit(rest) && rest.len() > last.len() && rest.ends_with(last)
}

fn begins_with_digit(text: &str) -> bool {
    text.starts_with(|character: char| character.is_ascii_digit())
}

/// Returns the glob pattern that matches the files of a table. In the name of the file, `path` has a `*` in place of each number.
pub fn pattern(path: &str) -> String {
    let (directory, name) = split(path);
    let escaped = |text: &str, is_pattern: bool| {
        text.chars().fold(String::new(), |mut pattern, character| {
            match character {
                '*' if is_pattern => pattern.push_str("[0-9]*"),
                '*' | '?' | '[' => pattern.extend(['[', character, ']']),
                other => pattern.push(other),
            }
            pattern
        })
    };
    format!("{}{}", escaped(directory, false), escaped(name, true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifacts::datasets::Format;

    #[test]
    fn patterns_match_numbers_and_nothing_else_special() {
        for (path, expected) in [
            ("a.csv", "a.csv"),
            ("d[1]/p?-*.csv", "d[[]1]/p[?]-[0-9]*.csv"),
            ("a*b/c*.csv", "a[*]b/c[0-9]*.csv"),
        ] {
            assert_eq!(pattern(path), expected);
        }
    }

    #[test]
    fn pattern_of_a_table_can_match_files_of_others() {
        let table = |path: &str, files: u64| Table {
            path: path.to_owned(),
            files,
            format: Format::Csv,
            columns: Vec::new(),
            rows: None,
            sample: Vec::new(),
            peculiarity: None,
        };
        for (path, other, files, expected) in [
            ("d/p-*.csv", "d/p-*.csv", 2, false),
            ("d/p-*.csv", "d/p-1-notes.csv", 1, true),
            ("d/p-*.csv", "d/p-*-notes.csv", 2, true),
            ("d/p-*-notes.csv", "d/p-*.csv", 2, false),
            ("d/p-*.csv", "d/p-notes.csv", 1, false),
            ("d/p-*.csv", "d/p-.csv", 1, false),
            ("d/p-*.csv", "d/p-1/x.csv", 1, true),
            ("d/p-*.csv", "e/p-1.csv", 1, false),
            ("aa*aa*.csv", "aa1aaa2.csv", 1, true),
            ("a*b*.csv", "a1b.csv", 1, false),
        ] {
            assert_eq!(includes(&table(path, 2), &table(other, files)), expected, "{path} {other}");
        }
        assert!(!includes(&table("d/p-1.csv", 1), &table("d/p-1-notes.csv", 1)));
    }
}
