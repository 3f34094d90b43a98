//! The agent server over a pair of streams, with one message per line. Adds what the MCP library lacks: invalid lines get the
//! same errors as over HTTP, batches are answered, notifications may come before the first request, and the notice of an answer
//! comes first.

use std::{
    io,
    sync::{Mutex, PoisonError},
};

use memchr::memchr;
use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};

use super::{
    messages::{self, ClientMessage, REVISION_WITH_BATCHES},
    notice_first::with_notice_first,
};

/// Number of bytes of messages that may wait between a stream and the MCP library.
pub const BUFFER_BYTES: usize = 1 << 16;

/// Shared state of both directions of a connection: the stream to the client, and the batches that wait for responses.
pub struct Connection<W> {
    output: tokio::sync::Mutex<W>,
    batches: Mutex<Batches>,
    max_line_bytes: usize,
}

/// The batches of a connection.
#[derive(Default)]
struct Batches {
    /// The revision of the protocol that was agreed on; empty before.
    revision: String,
    /// Whether the first request of the connection was passed on.
    has_begun: bool,
    open: Vec<Batch>,
}

/// A batch that waits for responses.
#[derive(Default)]
struct Batch {
    waiting_ids: Vec<Value>,
    responses: Vec<Vec<u8>>,
}

/// A line that a client sent.
enum Line {
    Complete(Vec<u8>),
    /// The stream ended within the line.
    Unfinished,
    TooLong,
}

impl<W: AsyncWrite + Send + Unpin> Connection<W> {
    /// Answers on a stream. Lines of more than `max_line_bytes` are refused.
    pub fn new(output: W, max_line_bytes: usize) -> Connection<W> {
        Connection { output: output.into(), batches: Mutex::default(), max_line_bytes }
    }

    /// Passes the messages of a client on until its stream ends.
    pub async fn receive(
        &self,
        input: impl AsyncRead + Send + Unpin,
        mut requests: impl AsyncWrite + Send + Unpin,
    ) -> io::Result<()> {
        let mut input = BufReader::new(input);
        while let Some(line) = read_line(&mut input, self.max_line_bytes).await? {
            match self.accept(&line) {
                Ok(accepted) => requests.write_all(&accepted).await?,
                Err(response) => self.write(response.to_string().as_bytes()).await?,
            }
            self.write_answered_batches().await?;
        }
        requests.shutdown().await
    }

    /// Sends the responses of the server until they end, each with its notice first.
    pub async fn send(&self, responses: impl AsyncRead + Send + Unpin) -> io::Result<()> {
        // A response is not larger than the answers of tools, which the server makes.
        let (mut responses, mut line) = (BufReader::new(responses), Vec::new());
        while responses.read_until(b'\n', &mut line).await? > 0 {
            let response = with_notice_first(&line).unwrap_or_else(|| line.trim_ascii_end().to_vec());
            let unbatched = self.batches().keep(response);
            if let Some(response) = unbatched {
                self.write(&response).await?;
            }
            self.write_answered_batches().await?;
            line.clear();
        }
        let unanswered = self.batches().take_all();
        for batch in unanswered {
            self.write(&batch).await?;
        }
        self.output.lock().await.shutdown().await
    }

    /// Returns the lines with the messages of a line, or the response to one that has none.
    fn accept(&self, line: &Line) -> Result<Vec<u8>, Value> {
        let line = match line {
            Line::Complete(line) => line.trim_ascii(),
            Line::Unfinished => return Err(messages::error_response(&[], &messages::unfinished_line())),
            Line::TooLong => {
                let message = format!("A message has at most {} bytes.", self.max_line_bytes);
                return Err(messages::error_response(&[], &messages::invalid_request(&message)));
            }
        };
        if line.is_empty() {
            return Ok(Vec::new());
        }
        let checked = messages::check_syntax(line).and_then(|()| messages::check_shape(line));
        checked.map_err(|error| messages::error_response(&[], &error))?;
        let mut batches = self.batches();
        match messages::split_batch(line).filter(|_| batches.revision == REVISION_WITH_BATCHES) {
            Some(batch) => {
                let batch = batch.map_err(|error| messages::error_response(&[], &error))?;
                Ok(batches.begin(batch.iter().map(|message| message.get().as_bytes())))
            }
            None => {
                let message = batches.pass(line).map_err(|error| messages::error_response(line, &error))?;
                let is_request = matches!(message, ClientMessage::Request(_));
                if is_request && !batches.has_begun {
                    batches.has_begun = messages::begins_connection(line);
                }
                // Before the first request, nothing waits for a notification or a response.
                Ok(if is_request || batches.has_begun { [line, b"\n"].concat() } else { Vec::new() })
            }
        }
    }

    async fn write_answered_batches(&self) -> io::Result<()> {
        let answered = self.batches().take_answered();
        for batch in answered {
            self.write(&batch).await?;
        }
        Ok(())
    }

    async fn write(&self, message: &[u8]) -> io::Result<()> {
        let mut output = self.output.lock().await;
        output.write_all(message).await?;
        output.write_all(b"\n").await?;
        output.flush().await
    }

    fn batches(&self) -> std::sync::MutexGuard<'_, Batches> {
        self.batches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Batches {
    /// Begins a batch, and returns the lines with its messages. Items that are not messages are answered at once.
    fn begin<'m>(&mut self, batch: impl Iterator<Item = &'m [u8]>) -> Vec<u8> {
        self.open.push(Batch::default());
        let (begun, mut lines) = (self.open.len() - 1, Vec::new());
        for message in batch {
            match self.pass(message) {
                Ok(ClientMessage::Request(id)) => self.open[begun].waiting_ids.push(id),
                Ok(_) => {}
                Err(error) => {
                    let response = messages::error_response(message, &error).to_string().into_bytes();
                    self.open[begun].responses.push(response);
                    continue;
                }
            }
            // A message can have line breaks only between its values.
            lines.extend(message.iter().map(|byte| if *byte == b'\n' { b' ' } else { *byte }));
            lines.push(b'\n');
        }
        lines
    }

    /// Parses a message that is passed on. A batch no longer waits for a request that the message cancels. Fails with the error
    /// of a message that cannot be passed on: a response to it could not be distinguished from that to another request.
    fn pass(&mut self, message: &[u8]) -> Result<ClientMessage, Value> {
        let message = messages::parse_message(message)?;
        match &message {
            ClientMessage::Request(id) if self.open.iter().any(|batch| batch.waiting_ids.contains(id)) => {
                return Err(messages::repeated_id());
            }
            ClientMessage::Cancellation(id) => {
                self.open.iter_mut().for_each(|batch| batch.waiting_ids.retain(|waiting| waiting != id));
            }
            _ => {}
        }
        Ok(message)
    }

    /// Keeps the response to a request of a batch. Returns any other message.
    fn keep(&mut self, message: Vec<u8>) -> Option<Vec<u8>> {
        if self.revision.is_empty() {
            let message: Value = serde_json::from_slice(&message).unwrap_or_default();
            message["result"]["protocolVersion"].as_str().unwrap_or_default().clone_into(&mut self.revision);
        }
        if self.open.is_empty() {
            return Some(message);
        }
        let id = messages::request_id(&message);
        for batch in &mut self.open {
            if let Some(at) = batch.waiting_ids.iter().position(|waiting| *waiting == id) {
                batch.waiting_ids.swap_remove(at);
                batch.responses.push(message);
                return None;
            }
        }
        Some(message)
    }

    /// Removes the batches whose requests all have responses, and returns their responses. A batch of notifications has none.
    fn take_answered(&mut self) -> Vec<Vec<u8>> {
        let answered = self.open.extract_if(.., |batch| batch.waiting_ids.is_empty());
        answered.filter_map(Batch::into_response).collect()
    }

    /// Removes all batches, and returns the responses that they have. A canceled request gets no response.
    fn take_all(&mut self) -> Vec<Vec<u8>> {
        self.open.drain(..).filter_map(Batch::into_response).collect()
    }
}

impl Batch {
    /// Returns the response to the batch; `None` if no request of it has one.
    fn into_response(self) -> Option<Vec<u8>> {
        let responses = self.responses.iter().map(Vec::as_slice);
        (!self.responses.is_empty()).then(|| messages::join_batch(responses))
    }
}

/// Reads a line, without its line break. Skips the bytes of a line after the first `max_bytes`. Returns `None` at the end.
async fn read_line(input: &mut (impl AsyncBufRead + Unpin), max_bytes: usize) -> io::Result<Option<Line>> {
    let (mut line, mut is_too_long) = (Vec::new(), false);
    loop {
        let available = input.fill_buf().await?;
        if available.is_empty() {
            return Ok((!line.trim_ascii().is_empty() || is_too_long).then_some(Line::Unfinished));
        }
        let end = memchr(b'\n', available);
        let part = &available[..end.unwrap_or(available.len())];
        is_too_long |= line.len() + part.len() > max_bytes;
        if is_too_long {
            line.clear();
        } else {
            line.extend(part);
        }
        let consumed = part.len() + usize::from(end.is_some());
        input.consume(consumed);
        if end.is_some() {
            return Ok(Some(if is_too_long { Line::TooLong } else { Line::Complete(line) }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(text: &[u8]) -> Vec<String> {
        let (mut input, mut lines) = (BufReader::with_capacity(3, text), Vec::new());
        while let Some(line) = read_line(&mut input, 8).await.unwrap() {
            lines.push(match line {
                Line::Complete(line) => String::from_utf8(line).unwrap(),
                Line::Unfinished => "(unfinished)".to_owned(),
                Line::TooLong => "(too long)".to_owned(),
            });
        }
        lines
    }

    #[tokio::test]
    async fn lines_are_read_up_to_a_length() {
        assert_eq!(lines(b"").await, [""; 0]);
        assert_eq!(
            lines(b"12345678\n\r\n123456789\nab\n \n").await,
            ["12345678", "\r", "(too long)", "ab", " "]
        );
        assert_eq!(lines(b"a\nb").await, ["a", "(unfinished)"]);
        assert_eq!(lines(b"a\n  ").await, ["a"]);
        assert_eq!(lines(b"123456789").await, ["(unfinished)"]);
    }

    fn begin(batches: &mut Batches, messages: &[&str]) -> Vec<String> {
        let lines = batches.begin(messages.iter().map(|message| message.as_bytes()));
        String::from_utf8(lines).unwrap().lines().map(str::to_owned).collect()
    }

    fn answered(batches: &mut Batches) -> Vec<String> {
        batches.take_answered().into_iter().map(|batch| String::from_utf8(batch).unwrap()).collect()
    }

    const PING_1: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    const PING_2: &str = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    const PONG_1: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    const PONG_2: &str = r#"{"jsonrpc":"2.0","id":2,"result":{}}"#;
    const CANCEL_1: &str = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;

    fn batches() -> Batches {
        Batches { revision: REVISION_WITH_BATCHES.to_owned(), ..Batches::default() }
    }

    #[test]
    fn batch_does_not_wait_for_a_canceled_request() {
        let mut batches = batches();
        assert_eq!(begin(&mut batches, &[PING_1, PING_2, CANCEL_1]), [PING_1, PING_2, CANCEL_1]);
        assert_eq!(batches.keep(PONG_2.into()), None);
        assert_eq!(answered(&mut batches), [format!("[{PONG_2}]")]);
        begin(&mut batches, &[PING_1]);
        assert_eq!(batches.pass(CANCEL_1.as_bytes()), Ok(ClientMessage::Cancellation(1.into())));
        assert_eq!(answered(&mut batches), [""; 0]);
        assert_eq!(batches.open.len(), 0);
    }

    #[test]
    fn batch_does_not_wait_for_responses() {
        let mut batches = batches();
        begin(&mut batches, &[PONG_1]);
        assert_eq!(answered(&mut batches), [""; 0]);
        begin(&mut batches, &[PING_2, PONG_1]);
        assert_eq!(batches.keep(PONG_2.into()), None);
        assert_eq!(answered(&mut batches), [format!("[{PONG_2}]")]);
    }

    #[test]
    fn requests_that_wait_have_different_ids() {
        let mut batches = batches();
        let as_float = PING_1.replace(":1,", ":1.0,");
        assert_eq!(begin(&mut batches, &[PING_1, PING_1, &as_float]), [PING_1]);
        assert_eq!(batches.pass(PING_1.as_bytes()), Err(messages::repeated_id()));
        assert_eq!(batches.keep(PONG_1.into()), None);
        let answered = answered(&mut batches);
        let responses: Vec<Value> = serde_json::from_str(&answered[0]).unwrap();
        let codes: Vec<&Value> = responses.iter().map(|response| &response["error"]["code"]).collect();
        assert_eq!(codes, [&Value::from(-32600), &Value::from(-32600), &Value::Null]);
        assert!(batches.pass(PING_1.as_bytes()).is_ok());
    }

    #[tokio::test]
    async fn responses_are_sent_in_order_with_their_notice_first() {
        let responses = "{\"id\":1}\n{\"result\":{\"structuredContent\":{\"a\":1,\"notice\":\"N\"}}}\nlast";
        let mut sent = Vec::new();
        Connection::new(&mut sent, 100).send(responses.as_bytes()).await.unwrap();
        let expected = "{\"id\":1}\n{\"result\":{\"structuredContent\":{\"notice\":\"N\",\"a\":1}}}\nlast\n";
        assert_eq!(String::from_utf8(sent).unwrap(), expected);
    }
}
