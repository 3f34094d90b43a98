//! How much of the disk all worlds of a process may use together.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use super::error::WorldResult;
use crate::error::{Error, QuotaExcess};

/// Number of bytes of a megabyte of settings.
pub(super) const BYTES_PER_MEGABYTE: u64 = 1_000_000;

/// The files of all worlds are measured again when a part of the limit of this size may have been added.
const PARTS: u64 = 64;

/// Maximum age of a measurement that justifies a refusal. Files can be deleted without a call of [`DiskBudget::forget`].
const MAX_AGE_TO_REFUSE: Duration = Duration::from_secs(1);

/// The part of the disk that worlds may use. Measuring it costs time for each file, so it is estimated in between.
#[derive(Debug)]
pub(super) struct DiskBudget {
    /// Bytes; `None` for no limit.
    limit: Option<u64>,
    usage: Mutex<Option<Usage>>,
}

/// How much is used.
#[derive(Clone, Copy, Debug)]
struct Usage {
    /// Bytes of all files when they were last measured.
    measured: u64,
    /// Bytes that may have been added since.
    added: u64,
    /// When the files were last measured.
    measured_at: Instant,
}

impl DiskBudget {
    /// Creates a budget of this number of megabytes; 0 for no limit.
    pub(super) fn new(max_megabytes: u64) -> DiskBudget {
        let limit = (max_megabytes > 0).then(|| max_megabytes.saturating_mul(BYTES_PER_MEGABYTE));
        DiskBudget { limit, usage: Mutex::default() }
    }

    /// Checks that there is space for this number of bytes, and counts them. `measure` returns the bytes of all files;
    /// it is called only if the estimate does not suffice to decide.
    pub(super) fn reserve(&self, bytes: u64, measure: impl FnOnce() -> WorldResult<u64>) -> WorldResult<()> {
        self.reserve_at(Instant::now, bytes, measure)
    }

    fn reserve_at(
        &self,
        now: impl Fn() -> Instant,
        bytes: u64,
        measure: impl FnOnce() -> WorldResult<u64>,
    ) -> WorldResult<()> {
        let Some(limit) = self.limit else { return Ok(()) };
        let mut usage = self.usage.lock().unwrap_or_else(PoisonError::into_inner);
        let estimate = usage.filter(|usage| {
            if (usage.measured + usage.added).saturating_add(bytes) <= limit {
                usage.added < limit / PARTS
            } else {
                // Only a recent measurement without additions justifies a refusal.
                usage.added == 0 && now().duration_since(usage.measured_at) < MAX_AGE_TO_REFUSE
            }
        });
        let current = match estimate {
            Some(current) => current,
            None => Usage { measured: measure()?, added: 0, measured_at: now() },
        };
        let used = current.measured + current.added;
        let is_allowed = used.saturating_add(bytes) <= limit;
        *usage = Some(Usage { added: current.added + if is_allowed { bytes } else { 0 }, ..current });
        if is_allowed {
            return Ok(());
        }
        let megabytes = |bytes: u64| bytes.div_ceil(BYTES_PER_MEGABYTE);
        let excess = QuotaExcess {
            holder: "sandbox",
            quota: "sandbox.max_mb",
            limit: megabytes(limit),
            used: megabytes(used),
            requested: megabytes(bytes),
        };
        Err(Error::QuotaExceeded(excess).into())
    }

    /// Has the files measured again before the next decision, since some were deleted.
    pub(super) fn forget(&self) {
        *self.usage.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn files_are_measured_when_the_estimate_does_not_suffice() {
        let budget = DiskBudget::new(64);
        let (files, measured, now) = (Cell::new(10_000_000), Cell::new(0), Cell::new(Instant::now()));
        let reserve = |bytes: u64| {
            let measure = || {
                measured.set(measured.get() + 1);
                Ok(files.get())
            };
            budget.reserve_at(|| now.get(), bytes, measure).is_ok()
        };
        assert!(reserve(1) && reserve(500_000) && measured.get() == 1);
        // A 64th of the limit was added.
        assert!(reserve(600_000) && reserve(1) && measured.get() == 2);
        // The estimate exceeds the limit, the files do not.
        assert!(reserve(54_000_000) && measured.get() == 3);
        files.set(63_000_000);
        assert!(!reserve(2_000_000) && measured.get() == 4);
        assert!(!reserve(2_000_000) && measured.get() == 4, "what was measured decides");
        assert!(reserve(1_000_000) && measured.get() == 4);
        files.set(0);
        budget.forget();
        assert!(reserve(64_000_000) && measured.get() == 5);
        files.set(64_000_000);
        assert!(!reserve(u64::MAX) && measured.get() == 6);
        // Files were deleted without a call of `forget`.
        files.set(0);
        now.set(now.get() + MAX_AGE_TO_REFUSE / 2);
        assert!(!reserve(1) && measured.get() == 6);
        now.set(now.get() + MAX_AGE_TO_REFUSE / 2);
        assert!(reserve(1) && measured.get() == 7);
    }

    #[test]
    fn budget_without_a_limit_measures_nothing() {
        DiskBudget::new(0).reserve(u64::MAX, || unreachable!()).unwrap();
    }
}
