//! Faults of a world: failures on demand, until they are deleted or the world is reset.
//!
//! Faults are tried in the order in which they were added, and the first match takes effect. Which requests a share selects,
//! and how long a delay is, follow from the seed of the world and from counts, so they are the same on every run.

mod hooks;
mod rules;

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use xxhash_rust::xxh3::xxh3_64;

pub use self::rules::{
    CutPlace, FaultAnswer, FaultRule, Interruption, RequestEffect, RequestFacts, RequestMatch, TextPattern,
    WebhookEffect, WebhookMatch,
};
use crate::{
    clock::Clock,
    domain::{events::EventType, jobs::JobKind, time::Timestamp},
    error::{Error, QuotaExcess, Result},
};

/// Maximum number of faults that a world has at the same time.
pub const MAX_FAULTS: usize = 100;

/// What the ID of a fault begins with.
const ID_PREFIX: &str = "fault-";

/// A fault to add.
#[derive(Clone, Debug, PartialEq)]
pub struct NewFault {
    /// What it is for, and what it does.
    pub rule: FaultRule,
    /// When it applies.
    pub timing: FaultTiming,
    /// Whether it may do what the documents do not name.
    pub is_forced: bool,
}

/// When a fault applies. All given conditions must hold.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FaultTiming {
    /// Only the case with this number, counted from 1.
    pub nth: Option<u64>,
    /// At most this many cases.
    pub next: Option<u64>,
    /// Share of the cases, from 0 to 1.
    pub share: Option<f64>,
    /// Time of the world from which it applies.
    pub from: Option<Timestamp>,
    /// Time of the world from which it does not apply any more.
    pub until: Option<Timestamp>,
}

/// A fault of a world.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Number of the fault in its world, counted from 1.
    pub number: u64,
    /// What it does, and when.
    pub new: NewFault,
    /// Number of cases that it is for, within its times: what [`FaultTiming::nth`], [`FaultTiming::next`], and
    /// [`FaultTiming::share`] count.
    pub seen: u64,
    /// Number of these in which all its conditions were met.
    pub matched: u64,
    /// Number of these in which it took effect, since no earlier fault did.
    pub used: u64,
}

/// A fault that takes effect on a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenFault {
    /// ID of the fault.
    pub id: String,
    /// What it does.
    pub effect: RequestEffect,
    /// Milliseconds by which the response is delayed.
    pub delay_ms: u32,
}

/// What the choice of a fault depends on besides the faults.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Seed of the world.
    pub seed: u64,
    /// Time of the world.
    pub now: Timestamp,
}

/// The faults of a world.
#[derive(Debug, Default)]
pub struct Faults {
    /// Whether there are any, so that worlds without faults need no lock.
    is_any: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    faults: Vec<Fault>,
    /// Number of the last fault that was added.
    last: u64,
}

/// A choice that depends on the seed.
#[derive(Clone, Copy)]
enum Choice {
    Share = 0,
    Delay = 1,
}

impl Moment {
    /// Returns the time of the clock of a world, and the seed of its IDs.
    pub fn of(clock: &Clock) -> Moment {
        match clock {
            Clock::Simulated(clock) => {
                let state = clock.state();
                Moment { seed: state.seed, now: state.now }
            }
            Clock::System | Clock::Shifted(_) => Moment { seed: 0, now: clock.now() },
        }
    }
}

impl Fault {
    /// Returns the ID.
    pub fn id(&self) -> String {
        format!("{ID_PREFIX}{}", self.number)
    }

    /// Counts a case that the fault is for, and returns whether all its conditions are met.
    fn meet(&mut self, moment: Moment) -> bool {
        let FaultTiming { nth, next, share, from, until } = self.new.timing;
        if from.is_some_and(|from| moment.now < from) || until.is_some_and(|until| moment.now >= until) {
            return false;
        }
        self.seen += 1;
        let is_met = nth.is_none_or(|nth| self.seen == nth)
            && next.is_none_or(|next| self.seen <= next)
            && share.is_none_or(|share| self.fraction(moment.seed) < share);
        self.matched += u64::from(is_met);
        is_met
    }

    /// Returns a number from 0 up to and excluding 1.
    fn fraction(&self, seed: u64) -> f64 {
        // As many bits as the type has.
        (self.random(seed, Choice::Share) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns a delay from `min` to `max`.
    fn delay(&self, seed: u64, (min, max): (u32, u32)) -> u32 {
        let range = u64::from(max.saturating_sub(min)) + 1;
        min + (self.random(seed, Choice::Delay) % range) as u32
    }

    fn random(&self, seed: u64, choice: Choice) -> u64 {
        let values = [seed, self.number, self.seen, choice as u64];
        xxh3_64(&values.map(u64::to_le_bytes).concat())
    }
}

impl Faults {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        !self.is_any.load(Ordering::Acquire)
    }

    /// Adds a fault after all others. Fails if there are too many.
    pub fn add(&self, new: NewFault) -> Result<Fault> {
        let mut state = self.lock();
        if state.faults.len() >= MAX_FAULTS {
            let limit = MAX_FAULTS as u64;
            let excess = QuotaExcess { holder: "world", quota: "faults", limit, used: limit, requested: 1 };
            return Err(Error::QuotaExceeded(excess));
        }
        state.last += 1;
        let fault = Fault { number: state.last, new, seen: 0, matched: 0, used: 0 };
        state.faults.push(fault.clone());
        self.is_any.store(true, Ordering::Release);
        Ok(fault)
    }

    /// Returns all faults, in their order.
    pub fn list(&self) -> Vec<Fault> {
        self.lock().faults.clone()
    }

    /// Deletes the fault with this ID. Returns whether there was one.
    pub fn delete(&self, id: &str) -> bool {
        let mut state = self.lock();
        let before = state.faults.len();
        state.faults.retain(|fault| fault.id() != id);
        self.is_any.store(!state.faults.is_empty(), Ordering::Release);
        state.faults.len() < before
    }

    /// Deletes all faults. Their IDs are not used again.
    pub fn delete_all(&self) {
        self.lock().faults.clear();
        self.is_any.store(false, Ordering::Release);
    }

    /// Deletes all faults, and begins to count from 1.
    pub(super) fn clear(&self) {
        *self.lock() = State::default();
        self.is_any.store(false, Ordering::Release);
    }

    /// Whether a fault needs to know the team of a request.
    pub fn any_matches_team(&self) -> bool {
        let is_of_team =
            |fault: &Fault| matches!(&fault.new.rule, FaultRule::Requests(of, _) if of.team.is_some());
        !self.is_empty() && self.lock().faults.iter().any(is_of_team)
    }

    /// Returns the fault that takes effect on a request, and counts it.
    pub fn for_request(&self, moment: Moment, request: RequestFacts) -> Option<ChosenFault> {
        let effect = |rule: &FaultRule| match rule {
            FaultRule::Requests(of, effect) if of.fits(request) => Some(effect.clone()),
            _ => None,
        };
        self.choose(moment, effect, |fault, effect| {
            let delay_ms = effect.delay_ms.map_or(0, |range| fault.delay(moment.seed, range));
            ChosenFault { id: fault.id(), effect, delay_ms }
        })
    }

    /// Whether there are faults for jobs.
    pub fn has_job_rules(&self) -> bool {
        self.is_any.load(Ordering::Acquire)
            && self.lock().faults.iter().any(|fault| matches!(fault.new.rule, FaultRule::Jobs(_)))
    }

    /// Whether a job of a kind fails.
    pub fn fails_job(&self, moment: Moment, kind: JobKind) -> bool {
        let is_for = |rule: &FaultRule| match rule {
            FaultRule::Jobs(expected) => expected.is_none_or(|expected| expected == kind).then_some(()),
            _ => None,
        };
        self.choose(moment, is_for, |_, ()| ()).is_some()
    }

    /// Whether a host of repositories can be reached.
    pub fn can_reach(&self, moment: Moment, host: &str) -> bool {
        let is_for = |rule: &FaultRule| match rule {
            FaultRule::Host(name) => name.eq_ignore_ascii_case(host).then_some(()),
            _ => None,
        };
        self.choose(moment, is_for, |_, ()| ()).is_none()
    }

    /// Returns what a fault does to a message to a webhook.
    pub fn for_webhook(&self, moment: Moment, url: &str, event_type: EventType) -> Option<WebhookEffect> {
        let effect = |rule: &FaultRule| match rule {
            FaultRule::Webhooks(of, effect) => of.fits(url, event_type).then_some(*effect),
            _ => None,
        };
        self.choose(moment, effect, |_, effect| effect)
    }

    /// Counts a case for all faults that are for it, and returns the result of `take` for the first one whose conditions are
    /// met.
    fn choose<E, T>(
        &self,
        moment: Moment,
        effect: impl Fn(&FaultRule) -> Option<E>,
        take: impl Fn(&Fault, E) -> T,
    ) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let mut chosen = None;
        for fault in &mut self.lock().faults {
            let Some(effect) = effect(&fault.new.rule) else { continue };
            if fault.meet(moment) && chosen.is_none() {
                fault.used += 1;
                chosen = Some(take(fault, effect));
            }
        }
        chosen
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: u64 = 7;

    fn timed(timing: FaultTiming) -> NewFault {
        let effect = RequestEffect { delay_ms: Some((0, 60_000)), ..RequestEffect::default() };
        NewFault { rule: FaultRule::Requests(RequestMatch::default(), effect), timing, is_forced: false }
    }

    /// Returns the fault of each of `count` requests to `path`.
    fn send(faults: &Faults, seed: u64, count: usize) -> Vec<Option<ChosenFault>> {
        let facts = RequestFacts { operation: None, path: "/v2/wallet", team: None };
        (0..count).map(|_| faults.for_request(Moment { seed, now: Timestamp(0) }, facts)).collect()
    }

    fn ids(found: &[Option<ChosenFault>]) -> Vec<&str> {
        found.iter().map(|fault| fault.as_ref().map_or("", |fault| fault.id.as_str())).collect()
    }

    #[test]
    fn first_fault_whose_conditions_are_met_takes_effect() {
        let faults = Faults::default();
        assert!(faults.is_empty());
        for timing in [
            FaultTiming { nth: Some(2), ..FaultTiming::default() },
            FaultTiming { next: Some(3), ..FaultTiming::default() },
            FaultTiming { from: Some(Timestamp(1)), ..FaultTiming::default() },
            FaultTiming { until: Some(Timestamp(0)), ..FaultTiming::default() },
        ] {
            faults.add(timed(timing)).unwrap();
        }
        assert_eq!(ids(&send(&faults, SEED, 4)), ["fault-2", "fault-1", "fault-2", ""]);
        let counts: Vec<_> =
            faults.list().iter().map(|fault| (fault.seen, fault.matched, fault.used)).collect();
        assert_eq!(counts, [(4, 1, 1), (4, 3, 2), (0, 0, 0), (0, 0, 0)]);
        assert!(faults.delete("fault-2") && !faults.delete("fault-2") && !faults.delete("2"));
        assert_eq!(faults.add(timed(FaultTiming::default())).unwrap().id(), "fault-5");
        faults.clear();
        assert!(faults.is_empty());
        assert_eq!(faults.add(timed(FaultTiming::default())).unwrap().id(), "fault-1");
    }

    #[test]
    fn share_and_delay_follow_from_seed_and_count() {
        let choose = |seed| {
            let faults = Faults::default();
            faults.add(timed(FaultTiming { share: Some(0.25), ..FaultTiming::default() })).unwrap();
            send(&faults, seed, 4_000)
        };
        let chosen = choose(SEED);
        assert_eq!(chosen, choose(SEED));
        assert_ne!(chosen, choose(SEED + 1));
        let used = chosen.iter().flatten().count();
        assert!((900..1_100).contains(&used), "{used}");
        let delays = chosen.iter().flatten().map(|fault| fault.delay_ms);
        assert!(delays.clone().all(|delay| delay <= 60_000));
        assert!(delays.clone().min() < Some(1_000) && delays.max() > Some(59_000));
    }

    #[test]
    fn number_of_faults_is_limited() {
        let faults = Faults::default();
        for _ in 0..MAX_FAULTS {
            faults.add(timed(FaultTiming::default())).unwrap();
        }
        assert!(faults.add(timed(FaultTiming::default())).is_err());
    }
}
