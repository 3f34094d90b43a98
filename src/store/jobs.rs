//! The job queue. A worker that claims a job holds a lease on it. The lease number increases with each claim,
//! so a worker that lost its lease cannot write its results.

use super::{Reader, Writer, row};
use crate::{
    domain::{
        jobs::{JobKind, LEASE, Lane},
        time::Timestamp,
        vocabulary::Vocabulary,
    },
    error::Result,
};

/// A claimed job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    id: i64,
    lease: i64,
    /// Kind of work.
    pub kind: JobKind,
    /// Row ID of the record that the job works on, in the table that its kind implies.
    pub subject: i64,
    /// Number of attempts so far, including this one.
    pub attempts: u32,
}

/// Adds a job, unless one of the same kind and subject is already queued.
pub fn enqueue(writer: &Writer, kind: JobKind, subject: i64, at: Timestamp) -> Result<()> {
    const SQL: &str = "INSERT INTO jobs (kind, subject, run_after, enqueued_at) VALUES (?1, ?2, ?3, ?3)
         ON CONFLICT (kind, subject) DO NOTHING";
    writer.execute(SQL, (kind.word(), subject, at.0))?;
    Ok(())
}

/// Deletes a job. A worker that holds it notices when it tries to write its results.
pub fn cancel(writer: &Writer, kind: JobKind, subject: i64) -> Result<()> {
    writer.execute("DELETE FROM jobs WHERE kind = ?1 AND subject = ?2", (kind.word(), subject))?;
    Ok(())
}

/// Returns the job kinds of a queue, as a JSON array.
fn kinds(lane: Lane) -> Result<String> {
    let ours: Vec<&str> =
        JobKind::ALL.iter().filter(|kind| kind.lane() == lane).map(|kind| kind.word()).collect();
    row::to_json(&ours)
}

/// Whether any job of a queue is due and not leased.
pub fn is_any_due(reader: &Reader, lane: Lane, now: Timestamp) -> Result<bool> {
    const SQL: &str = "SELECT EXISTS (SELECT 1 FROM jobs
             WHERE run_after <= ?1 AND (leased_until IS NULL OR leased_until <= ?1)
                 AND kind IN (SELECT value FROM json_each(?2)))";
    reader.one(SQL, (now.0, kinds(lane)?), |row| row.get(0))
}

/// Claims the due job of a queue that has waited longest and is not leased.
pub fn claim(writer: &Writer, lane: Lane, now: Timestamp) -> Result<Option<Job>> {
    const SQL: &str = "UPDATE jobs SET lease = lease + 1, leased_until = ?2, attempts = attempts + 1
         WHERE id = (SELECT id FROM jobs
             WHERE run_after <= ?1 AND (leased_until IS NULL OR leased_until <= ?1)
                 AND kind IN (SELECT value FROM json_each(?3))
             ORDER BY run_after, id LIMIT 1)
         RETURNING id, lease, kind, subject, attempts";
    writer.first(SQL, (now.0, now.0 + LEASE, kinds(lane)?), |row| {
        Ok(Job {
            id: row.get("id")?,
            lease: row.get("lease")?,
            kind: row::word(row, "kind")?,
            subject: row.get("subject")?,
            attempts: row.get("attempts")?,
        })
    })
}

/// Extends the lease on a job. Returns whether the lease was still held.
pub fn hold(writer: &Writer, job: &Job, now: Timestamp) -> Result<bool> {
    const SQL: &str = "UPDATE jobs SET leased_until = ?3 WHERE id = ?1 AND lease = ?2";
    Ok(writer.execute(SQL, (job.id, job.lease, now.0 + LEASE))? == 1)
}

/// Deletes a finished job. Returns whether its lease was still held; if not, the results must be discarded.
pub fn finish(writer: &Writer, job: &Job) -> Result<bool> {
    Ok(writer.execute("DELETE FROM jobs WHERE id = ?1 AND lease = ?2", (job.id, job.lease))? == 1)
}

/// Releases a job that failed, and schedules the next attempt for `until`.
pub fn put_back(writer: &Writer, job: &Job, until: Timestamp) -> Result<()> {
    const SQL: &str = "UPDATE jobs SET leased_until = NULL, run_after = ?3 WHERE id = ?1 AND lease = ?2";
    writer.execute(SQL, (job.id, job.lease, until.0))?;
    Ok(())
}

/// Releases a job that was interrupted through no fault of its own. It is due at once, and the attempt does
/// not count.
pub fn let_go(writer: &Writer, job: &Job, now: Timestamp) -> Result<()> {
    const SQL: &str = "UPDATE jobs SET leased_until = NULL, run_after = ?3, attempts = attempts - 1
         WHERE id = ?1 AND lease = ?2";
    writer.execute(SQL, (job.id, job.lease, now.0))?;
    Ok(())
}

/// Ends all leases, which belong to a process that no longer runs. Only the process that serves the directory
/// may call this.
pub fn free_all(writer: &Writer) -> Result<()> {
    writer.execute("UPDATE jobs SET leased_until = NULL WHERE leased_until IS NOT NULL", ())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        domain::jobs::{self, MAX_ATTEMPTS},
        store::{Durability, Store},
    };

    const KIND: JobKind = JobKind::ReadArchive;
    const LANE: Lane = KIND.lane();

    fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("market.sqlite"), 1, Durability::None).unwrap();
        (folder, store)
    }

    fn on<T>(store: &Store, work: impl FnOnce(&Writer) -> Result<T>) -> T {
        store.write(|writer| work(writer)).unwrap().0
    }

    #[test]
    fn a_job_is_taken_by_one_and_by_another_when_the_lease_is_over() {
        let (_folder, store) = store();
        let now = Timestamp(1_000_000_000);
        on(&store, |writer| enqueue(writer, KIND, 7, now));
        on(&store, |writer| enqueue(writer, KIND, 7, now));
        let first = on(&store, |writer| claim(writer, LANE, now)).unwrap();
        assert_eq!((first.kind, first.subject, first.attempts), (KIND, 7, 1));
        assert_eq!(on(&store, |writer| claim(writer, LANE, now)), None, "the only job is already claimed");
        let later = Timestamp(now.0 + LEASE / 2);
        assert!(on(&store, |writer| hold(writer, &first, later)));
        assert_eq!(on(&store, |writer| claim(writer, LANE, Timestamp(now.0 + LEASE))), None);
        let second = on(&store, |writer| claim(writer, LANE, Timestamp(later.0 + LEASE))).unwrap();
        assert_eq!(second.attempts, 2);
        assert!(!on(&store, |writer| hold(writer, &first, later)), "the first worker has lost the lease");
        assert!(!on(&store, |writer| finish(writer, &first)));
        assert!(on(&store, |writer| finish(writer, &second)));
        assert!(!on(&store, |writer| finish(writer, &second)), "a job finishes only once");
    }

    #[test]
    fn lanes_take_their_own() {
        let (_folder, store) = store();
        let now = Timestamp(1_000_000_000);
        on(&store, |writer| enqueue(writer, JobKind::CopyRepository, 7, now));
        assert_eq!(on(&store, |writer| claim(writer, Lane::Readings, now)), None);
        assert!(!on(&store, |writer| is_any_due(writer, Lane::Readings, now)));
        assert!(on(&store, |writer| is_any_due(writer, Lane::Copies, now)));
        let job = on(&store, |writer| claim(writer, Lane::Copies, now)).unwrap();
        assert_eq!(job.kind, JobKind::CopyRepository);
    }

    #[test]
    fn a_job_that_was_taken_away_and_asked_for_again_is_another() {
        let (_folder, store) = store();
        let now = Timestamp(1_000_000_000);
        on(&store, |writer| enqueue(writer, KIND, 7, now));
        let first = on(&store, |writer| claim(writer, LANE, now)).unwrap();
        on(&store, |writer| cancel(writer, KIND, 7));
        assert!(!on(&store, |writer| finish(writer, &first)));
        on(&store, |writer| enqueue(writer, KIND, 8, now));
        on(&store, |writer| enqueue(writer, KIND, 7, now));
        assert!(!on(&store, |writer| finish(writer, &first)), "row IDs are never reused");
        let order: Vec<i64> = std::iter::from_fn(|| on(&store, |writer| claim(writer, LANE, now)))
            .map(|job| job.subject)
            .collect();
        assert_eq!(order, [8, 7], "the oldest job comes first");
    }

    #[test]
    fn a_job_that_breaks_waits_and_one_of_a_dead_process_does_not() {
        let (_folder, store) = store();
        let mut now = Timestamp(1_000_000_000);
        on(&store, |writer| enqueue(writer, KIND, 7, now));
        for attempt in 1..MAX_ATTEMPTS {
            let job = on(&store, |writer| claim(writer, LANE, now)).unwrap();
            assert_eq!(job.attempts, attempt);
            let until = Timestamp(now.0 + jobs::wait_after(attempt).unwrap());
            on(&store, |writer| put_back(writer, &job, until));
            assert_eq!(on(&store, |writer| claim(writer, LANE, Timestamp(until.0 - 1))), None);
            assert!(!on(&store, |writer| is_any_due(writer, LANE, Timestamp(until.0 - 1))));
            assert!(on(&store, |writer| is_any_due(writer, LANE, until)));
            now = until;
        }
        on(&store, |writer| claim(writer, LANE, now)).unwrap();
        assert_eq!(on(&store, |writer| claim(writer, LANE, now)), None);
        on(&store, free_all);
        let again = on(&store, |writer| claim(writer, LANE, now)).unwrap();
        on(&store, |writer| let_go(writer, &again, now));
        assert_eq!(on(&store, |writer| claim(writer, LANE, now)).unwrap().attempts, again.attempts);
    }
}
