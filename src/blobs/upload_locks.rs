//! The locks of uploads in one process: which steps of which uploads are running.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use uuid::Uuid;

use crate::domain::upload_activity::{UploadActivity, UploadConflict, UploadStep};

/// The uploads that are in use. An upload that is idle has no entry.
#[derive(Clone, Debug, Default)]
pub(super) struct UploadLocks(Arc<Mutex<Activities>>);

#[derive(Debug, Default)]
struct Activities {
    by_id: HashMap<Uuid, UploadActivity>,
    /// Number of steps that have begun so far.
    begun: u64,
}

/// Numbers of steps of uploads in one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UploadActivities {
    /// Steps that have begun so far.
    pub begun: u64,
    /// Uploads of which a step is running.
    pub running: usize,
}

/// A step of an upload that has begun. It ends on drop.
#[derive(Debug)]
pub struct UploadLock {
    locks: UploadLocks,
    id: Uuid,
    step: UploadStep,
}

impl UploadLock {
    /// Returns the ID of the upload.
    pub const fn id(&self) -> Uuid {
        self.id
    }
}

impl Drop for UploadLock {
    fn drop(&mut self) {
        let mut activities = self.locks.activities();
        if let Some(activity) = activities.by_id.get_mut(&self.id) {
            activity.end(self.step);
            if activity.is_idle() {
                activities.by_id.remove(&self.id);
            }
        }
    }
}

impl UploadLocks {
    fn activities(&self) -> MutexGuard<'_, Activities> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a step without waiting.
    pub(super) fn try_lock(&self, id: Uuid, step: UploadStep) -> Result<UploadLock, UploadConflict> {
        let mut activities = self.activities();
        let activity = activities.by_id.entry(id).or_default();
        // A conflict means that another step is running, so no idle entry is left behind.
        activity.begin(step)?;
        activities.begun += 1;
        drop(activities);
        Ok(UploadLock { locks: self.clone(), id, step })
    }

    /// Returns why the plan of an upload cannot change now, if it cannot.
    pub(super) fn conflict(&self, id: Uuid) -> Option<UploadConflict> {
        self.activities().by_id.get(&id).and_then(UploadActivity::conflict)
    }

    /// Returns the numbers of steps.
    pub(super) fn count(&self) -> UploadActivities {
        let activities = self.activities();
        UploadActivities { begun: activities.begun, running: activities.by_id.len() }
    }
}
