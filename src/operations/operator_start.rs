//! The start page of operators: waiting tasks, and the activity of the last days. The health of the market is in
//! [`health`](super::health).

use super::access::Platform;
use crate::{domain::time::Timestamp, error::Result, market::Reader, store};

pub use crate::store::operator_start::{Activity, AllWaiting, Waiting};

/// Lengths in days of the periods whose activity is shown. Each period ends today.
pub const DAYS: [u16; 3] = [1, 7, 30];

/// The content of the start page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overview {
    /// What waits.
    pub waiting: AllWaiting,
    /// What happened in each of the numbers of [`DAYS`].
    pub activity: [Activity; 3],
}

/// Reads the content of the start page. Four statements, whatever the size of the market.
pub fn find(reader: &Reader, _: Platform) -> Result<Overview> {
    let mut activity = [Activity::default(); 3];
    for (found, days) in activity.iter_mut().zip(DAYS) {
        *found = store::operator_start::activity(reader.rows, start_of(reader.now, days))?;
    }
    Ok(Overview { waiting: store::operator_start::waiting(reader.rows)?, activity })
}

/// Returns the beginning of the first of the last days, in UTC.
fn start_of(now: Timestamp, days: u16) -> Timestamp {
    now.day().start().plus_days(1 - i64::from(days))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_begin_at_midnight() {
        let now = Timestamp::parse("2026-03-02T13:14:15Z").unwrap();
        for (days, expected) in [
            (1, "2026-03-02T00:00:00.000Z"),
            (2, "2026-03-01T00:00:00.000Z"),
            (30, "2026-02-01T00:00:00.000Z"),
        ] {
            assert_eq!(start_of(now, days).to_string(), expected);
        }
    }
}
