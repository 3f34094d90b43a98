//! JSON Lines: the keys and types in the first lines, and whether every line is valid JSON. Lines are parsed as
//! streams: only the line itself and the beginnings of its keys are in memory, even if values are large.

use std::collections::HashMap;

use marketplace_text::encoding::{InvalidText, StrictDecoder};
use serde::de::IgnoredAny;

use self::record::Record;
use super::{
    Column, FileSummary, MAX_COLUMNS, MAX_SAMPLE_ROWS, TableError, csv::HEAD_BYTES, merge_types,
    truncate_sample,
};

mod record;

/// Maximum size of a line in bytes.
const MAX_LINE_BYTES: usize = 16 << 20;

/// Incremental reader of one file.
pub struct JsonLinesReader {
    max_line: usize,
    decoder: StrictDecoder,
    /// The current line, if it started in an earlier chunk.
    line: Vec<u8>,
    /// Number of complete lines, and their size in bytes.
    lines: u64,
    line_bytes: usize,
    facts: FileSummary,
    /// For each name of a column, its position.
    columns: HashMap<String, usize>,
    rows: u64,
    error: Option<TableError>,
}

impl Default for JsonLinesReader {
    fn default() -> JsonLinesReader {
        JsonLinesReader::with_max_line(MAX_LINE_BYTES)
    }
}

impl JsonLinesReader {
    fn with_max_line(max_line: usize) -> JsonLinesReader {
        JsonLinesReader {
            max_line,
            decoder: StrictDecoder::default(),
            line: Vec::new(),
            lines: 0,
            line_bytes: 0,
            facts: FileSummary::default(),
            columns: HashMap::new(),
            rows: 0,
            error: None,
        }
    }

    /// Processes the next chunk of the file.
    pub fn push(&mut self, bytes: &[u8]) {
        let mut decoder = std::mem::take(&mut self.decoder);
        let decoded = decoder.push(bytes, |text| self.push_text(text));
        self.decoder = decoder;
        self.check(decoded);
    }

    /// Records an error of the encoding, which comes after the text that was read.
    fn check(&mut self, decoded: Result<(), InvalidText>) {
        let Err(error) = decoded else { return };
        let line = self.lines + 1;
        self.error.get_or_insert_with(|| TableError(error.in_line(line)));
    }

    fn push_text(&mut self, mut bytes: &[u8]) {
        while let (None, Some(end)) = (&self.error, memchr::memchr(b'\n', bytes)) {
            if self.line.is_empty() {
                self.process_line(&bytes[..end]);
            } else {
                self.append_to_line(&bytes[..end]);
                let line = std::mem::take(&mut self.line);
                self.process_line(&line);
            }
            self.lines += 1;
            bytes = &bytes[end + 1..];
        }
        if self.error.is_none() {
            self.append_to_line(bytes);
        }
    }

    /// Returns the facts about the file after its last chunk, or why the file is invalid.
    pub fn finish(mut self) -> Result<FileSummary, TableError> {
        let mut decoder = std::mem::take(&mut self.decoder);
        let decoded = decoder.finish(|text| self.push_text(text));
        self.check(decoded);
        let line = std::mem::take(&mut self.line);
        self.process_line(&line);
        match self.error {
            Some(error) => Err(error),
            None => Ok(FileSummary { rows: Some(self.rows), ..self.facts }),
        }
    }

    /// Returns the facts from the complete lines so far. The last line may be cut off, so it is ignored.
    pub fn partial_summary(mut self) -> FileSummary {
        let mut decoder = std::mem::take(&mut self.decoder);
        // The end may be in the middle of a character.
        let _ = decoder.finish(|text| self.push_text(text));
        self.facts
    }

    fn append_to_line(&mut self, bytes: &[u8]) {
        if self.line.len() + bytes.len() > self.max_line {
            let (line, max_mib) = (self.lines + 1, self.max_line >> 20);
            self.error = Some(TableError(format!("has a line of more than {max_mib} MiB (line {line})")));
            self.line = Vec::new();
        } else {
            self.line.extend_from_slice(bytes);
        }
    }

    /// Checks a line. Its keys and types count if it begins in the head of the file.
    fn process_line(&mut self, line: &[u8]) {
        let start = self.line_bytes;
        self.line_bytes = start.saturating_add(line.len() + 1);
        if self.error.is_some() || line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        // Values may be nested deeply: `IgnoredAny` skips them without recursion.
        if let Err(error) = serde_json::from_slice::<IgnoredAny>(line) {
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            self.error = Some(TableError(format!("has invalid JSON in line {}: {message}", self.lines + 1)));
            return;
        }
        self.rows += 1;
        if start < HEAD_BYTES {
            self.add_to_summary(line);
        }
    }

    fn add_to_summary(&mut self, line: &[u8]) {
        if self.facts.sample.len() < MAX_SAMPLE_ROWS {
            self.facts
                .sample
                .push(truncate_sample(String::from_utf8_lossy(&line[..line.len().min(8_192)]).trim()));
        }
        let Ok(Record(fields)) = serde_json::from_slice(line) else { return };
        for (name, kind) in fields {
            match self.columns.get(&name) {
                Some(at) => {
                    let column = &mut self.facts.columns[*at];
                    column.kind = merge_types(&column.kind, kind).to_owned();
                }
                None if self.facts.columns.len() >= MAX_COLUMNS => {}
                None => {
                    self.facts.columns.push(Column::new(&name, kind));
                    self.columns.insert(name, self.facts.columns.len() - 1);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], length: usize) -> Result<FileSummary, TableError> {
        let mut lines = JsonLinesReader::with_max_line(1 << 20);
        text.chunks(length).for_each(|bytes| lines.push(bytes));
        lines.finish()
    }

    #[test]
    fn keys_types_and_rows_are_detected() {
        let text = "\u{feff}{\"a\": 1, \"b\": null}\r\n\n{\"a\": 1.5, \"b\": \"x\", \"c\": []}\n{\"a\": 2, \"c\": {}}";
        for length in [1, 7, 1_000] {
            let facts = read(text.as_bytes(), length).unwrap();
            let columns: Vec<_> = facts.columns.iter().map(|c| (c.name.as_str(), c.kind.as_str())).collect();
            assert_eq!(columns, [("a", "number"), ("b", "text"), ("c", "mixed")]);
            assert_eq!((facts.rows, facts.sample.len()), (Some(3), 3));
        }
        assert_eq!(read(b"1\n[2]\n", 3).unwrap().rows, Some(2));
    }

    #[test]
    fn types_are_those_of_the_lines_that_begin_in_the_head() {
        let line = "{\"a\": 1}\n";
        for (before, expected) in
            [(100, &[("a", "mixed"), ("b", "text")][..]), (1 + HEAD_BYTES / line.len(), &[("a", "integer")])]
        {
            let text = line.repeat(before) + "{\"a\": \"x\", \"b\": \"y\"}\n";
            for length in [7, 100_000] {
                let facts = read(text.as_bytes(), length).unwrap();
                let columns: Vec<_> =
                    facts.columns.iter().map(|c| (c.name.as_str(), c.kind.as_str())).collect();
                assert_eq!(columns, expected, "{before} {length}");
            }
        }
    }

    #[test]
    fn invalid_line_is_reported_with_its_number() {
        for (text, line) in
            [("{}\n{\"a\"\n{}", 2), ("{}\n{}\nx", 3), ("{} {}", 1), ("\n\n{\"a\": \"\\x\"}", 3)]
        {
            for length in [1, 100] {
                let Err(TableError(error)) = read(text.as_bytes(), length) else { panic!("{text}") };
                assert!(error.starts_with(&format!("has invalid JSON in line {line}: ")), "{text}: {error}");
            }
        }
    }

    #[test]
    fn lines_are_read_in_unicode_and_refused_in_other_encodings() {
        let text = "{\"name\": \"Jos\u{e9}\"}\n{\"name\": \"\u{1f600}\"}\n";
        let with_mark = format!("\u{feff}{text}");
        let little: Vec<u8> = with_mark.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for bytes in [text.as_bytes(), with_mark.as_bytes(), &little, &big] {
            for length in [1, 7, 1_000] {
                let facts = read(bytes, length).unwrap();
                assert_eq!((facts.rows, facts.columns[0].name.as_str()), (Some(2), "name"));
                assert_eq!(facts.sample[0], "{\"name\": \"Jos\u{e9}\"}");
            }
        }
        for (bytes, expected) in [
            (&b"{}\n{\"name\": \"Jos\xe9\"}\n"[..], "is not UTF-8 (line 2). Save it as UTF-8"),
            (b"{\"a\": \"\xc3", "ends in the middle of a character (line 1). Include the whole file"),
            (
                &vec![0; 70_000],
                "has bytes of zero, so it is damaged or not text (line 1). Include the original file",
            ),
        ] {
            for length in [1, 100_000] {
                assert_eq!(read(bytes, length).unwrap_err().0, expected);
            }
        }
    }

    #[test]
    fn malicious_lines_use_little_memory() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(read(deep.as_bytes(), 65_536).unwrap().rows, Some(1));
        assert!(read("[".repeat(100_000).as_bytes(), 65_536).is_err());
        let chunk = vec![b'1'; 65_536];
        let mut endless = JsonLinesReader::with_max_line(1 << 20);
        for _ in 0..50 {
            endless.push(&chunk);
            assert!(endless.line.capacity() <= 2 << 20);
        }
        assert_eq!(endless.finish(), Err(TableError("has a line of more than 1 MiB (line 1)".to_owned())));
        let keys: Vec<String> = (0..5_000).map(|key| format!("\"{key}\":1")).collect();
        let facts = read(format!("{{{}}}", keys.join(",")).as_bytes(), 65_536).unwrap();
        assert_eq!(facts.columns.len(), MAX_COLUMNS);
    }

    proptest::proptest! {
        /// The stream finds the same keys and types as a parser that stores the whole line.
        #[test]
        fn columns_are_those_of_the_parsed_values(
            records in proptest::collection::vec(
                proptest::collection::btree_map(
                    "[a-eäö \"\\\\]{1,4}",
                    "(null|true|-?[1-9][0-9]{0,30}|1\\.5|2e9|\"x\"|\\[1, \\[\\]\\]|\\{\"y\": \\[1\\]\\})",
                    0..6,
                ),
                1..8,
            ),
        ) {
            let line = |record: &std::collections::BTreeMap<String, String>| {
                let field = |(key, value): (&String, &String)| format!("{}: {value}", serde_json::json!(key));
                format!("{{{}}}", record.iter().map(field).collect::<Vec<_>>().join(", "))
            };
            let lines: Vec<String> = records.iter().map(line).collect();
            let mut expected: Vec<(String, &'static str)> = Vec::new();
            for line in &lines {
                let serde_json::Value::Object(object) = serde_json::from_str(line).unwrap() else { panic!() };
                for (key, value) in object {
                    let kind = match value {
                        serde_json::Value::Null => "",
                        serde_json::Value::Bool(_) => "boolean",
                        serde_json::Value::Number(number) if number.is_f64() => "number",
                        serde_json::Value::Number(_) => "integer",
                        serde_json::Value::String(_) => "text",
                        serde_json::Value::Array(_) => "array",
                        serde_json::Value::Object(_) => "object",
                    };
                    match expected.iter_mut().find(|(name, _)| *name == key) {
                        Some((_, known)) => *known = merge_types(known, kind),
                        None => expected.push((key, kind)),
                    }
                }
            }
            let facts = read(lines.join("\n").as_bytes(), 50).unwrap();
            let columns: Vec<_> = facts.columns.into_iter().map(|column| (column.name, column.kind)).collect();
            let expected: Vec<_> = expected.into_iter().map(|(name, kind)| (name, kind.to_owned())).collect();
            proptest::prop_assert_eq!(columns, expected);
        }
    }
}
