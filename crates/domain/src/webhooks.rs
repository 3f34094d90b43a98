//! Webhooks: where events are sent, when a delivery is tried again, and when an endpoint is disabled.

use std::time::UNIX_EPOCH;

use url::{Host, Url};

use super::time::{MICROS_PER_SECOND, Timestamp};
use crate::{problem::Problem, string_enum::string_enum};

const MINUTE: i64 = 60;
const HOUR: i64 = 3_600;

/// Seconds between a failed attempt and the next one. The first attempt is made at once, so there is one more
/// attempt than delays. There is no jitter: attempts are bounded for each endpoint and in all.
const RETRY_DELAYS: [i64; 9] =
    [5, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];

/// Maximum number of seconds by which `Retry-After` can delay an attempt.
const MAX_RETRY_AFTER: i64 = 24 * HOUR;

/// How many microseconds a pending delivery can be ahead of its next attempt. A delivery that is further ahead was scheduled
/// while the clock was ahead. This is twice the longest delay, so that a small adjustment of the clock has no effect.
pub const MAX_WAIT_MICROS: i64 = 2 * MAX_RETRY_AFTER * MICROS_PER_SECOND;

/// Number of days without a success after which a delivery that fails disables its endpoint.
const FAILING_DAYS: i64 = 5;

/// Seconds that an attempt may take, from the lookup of the host to the status of the response.
pub const MAX_ATTEMPT_SECONDS: u64 = 15;

/// Maximum number of bytes of a response that are stored.
pub const MAX_RESPONSE_BYTES: usize = 1_024;

/// Maximum number of bytes of the URL of an endpoint.
pub const MAX_URL_BYTES: usize = 2_048;

string_enum! {
    /// Whether events are sent to an endpoint.
    WebhookStatus {
        /// Events are sent.
        Enabled = "enabled",
        /// No events are sent, and those that occur meanwhile are not sent later.
        Disabled = "disabled",
    }
}

string_enum! {
    /// Why an endpoint is disabled.
    WebhookDisabledReason {
        /// Somebody disabled it.
        Requested = "requested",
        /// It responded 410, so it does not want any events.
        Gone = "gone",
        /// A delivery failed, and none had succeeded for five days.
        Failing = "failing",
        /// Its team was closed.
        TeamClosed = "team_closed",
    }
}

string_enum! {
    /// The state of a delivery.
    DeliveryStatus {
        /// It is going to be tried, for the first time or again.
        Pending = "pending",
        /// The endpoint accepted it.
        Succeeded = "succeeded",
        /// It is not tried again.
        Failed = "failed",
    }
}

string_enum! {
    /// Why an attempt got no response.
    AttemptError {
        /// The settings no longer allow the URL, so nothing was sent.
        InvalidUrl = "invalid_url",
        /// The name of the host has no address.
        NotResolved = "not_resolved",
        /// The host is in a private network.
        PrivateAddress = "private_address",
        /// There was no response within 15 seconds.
        TimedOut = "timed_out",
        /// No connection to the host could be established, or its certificate is not valid.
        Unreachable = "unreachable",
        /// The host closed the connection, or its response is not HTTP.
        Interrupted = "interrupted",
    }
}

/// What came of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptResult {
    /// Status of the response, or why there was none.
    pub outcome: Result<u16, AttemptError>,
    /// Microseconds for which the endpoint asked to wait.
    pub retry_after: Option<i64>,
    /// The beginning of the body of the response.
    pub response: String,
}

/// What happens to a delivery after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterAttempt {
    /// It has succeeded.
    Succeeded,
    /// It is tried again at this time.
    RetryAt(Timestamp),
    /// It has failed. If the endpoint responded 410, the endpoint is disabled.
    Failed {
        /// Whether the endpoint responded 410.
        is_gone: bool,
    },
}

impl AttemptResult {
    /// Decides what happens after an attempt that ended at `now`. `failures` is the number of earlier failed
    /// attempts since the event was delivered or redelivered.
    pub fn decide(&self, failures: u32, now: Timestamp) -> AfterAttempt {
        match self.outcome {
            Ok(200..=299) => return AfterAttempt::Succeeded,
            Ok(410) => return AfterAttempt::Failed { is_gone: true },
            _ => {}
        }
        let Some(delay) = RETRY_DELAYS.get(failures as usize) else {
            return AfterAttempt::Failed { is_gone: false };
        };
        let delay = delay * MICROS_PER_SECOND;
        let asked = match self.outcome {
            Ok(429 | 503) => self.retry_after.unwrap_or(0).min(MAX_RETRY_AFTER * MICROS_PER_SECOND),
            _ => 0,
        };
        AfterAttempt::RetryAt(now.plus_micros(delay.max(asked)))
    }
}

/// Whether an endpoint is disabled since a delivery failed at `now`. `since` is the time of its last success, or
/// else the time at which it was enabled.
pub fn is_failing(since: Timestamp, now: Timestamp) -> bool {
    since.plus_days(FAILING_DAYS) <= now
}

/// Parses the header `Retry-After`: a number of seconds, or a date in one of the three formats of HTTP (RFC 9110, 5.6.7), which
/// counts from the system's time `now`. Returns microseconds.
pub fn parse_retry_after(value: &str, now: Timestamp) -> Option<i64> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // More than fits is longer than any wait.
        return Some(value.parse().unwrap_or(i64::MAX).saturating_mul(MICROS_PER_SECOND));
    }
    let at = httpdate::parse_http_date(value).ok()?.duration_since(UNIX_EPOCH).ok()?;
    let seconds = i64::try_from(at.as_secs()).unwrap_or(i64::MAX);
    Some(seconds.saturating_sub(now.seconds()).max(0).saturating_mul(MICROS_PER_SECOND))
}

/// Parses the URL of an endpoint: https, or also http if private addresses are allowed, with a host and without
/// credentials and fragment.
pub fn parse_url(text: &str, may_be_private: bool) -> Result<Url, Problem> {
    let invalid = |kind, message: String| Err(Problem::body(&["url"], kind, message));
    if text.len() > MAX_URL_BYTES {
        return invalid("string_too_long", format!("`url` can have at most {MAX_URL_BYTES} bytes."));
    }
    let schemes: &[&str] = if may_be_private { &["https", "http"] } else { &["https"] };
    let expected = schemes.iter().map(|scheme| format!("{scheme}://")).collect::<Vec<_>>().join(" or ");
    let url = match Url::parse(text) {
        Ok(url) if schemes.contains(&url.scheme()) => url,
        found => {
            let mut message = format!("`url` must be an absolute URL that begins with {expected}.");
            if found.is_ok_and(|url| url.scheme() == "http") {
                message.push_str(
                    " With the setting `webhooks.allow_private_addresses`, http:// is accepted, too.",
                );
            }
            return invalid("url_scheme", message);
        }
    };
    if !url.username().is_empty() || url.password().is_some() {
        return invalid(
            "value_error",
            "`url` must have no user and no password. Check the signature of each request instead."
                .to_owned(),
        );
    }
    if url.fragment().is_some() {
        return invalid("value_error", "`url` must have no fragment (`#…`), which is never sent.".to_owned());
    }
    let has_host = match url.host() {
        Some(Host::Domain(name)) => !name.trim_matches('.').is_empty(),
        Some(_) => true,
        None => false,
    };
    if !has_host || url.port() == Some(0) {
        return invalid("value_error", "`url` must have a host, and a port other than 0.".to_owned());
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = MICROS_PER_SECOND;

    fn result(outcome: Result<u16, AttemptError>) -> AttemptResult {
        AttemptResult { outcome, retry_after: None, response: String::new() }
    }

    #[test]
    fn attempts_end_after_75_hours_and_35_minutes() {
        let failure = result(Err(AttemptError::TimedOut));
        let (mut now, mut failures, mut delays) = (Timestamp(7), 0, Vec::new());
        while let AfterAttempt::RetryAt(at) = failure.decide(failures, now) {
            delays.push((at.0 - now.0) / SECOND);
            (now, failures) = (at, failures + 1);
        }
        assert_eq!(delays, [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]);
        assert_eq!(now.0 - 7, (75 * HOUR + 35 * MINUTE + 5) * SECOND);
        assert_eq!(failure.decide(failures, now), AfterAttempt::Failed { is_gone: false });
    }

    #[test]
    fn only_2xx_is_success_and_410_ends() {
        let decide = |status| result(Ok(status)).decide(0, Timestamp(0));
        for status in [200, 201, 204, 299] {
            assert_eq!(decide(status), AfterAttempt::Succeeded);
        }
        for status in [101, 300, 301, 302, 304, 307, 308, 400, 404, 429, 500, 503, 999] {
            assert_eq!(decide(status), AfterAttempt::RetryAt(Timestamp(5 * SECOND)), "{status}");
        }
        assert_eq!(decide(410), AfterAttempt::Failed { is_gone: true });
    }

    #[test]
    fn retry_after_can_only_delay() {
        let decide = |status, retry_after: i64, failures| {
            let retry_after = Some(retry_after * SECOND);
            let result = AttemptResult { retry_after, ..result(Ok(status)) };
            match result.decide(failures, Timestamp(0)) {
                AfterAttempt::RetryAt(at) => at.0 / SECOND,
                other => panic!("{other:?}"),
            }
        };
        for (status, retry_after, failures, expected) in [
            (429, 60, 0, 60),
            (503, 60, 0, 60),
            (429, 1, 0, 5),
            (429, 60, 2, 1_800),
            (500, 60, 0, 5),
            (503, 1_000_000, 0, 86_400),
        ] {
            assert_eq!(decide(status, retry_after, failures), expected, "{status} {retry_after} {failures}");
        }
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = Timestamp::parse("2026-03-01T09:00:00Z").unwrap();
        for (value, expected) in [
            ("120", Some(120)),
            (" 7 ", Some(7)),
            ("Sun, 01 Mar 2026 09:01:00 GMT", Some(60)),
            ("Sun, 01 Mar 2026 08:00:00 GMT", Some(0)),
            ("Sunday, 01-Mar-26 09:01:00 GMT", Some(60)),
            ("Sun Mar  1 09:01:00 2026", Some(60)),
            ("-1", None),
            ("+1", None),
            ("", None),
            ("soon", None),
        ] {
            let expected = expected.map(|seconds: i64| seconds * SECOND);
            assert_eq!(parse_retry_after(value, now), expected, "{value}");
        }
        assert_eq!(parse_retry_after("99999999999999999999", now), Some(i64::MAX));
    }

    #[test]
    fn endpoint_is_failing_after_five_days() {
        let since = Timestamp(0);
        assert!(!is_failing(since, since.plus_days(5).plus_micros(-1)));
        assert!(is_failing(since, since.plus_days(5)));
    }

    #[test]
    fn urls_of_endpoints() {
        for url in ["https://example.com/hook?a=b", "https://example.com:8443", "https://[2606:4700::1111]/"]
        {
            parse_url(url, false).unwrap();
        }
        parse_url("http://example.com/", true).unwrap();
        let long = format!("https://example.com/{}", "a".repeat(MAX_URL_BYTES));
        for url in [
            "",
            "example.com",
            "/hook",
            "http://example.com/",
            "ftp://example.com/",
            "https://",
            "https://user@example.com/",
            "https://user:secret@example.com/",
            "https://:secret@example.com/",
            "https://example.com/#a",
            "https://example.com:0/",
            "https://./",
            &long,
        ] {
            assert!(parse_url(url, false).is_err(), "{url}");
        }
    }
}
