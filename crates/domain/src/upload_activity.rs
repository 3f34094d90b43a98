//! The lock of one upload within a process, and its transitions: which requests may work on the upload at the same time.
//!
//! The grant's row says whether an upload is planned, consumed, or discarded, and survives a restart. This state
//! says who is working on its bytes, and ends with the process.

use std::collections::BTreeSet;

use crate::name_lists::NameList;

/// A step of an upload that takes a while. Two steps of one upload run at the same time only if both receive
/// parts, and these are different parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UploadStep {
    /// The part with this number is being received.
    ReceivePart(u32),
    /// The parts are joined, and the grant is consumed.
    Complete,
    /// A plan for a file of another size replaces the upload.
    Replace,
    /// The bytes of the upload are deleted, because the upload was discarded.
    Delete,
}

/// Why a step cannot begin now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UploadConflict {
    /// The parts with these numbers are being received; for a part, the same part.
    PartsArriving(NameList),
    /// The upload is being completed.
    Completing,
    /// The upload is being replaced or deleted.
    Discarding,
}

/// The steps of one upload that have begun and not ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UploadActivity {
    /// Numbers of the parts that are being received. Empty if there is an exclusive step.
    parts: BTreeSet<u32>,
    /// The step that excludes all others.
    exclusive: Option<UploadStep>,
}

impl UploadActivity {
    /// Begins a step, unless another step excludes it. The state changes only if the step begins.
    pub fn begin(&mut self, step: UploadStep) -> Result<(), UploadConflict> {
        if let Some(conflict) = self.conflict() {
            return Err(conflict);
        }
        match step {
            UploadStep::ReceivePart(number) if self.parts.insert(number) => Ok(()),
            UploadStep::ReceivePart(number) => Err(UploadConflict::PartsArriving([number].iter().collect())),
            UploadStep::Complete | UploadStep::Replace | UploadStep::Delete if self.parts.is_empty() => {
                self.exclusive = Some(step);
                Ok(())
            }
            _ => Err(UploadConflict::PartsArriving(self.parts.iter().collect())),
        }
    }

    /// Ends a step that has begun.
    pub fn end(&mut self, step: UploadStep) {
        match step {
            UploadStep::ReceivePart(number) => {
                self.parts.remove(&number);
            }
            exclusive => {
                debug_assert_eq!(self.exclusive, Some(exclusive), "only a step that has begun can end");
                self.exclusive = None;
            }
        }
    }

    /// Returns why the plan of the upload cannot change now, if an exclusive step is running.
    pub const fn conflict(&self) -> Option<UploadConflict> {
        match self.exclusive {
            None => None,
            Some(UploadStep::Complete) => Some(UploadConflict::Completing),
            Some(_) => Some(UploadConflict::Discarding),
        }
    }

    /// Whether no step is running.
    pub fn is_idle(&self) -> bool {
        *self == UploadActivity::default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{UploadStep::*, *};

    fn any_step() -> impl Strategy<Value = UploadStep> {
        prop_oneof![(1..4_u32).prop_map(ReceivePart), Just(Complete), Just(Replace), Just(Delete)]
    }

    proptest! {
        /// Steps begin and end in any order. Only steps for different parts run at the same time.
        #[test]
        fn only_different_parts_run_together(steps in prop::collection::vec((any_step(), any::<bool>()), 0..60)) {
            let (mut activity, mut running) = (UploadActivity::default(), Vec::new());
            for (step, begins) in steps {
                if begins {
                    let is_possible = match step {
                        ReceivePart(_) => running.iter().all(|other| matches!(other, ReceivePart(_)) && *other != step),
                        _ => running.is_empty(),
                    };
                    prop_assert_eq!(activity.begin(step).is_ok(), is_possible);
                    if is_possible {
                        running.push(step);
                    }
                } else if let Some(at) = running.iter().position(|other| *other == step) {
                    activity.end(running.swap_remove(at));
                }
                prop_assert_eq!(activity.is_idle(), running.is_empty());
                prop_assert_eq!(
                    activity.conflict().is_some(),
                    running.iter().any(|other| !matches!(other, ReceivePart(_)))
                );
            }
        }
    }
}
