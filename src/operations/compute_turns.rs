//! Limits the number of jobs that compute at the same time. The others wait. The team that has computed least gets the next
//! turn, so a team with many or long jobs delays other teams only by its fair share.

use std::{
    collections::HashMap,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::domain::teams::TeamRowId;

/// The longest and the shortest time that a job computes while another one waits.
const MAX_SLICE: Duration = Duration::from_millis(200);
const MIN_SLICE: Duration = Duration::from_millis(10);

/// The period in which each waiting job gets a turn, unless that would make slices shorter than the minimum.
const ROUND: Duration = Duration::from_secs(1);

/// Lets jobs compute in turns.
#[derive(Debug)]
pub struct ComputeTurns {
    state: Mutex<State>,
    changed: Condvar,
    /// Number of jobs that compute at the same time.
    max_running: usize,
}

#[derive(Debug, Default)]
struct State {
    running: usize,
    waiting: Vec<Waiting>,
    next_number: u64,
    teams: HashMap<TeamRowId, TeamTime>,
    /// The highest time of a team that has computed. A team whose jobs begin to wait starts from this time, so it cannot save
    /// up turns.
    now: Duration,
}

/// The computing time of a team, as it counts for the next turn.
#[derive(Clone, Copy, Debug, Default)]
struct TeamTime {
    used: Duration,
    /// Number of its jobs, including jobs that neither compute nor wait.
    jobs: u32,
    /// Number of its jobs that compute or wait.
    active: u32,
}

/// The place of a job that waits for its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ticket {
    number: u64,
    team: TeamRowId,
}

/// A job that waits for its turn.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    ticket: Ticket,
    /// Whether its thread would take the turn now. Between two waits, the thread does something else, such as
    /// renewing a lease; nobody waits for that.
    is_ready: bool,
}

/// A job's participation in the turns. Dropping it ends the participation.
#[derive(Debug)]
pub struct Participant<'t> {
    turns: &'t ComputeTurns,
    team: TeamRowId,
    /// Its place among the waiting jobs, from the first wait for a turn until the turn.
    ticket: Option<Ticket>,
    turn: Option<Turn>,
}

/// A turn. Turns share the cores of this machine, so they are measured by its clock, not by the market's.
#[derive(Clone, Copy, Debug)]
struct Turn {
    began_at: Instant,
    /// The time until which the team's time includes the turn.
    counted_until: Instant,
}

impl ComputeTurns {
    /// Creates the turns of a market in which up to `max_running` jobs compute at the same time.
    pub fn new(max_running: usize) -> ComputeTurns {
        ComputeTurns { state: Mutex::default(), changed: Condvar::new(), max_running: max_running.max(1) }
    }

    /// Adds a job of a team. It has no turn yet.
    pub fn join(&self, team: TeamRowId) -> Participant<'_> {
        self.lock().teams.entry(team).or_default().jobs += 1;
        Participant { turns: self, team, ticket: None, turn: None }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add_ticket(&mut self, team: TeamRowId) -> Ticket {
        let ticket = Ticket { number: self.next_number, team };
        self.next_number += 1;
        let time = self.teams.entry(team).or_default();
        if time.active == 0 {
            time.used = time.used.max(self.now);
        }
        time.active += 1;
        self.waiting.push(Waiting { ticket, is_ready: false });
        ticket
    }

    fn remove_ticket(&mut self, ticket: Ticket) {
        self.waiting.retain(|other| other.ticket != ticket);
    }

    /// Counts a job of a team that no longer computes or waits.
    fn count_inactive(&mut self, team: TeamRowId) {
        if let Some(time) = self.teams.get_mut(&team) {
            time.active -= 1;
        }
    }

    fn set_ready(&mut self, ticket: Ticket, is_ready: bool) {
        for waiting in self.waiting.iter_mut().filter(|waiting| waiting.ticket == ticket) {
            waiting.is_ready = is_ready;
        }
    }

    fn add_time(&mut self, team: TeamRowId, used: Duration) {
        if let Some(time) = self.teams.get_mut(&team) {
            time.used += used;
            self.now = self.now.max(time.used);
        }
    }

    /// Returns the job that has the next turn: of those that are ready, the oldest one of the team that has
    /// computed least.
    fn next(&self) -> Option<Ticket> {
        let used = |ticket: &Ticket| self.teams.get(&ticket.team).map_or(Duration::ZERO, |time| time.used);
        let ready = self.waiting.iter().filter(|waiting| waiting.is_ready).map(|waiting| waiting.ticket);
        ready.min_by_key(|ticket| (used(ticket), ticket.number))
    }

    /// Ends the participation of a job of a team. A team without jobs would start again from `now`, so its time is
    /// not needed.
    fn leave(&mut self, team: TeamRowId) {
        if let Some(time) = self.teams.get_mut(&team) {
            time.jobs -= 1;
        }
        self.teams.retain(|_, time| time.jobs > 0);
    }
}

impl Participant<'_> {
    /// Waits until the job has its turn, for at most `timeout`. Returns whether it has. A job that has not keeps
    /// its place, and waits again.
    pub fn wait(&mut self, timeout: Duration) -> bool {
        if self.turn.is_some() {
            return true;
        }
        let mut state = self.turns.lock();
        let ticket = *self.ticket.get_or_insert_with(|| state.add_ticket(self.team));
        state.set_ready(ticket, true);
        let is_later =
            |state: &mut State| state.running >= self.turns.max_running || state.next() != Some(ticket);
        let waited = self.turns.changed.wait_timeout_while(state, timeout, is_later);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if is_later(&mut state) {
            state.set_ready(ticket, false);
            drop(state);
            // Another job may be next while this one is not ready.
            self.turns.changed.notify_all();
            return false;
        }
        state.remove_ticket(ticket);
        state.running += 1;
        let has_room = state.running < self.turns.max_running;
        drop(state);
        self.ticket = None;
        let now = Instant::now();
        self.turn = Some(Turn { began_at: now, counted_until: now });
        if has_room {
            self.turns.changed.notify_all();
        }
        true
    }

    /// Ends the turn of the job, if it has one. If the job computes again later, its team continues from then.
    pub fn end(&mut self) {
        self.end_turn(false);
    }

    /// Ends the turn of the job, if it has one, and takes a place among the jobs that wait for the next one. So its team keeps
    /// its priority.
    pub fn pause(&mut self) {
        self.end_turn(true);
    }

    fn end_turn(&mut self, waits_again: bool) {
        self.count_time();
        if self.turn.take().is_some() {
            let mut state = self.turns.lock();
            if waits_again {
                self.ticket = Some(state.add_ticket(self.team));
            }
            state.running -= 1;
            state.count_inactive(self.team);
            drop(state);
            self.turns.changed.notify_all();
        }
    }

    /// Whether the job must end its turn, because another one waits and this one has computed long enough. Call
    /// this often: it also counts the time of the team.
    pub fn is_over(&mut self) -> bool {
        self.count_time();
        let Some(turn) = self.turn else { return false };
        self.slice().is_some_and(|slice| turn.began_at.elapsed() >= slice)
    }

    /// Adds the time of the turn to the team's time, so that a team that joins now starts from it.
    fn count_time(&mut self) {
        if let Some(turn) = &mut self.turn {
            let now = Instant::now();
            let used = now - turn.counted_until;
            turn.counted_until = now;
            self.turns.lock().add_time(self.team, used);
        }
    }

    /// Returns how long the job may compute before it must end its turn: longer if fewer jobs wait. None if no
    /// job waits.
    fn slice(&self) -> Option<Duration> {
        let waiting = u32::try_from(self.turns.lock().waiting.len()).unwrap_or(u32::MAX);
        (waiting > 0).then(|| (ROUND / waiting.saturating_add(1)).clamp(MIN_SLICE, MAX_SLICE))
    }
}

impl Drop for Participant<'_> {
    fn drop(&mut self) {
        self.end();
        let mut state = self.turns.lock();
        if let Some(ticket) = self.ticket.take() {
            state.remove_ticket(ticket);
            state.count_inactive(self.team);
        }
        state.leave(self.team);
        drop(state);
        // Another job may be next now.
        self.turns.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Duration = Duration::from_millis(10);

    /// Serves `rounds` turns of one tick to jobs of the given teams, which always want to compute. Returns the
    /// number of turns of each job.
    fn serve(teams: &[i64], rounds: usize) -> Vec<usize> {
        let turns = ComputeTurns::new(1);
        let mut jobs: Vec<Participant> = teams.iter().map(|team| turns.join(TeamRowId(*team))).collect();
        let mut counts = vec![0; teams.len()];
        for job in &mut jobs {
            job.ticket = Some(turns.lock().add_ticket(job.team));
        }
        for _ in 0..rounds {
            let mut state = turns.lock();
            state.waiting.iter_mut().for_each(|waiting| waiting.is_ready = true);
            let next = state.next();
            drop(state);
            let index = jobs.iter().position(|job| job.ticket == next).unwrap();
            assert!(jobs[index].wait(Duration::ZERO));
            turns.lock().add_time(jobs[index].team, TICK);
            jobs[index].pause();
            counts[index] += 1;
        }
        counts
    }

    #[test]
    fn teams_compute_equally_long_however_many_jobs_they_have() {
        let counts = serve(&[1, 1, 1, 1, 2, 3], 300);
        let of_first = counts[..4].iter().sum::<usize>();
        for count in [of_first, counts[4], counts[5]] {
            // The time that the test itself takes counts, too.
            assert!((90..=110).contains(&count), "{counts:?}");
        }
        assert!(counts[..4].iter().all(|count| (20..=30).contains(count)), "{counts:?}");
    }

    #[test]
    fn team_that_joins_later_neither_waits_for_nor_overtakes_the_others() {
        let turns = ComputeTurns::new(1);
        let mut first = turns.join(TeamRowId(1));
        assert!(first.wait(Duration::ZERO));
        // The first team has computed alone for a while, and still does.
        turns.lock().add_time(TeamRowId(1), Duration::from_secs(1_000));
        let mut second = turns.join(TeamRowId(2));
        assert!(!second.wait(Duration::ZERO), "the only place is taken");
        first.end();
        assert!(second.wait(Duration::ZERO));
        turns.lock().add_time(TeamRowId(2), Duration::from_secs(1));
        assert!(!first.wait(Duration::ZERO));
        second.end();
        turns.lock().set_ready(first.ticket.unwrap(), true);
        assert!(!second.wait(Duration::ZERO), "the first team is next");
        assert!(first.wait(Duration::ZERO));
    }

    /// A team whose job does something else, such as receiving a repository, cannot save up time meanwhile.
    #[test]
    fn team_that_does_not_wait_is_owed_nothing() {
        let turns = ComputeTurns::new(1);
        let (mut receiving, mut computing) = (turns.join(TeamRowId(1)), turns.join(TeamRowId(2)));
        for _ in 0..3 {
            assert!(computing.wait(Duration::ZERO));
            turns.lock().add_time(TeamRowId(2), Duration::from_secs(1_000));
            computing.end();
        }
        assert!(receiving.wait(Duration::ZERO));
        assert!(!computing.wait(Duration::ZERO));
        turns.lock().add_time(TeamRowId(1), Duration::from_secs(1));
        receiving.pause();
        turns.lock().set_ready(receiving.ticket.unwrap(), true);
        assert!(computing.wait(Duration::ZERO), "the first team has used more since it began to compute");
    }

    /// A team whose turn ends because another one waits keeps its priority.
    #[test]
    fn paused_job_keeps_what_its_team_is_owed() {
        let turns = ComputeTurns::new(1);
        let (mut first, mut second) = (turns.join(TeamRowId(1)), turns.join(TeamRowId(2)));
        assert!(first.wait(Duration::ZERO) && !second.wait(Duration::ZERO));
        turns.lock().add_time(TeamRowId(1), Duration::from_secs(100));
        first.pause();
        for _ in 0..9 {
            assert!(second.wait(Duration::ZERO), "the second team is owed 100 seconds");
            turns.lock().add_time(TeamRowId(2), Duration::from_secs(10));
            second.pause();
            turns.lock().set_ready(first.ticket.unwrap(), true);
            turns.lock().set_ready(second.ticket.unwrap(), true);
        }
    }

    #[test]
    fn waiting_job_keeps_its_place() {
        let turns = ComputeTurns::new(1);
        let mut running = turns.join(TeamRowId(1));
        assert!(running.wait(Duration::ZERO));
        let (mut first, mut second) = (turns.join(TeamRowId(2)), turns.join(TeamRowId(2)));
        assert!(!first.wait(Duration::ZERO) && !second.wait(Duration::ZERO) && !first.wait(Duration::ZERO));
        running.end();
        turns.lock().set_ready(first.ticket.unwrap(), true);
        assert!(!second.wait(Duration::ZERO) && first.wait(Duration::ZERO));
    }

    #[test]
    fn nobody_waits_for_a_job_that_is_not_ready() {
        let turns = ComputeTurns::new(1);
        let mut running = turns.join(TeamRowId(1));
        assert!(running.wait(Duration::ZERO));
        let (mut first, mut second) = (turns.join(TeamRowId(2)), turns.join(TeamRowId(3)));
        assert!(!first.wait(Duration::ZERO));
        running.end();
        assert!(second.wait(Duration::ZERO), "the first one does something else");
        second.end();
        assert!(first.wait(Duration::ZERO));
    }

    #[test]
    fn slices_shrink_with_the_number_of_waiting_jobs() {
        let turns = ComputeTurns::new(1);
        let mut running = turns.join(TeamRowId(1));
        assert!(running.wait(Duration::ZERO));
        assert_eq!(running.slice(), None);
        for (waiting, slice) in [(1, 200), (4, 200), (9, 100), (99, 10), (999, 10)] {
            let mut state = turns.lock();
            let ticket = Ticket { number: 0, team: TeamRowId(2) };
            state.waiting = vec![Waiting { ticket, is_ready: true }; waiting];
            drop(state);
            assert_eq!(running.slice(), Some(Duration::from_millis(slice)));
        }
    }

    #[test]
    fn dropped_job_leaves_nothing_behind() {
        let turns = ComputeTurns::new(1);
        let mut job = turns.join(TeamRowId(1));
        assert!(job.wait(Duration::ZERO));
        let mut other = turns.join(TeamRowId(2));
        assert!(!other.wait(Duration::ZERO));
        drop((job, other));
        let state = turns.lock();
        assert!(state.running == 0 && state.waiting.is_empty() && state.teams.is_empty());
    }
}
