//! How many of the slots one principal may occupy.

use std::time::Duration;

use crate::market::requester::Principal;

/// For how long a principal has long work after such a piece, and for how long a team counts as active after
/// its work. A time, and not a number of pieces of work, which a principal could make short on purpose.
pub(super) const RECENTLY: Duration = Duration::from_secs(30);

/// How many of the slots one principal may occupy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// All of them while its work is short and no other team was active recently; otherwise all but one (at
    /// least one). So the first piece of work of another principal waits at most for one long piece of a
    /// third.
    AllButOneIfLong,
    /// As many as are free, and at least one: half of the slots for one principal, a third for each of two, and
    /// so on. So a slot is free for another principal as long as there are more slots than principals.
    AsManyAsFree,
}

/// A [`Share`] of a number of slots, and which teams were active, on which it depends.
pub(super) struct ShareOfSlots {
    share: Share,
    slots: usize,
    /// The latest two different teams that were active, the latest first, and when.
    active_teams: [Option<(Principal, Duration)>; 2],
}

impl ShareOfSlots {
    pub(super) const fn new(share: Share, slots: usize) -> ShareOfSlots {
        ShareOfSlots { share, slots, active_teams: [None; 2] }
    }

    /// Whether a principal may have another slot, given that it has `held`, its work is expected to be long
    /// until `long_until`, and `free` slots are free.
    pub(super) fn may_take(
        &self,
        principal: Principal,
        held: usize,
        long_until: Duration,
        free: usize,
        now: Duration,
    ) -> bool {
        match self.share {
            Share::AllButOneIfLong => {
                held < self.slots.saturating_sub(1).max(1)
                    || now >= long_until && !self.has_active_team_besides(principal, now)
            }
            Share::AsManyAsFree => held == 0 || held < free,
        }
    }

    /// Whether another team was active recently.
    fn has_active_team_besides(&self, principal: Principal, now: Duration) -> bool {
        let is_recent = |at: Duration| now.saturating_sub(at) < RECENTLY;
        self.active_teams.iter().flatten().any(|(team, at)| *team != principal && is_recent(*at))
    }

    /// Records that a principal submits or ends work now.
    pub(super) fn note_active(&mut self, principal: Principal, now: Duration) {
        if !matches!(principal, Principal::Team(_)) {
            return;
        }
        let [latest, _] = self.active_teams;
        if latest.is_some_and(|(team, _)| team != principal) {
            self.active_teams[1] = latest;
        }
        self.active_teams[0] = Some((principal, now));
    }
}
