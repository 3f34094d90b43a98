use super::*;
use crate::{
    domain::jobs::{self, MAX_ATTEMPTS},
    store::Store,
};

const KIND: JobKind = JobKind::AnalyzeArchive;
const QUEUE: Queue = KIND.queue();

fn write<T>(store: &Store, work: impl FnOnce(&Writer) -> Result<T>) -> T {
    store.write(|writer| work(writer)).unwrap().0
}

#[test]
fn job_can_be_claimed_again_only_after_its_lease_expires() {
    let (_directory, store) = Store::temporary();
    let now = Timestamp(1_000_000_000);
    write(&store, |writer| enqueue(writer, KIND, JobSubject(7), now));
    write(&store, |writer| enqueue(writer, KIND, JobSubject(7), now));
    let first = write(&store, |writer| claim(writer, QUEUE, 9, now)).unwrap();
    assert_eq!((first.kind, first.subject, first.attempts), (KIND, JobSubject(7), 1));
    assert_eq!(write(&store, |writer| claim(writer, QUEUE, 9, now)), None, "the only job is already claimed");
    let later = Timestamp(now.0 + LEASE_MICROS / 2);
    assert!(write(&store, |writer| renew_lease(writer, &first, later)));
    assert_eq!(write(&store, |writer| claim(writer, QUEUE, 9, Timestamp(now.0 + LEASE_MICROS))), None);
    let second = write(&store, |writer| claim(writer, QUEUE, 9, Timestamp(later.0 + LEASE_MICROS))).unwrap();
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
    let (_directory, store) = Store::temporary();
    let now = Timestamp(1_000_000_000);
    write(&store, |writer| enqueue(writer, JobKind::CopyRepository, JobSubject(7), now));
    assert_eq!(write(&store, |writer| claim(writer, Queue::Analyses, 9, now)), None);
    assert!(!write(&store, |writer| is_any_due(writer, Queue::Analyses, 9, now)));
    assert!(write(&store, |writer| is_any_due(writer, Queue::Copies, 9, now)));
    let job = write(&store, |writer| claim(writer, Queue::Copies, 9, now)).unwrap();
    assert_eq!(job.kind, JobKind::CopyRepository);
}

#[test]
fn next_time_is_that_of_a_job_or_the_end_of_a_lease() {
    let (_directory, store) = Store::temporary();
    let now = Timestamp(1_000_000_000);
    let next_due_at = |now| write(&store, |writer| next_due_at(writer, now));
    assert_eq!(next_due_at(now), None);
    let lease_end = Timestamp(now.0 + LEASE_MICROS);
    write(&store, |writer| enqueue(writer, KIND, JobSubject(1), now));
    assert_eq!(next_due_at(now), None, "the job is due already");
    write(&store, |writer| claim(writer, QUEUE, 9, now));
    write(&store, |writer| enqueue(writer, KIND, JobSubject(2), Timestamp(lease_end.0 + 1)));
    write(&store, |writer| enqueue(writer, KIND, JobSubject(3), Timestamp(lease_end.0 + 2)));
    for expected in [Some(lease_end), Some(Timestamp(lease_end.0 + 1)), Some(Timestamp(lease_end.0 + 2))] {
        let before = Timestamp(expected.unwrap().0 - 1);
        assert_eq!(next_due_at(before), expected);
    }
    assert_eq!(next_due_at(Timestamp(lease_end.0 + 2)), None);
}

#[test]
fn canceled_and_requeued_job_has_a_new_row_id() {
    let (_directory, store) = Store::temporary();
    let now = Timestamp(1_000_000_000);
    write(&store, |writer| enqueue(writer, KIND, JobSubject(7), now));
    let first = write(&store, |writer| claim(writer, QUEUE, 9, now)).unwrap();
    write(&store, |writer| cancel(writer, KIND, JobSubject(7)));
    assert!(!write(&store, |writer| finish(writer, &first)));
    write(&store, |writer| enqueue(writer, KIND, JobSubject(8), now));
    write(&store, |writer| enqueue(writer, KIND, JobSubject(7), now));
    assert!(!write(&store, |writer| finish(writer, &first)), "row IDs are never reused");
    let order: Vec<i64> = std::iter::from_fn(|| write(&store, |writer| claim(writer, QUEUE, 9, now)))
        .map(|job| job.subject.0)
        .collect();
    assert_eq!(order, [8, 7], "the oldest job comes first");
}

#[test]
fn failed_job_waits_and_released_job_is_due_at_once() {
    let (_directory, store) = Store::temporary();
    let mut now = Timestamp(1_000_000_000);
    write(&store, |writer| enqueue(writer, KIND, JobSubject(7), now));
    for attempt in 1..MAX_ATTEMPTS {
        let job = write(&store, |writer| claim(writer, QUEUE, 9, now)).unwrap();
        assert_eq!(job.attempts, attempt);
        let until = Timestamp(now.0 + jobs::retry_delay(attempt).unwrap());
        write(&store, |writer| reschedule(writer, &job, until));
        assert_eq!(write(&store, |writer| claim(writer, QUEUE, 9, Timestamp(until.0 - 1))), None);
        assert!(!write(&store, |writer| is_any_due(writer, QUEUE, 9, Timestamp(until.0 - 1))));
        assert!(write(&store, |writer| is_any_due(writer, QUEUE, 9, until)));
        now = until;
    }
    write(&store, |writer| claim(writer, QUEUE, 9, now)).unwrap();
    assert_eq!(write(&store, |writer| claim(writer, QUEUE, 9, now)), None);
    write(&store, release_all);
    let again = write(&store, |writer| claim(writer, QUEUE, 9, now)).unwrap();
    write(&store, |writer| release(writer, &again, now));
    assert_eq!(write(&store, |writer| claim(writer, QUEUE, 9, now)).unwrap().attempts, again.attempts);
}

/// Adds jobs of teams, given in the order in which they were enqueued.
fn enqueue_for_teams(store: &Store, teams: &[i64], now: Timestamp) {
    write(store, |writer| {
        for (subject, team) in teams.iter().enumerate() {
            enqueue(writer, KIND, JobSubject(subject as i64), now)?;
            writer.execute("UPDATE jobs SET team = ?1 WHERE subject = ?2", (team, subject as i64))?;
        }
        Ok(())
    });
}

#[test]
fn teams_take_turns_however_many_jobs_they_have() {
    let (_directory, store) = Store::temporary();
    let now = Timestamp(1_000_000_000);
    enqueue_for_teams(&store, &[1, 1, 1, 1, 2, 2, 3], now);
    let order: Vec<i64> = std::iter::from_fn(|| {
        let job = write(&store, |writer| claim(writer, QUEUE, 1, now))?;
        assert!(write(&store, |writer| finish(writer, &job)));
        job.team.map(|team| team.0)
    })
    .collect();
    assert_eq!(order, [1, 2, 3, 1, 2, 1, 1]);
}

#[test]
fn number_of_leased_jobs_of_a_team_is_limited() {
    let (_directory, store) = Store::temporary();
    let now = Timestamp(1_000_000_000);
    enqueue_for_teams(&store, &[1, 1, 1, 2], now);
    let claim_team = |max_per_team| {
        let job = write(&store, |writer| claim(writer, QUEUE, max_per_team, now))?;
        job.team.map(|team| team.0)
    };
    assert_eq!([claim_team(1), claim_team(1), claim_team(1)], [Some(1), Some(2), None]);
    assert!(!write(&store, |writer| is_any_due(writer, QUEUE, 1, now)));
    assert_eq!([claim_team(2), claim_team(2)], [Some(1), None]);
}

#[test]
fn only_starts_that_have_begun_count_as_interrupted() {
    let (_directory, store) = Store::temporary();
    let now = Timestamp(1_000_000_000);
    write(&store, |writer| enqueue(writer, KIND, JobSubject(7), now));
    let claim_job = || write(&store, |writer| claim(writer, QUEUE, 1, now)).unwrap();
    let job = claim_job();
    write(&store, |writer| release(writer, &job, now));
    let job = claim_job();
    assert_eq!(job.interrupted_starts, 0, "the first start had not begun to compute");
    assert!(write(&store, |writer| begin(writer, &job)));
    write(&store, |writer| reschedule(writer, &job, now));
    let job = claim_job();
    assert_eq!(job.interrupted_starts, 0, "the second start failed");
    assert!(write(&store, |writer| begin(writer, &job)));
    write(&store, |writer| release(writer, &job, now));
    let job = claim_job();
    assert_eq!(job.interrupted_starts, 1);
    assert!(write(&store, |writer| begin(writer, &job)));
    write(&store, release_all);
    assert_eq!(claim_job().interrupted_starts, 2, "the server was killed");
    assert!(!write(&store, |writer| begin(writer, &job)), "the lease is lost");
}

/// A job that was scheduled while the clock was ahead must not wait until it is as late again.
#[test]
fn jobs_from_a_clock_that_was_ahead_are_due_now() {
    let (_directory, store) = Store::temporary();
    let (now, ahead) = (Timestamp(1_000_000_000), Timestamp(1_000_000_000).plus_days(400));
    let due_at = |kind, subject| write(&store, |writer| find_due_at(writer, kind, subject)).unwrap();
    let retried = now.plus_micros(80_000_000);
    let cleaned = now.plus_micros(jobs::CLEANUP_INTERVAL_MICROS);
    write(&store, |writer| enqueue(writer, KIND, JobSubject(1), retried));
    write(&store, |writer| enqueue(writer, JobKind::Cleanup, JobSubject(-1), cleaned));
    assert!(!write(&store, |writer| is_any_too_late(writer, now)));
    for (kind, subject) in [(KIND, JobSubject(2)), (JobKind::Cleanup, JobSubject::NONE)] {
        write(&store, |writer| enqueue(writer, kind, subject, ahead));
        assert!(write(&store, |writer| is_any_too_late(writer, now)));
        write(&store, |writer| bring_forward(writer, now));
        assert!(!write(&store, |writer| is_any_too_late(writer, now)));
        assert_eq!(due_at(kind, subject), now);
    }
    assert_eq!(due_at(KIND, JobSubject(1)), retried);
    assert_eq!(due_at(JobKind::Cleanup, JobSubject(-1)), cleaned);
}
