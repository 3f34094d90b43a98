//! Steps that are due: they are carried out before each write, and by the timer of the background work. Nothing
//! else does what time alone changes.

use std::cell::RefCell;

use uuid::Uuid;

use super::{Ids, Market, Writer};
use crate::{
    clock::NAMESPACE,
    domain::{
        collections::Collection,
        due_steps::{DueStep, StepKind, StepSubject},
        time::Timestamp,
    },
    error::{Error, ErrorChain, Result},
    store,
    string_enum::StringEnum,
};

/// Carries out a step. The time of the writer is that at which the step is due.
pub type StepRunner = fn(&mut Writer, &DueStep) -> Result<()>;

/// Maximum number of due steps in one transaction, which bounds its size. Other writes still wait until all due
/// steps are carried out.
pub(super) const MAX_STEPS_PER_TRANSACTION: usize = 100;

/// The IDs of what a step writes. They are derived from the step, so they do not depend on what else happens
/// in the market, and when.
pub(super) struct StepIds {
    step: DueStep,
    counts: RefCell<[u32; Collection::COUNT]>,
}

impl StepIds {
    pub(super) fn new_id(&self, collection: Collection) -> Uuid {
        let DueStep { kind, subject, due_at, .. } = self.step;
        let mut counts = self.counts.borrow_mut();
        let count = &mut counts[collection as usize];
        let (kind, collection) = (kind.as_str(), collection.as_str());
        let name = format!("due/{kind}/{}/{}/{collection}/{count}", subject.0, due_at.0);
        *count += 1;
        Uuid::new_v5(&NAMESPACE, name.as_bytes())
    }
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
        let ids = StepIds { step: *step, counts: RefCell::new([0; Collection::COUNT]) };
        let result = self.rows.in_savepoint(|| {
            store::due_steps::unschedule(self.rows, step.kind, step.subject)?;
            let mut writer = Writer {
                now: step.due_at,
                ids: Ids::Step(&ids),
                is_replay: false,
                is_quiet: step.is_quiet || self.is_quiet,
                request_id: None,
                ..*self
            };
            (self.run_step)(&mut writer, step)
        })?;
        match result {
            Ok(()) => Ok(()),
            // The database failed, not the step. It is repeated by the next write.
            Err(error @ (Error::StorageFull { .. } | Error::DatabaseLocked { .. })) => Err(error),
            Err(error) if store::has_failed(&error) => Err(error),
            Err(cause) => {
                let (kind, row_id) = (step.kind.as_str(), step.subject.0);
                tracing::error!(kind, row_id, cause = %ErrorChain(&cause), "a due step failed");
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
}
