//! Describes a resource from its declaration.

use super::{Resource, Step};
use crate::console::described::{ResourceInfo, StepInfo};

impl ResourceInfo {
    /// Describes a resource.
    pub fn of<R: Resource>() -> ResourceInfo {
        let values =
            |values: Vec<(&'static str, String)>| values.into_iter().map(|(value, _)| value).collect();
        ResourceInfo {
            list: R::LIST,
            list_api: R::LIST_API,
            api: R::HAS_API.then_some(R::API),
            related_operations: R::RELATED_OPERATIONS,
            subject: R::SUBJECT,
            fields: R::FIELDS,
            filters: R::FILTERS.iter().map(|filter| (filter.name, values(filter.values()))).collect(),
            steps: R::STEPS.iter().map(StepInfo::of).collect(),
            new: R::NEW.map(StepInfo::of),
        }
    }
}

impl StepInfo {
    const fn of(step: &Step) -> StepInfo {
        let Step { name, label, operation, inputs, .. } = *step;
        StepInfo { name, label, operation, inputs }
    }
}
