//! Steps that are due: they are carried out before each write, and by the timer of the background work. Nothing
//! else does what time alone changes.

use std::sync::{MutexGuard, PoisonError};

use super::{DerivedIds, Ids, Market, Writer};
use crate::{
    domain::{
        due_steps::{DueStep, StepKind, StepSubject},
        time::Timestamp,
    },
    error::{ErrorChain, Result},
    store,
    string_enum::StringEnum,
};

/// Carries out a step. The time of the writer is that at which the step is due.
pub type StepRunner = fn(&mut Writer, &DueStep) -> Result<()>;

/// Maximum number of due steps in one transaction, which bounds its size. Other writes still wait until all due
/// steps are carried out.
pub(super) const MAX_STEPS_PER_TRANSACTION: usize = 100;

/// A step that was carried out, or that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoneStep {
    /// The step.
    pub step: DueStep,
    /// ID or slug of the record that it changed; empty if there is no such record any more.
    pub subject_id: String,
    /// Whether it failed. Then it changed nothing.
    pub is_failed: bool,
}

impl Writer<'_> {
    /// Schedules a step of a record. It replaces an earlier one of the same kind. The commit of this
    /// transaction wakes background work.
    pub fn schedule(&self, kind: StepKind, subject: impl Into<StepSubject>, at: Timestamp) -> Result<()> {
        self.has_enqueued.set(true);
        store::due_steps::schedule(self.rows, kind, subject.into(), at)
    }

    /// Cancels a step of a record, if one is scheduled.
    pub fn unschedule(&self, kind: StepKind, subject: impl Into<StepSubject>) -> Result<()> {
        store::due_steps::unschedule(self.rows, kind, subject.into())
    }

    /// Carries out the steps that are due at `until`, at most `max` of them, in the order of their times, kinds,
    /// and rows. Each is as if it had been carried out when it was due. Returns their number.
    pub fn run_due_steps(&self, until: Timestamp, max: usize) -> Result<usize> {
        let mut count = 0;
        while count < max
            && let Some(step) = store::due_steps::find_due(self.rows, until)?
        {
            self.run_due_step(&step)?;
            count += 1;
        }
        Ok(count)
    }

    /// Carries out one step. If a rule or an inconsistency makes it fail, it changes nothing, and is not repeated
    /// until the market is opened the next time, so that it cannot keep the market from working.
    fn run_due_step(&self, step: &DueStep) -> Result<()> {
        let (kind, subject, due_at) = (step.kind.as_str(), step.subject.0, step.due_at.0);
        let ids = DerivedIds::new(format!("due/{kind}/{subject}/{due_at}"));
        let result = self.rows.in_savepoint(|| {
            store::due_steps::unschedule(self.rows, step.kind, step.subject)?;
            let mut writer = Writer {
                now: step.due_at,
                ids: Ids::Derived(&ids),
                is_replay: false,
                is_quiet: step.is_quiet || self.is_quiet,
                request_id: None,
                ..*self
            };
            (self.run_step)(&mut writer, step)
        })?;
        if let Some(done) = self.done_steps {
            let subject_id = store::due_steps::subject_id(self.rows, step)?.unwrap_or_default();
            done.borrow_mut().push(DoneStep { step: *step, subject_id, is_failed: result.is_err() });
        }
        match result {
            Ok(()) => Ok(()),
            // The database failed, not the step. It is repeated by the next write.
            Err(error) if error.is_fault_of_storage() || store::has_failed(&error) => Err(error),
            Err(cause) => {
                tracing::error!(kind, row_id = subject, cause = %ErrorChain(&cause), "a due step failed");
                store::due_steps::fail(self.rows, step, &ErrorChain(&cause).to_string())
            }
        }
    }
}

impl Market {
    /// Carries out the steps that are due now. Every write does this, too. Returns when the next step is due.
    pub fn run_due_steps(&self) -> Result<Option<Timestamp>> {
        let now = self.clock().now();
        let next =
            |market: &Market| market.read_blocking(|reader| store::due_steps::next_due_at(reader.rows));
        if next(self)?.is_some_and(|at| at <= now) {
            self.write_blocking(|_| Ok(()))?;
        }
        next(self)
    }

    /// Records the steps that are carried out from now on, by whatever write, until [`Market::take_done_steps`].
    pub fn record_done_steps(&self) {
        self.lock_done_steps().get_or_insert_default();
    }

    /// Returns the steps that were carried out since they are recorded, or since the last call, in their order. If
    /// `is_last`, no others are recorded.
    pub fn take_done_steps(&self, is_last: bool) -> Vec<DoneStep> {
        let mut recorded = self.lock_done_steps();
        let done = recorded.as_mut().map(std::mem::take).unwrap_or_default();
        if is_last {
            *recorded = None;
        }
        done
    }

    pub(super) fn lock_done_steps(&self) -> MutexGuard<'_, Option<Vec<DoneStep>>> {
        self.inner.done_steps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
