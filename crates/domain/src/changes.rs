//! Changes of fields that a request can set, clear, or leave as they are.

/// The change that a request makes to a nullable field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Change<T> {
    /// The field is absent from the request and stays unchanged.
    #[default]
    Unchanged,
    /// The field is set to null.
    Clear,
    /// The field is set to this value.
    Set(T),
}

impl<T> Change<T> {
    /// Maps the value of [`Change::Set`].
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Change<U> {
        match self {
            Change::Unchanged => Change::Unchanged,
            Change::Clear => Change::Clear,
            Change::Set(value) => Change::Set(f(value)),
        }
    }

    /// Applies the change to `to`.
    pub fn apply(self, to: &mut Option<T>) {
        match self {
            Change::Unchanged => {}
            Change::Clear => *to = None,
            Change::Set(value) => *to = Some(value),
        }
    }

    /// Returns the value of [`Change::Set`].
    pub const fn value(&self) -> Option<&T> {
        match self {
            Change::Set(value) => Some(value),
            Change::Unchanged | Change::Clear => None,
        }
    }

    /// Returns whether the field has a value after the change, or `None` if it stays unchanged.
    pub const fn has_value_after(&self) -> Option<bool> {
        match self {
            Change::Unchanged => None,
            Change::Clear => Some(false),
            Change::Set(_) => Some(true),
        }
    }
}

impl<T> From<Option<T>> for Change<T> {
    fn from(value: Option<T>) -> Change<T> {
        value.map_or(Change::Unchanged, Change::Set)
    }
}
