//! What a resource is, as data: what tests need to know to try it, whatever it is.

use super::{Input, Resource, Step};

/// A resource.
#[derive(Clone, Debug)]
pub struct ResourceInfo {
    /// Path of its list.
    pub list: &'static str,
    /// Path of the operator API that lists its records. A filter without which it lists none is a parameter.
    pub list_api: &'static str,
    /// Path of the operator API below which its records are; `None` if it has no records by themselves.
    pub api: Option<&'static str>,
    /// Names of the operations whose answers the page of a record shows below its fields.
    pub below: &'static [&'static str],
    /// Kind of the records in the audit.
    pub subject: &'static str,
    /// The filters of the list, with their values; without values if any text can be typed.
    pub filters: Vec<(&'static str, Vec<&'static str>)>,
    /// What can be done to a record.
    pub steps: Vec<StepInfo>,
    /// How a record is made; `None` if operators make none.
    pub new: Option<StepInfo>,
}

/// Something that is done to a record, or with which one is made.
#[derive(Clone, Debug)]
pub struct StepInfo {
    /// Last segment of its path.
    pub name: &'static str,
    /// Label of its button.
    pub label: &'static str,
    /// Name of the operation.
    pub operation: &'static str,
    /// What it takes besides the record.
    pub inputs: &'static [Input],
}

impl ResourceInfo {
    /// Describes a resource.
    pub fn of<R: Resource>() -> ResourceInfo {
        let values =
            |values: Vec<(&'static str, String)>| values.into_iter().map(|(value, _)| value).collect();
        ResourceInfo {
            list: R::LIST,
            list_api: R::LIST_API,
            api: R::HAS_API.then_some(R::API),
            below: R::BELOW,
            subject: R::SUBJECT,
            filters: R::filters().iter().map(|filter| (filter.name, values((filter.values)()))).collect(),
            steps: R::STEPS.iter().map(StepInfo::of).collect(),
            new: R::NEW.map(StepInfo::of),
        }
    }

    /// Returns everything that can be done.
    pub fn all_steps(&self) -> impl Iterator<Item = &StepInfo> {
        self.steps.iter().chain(&self.new)
    }
}

impl StepInfo {
    const fn of(step: &Step) -> StepInfo {
        let Step { name, label, operation, inputs, .. } = *step;
        StepInfo { name, label, operation, inputs }
    }
}
