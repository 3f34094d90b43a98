//! Turns of teams: of all jobs that could compute, only a few do at the same time. The others wait, and the team
//! that has computed least comes next, so a team's many or long jobs delay other teams by its share only.

use std::{
    collections::HashMap,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::domain::teams::TeamRowId;

/// The longest and the shortest time that a job computes while another one waits.
const MAX_SLICE: Duration = Duration::from_millis(200);
const MIN_SLICE: Duration = Duration::from_millis(10);

/// The time in which each waiting job has a turn, as long as slices are longer than the shortest one.
const ROUND: Duration = Duration::from_secs(1);

/// Lets jobs compute in turns.
#[derive(Debug)]
pub struct Turns {
    state: Mutex<State>,
    changed: Condvar,
    /// Number of jobs that compute at the same time.
    max_running: usize,
}

#[derive(Debug, Default)]
struct State {
    running: usize,
    waiting: Vec<Ticket>,
    next_number: u64,
    teams: HashMap<TeamRowId, TeamTime>,
}

/// The time that a team has computed, as far as it matters for the next turn.
#[derive(Clone, Copy, Debug, Default)]
struct TeamTime {
    used: Duration,
    /// Number of its jobs that compute or wait.
    jobs: u32,
}

/// A job that waits for its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ticket {
    number: u64,
    team: TeamRowId,
}

/// A job's participation in the turns. Dropping it ends the participation.
#[derive(Debug)]
pub struct Participant<'t> {
    turns: &'t Turns,
    team: TeamRowId,
    /// When its turn began. Turns share the cores of this machine, so they are measured in its time, not in
    /// that of the market.
    turn_began_at: Option<Instant>,
}

impl Turns {
    /// Creates the turns of a market in which up to `max_running` jobs compute at the same time.
    pub fn new(max_running: usize) -> Turns {
        Turns { state: Mutex::default(), changed: Condvar::new(), max_running: max_running.max(1) }
    }

    /// Adds a job of a team. It has no turn yet.
    pub fn join(&self, team: TeamRowId) -> Participant<'_> {
        let mut state = self.lock();
        // A team that did not compute for a while gets no credit for it: it starts with the least that another
        // team has used.
        let least = state.teams.values().map(|time| time.used).min().unwrap_or_default();
        let time = state.teams.entry(team).or_insert(TeamTime { used: least, jobs: 0 });
        time.jobs += 1;
        drop(state);
        Participant { turns: self, team, turn_began_at: None }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Returns the job that has the next turn: the oldest one of the team that has computed least.
    fn next(&self) -> Option<Ticket> {
        let used = |ticket: &Ticket| self.teams.get(&ticket.team).map_or(Duration::ZERO, |time| time.used);
        self.waiting.iter().min_by_key(|ticket| (used(ticket), ticket.number)).copied()
    }
}

impl Participant<'_> {
    /// Waits until the job has its turn, for at most `timeout`. Returns whether it has. A job that waits again
    /// keeps its place only within its team.
    pub fn wait(&mut self, timeout: Duration) -> bool {
        if self.turn_began_at.is_some() {
            return true;
        }
        let mut state = self.turns.lock();
        let ticket = Ticket { number: state.next_number, team: self.team };
        state.next_number += 1;
        state.waiting.push(ticket);
        let is_later =
            |state: &mut State| state.running >= self.turns.max_running || state.next() != Some(ticket);
        let waited = self.turns.changed.wait_timeout_while(state, timeout, is_later);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let has_turn = !is_later(&mut state);
        state.waiting.retain(|other| *other != ticket);
        if has_turn {
            state.running += 1;
            self.turn_began_at = Some(Instant::now());
        }
        drop(state);
        // Another job may be next now.
        self.turns.changed.notify_all();
        has_turn
    }

    /// Ends the turn of the job, if it has one.
    pub fn end(&mut self) {
        if let Some(began_at) = self.turn_began_at.take() {
            self.end_after(began_at.elapsed());
        }
    }

    fn end_after(&mut self, used: Duration) {
        self.turn_began_at = None;
        let mut state = self.turns.lock();
        state.running -= 1;
        if let Some(time) = state.teams.get_mut(&self.team) {
            time.used += used;
        }
        drop(state);
        self.turns.changed.notify_all();
    }

    /// Whether the job must end its turn, because another one waits and this one has computed long enough.
    pub fn is_over(&self) -> bool {
        self.turn_began_at
            .is_some_and(|began_at| self.slice().is_some_and(|slice| began_at.elapsed() >= slice))
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
        if let Some(time) = state.teams.get_mut(&self.team) {
            time.jobs -= 1;
        }
        // Times are only compared among teams with jobs.
        if state.teams.values().all(|time| time.jobs == 0) {
            state.teams.clear();
        } else {
            let least = state.teams.values().filter(|time| time.jobs > 0).map(|time| time.used).min();
            state.teams.retain(|_, time| time.jobs > 0 || Some(time.used) > least);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Duration = Duration::from_millis(10);

    /// Serves `rounds` turns of one tick to jobs of the given teams, which always want to compute. Returns the
    /// number of turns of each job.
    fn serve(teams: &[i64], rounds: usize) -> Vec<usize> {
        let turns = Turns::new(1);
        let mut jobs: Vec<Participant> = teams.iter().map(|team| turns.join(TeamRowId(*team))).collect();
        let mut counts = vec![0; teams.len()];
        for _ in 0..rounds {
            // All wait, in the order of a queue: who is next is decided by the state alone.
            let mut state = turns.lock();
            for job in &jobs {
                let ticket = Ticket { number: state.next_number, team: job.team };
                state.next_number += 1;
                state.waiting.push(ticket);
            }
            let next = state.next().unwrap();
            let first = state.waiting[0].number;
            state.waiting.clear();
            drop(state);
            let index = (next.number - first) as usize;
            // Jobs of one team take turns among themselves in the order of their tickets.
            assert!(jobs[index].wait(Duration::ZERO));
            jobs[index].end_after(TICK);
            counts[index] += 1;
        }
        counts
    }

    #[test]
    fn teams_compute_equally_long_however_many_jobs_they_have() {
        let counts = serve(&[1, 1, 1, 1, 2, 3], 300);
        assert_eq!(counts[..4].iter().sum::<usize>(), 100, "{counts:?}");
        assert_eq!(counts[4..], [100, 100]);
    }

    #[test]
    fn team_that_joins_later_neither_waits_for_nor_overtakes_the_others() {
        let turns = Turns::new(1);
        let mut first = turns.join(TeamRowId(1));
        assert!(first.wait(Duration::ZERO));
        first.end_after(Duration::from_secs(1_000));
        let mut second = turns.join(TeamRowId(2));
        assert!(second.wait(Duration::ZERO));
        assert!(!first.wait(Duration::ZERO), "the only place is taken");
        second.end_after(TICK);
        let state = turns.lock();
        let gap = state.teams[&TeamRowId(2)].used.checked_sub(state.teams[&TeamRowId(1)].used);
        assert_eq!(gap, Some(TICK), "the new team starts where the other one is");
    }

    #[test]
    fn slices_shrink_with_the_number_of_waiting_jobs() {
        let turns = Turns::new(1);
        let mut running = turns.join(TeamRowId(1));
        assert!(running.wait(Duration::ZERO));
        assert_eq!(running.slice(), None);
        for (waiting, slice) in [(1, 200), (4, 200), (9, 100), (99, 10), (999, 10)] {
            let mut state = turns.lock();
            state.waiting = vec![Ticket { number: 0, team: TeamRowId(2) }; waiting];
            drop(state);
            assert_eq!(running.slice(), Some(Duration::from_millis(slice)));
        }
    }

    #[test]
    fn dropped_job_leaves_nothing_behind() {
        let turns = Turns::new(1);
        let mut job = turns.join(TeamRowId(1));
        assert!(job.wait(Duration::ZERO));
        drop(job);
        let state = turns.lock();
        assert!(state.running == 0 && state.waiting.is_empty() && state.teams.is_empty());
    }
}
