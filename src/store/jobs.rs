//! The job queue. A worker that claims a job holds a lease on it. The lease number increases with each claim,
//! so a worker that lost its lease cannot write its results.

use super::{Reader, Writer, row};
use crate::{
    domain::{
        jobs::{JobKind, JobSubject, LEASE_MICROS, Queue},
        time::Timestamp,
    },
    error::Result,
    string_enum::StringEnum,
};

/// A claimed job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    id: i64,
    lease: i64,
    /// Kind of work.
    pub kind: JobKind,
    /// Row ID of the record that the job works on, in the table that its kind implies.
    pub subject: JobSubject,
    /// Number of attempts so far, including this one.
    pub attempts: u32,
}

/// Adds a job, unless one of the same kind and subject is already queued.
pub fn enqueue(writer: &Writer, kind: JobKind, subject: JobSubject, at: Timestamp) -> Result<()> {
    const SQL: &str = "INSERT INTO jobs (kind, subject, run_after, enqueued_at) VALUES (?1, ?2, ?3, ?3)
         ON CONFLICT (kind, subject) DO NOTHING";
    writer.execute(SQL, (kind.as_str(), subject, at.0))?;
    Ok(())
}

/// Deletes a job. A worker that holds it notices when it tries to write its results.
pub fn cancel(writer: &Writer, kind: JobKind, subject: JobSubject) -> Result<()> {
    writer.execute("DELETE FROM jobs WHERE kind = ?1 AND subject = ?2", (kind.as_str(), subject))?;
    Ok(())
}

/// Returns the job kinds of a queue, as a JSON array.
fn kinds_json(queue: Queue) -> Result<String> {
    let names: Vec<&str> =
        JobKind::ALL.iter().filter(|kind| kind.queue() == queue).map(|kind| kind.as_str()).collect();
    row::to_json(&names)
}

/// Whether any job of a queue is due and not leased.
pub fn is_any_due(reader: &Reader, queue: Queue, now: Timestamp) -> Result<bool> {
    const SQL: &str = "SELECT EXISTS (SELECT 1 FROM jobs
             WHERE run_after <= ?1 AND (leased_until IS NULL OR leased_until <= ?1)
                 AND kind IN (SELECT value FROM json_each(?2)))";
    reader.query_one(SQL, (now.0, kinds_json(queue)?), |row| row.get(0))
}

/// Claims the due job of a queue that has waited longest and is not leased.
pub fn claim(writer: &Writer, queue: Queue, now: Timestamp) -> Result<Option<Job>> {
    const SQL: &str = "UPDATE jobs SET lease = lease + 1, leased_until = ?2, attempts = attempts + 1
         WHERE id = (SELECT id FROM jobs
             WHERE run_after <= ?1 AND (leased_until IS NULL OR leased_until <= ?1)
                 AND kind IN (SELECT value FROM json_each(?3))
             ORDER BY run_after, id LIMIT 1)
         RETURNING id, lease, kind, subject, attempts";
    writer.query_first(SQL, (now.0, now.0 + LEASE_MICROS, kinds_json(queue)?), |row| {
        Ok(Job {
            id: row.get("id")?,
            lease: row.get("lease")?,
            kind: row::string_enum(row, "kind")?,
            subject: row.get("subject")?,
            attempts: row.get("attempts")?,
        })
    })
}

/// Extends the lease on a job. Returns whether the lease was still held.
pub fn renew_lease(writer: &Writer, job: &Job, now: Timestamp) -> Result<bool> {
    const SQL: &str = "UPDATE jobs SET leased_until = ?3 WHERE id = ?1 AND lease = ?2";
    Ok(writer.execute(SQL, (job.id, job.lease, now.0 + LEASE_MICROS))? == 1)
}

/// Deletes a finished job. Returns whether its lease was still held; if not, the results must be discarded.
pub fn finish(writer: &Writer, job: &Job) -> Result<bool> {
    Ok(writer.execute("DELETE FROM jobs WHERE id = ?1 AND lease = ?2", (job.id, job.lease))? == 1)
}

/// Releases a job that failed, and schedules the next attempt for `until`.
pub fn reschedule(writer: &Writer, job: &Job, until: Timestamp) -> Result<()> {
    const SQL: &str = "UPDATE jobs SET leased_until = NULL, run_after = ?3 WHERE id = ?1 AND lease = ?2";
    writer.execute(SQL, (job.id, job.lease, until.0))?;
    Ok(())
}

/// Releases a job that was interrupted but did not fail. It is due at once, and the attempt does not count.
pub fn release(writer: &Writer, job: &Job, now: Timestamp) -> Result<()> {
    const SQL: &str = "UPDATE jobs SET leased_until = NULL, run_after = ?3, attempts = attempts - 1
         WHERE id = ?1 AND lease = ?2";
    writer.execute(SQL, (job.id, job.lease, now.0))?;
    Ok(())
}

/// Ends all leases, which belong to a process that no longer runs. Only the process that serves the directory
/// may call this.
pub fn release_all(writer: &Writer) -> Result<()> {
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

    const KIND: JobKind = JobKind::AnalyzeArchive;
    const QUEUE: Queue = KIND.queue();

    fn create_store() -> (tempfile::TempDir, Store) {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(&directory.path().join("market.sqlite"), 1, Durability::None).unwrap();
        (directory, store)
    }

    fn write<T>(store: &Store, work: impl FnOnce(&Writer) -> Result<T>) -> T {
        store.write(|writer| work(writer)).unwrap().0
    }

    #[test]
    fn job_can_be_claimed_again_only_after_its_lease_expires() {
        let (_directory, store) = create_store();
        let now = Timestamp(1_000_000_000);
        write(&store, |writer| enqueue(writer, KIND, JobSubject(7), now));
        write(&store, |writer| enqueue(writer, KIND, JobSubject(7), now));
        let first = write(&store, |writer| claim(writer, QUEUE, now)).unwrap();
        assert_eq!((first.kind, first.subject, first.attempts), (KIND, JobSubject(7), 1));
        assert_eq!(
            write(&store, |writer| claim(writer, QUEUE, now)),
            None,
            "the only job is already claimed"
        );
        let later = Timestamp(now.0 + LEASE_MICROS / 2);
        assert!(write(&store, |writer| renew_lease(writer, &first, later)));
        assert_eq!(write(&store, |writer| claim(writer, QUEUE, Timestamp(now.0 + LEASE_MICROS))), None);
        let second = write(&store, |writer| claim(writer, QUEUE, Timestamp(later.0 + LEASE_MICROS))).unwrap();
        assert_eq!(second.attempts, 2);
        assert!(
            !write(&store, |writer| renew_lease(writer, &first, later)),
            "the first worker has lost the lease"
        );
        assert!(!write(&store, |writer| finish(writer, &first)));
        assert!(write(&store, |writer| finish(writer, &second)));
        assert!(!write(&store, |writer| finish(writer, &second)), "a job finishes only once");
    }

    #[test]
    fn claim_takes_only_jobs_of_the_queue() {
        let (_directory, store) = create_store();
        let now = Timestamp(1_000_000_000);
        write(&store, |writer| enqueue(writer, JobKind::CopyRepository, JobSubject(7), now));
        assert_eq!(write(&store, |writer| claim(writer, Queue::Analyses, now)), None);
        assert!(!write(&store, |writer| is_any_due(writer, Queue::Analyses, now)));
        assert!(write(&store, |writer| is_any_due(writer, Queue::Copies, now)));
        let job = write(&store, |writer| claim(writer, Queue::Copies, now)).unwrap();
        assert_eq!(job.kind, JobKind::CopyRepository);
    }

    #[test]
    fn canceled_and_requeued_job_has_a_new_row_id() {
        let (_directory, store) = create_store();
        let now = Timestamp(1_000_000_000);
        write(&store, |writer| enqueue(writer, KIND, JobSubject(7), now));
        let first = write(&store, |writer| claim(writer, QUEUE, now)).unwrap();
        write(&store, |writer| cancel(writer, KIND, JobSubject(7)));
        assert!(!write(&store, |writer| finish(writer, &first)));
        write(&store, |writer| enqueue(writer, KIND, JobSubject(8), now));
        write(&store, |writer| enqueue(writer, KIND, JobSubject(7), now));
        assert!(!write(&store, |writer| finish(writer, &first)), "row IDs are never reused");
        let order: Vec<i64> = std::iter::from_fn(|| write(&store, |writer| claim(writer, QUEUE, now)))
            .map(|job| job.subject.0)
            .collect();
        assert_eq!(order, [8, 7], "the oldest job comes first");
    }

    #[test]
    fn failed_job_waits_and_released_job_is_due_at_once() {
        let (_directory, store) = create_store();
        let mut now = Timestamp(1_000_000_000);
        write(&store, |writer| enqueue(writer, KIND, JobSubject(7), now));
        for attempt in 1..MAX_ATTEMPTS {
            let job = write(&store, |writer| claim(writer, QUEUE, now)).unwrap();
            assert_eq!(job.attempts, attempt);
            let until = Timestamp(now.0 + jobs::retry_delay(attempt).unwrap());
            write(&store, |writer| reschedule(writer, &job, until));
            assert_eq!(write(&store, |writer| claim(writer, QUEUE, Timestamp(until.0 - 1))), None);
            assert!(!write(&store, |writer| is_any_due(writer, QUEUE, Timestamp(until.0 - 1))));
            assert!(write(&store, |writer| is_any_due(writer, QUEUE, until)));
            now = until;
        }
        write(&store, |writer| claim(writer, QUEUE, now)).unwrap();
        assert_eq!(write(&store, |writer| claim(writer, QUEUE, now)), None);
        write(&store, release_all);
        let again = write(&store, |writer| claim(writer, QUEUE, now)).unwrap();
        write(&store, |writer| release(writer, &again, now));
        assert_eq!(write(&store, |writer| claim(writer, QUEUE, now)).unwrap().attempts, again.attempts);
    }
}
