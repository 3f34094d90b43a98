//! The reply of a child process: one JSON value after its length in bytes.

use std::{
    io::{self, Read, Write},
    sync::{Arc, Condvar, Mutex, PoisonError},
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::validation::{Validate, require, require_rejection, require_text};
use crate::{
    ReadError, Rejection,
    value_count::{ValueLimits, count_values},
};

/// Number of bytes of the length prefix, a big-endian integer.
const PREFIX_BYTES: usize = 4;

/// Replies of at most this many bytes are read at any time; of larger ones, only one at a time.
const SMALL_REPLY_BYTES: usize = 2 << 20;

/// Limits on the values of a reply: a few bytes can become a value of a hundred bytes in memory. The size of the reply limits
/// its texts.
const VALUE_LIMITS: ValueLimits = ValueLimits { values: 1_000_000, text_bytes: usize::MAX, depth: 32 };

/// What a child process replies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply<T> {
    /// The result of the task.
    pub result: TaskResult<T>,
    /// Cause of a rejection, for operators only.
    pub cause: Option<String>,
    /// Restrictions of the child that the kernel does not enforce.
    pub unenforced: Vec<String>,
}

/// The result of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskResult<T> {
    /// The task succeeded.
    Done(T),
    /// The files cannot be read. Message for the vendor.
    Rejected(String),
    /// An I/O operation of this machine failed.
    Io(String),
}

impl<T: Validate> Validate for Reply<T> {
    fn validate(&self) -> Result<(), String> {
        require_text(self.cause.as_ref(), "the cause")?;
        let is_short = self.unenforced.len() <= 10 && self.unenforced.iter().all(|text| text.len() <= 500);
        require(is_short, "the list of restrictions")?;
        match &self.result {
            TaskResult::Done(value) => value.validate(),
            TaskResult::Rejected(text) => require_rejection(text),
            TaskResult::Io(text) => require_text(Some(text), "the cause"),
        }
    }
}

impl<T> From<Result<T, ReadError>> for TaskResult<T> {
    fn from(result: Result<T, ReadError>) -> TaskResult<T> {
        match result {
            Ok(value) => TaskResult::Done(value),
            Err(ReadError::Rejected(Rejection(message))) => TaskResult::Rejected(message),
            Err(ReadError::Io(cause)) => TaskResult::Io(cause.to_string()),
            Err(ReadError::Canceled) => TaskResult::Io("canceled".to_owned()),
            Err(ReadError::ProcessEnded(cause)) => TaskResult::Io(cause),
        }
    }
}

impl<T> From<TaskResult<T>> for Result<T, ReadError> {
    fn from(result: TaskResult<T>) -> Result<T, ReadError> {
        match result {
            TaskResult::Done(value) => Ok(value),
            TaskResult::Rejected(message) => Err(Rejection(message).into()),
            // The child is not trusted: an error that it blames on this machine is retried only a few times.
            TaskResult::Io(cause) => Err(ReadError::ProcessEnded(cause)),
        }
    }
}

/// The received bytes of a reply, without the length prefix.
#[derive(Debug)]
pub struct ReplyBytes {
    bytes: Vec<u8>,
    /// Prevents other large replies while this one is in memory.
    _permit: Option<LargeReplyPermit>,
}

impl ReplyBytes {
    /// Parses and validates the reply. The error says what is wrong with it.
    pub fn parse<T: DeserializeOwned + Validate>(&self) -> Result<Reply<T>, String> {
        let mut deserializer = serde_json::Deserializer::from_slice(&self.bytes);
        let counted = count_values(&mut deserializer, VALUE_LIMITS);
        let parsed = counted.and_then(|()| serde_json::from_slice::<Reply<T>>(&self.bytes));
        let reply = parsed.map_err(|error| error.to_string())?;
        reply.validate()?;
        Ok(reply)
    }

    /// Wraps a reply that was stored, as JSON.
    pub const fn from_stored(bytes: Vec<u8>) -> ReplyBytes {
        ReplyBytes { bytes, _permit: None }
    }

    /// Creates a reply that rejects the files.
    pub fn rejection(rejection: &Rejection) -> serde_json::Result<ReplyBytes> {
        let result = TaskResult::<()>::Rejected(rejection.0.clone());
        let reply = Reply { result, cause: None, unenforced: Vec::new() };
        Ok(ReplyBytes::from_stored(serde_json::to_vec(&reply)?))
    }

    /// Returns the reply as JSON.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Why no reply was received.
#[derive(Debug)]
pub(super) enum ReceiveError {
    /// The reply is larger than the limit.
    TooLarge,
    /// The child ended before its reply was complete, or wrote something else.
    Incomplete,
}

/// Writes a reply.
pub(super) fn write(to: &mut dyn Write, reply: &[u8]) -> io::Result<()> {
    let length = u32::try_from(reply.len()).map_err(io::Error::other)?;
    to.write_all(&length.to_be_bytes())?;
    to.write_all(reply)?;
    to.flush()
}

/// Reads the reply of a child that has ended, which must be followed by the end of the stream.
pub(super) fn receive(
    mut from: impl Read,
    max_bytes: u64,
    large: &LargeReplies,
) -> Result<ReplyBytes, ReceiveError> {
    let mut prefix = [0; PREFIX_BYTES];
    from.read_exact(&mut prefix).map_err(|_| ReceiveError::Incomplete)?;
    let length = u32::from_be_bytes(prefix);
    if u64::from(length) > max_bytes {
        return Err(ReceiveError::TooLarge);
    }
    let length = length as usize;
    let permit = (length > SMALL_REPLY_BYTES).then(|| large.acquire());
    // Grows with the received bytes, so that announcing many bytes costs nothing.
    let mut bytes = Vec::new();
    // One byte more, to notice a stream that does not end with the reply.
    from.take(length as u64 + 1).read_to_end(&mut bytes).map_err(|_| ReceiveError::Incomplete)?;
    if bytes.len() == length {
        Ok(ReplyBytes { bytes, _permit: permit })
    } else {
        Err(ReceiveError::Incomplete)
    }
}

/// Permission for one large reply at a time.
#[derive(Clone, Debug, Default)]
pub(super) struct LargeReplies(Arc<(Mutex<bool>, Condvar)>);

/// The permission, given back when it is dropped.
#[derive(Debug)]
struct LargeReplyPermit(LargeReplies);

impl LargeReplies {
    /// Waits for the permission. Its holder only parses and stores a reply, and waits for nothing else.
    fn acquire(&self) -> LargeReplyPermit {
        let (is_taken, changed) = &*self.0;
        let is_taken = is_taken.lock().unwrap_or_else(PoisonError::into_inner);
        let mut is_taken =
            changed.wait_while(is_taken, |is_taken| *is_taken).unwrap_or_else(PoisonError::into_inner);
        *is_taken = true;
        LargeReplyPermit(self.clone())
    }
}

impl Drop for LargeReplyPermit {
    fn drop(&mut self) {
        let (is_taken, changed) = &*self.0.0;
        *is_taken.lock().unwrap_or_else(PoisonError::into_inner) = false;
        changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receive_all(bytes: &[u8], max_bytes: u64) -> Result<Vec<u8>, ReceiveError> {
        receive(bytes, max_bytes, &LargeReplies::default()).map(|reply| reply.bytes)
    }

    #[test]
    fn reply_is_received_unchanged_and_only_alone() {
        let mut framed = Vec::new();
        write(&mut framed, b"{}").unwrap();
        assert_eq!(receive_all(&framed, 2).unwrap(), b"{}");
        assert!(matches!(receive_all(&framed, 1), Err(ReceiveError::TooLarge)));
        assert!(matches!(receive_all(&framed[..5], 2), Err(ReceiveError::Incomplete)));
        assert!(matches!(receive_all(&framed[..3], 2), Err(ReceiveError::Incomplete)));
        framed.push(b' ');
        assert!(matches!(receive_all(&framed, 2), Err(ReceiveError::Incomplete)), "nothing may follow");
    }

    #[test]
    fn only_one_large_reply_is_in_memory() {
        let large = LargeReplies::default();
        let mut framed = Vec::new();
        write(&mut framed, &vec![b' '; SMALL_REPLY_BYTES + 1]).unwrap();
        let first = receive(&framed[..], 1 << 30, &large).unwrap();
        assert!(*large.0.0.lock().unwrap());
        drop(first);
        assert!(!*large.0.0.lock().unwrap());
        let small = receive(&b"\0\0\0\x02{}"[..], 1 << 30, &large).unwrap();
        assert!(!*large.0.0.lock().unwrap(), "small replies need no permission");
        drop(small);
    }
}
