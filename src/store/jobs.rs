//! The queue of jobs. Whoever takes one holds a lease on it, whose number rises each time; who lost it can write nothing.

use super::{Reader, Writer, row};
use crate::{
    domain::{
        jobs::{JobKind, LEASE, Lane},
        time::Timestamp,
        vocabulary::Vocabulary,
    },
    error::Result,
};

/// A job that somebody holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    id: i64,
    lease: i64,
    /// What it does.
    pub kind: JobKind,
    /// The row number of what it is about.
    pub subject: i64,
    /// How often it was begun, this time included.
    pub attempts: u32,
}

/// Adds a job, unless the same one waits already.
pub fn enqueue(writer: &Writer, kind: JobKind, subject: i64, at: Timestamp) -> Result<()> {
    const SQL: &str = "INSERT INTO jobs (kind, subject, run_after, enqueued_at) VALUES (?1, ?2, ?3, ?3)
         ON CONFLICT (kind, subject) DO NOTHING";
    writer.execute(SQL, (kind.word(), subject, at.0))?;
    Ok(())
}

/// Takes a job away: whoever holds it finds out when it wants to write.
pub fn cancel(writer: &Writer, kind: JobKind, subject: i64) -> Result<()> {
    writer.execute("DELETE FROM jobs WHERE kind = ?1 AND subject = ?2", (kind.word(), subject))?;
    Ok(())
}

/// The kinds of a lane, as JSON.
fn kinds(lane: Lane) -> Result<String> {
    let ours: Vec<&str> =
        JobKind::ALL.iter().filter(|kind| kind.lane() == lane).map(|kind| kind.word()).collect();
    row::to_json(&ours)
}

/// Whether any job of a lane can be begun.
pub fn is_any_due(reader: &Reader, lane: Lane, now: Timestamp) -> Result<bool> {
    const SQL: &str = "SELECT EXISTS (SELECT 1 FROM jobs
             WHERE run_after <= ?1 AND (leased_until IS NULL OR leased_until <= ?1)
                 AND kind IN (SELECT value FROM json_each(?2)))";
    reader.one(SQL, (now.0, kinds(lane)?), |row| row.get(0))
}

/// Takes the job of a lane that has waited longest and that nobody holds.
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

/// Holds a job for longer. Answers whether it is held at all.
pub fn hold(writer: &Writer, job: &Job, now: Timestamp) -> Result<bool> {
    const SQL: &str = "UPDATE jobs SET leased_until = ?3 WHERE id = ?1 AND lease = ?2";
    Ok(writer.execute(SQL, (job.id, job.lease, now.0 + LEASE))? == 1)
}

/// Ends a job. Answers whether it was held: where it was not, what was found is somebody else's to write.
pub fn finish(writer: &Writer, job: &Job) -> Result<bool> {
    Ok(writer.execute("DELETE FROM jobs WHERE id = ?1 AND lease = ?2", (job.id, job.lease))? == 1)
}

/// Puts a job back until a time.
pub fn put_back(writer: &Writer, job: &Job, until: Timestamp) -> Result<()> {
    const SQL: &str = "UPDATE jobs SET leased_until = NULL, run_after = ?3 WHERE id = ?1 AND lease = ?2";
    writer.execute(SQL, (job.id, job.lease, until.0))?;
    Ok(())
}

/// Puts a job back that was not carried out for no fault of its own: it is due at once, and was not begun this time.
pub fn let_go(writer: &Writer, job: &Job, now: Timestamp) -> Result<()> {
    const SQL: &str = "UPDATE jobs SET leased_until = NULL, run_after = ?3, attempts = attempts - 1
         WHERE id = ?1 AND lease = ?2";
    writer.execute(SQL, (job.id, job.lease, now.0))?;
    Ok(())
}

/// Frees every job that a process held which is gone, as only the one that serves the folder may say.
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
        assert_eq!(on(&store, |writer| claim(writer, LANE, now)), None, "it is one job, and it is taken");
        let later = Timestamp(now.0 + LEASE / 2);
        assert!(on(&store, |writer| hold(writer, &first, later)));
        assert_eq!(on(&store, |writer| claim(writer, LANE, Timestamp(now.0 + LEASE))), None);
        let second = on(&store, |writer| claim(writer, LANE, Timestamp(later.0 + LEASE))).unwrap();
        assert_eq!(second.attempts, 2);
        assert!(!on(&store, |writer| hold(writer, &first, later)), "the first one has lost it");
        assert!(!on(&store, |writer| finish(writer, &first)));
        assert!(on(&store, |writer| finish(writer, &second)));
        assert!(!on(&store, |writer| finish(writer, &second)), "it ends once");
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
        assert!(!on(&store, |writer| finish(writer, &first)), "row numbers are not used again");
        let order: Vec<i64> = std::iter::from_fn(|| on(&store, |writer| claim(writer, LANE, now)))
            .map(|job| job.subject)
            .collect();
        assert_eq!(order, [8, 7], "the oldest comes first");
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
