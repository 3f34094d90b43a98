//! Request bodies as they arrive, within limits on time and rate.

use std::time::Duration;

use bytes::Bytes;
use http_body::Body as _;
use http_body_util::{BodyExt, combinators::BoxBody};
use marketplace_text::numbers::counted;
use tokio::time::{Instant, timeout_at};

use crate::{ConnectionSettings, Refusal, min_rate::MinRate};

/// The chunks of a body that arrives in time and fast enough.
pub struct Chunks {
    body: BoxBody<Bytes, std::io::Error>,
    rate: MinRate,
    next_check: Option<Instant>,
    /// The time at which the body must be complete, and the seconds that it had until then.
    deadline: Option<(Instant, u32)>,
}

impl Chunks {
    /// Starts receiving a body. Without `seconds`, it may take any time at the minimum rate.
    pub fn new(
        body: BoxBody<Bytes, std::io::Error>,
        settings: &ConnectionSettings,
        seconds: Option<u32>,
    ) -> Chunks {
        let now = Instant::now();
        let mut rate = MinRate::new(settings);
        let next_check = rate.record(0, now);
        let deadline = seconds.map(|seconds| (now + Duration::from_secs(seconds.into()), seconds));
        Chunks { body, rate, next_check, deadline }
    }

    /// Returns the number of bytes that have not arrived, as far as it is known.
    pub fn remaining_bytes(&self) -> u64 {
        self.body.size_hint().exact().unwrap_or(0)
    }

    /// Returns the body, of which no further chunk is received.
    pub fn into_body(self) -> BoxBody<Bytes, std::io::Error> {
        self.body
    }

    /// Does not count the time until now against the sender, because the server was not reading.
    pub fn resume(&mut self) {
        let now = Instant::now();
        self.rate.restart(now);
        self.next_check = self.rate.record(0, now);
    }

    /// Returns the next chunk, or none at the end of the body.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Refusal> {
        loop {
            let Some(check) = self.next_check else { return Err(self.rate.refusal()) };
            let until = self.deadline.map_or(check, |(deadline, _)| deadline.min(check));
            match timeout_at(until, self.body.frame()).await {
                Ok(None) => return Ok(None),
                Ok(Some(Err(cause))) => return Err(receiving_error(cause)),
                Ok(Some(Ok(frame))) => {
                    if let Ok(chunk) = frame.into_data()
                        && !chunk.is_empty()
                    {
                        self.next_check = self.rate.record(chunk.len() as u64, Instant::now());
                        return Ok(Some(chunk));
                    }
                }
                Err(_) => {
                    let now = Instant::now();
                    if let Some((deadline, seconds)) = self.deadline
                        && now >= deadline
                    {
                        return Err(Refusal::TooSlow(format!(
                            "The body was not complete after {}. Send it faster.",
                            counted(seconds.into(), "second", "seconds")
                        )));
                    }
                    self.next_check = self.rate.record(0, now);
                }
            }
        }
    }
}

/// Returns the error of a body that failed. The receiver of its first part may have stated the reason.
fn receiving_error(cause: std::io::Error) -> Refusal {
    let ended_early = |_| Refusal::Malformed("The body ended early. Send it again.".to_owned());
    cause.downcast().unwrap_or_else(ended_early)
}
