//! Reading the lines of an import of traces, in batches of bounded size.

use std::io::{self, BufRead};

use crate::domain::trace_imports::{
    LinePosition, MAX_BATCH_BYTES, MAX_BATCH_LINES, MAX_LINE_BYTES, RejectedLine, TraceLine,
};

/// Lines of an import that are imported together.
#[derive(Debug, Default)]
pub struct Batch {
    /// The traces, each with the number of its line.
    pub traces: Vec<(u64, TraceLine)>,
    /// The lines that are not traces.
    pub rejected: Vec<RejectedLine>,
    /// Position after the batch.
    pub end: LinePosition,
    /// Whether the file ends there.
    pub is_last: bool,
}

/// Reads lines from the middle of a file. At most one line is in memory, without what exceeds its maximum.
#[derive(Debug)]
pub struct LineReader<R> {
    source: R,
    line: Vec<u8>,
    position: LinePosition,
}

/// What was read.
enum Part {
    /// A line, which is in the buffer.
    Line,
    /// The beginning of a line that is too long.
    LongLine,
    /// More of a line that is too long, up to its end or to the end of the batch.
    Skipped,
    /// Nothing, since the file has ended.
    EndOfFile,
}

impl<R: BufRead> LineReader<R> {
    /// Creates a reader of lines from a source that begins at `position`.
    pub const fn new(source: R, position: LinePosition) -> LineReader<R> {
        LineReader { source, line: Vec::new(), position }
    }

    /// Reads and parses the next lines, at most [`MAX_BATCH_LINES`], and none that begins after
    /// [`MAX_BATCH_BYTES`]. A line that is too long is rejected in the batch in which it begins, and skipped in that
    /// one and in those after it.
    pub fn read_batch(&mut self) -> io::Result<Batch> {
        let mut batch = Batch::default();
        let end = self.position.offset + MAX_BATCH_BYTES;
        for _ in 0..MAX_BATCH_LINES {
            if self.position.offset >= end {
                break;
            }
            let part = if self.position.is_in_long_line { self.skip_line(end) } else { self.read_line() };
            let parsed = match part? {
                Part::EndOfFile => {
                    batch.is_last = true;
                    break;
                }
                Part::Skipped => continue,
                Part::Line if self.line.trim_ascii().is_empty() => continue,
                Part::Line => TraceLine::parse(&self.line),
                Part::LongLine => {
                    Err(format!("The line has more than {MAX_LINE_BYTES} bytes. Shorten the trace."))
                }
            };
            let line = self.position.lines_read;
            match parsed {
                Ok(trace) => batch.traces.push((line, trace)),
                Err(message) => batch.rejected.push(RejectedLine { line, message }),
            }
        }
        batch.end = self.position;
        Ok(batch)
    }

    /// Reads the next line without its end, or the beginning of one that is too long.
    fn read_line(&mut self) -> io::Result<Part> {
        self.line.clear();
        let mut has_begun = false;
        loop {
            let available = fill(&mut self.source)?;
            if available.is_empty() {
                return Ok(if has_begun { Part::Line } else { Part::EndOfFile });
            }
            if !has_begun {
                has_begun = true;
                self.position.lines_read += 1;
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let part = &available[..end.unwrap_or(available.len())];
            let is_too_long = self.line.len() + part.len() > MAX_LINE_BYTES;
            if !is_too_long {
                self.line.extend_from_slice(part);
            }
            let consumed = part.len() + usize::from(end.is_some());
            self.source.consume(consumed);
            self.position.offset += consumed as u64;
            if is_too_long {
                self.position.is_in_long_line = end.is_none();
                return Ok(Part::LongLine);
            }
            if end.is_some() {
                return Ok(Part::Line);
            }
        }
    }

    /// Skips the rest of a line that is too long, until the position `until` at the latest.
    fn skip_line(&mut self, until: u64) -> io::Result<Part> {
        while self.position.offset < until {
            let available = fill(&mut self.source)?;
            if available.is_empty() {
                self.position.is_in_long_line = false;
                return Ok(Part::EndOfFile);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let consumed = end.map_or(available.len(), |end| end + 1);
            self.source.consume(consumed);
            self.position.offset += consumed as u64;
            if end.is_some() {
                self.position.is_in_long_line = false;
                break;
            }
        }
        Ok(Part::Skipped)
    }
}

/// Returns the bytes that can be read next, none at the end of the file.
fn fill(source: &mut impl BufRead) -> io::Result<&[u8]> {
    loop {
        match source.fill_buf() {
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(cause),
            Ok(_) => break,
        }
    }
    // The buffer is filled, so this reads nothing.
    source.fill_buf()
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read};

    use super::*;

    /// A source that repeats a text `rest` times, and counts the bytes that were read.
    struct Repeated {
        text: Vec<u8>,
        rest: u64,
        read: u64,
    }

    impl Read for Repeated {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.rest == 0 {
                return Ok(0);
            }
            assert!(buffer.len() >= self.text.len());
            self.rest -= 1;
            buffer[..self.text.len()].copy_from_slice(&self.text);
            self.read += self.text.len() as u64;
            Ok(self.text.len())
        }
    }

    fn trace_line(number: u64) -> String {
        format!(
            r#"{{"trace_id": "{}", "external_id": "t", "version": 1, "build_version": 1}}"#,
            uuid::Uuid::from_u128(number.into())
        )
    }

    #[test]
    fn million_lines_are_read_in_batches_of_bounded_size() {
        const LINES: u64 = 1_000_000;
        let text = format!("{}\n", trace_line(1)).into_bytes();
        let length = text.len() as u64;
        // All lines are read, but only a part of them is parsed, to save time.
        let mut source = BufReader::with_capacity(4_096, Repeated { text, rest: LINES, read: 0 });
        let mut lines = LineReader::new(&mut source, LinePosition::default());
        for number in 1..=20 {
            let batch = lines.read_batch().unwrap();
            assert_eq!((batch.traces.len(), batch.end.lines_read), (MAX_BATCH_LINES, number * 1_000));
            assert_eq!(batch.end.offset, number * 1_000 * length);
            assert!(lines.source.get_ref().read <= batch.end.offset + 4_096, "nothing is read ahead");
            assert!(lines.line.capacity() <= 1_000);
        }
    }

    #[test]
    fn line_without_an_end_is_skipped_in_batches_of_bounded_size() {
        const BLOCK: u64 = 65_536;
        // A gigabyte without a line end.
        let long = Repeated { text: vec![b'x'; BLOCK as usize], rest: 16_384, read: 0 };
        let source = BufReader::with_capacity(BLOCK as usize, long.chain(&b"\n{}\n"[..]));
        let mut lines = LineReader::new(source, LinePosition::default());
        let (mut batches, mut rejected, mut begin) = (0, Vec::new(), 0);
        loop {
            let batch = lines.read_batch().unwrap();
            assert!(batch.end.offset - begin < MAX_BATCH_BYTES + BLOCK, "{:?}", batch.end);
            (begin, batches) = (batch.end.offset, batches + 1);
            rejected.extend(batch.rejected);
            if batch.is_last {
                break;
            }
            assert!(batch.end.is_in_long_line && lines.line.capacity() <= 2 * MAX_LINE_BYTES);
        }
        assert!(batches > 100 && rejected[0].message.contains("more than 1000000 bytes"), "{rejected:?}");
        assert_eq!(rejected.iter().map(|rejected| rejected.line).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn reading_continues_in_a_line_that_is_too_long() {
        let text = "x".repeat(9_000_000) + "\n" + &trace_line(1);
        let first = LineReader::new(text.as_bytes(), LinePosition::default()).read_batch().unwrap();
        let mut middle = LineReader::new(BufReader::new(text.as_bytes()), LinePosition::default());
        let middle = middle.read_batch().unwrap();
        assert_eq!((first.rejected.len(), middle.rejected.len(), middle.traces.len()), (1, 1, 0));
        assert!(middle.end.is_in_long_line && !middle.is_last, "{:?}", middle.end);
        let rest = &text.as_bytes()[middle.end.offset as usize..];
        let second = LineReader::new(rest, middle.end).read_batch().unwrap();
        assert_eq!((second.rejected.len(), second.is_last, second.traces[0].0), (0, true, 2));
    }

    #[test]
    fn batch_of_long_lines_ends_after_its_bytes() {
        let line = trace_line(1) + &" ".repeat(900_000) + "\n";
        let mut source = line.repeat(30);
        source.push('\n');
        let batch = LineReader::new(source.as_bytes(), LinePosition::default()).read_batch().unwrap();
        assert_eq!((batch.traces.len(), batch.is_last), (9, false));
        assert_eq!(batch.end.offset, 9 * line.len() as u64);
    }

    #[test]
    fn longest_line_is_a_trace_and_a_longer_one_is_not() {
        let line = |length: usize| {
            let line = trace_line(1);
            let padding = " ".repeat(length - line.len());
            line + &padding + "\n"
        };
        let text = line(MAX_LINE_BYTES) + &line(MAX_LINE_BYTES + 1) + "\r\n" + &trace_line(2);
        let batch = LineReader::new(text.as_bytes(), LinePosition::default()).read_batch().unwrap();
        let numbers: Vec<u64> = batch.traces.iter().map(|trace| trace.0).collect();
        assert_eq!((numbers, batch.rejected.len(), batch.end.lines_read), (vec![1, 4], 1, 4));
        assert_eq!(batch.end.offset, text.len() as u64);
    }

    #[test]
    fn reading_continues_where_a_batch_ended() {
        let text: String = (0..1_500).map(|number| trace_line(number) + "\n").collect();
        let first = LineReader::new(text.as_bytes(), LinePosition::default()).read_batch().unwrap();
        assert!(!first.is_last);
        let rest = &text.as_bytes()[first.end.offset as usize..];
        let second = LineReader::new(rest, first.end).read_batch().unwrap();
        assert_eq!((second.traces.len(), second.end.lines_read, second.is_last), (500, 1_500, true));
        assert_eq!((second.end.offset, second.traces[0].0), (text.len() as u64, 1_001));
    }
}
