//! How many of the slots one owner may occupy.

use std::time::Duration;

use crate::market::requester::WorkOwner;

/// For how long an owner has long work after such a piece, and for how long a principal counts as active
/// after its work. A time, and not a number of pieces of work, which an owner could make short on purpose.
pub(super) const RECENTLY: Duration = Duration::from_secs(30);

/// How many of the slots one owner may occupy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// All of them while its work is short and no other principal was active recently; otherwise all but one
    /// (at least one). So the first piece of work of another owner waits at most for one long piece of a
    /// third.
    LeaveOneForOthers,
    /// As many as are free, and at least one: half of the slots for one owner, a third for each of two, and
    /// so on. So a slot is free for another owner as long as there are more slots than owners.
    AsManyAsFree,
}

/// A [`Share`] of a number of slots, and which principals were active, on which it depends.
pub(super) struct ShareOfSlots {
    share: Share,
    slots: usize,
    /// The latest two different principals that were active, the latest first, and when.
    active_principals: [Option<(WorkOwner, Duration)>; 2],
}

impl ShareOfSlots {
    pub(super) const fn new(share: Share, slots: usize) -> ShareOfSlots {
        ShareOfSlots { share, slots, active_principals: [None; 2] }
    }

    /// Whether an owner may have another slot, given that it has `held`, its work is expected to be long
    /// until `long_until`, and `free` slots are free.
    pub(super) fn may_take(
        &self,
        owner: WorkOwner,
        held: usize,
        long_until: Duration,
        free: usize,
        now: Duration,
    ) -> bool {
        match self.share {
            Share::LeaveOneForOthers => {
                held < self.slots.saturating_sub(1).max(1)
                    || now >= long_until && !self.has_active_principal_besides(owner, now)
            }
            Share::AsManyAsFree => held == 0 || held < free,
        }
    }

    /// Whether another principal was active recently.
    fn has_active_principal_besides(&self, owner: WorkOwner, now: Duration) -> bool {
        let is_recent = |at: Duration| now.saturating_sub(at) < RECENTLY;
        self.active_principals.iter().flatten().any(|(active, at)| *active != owner && is_recent(*at))
    }

    /// Records that an owner submits or ends work now.
    pub(super) fn note_active(&mut self, owner: WorkOwner, now: Duration) {
        if !matches!(owner, WorkOwner::Principal(..)) {
            return;
        }
        let [latest, _] = self.active_principals;
        if latest.is_some_and(|(active, _)| active != owner) {
            self.active_principals[1] = latest;
        }
        self.active_principals[0] = Some((owner, now));
    }
}
