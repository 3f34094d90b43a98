//! The line by which spreadsheet programs state the delimiter of a CSV file.

/// A first line such as `sep=;`, which spreadsheet programs write and read. It states the delimiter and is not a row.
#[derive(Clone, Copy, Debug)]
pub struct Separator {
    /// The delimiter, which is an ASCII character.
    pub delimiter: u8,
    /// Position after the line.
    pub end: usize,
}

impl Separator {
    /// Finds the line at the beginning of a text without a byte order mark.
    pub fn find(head: &[u8]) -> Option<Separator> {
        let line = head.split(|byte| matches!(byte, b'\n' | b'\r')).next()?;
        let end = line.len();
        let unquoted = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
        let (name, [delimiter]) = unquoted.split_at_checked(4)? else { return None };
        let is_delimiter = delimiter.is_ascii() && !delimiter.is_ascii_alphanumeric() && *delimiter != b'"';
        let line_break = if head[end..].starts_with(b"\r\n") { 2 } else { 1 };
        (name.eq_ignore_ascii_case(b"sep=") && is_delimiter)
            .then_some(Separator { delimiter: *delimiter, end: (end + line_break).min(head.len()) })
    }
}
