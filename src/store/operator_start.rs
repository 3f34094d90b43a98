//! Tasks that wait for operators, and the activity of the last days. Each statement reads only the rows that wait, or that are
//! of these days, by ranges of indexes.

use super::{Reader, review_queue, row::FromRow, webhooks::IS_FAILING};
use crate::{
    domain::{money::Cents, time::Timestamp},
    error::Result,
};

/// How many records wait, and since when the first one waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromRow)]
#[row(by_position)]
pub struct Waiting {
    /// Number of records.
    pub count: u64,
    /// The time since when the first one waits; `None` if none waits.
    pub oldest: Option<Timestamp>,
}

/// The records that wait for operators.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AllWaiting {
    /// Listings in review, since their submission.
    pub reviews: Waiting,
    /// Purchases that wait for a payment.
    pub purchases: Waiting,
    /// Requests for credits.
    pub credit_purchases: Waiting,
    /// Withdrawals that were requested.
    pub withdrawals: Waiting,
    /// Jobs that were given up.
    pub failed_jobs: Waiting,
    /// Webhooks that fail; see [`IS_FAILING`].
    pub failing_webhooks: Waiting,
}

/// Returns what waits.
pub fn waiting(reader: &Reader) -> Result<AllWaiting> {
    let sql = format!(
        "SELECT count(*), min(at) FROM ({}) q
         UNION ALL SELECT count(*), min(created_at) FROM purchases WHERE status = 'pending'
         UNION ALL SELECT count(*), min(created_at) FROM credit_purchases WHERE status = 'pending'
         UNION ALL SELECT count(*), min(requested_at) FROM withdrawals WHERE status = 'requested'
         UNION ALL SELECT count(*), min(ended_at) FROM ended_jobs WHERE state = 'failed'
         UNION ALL SELECT count(*), min(coalesce(w.disabled_at, (
                 SELECT min(d.created_at) FROM webhook_deliveries d
                 WHERE d.webhook = w.id AND d.next_attempt_at IS NOT NULL AND d.failures > 0)))
             FROM webhooks w WHERE w.deleted_at IS NULL AND {IS_FAILING}",
        review_queue::submission_times()
    );
    let found = reader.query_all(&sql, [], Waiting::from_row)?;
    let at = |index: usize| found.get(index).copied().unwrap_or_default();
    Ok(AllWaiting {
        reviews: at(0),
        purchases: at(1),
        credit_purchases: at(2),
        withdrawals: at(3),
        failed_jobs: at(4),
        failing_webhooks: at(5),
    })
}

/// What happened in some days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromRow)]
#[row(by_position)]
pub struct Activity {
    /// Number of purchases that were completed, also those that were refunded later.
    pub sales: u64,
    /// What their buyers paid.
    pub volume: Cents,
    /// The platform's fees from them.
    pub fees: Cents,
    /// Number of teams that were created.
    pub teams: u64,
    /// Number of listings that were created.
    pub listings: u64,
    /// How often a listing was submitted for review.
    pub submissions: u64,
}

/// Returns what happened since a time.
pub fn activity(reader: &Reader, since: Timestamp) -> Result<Activity> {
    const SQL: &str = "SELECT count(*), coalesce(sum(price_cents + buyer_fee_cents), 0),
             coalesce(sum(buyer_fee_cents + platform_fee_cents), 0),
             (SELECT count(*) FROM teams WHERE created_at >= ?1),
             (SELECT count(*) FROM listings WHERE created_at >= ?1),
             (SELECT count(*) FROM reviews WHERE submitted_at >= ?1)
         FROM purchases WHERE paid_at >= ?1";
    reader.query_one(SQL, [since], Activity::from_row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    /// No table of purchases, teams, listings, or reviews is scanned.
    #[test]
    fn statements_read_ranges_of_indexes() {
        let (_directory, store) = Store::temporary();
        let plan = |sql: &str| store.read(|reader| Ok(reader.plan_of(sql))).unwrap();
        for (table, column) in [
            ("purchases", "paid_at"),
            ("teams", "created_at"),
            ("listings", "created_at"),
            ("reviews", "submitted_at"),
        ] {
            let steps = plan(&format!("SELECT count(*) FROM {table} WHERE {column} >= 0"));
            assert!(steps.iter().all(|step| step.starts_with("SEARCH")), "{table}: {steps:?}");
        }
        let steps = plan(&format!("SELECT at FROM ({})", review_queue::submission_times()));
        assert!(steps.iter().all(|step| !step.starts_with("SCAN l")), "{steps:?}");
    }
}
