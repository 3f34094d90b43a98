//! Uploads of files in parts: which parts are sent, and when they are sent again.

use std::{ops::Range, sync::Arc, thread, time::Duration};

use serde_json::Value;

use super::{client::Client, file_parts::SourceFile};
use crate::{
    cli::{CommandError, CommandResult, progress::CliProgress},
    search::Progress,
};

/// Seconds to wait before each further attempt. A part that arrives begins a new series.
const PAUSES: [u64; 5] = [0, 1, 2, 4, 8];

/// Sends the parts that the plan of an upload lists, which are the missing ones. `path` is the path of the plan. A part that
/// fails is sent again, to a new URL.
pub fn send_parts(client: &Client, file: &SourceFile, path: &str, plan: Value) -> CommandResult {
    let progress = Arc::new(CliProgress::bytes("uploading"));
    send_missing(
        plan,
        || client.get(path),
        |address, range, arrived| {
            let part = file.part(&range, arrived, &progress)?;
            client.put_part(address, part)?;
            progress.advance(arrived + range.end - range.start, file.size_bytes());
            Ok(())
        },
        |seconds| thread::sleep(Duration::from_secs(seconds)),
    )
}

/// Calls `send` for each part that a plan lists, with its address, its place in the file, and the number of bytes that have
/// arrived before. If it fails, calls `pause` with the seconds to wait, and `reload` for a plan of the parts that are still
/// missing, and continues. Fails when several attempts in a row have failed, or when the plan cannot be read again.
fn send_missing(
    mut plan: Value,
    mut reload: impl FnMut() -> Result<Value, CommandError>,
    mut send: impl FnMut(&Value, Range<u64>, u64) -> CommandResult,
    mut pause: impl FnMut(u64),
) -> CommandResult {
    let mut failures = 0;
    loop {
        let Err((has_sent, error)) = send_listed(&plan, &mut send) else { return Ok(()) };
        if matches!(error, CommandError::Other(_)) {
            // The file cannot be read.
            return Err(error);
        }
        if has_sent {
            failures = 0;
        }
        plan = loop {
            let Some(seconds) = PAUSES.get(failures) else { return Err(error) };
            failures += 1;
            pause(*seconds);
            match reload() {
                Ok(plan) => break plan,
                Err(CommandError::NoResponse(_)) => {}
                Err(refused) => return Err(refused),
            }
        };
    }
}

/// Sends the parts that a plan lists. If one fails, returns whether others were sent before.
fn send_listed(
    plan: &Value,
    send: &mut impl FnMut(&Value, Range<u64>, u64) -> CommandResult,
) -> Result<(), (bool, CommandError)> {
    let size = plan["size_bytes"].as_u64().unwrap_or_default();
    let part_size = plan["part_size_bytes"].as_u64().unwrap_or(size);
    let parts = plan["parts"].as_array().map(Vec::as_slice).unwrap_or_default();
    let range = |part: &Value| {
        let start = part["part_number"].as_u64().unwrap_or(1).saturating_sub(1).saturating_mul(part_size);
        start.min(size)..start.saturating_add(part_size).min(size)
    };
    let missing: u64 = parts.iter().map(range).map(|range| range.end - range.start).sum();
    let mut arrived = size.saturating_sub(missing);
    for (index, part) in parts.iter().enumerate() {
        let range = range(part);
        let length = range.end - range.start;
        send(part, range, arrived).map_err(|error| (index > 0, error))?;
        arrived += length;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use serde_json::json;

    use super::*;

    /// A server that has received some parts of a file of 25 bytes in parts of 10.
    #[derive(Default)]
    struct Server {
        received: RefCell<Vec<u64>>,
        /// What the next requests for parts fail with, the last one first.
        failures: RefCell<Vec<Option<CommandError>>>,
        reloads: RefCell<Vec<Result<(), CommandError>>>,
        sent: RefCell<Vec<(u64, Range<u64>, u64)>>,
        pauses: RefCell<Vec<u64>>,
    }

    impl Server {
        fn plan(&self) -> Value {
            let received = self.received.borrow();
            let missing = (1..=3).filter(|number| !received.contains(number));
            let parts: Vec<Value> = missing.map(|number| json!({"part_number": number})).collect();
            json!({"size_bytes": 25, "part_size_bytes": 10, "parts": parts})
        }

        fn upload(&self) -> CommandResult {
            send_missing(
                self.plan(),
                || self.reloads.borrow_mut().pop().unwrap_or(Ok(())).map(|()| self.plan()),
                |address, range, arrived| {
                    if let Some(error) = self.failures.borrow_mut().pop().flatten() {
                        return Err(error);
                    }
                    let number = address["part_number"].as_u64().unwrap();
                    self.sent.borrow_mut().push((number, range, arrived));
                    self.received.borrow_mut().push(number);
                    Ok(())
                },
                |seconds| self.pauses.borrow_mut().push(seconds),
            )
        }
    }

    fn failed() -> CommandError {
        CommandError::NoResponse("cut".to_owned())
    }

    fn failures(count: usize) -> Vec<Option<CommandError>> {
        (0..count).map(|_| Some(failed())).collect()
    }

    #[test]
    fn parts_that_have_arrived_are_not_sent_again() {
        let server = Server { received: vec![2].into(), ..Server::default() };
        server.upload().unwrap();
        assert_eq!(*server.sent.borrow(), [(1, 0..10, 10), (3, 20..25, 20)]);
        server.upload().unwrap();
        assert_eq!(server.sent.borrow().len(), 2);
    }

    #[test]
    fn part_that_fails_is_sent_again_after_a_pause() {
        // The second part fails once, the third four times.
        let mut order = failures(4);
        order.extend([None, Some(failed()), None]);
        let server = Server { failures: order.into(), ..Server::default() };
        server.upload().unwrap();
        let numbers: Vec<u64> = server.sent.borrow().iter().map(|(number, ..)| *number).collect();
        assert_eq!(numbers, [1, 2, 3]);
        assert_eq!(*server.pauses.borrow(), [0, 0, 1, 2, 4]);
    }

    #[test]
    fn upload_that_fails_again_and_again_is_given_up() {
        let server = Server { failures: failures(20).into(), ..Server::default() };
        assert!(matches!(server.upload(), Err(CommandError::NoResponse(_))));
        assert_eq!(*server.pauses.borrow(), PAUSES);
        // A file that cannot be read is not tried again.
        let unreadable = CommandError::Other("cannot read".to_owned());
        let server = Server { failures: vec![Some(unreadable)].into(), ..Server::default() };
        assert!(matches!(server.upload(), Err(CommandError::Other(_))));
        assert!(server.pauses.borrow().is_empty());
        // A request without a response is repeated; a refused request is not.
        let refused = || CommandError::Refused { code: "not_found".to_owned(), message: String::new() };
        let server = Server {
            failures: failures(1).into(),
            reloads: vec![Err(refused()), Err(failed())].into(),
            ..Server::default()
        };
        assert!(matches!(server.upload(), Err(CommandError::Refused { .. })));
        assert_eq!(*server.pauses.borrow(), [0, 1]);
    }
}
