//! JSON Lines: the keys and types in the first lines, and whether every line is valid JSON.

use serde::de::IgnoredAny;
use serde_json::Value;

use super::{Column, Facts, Fault, MAX_COLUMNS, MAX_SAMPLES, cut, merged};

/// Number of lines at the beginning from which keys and types are detected.
const TYPED_LINES: u64 = 50;

/// Maximum size of a line in bytes.
const MAX_LINE: usize = 16 << 20;

/// Incremental reader of one file.
#[derive(Debug)]
pub struct JsonLines {
    max_line: usize,
    /// The current line, if it began in an earlier chunk.
    line: Vec<u8>,
    /// Number of complete lines.
    lines: u64,
    facts: Facts,
    rows: u64,
    fault: Option<Fault>,
}

impl Default for JsonLines {
    fn default() -> JsonLines {
        JsonLines::bounded(MAX_LINE)
    }
}

impl JsonLines {
    fn bounded(max_line: usize) -> JsonLines {
        JsonLines { max_line, line: Vec::new(), lines: 0, facts: Facts::default(), rows: 0, fault: None }
    }

    /// Processes the next chunk of the file.
    pub fn push(&mut self, mut bytes: &[u8]) {
        while let (None, Some(end)) = (&self.fault, bytes.iter().position(|byte| *byte == b'\n')) {
            if self.line.is_empty() {
                self.take(&bytes[..end]);
            } else {
                self.extend(&bytes[..end]);
                let line = std::mem::take(&mut self.line);
                self.take(&line);
            }
            self.lines += 1;
            bytes = &bytes[end + 1..];
        }
        if self.fault.is_none() {
            self.extend(bytes);
        }
    }

    /// Returns the facts about the file after its last chunk, or why the file is invalid.
    pub fn conclude(mut self) -> Result<Facts, Fault> {
        let line = std::mem::take(&mut self.line);
        self.take(&line);
        match self.fault {
            Some(fault) => Err(fault),
            None => Ok(Facts { rows: Some(self.rows), ..self.facts }),
        }
    }

    /// Returns the facts from the complete lines so far. The last line may be cut off, so it is ignored.
    pub fn beginning(self) -> Facts {
        self.facts
    }

    fn extend(&mut self, bytes: &[u8]) {
        if self.line.len() + bytes.len() > self.max_line {
            let (line, most) = (self.lines + 1, self.max_line >> 20);
            self.fault = Some(Fault(format!("has a line of more than {most} MiB (line {line})")));
            self.line = Vec::new();
        } else {
            self.line.extend_from_slice(bytes);
        }
    }

    fn take(&mut self, line: &[u8]) {
        let line = if self.lines == 0 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
        if self.fault.is_some() || line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        // Values may be nested deeply: `IgnoredAny` skips them without recursion.
        if let Err(error) = serde_json::from_slice::<IgnoredAny>(line) {
            let said = error.to_string();
            let said = said.split(" at line ").next().unwrap_or_default();
            self.fault = Some(Fault(format!("has invalid JSON in line {}: {said}", self.lines + 1)));
            return;
        }
        self.rows += 1;
        if self.rows <= TYPED_LINES {
            self.describe(line);
        }
    }

    fn describe(&mut self, line: &[u8]) {
        if self.facts.sample.len() < MAX_SAMPLES {
            self.facts.sample.push(cut(String::from_utf8_lossy(&line[..line.len().min(8_192)]).trim()));
        }
        let Ok(Value::Object(object)) = serde_json::from_slice(line) else { return };
        for (key, value) in &object {
            let name = Column::new(key, "").name;
            let is_full = self.facts.columns.len() >= MAX_COLUMNS;
            match self.facts.columns.iter_mut().find(|column| column.name == name) {
                Some(column) => column.kind = merged(known(&column.kind), kind(value)).to_owned(),
                None if is_full => {}
                None => self.facts.columns.push(Column::new(key, kind(value))),
            }
        }
    }
}

const KINDS: [&str; 7] = ["integer", "number", "boolean", "text", "array", "object", "mixed"];

fn known(kind: &str) -> &'static str {
    KINDS.into_iter().find(|known| *known == kind).unwrap_or_default()
}

/// Returns the type of a value, which is empty for null.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "text",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], length: usize) -> Result<Facts, Fault> {
        let mut lines = JsonLines::bounded(1 << 20);
        text.chunks(length).for_each(|bytes| lines.push(bytes));
        lines.conclude()
    }

    #[test]
    fn keys_types_and_rows_are_told() {
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
    fn a_broken_line_is_named() {
        for (text, line) in
            [("{}\n{\"a\"\n{}", 2), ("{}\n{}\nx", 3), ("{} {}", 1), ("\n\n{\"a\": \"\\x\"}", 3)]
        {
            for length in [1, 100] {
                let Err(Fault(fault)) = read(text.as_bytes(), length) else { panic!("{text}") };
                assert!(fault.starts_with(&format!("has invalid JSON in line {line}: ")), "{text}: {fault}");
            }
        }
    }

    #[test]
    fn hostile_lines_take_little_memory() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(read(deep.as_bytes(), 65_536).unwrap().rows, Some(1));
        assert!(read("[".repeat(100_000).as_bytes(), 65_536).is_err());
        let piece = vec![b'1'; 65_536];
        let mut endless = JsonLines::bounded(1 << 20);
        for _ in 0..50 {
            endless.push(&piece);
            assert!(endless.line.capacity() <= 2 << 20);
        }
        assert_eq!(endless.conclude(), Err(Fault("has a line of more than 1 MiB (line 1)".to_owned())));
        let keys: Vec<String> = (0..5_000).map(|key| format!("\"{key}\":1")).collect();
        let facts = read(format!("{{{}}}", keys.join(",")).as_bytes(), 65_536).unwrap();
        assert_eq!(facts.columns.len(), MAX_COLUMNS);
    }
}
