//! Reading lines of untrusted output, none of which takes more memory than a stated limit.

use std::{
    io::{self, BufRead, Read},
    sync::mpsc::SyncSender,
};

use crate::gym::MAX_LINE_BYTES;

/// What happened while a run waits for answers.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    /// A line of output. A line that is too long is cut one byte after the limit, so that the caller can detect it.
    Line(Vec<u8>),
    /// The output has ended.
    End,
    /// The agent has exited. Another process may keep its output open.
    Exit,
    /// The run is to stop.
    Interrupted,
}

/// Sends each line of `input` to `events`, and its end. A slow receiver stops the reading.
pub fn send_lines(input: impl Read, events: &SyncSender<Event>) {
    let mut input = io::BufReader::new(input);
    while let Ok(Some(line)) = next_line(&mut input) {
        if events.send(Event::Line(line)).is_err() {
            return;
        }
    }
    // Nobody waits any more if this fails.
    let _ = events.send(Event::End);
}

/// Returns the next line without its end; `None` at the end of the input.
fn next_line(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    if input.by_ref().take(MAX_LINE_BYTES as u64 + 1).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() > MAX_LINE_BYTES {
        skip_line(input)?;
    }
    Ok(Some(line))
}

/// Reads the rest of a line without keeping it.
fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        let (length, is_done) = match memchr::memchr(b'\n', buffer) {
            Some(at) => (at + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        input.consume(length);
        if is_done {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    #[test]
    fn long_lines_are_cut_and_the_next_ones_read() {
        let input = format!("one\n\n{}\nlast", "x".repeat(3 * MAX_LINE_BYTES));
        let (sender, receiver) = sync_channel(10);
        send_lines(input.as_bytes(), &sender);
        drop(sender);
        let lengths: Vec<Option<usize>> = receiver
            .iter()
            .map(|event| match event {
                Event::Line(line) => Some(line.len()),
                _ => None,
            })
            .collect();
        assert_eq!(lengths, [Some(3), Some(0), Some(MAX_LINE_BYTES + 1), Some(4), None]);
    }
}
