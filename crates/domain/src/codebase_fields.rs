//! The fields that only codebases have. Everything about them follows from one list: changing, locking, storing,
//! and restoring them.

use serde_json::{Value, json};

use super::{assets::Exclusivity, changes::Change, time::Day};

/// Declares the fields. Their names are those in JSON and of their columns.
macro_rules! codebase_fields {
    ($($(#[$doc:meta])+ $name:ident: $type:ty,)+) => {
        /// The fields that only codebases have. None of them has a value for other kinds.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct CodebaseFields {
            $($(#[$doc])+ pub $name: Option<$type>,)+
        }

        /// Changes of the fields that only codebases have; by default none.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct CodebaseChange {
            $($(#[$doc])+ pub $name: Change<$type>,)+
        }

        impl CodebaseFields {
            /// The names of the fields.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),+];

            /// The columns of the fields in the table `a`, each after a comma.
            #[cfg(feature = "rusqlite")]
            pub const COLUMNS: &'static str = concat!($(", a.", stringify!($name)),+);

            /// Whether the field with this name has a value.
            pub fn has(&self, name: &str) -> bool {
                match name {
                    $(stringify!($name) => self.$name.is_some(),)+
                    _ => false,
                }
            }

            /// Returns the value of the field with this name as JSON; null if it has none.
            pub fn get(&self, name: &str) -> Value {
                match name {
                    $(stringify!($name) => json!(self.$name),)+
                    _ => Value::Null,
                }
            }

            /// Sets the field with this name to a value that [`CodebaseFields::get`] has returned.
            pub fn set(&mut self, name: &str, value: Value) {
                match name {
                    $(stringify!($name) => self.$name = serde_json::from_value(value).unwrap_or_default(),)+
                    _ => {}
                }
            }

            /// Applies a change.
            pub fn apply(&mut self, change: CodebaseChange) {
                $(change.$name.apply(&mut self.$name);)+
            }

            /// Returns the columns of the fields, with their values.
            #[cfg(feature = "rusqlite")]
            pub fn columns(&self) -> impl Iterator<Item = (&'static str, rusqlite::types::Value)> {
                [$((stringify!($name), rusqlite::types::Value::from(self.$name))),+].into_iter()
            }

            /// Reads the columns of the fields. An invalid date is treated as absent. `next` returns the index of the column of
            /// each, in the order of [`CodebaseFields::NAMES`].
            #[cfg(feature = "rusqlite")]
            pub fn read(row: &rusqlite::Row, mut next: impl FnMut() -> usize) -> rusqlite::Result<CodebaseFields> {
                Ok(CodebaseFields { $($name: columns::ColumnValue::read(row, next())?,)+ })
            }
        }

        impl CodebaseChange {
            /// Returns the name of each field, and whether it has a value after the change; `None` if it stays
            /// unchanged.
            pub fn has_values_after(&self) -> impl Iterator<Item = (&'static str, Option<bool>)> {
                [$((stringify!($name), self.$name.has_value_after())),+].into_iter()
            }
        }
    };
}

codebase_fields! {
    /// Whether the codebase is still available for an exclusive sale.
    exclusivity: Exclusivity,
    /// Number of lines of code.
    lines_of_code: i64,
    /// Number of commits on the default branch.
    commits: i64,
    /// Number of contributors.
    contributors: i64,
    /// Number of merged pull requests.
    merged_prs: i64,
    /// Date of the first commit.
    history_start: Day,
    /// Date of the last commit.
    history_end: Day,
    /// Whether continuous integration runs on pull requests.
    ci_on_prs: bool,
}

/// Fields that only the vendor states. The others can also be measured from linked data.
const NEVER_MEASURED: &[&str] = &["exclusivity"];

/// Fields that the descriptions of codebases in bundles do not have.
const NOT_IN_BUNDLES: &[&str] = &["exclusivity", "ci_on_prs"];

impl CodebaseFields {
    /// Returns the names of the fields that linked data can have.
    pub fn measurable() -> impl Iterator<Item = &'static str> {
        Self::NAMES.iter().copied().filter(|name| !NEVER_MEASURED.contains(name))
    }

    /// Returns the names of the fields with a value that linked data can have.
    pub fn measured(&self) -> impl Iterator<Item = &'static str> {
        Self::measurable().filter(|name| self.has(name))
    }

    /// Returns the names of the fields that the description of a codebase in a bundle has.
    pub fn in_bundles() -> impl Iterator<Item = &'static str> {
        Self::NAMES.iter().copied().filter(|name| !NOT_IN_BUNDLES.contains(name))
    }
}

/// How the types of fields are stored in columns.
#[cfg(feature = "rusqlite")]
mod columns {
    use rusqlite::{
        Result, Row,
        types::{FromSqlError, Value},
    };

    use super::{Day, Exclusivity};
    use crate::string_enum::StringEnum;

    /// The type of a field.
    pub(super) trait ColumnValue: Sized {
        /// Reads the value of a column; `None` if it has none.
        fn read(row: &Row, column: usize) -> Result<Option<Self>>;
    }

    impl ColumnValue for i64 {
        fn read(row: &Row, column: usize) -> Result<Option<i64>> {
            row.get(column)
        }
    }

    impl ColumnValue for bool {
        fn read(row: &Row, column: usize) -> Result<Option<bool>> {
            row.get(column)
        }
    }

    impl ColumnValue for Exclusivity {
        fn read(row: &Row, column: usize) -> Result<Option<Exclusivity>> {
            let text = row.get_ref(column)?.as_str_or_null()?;
            let parse = |text| Exclusivity::parse(text).ok_or(FromSqlError::InvalidType.into());
            text.map(parse).transpose()
        }
    }

    impl ColumnValue for Day {
        /// Worlds that earlier versions imported can have any text in this column.
        fn read(row: &Row, column: usize) -> Result<Option<Day>> {
            Ok(row.get_ref(column)?.as_str_or_null()?.and_then(Day::parse))
        }
    }

    impl From<Exclusivity> for Value {
        fn from(exclusivity: Exclusivity) -> Value {
            Value::Text(exclusivity.as_str().to_owned())
        }
    }

    impl From<Day> for Value {
        fn from(day: Day) -> Value {
            Value::Text(day.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "rusqlite")]
    #[test]
    fn columns_are_read_in_the_order_of_the_names() {
        let read = |values: &str| {
            let connection = rusqlite::Connection::open_in_memory().unwrap();
            connection.query_row(&format!("SELECT {values}"), [], |row| {
                let mut columns = 0..;
                CodebaseFields::read(row, || columns.next().unwrap())
            })
        };
        let fields = read("'available', 9, 2, 1, NULL, '2020-01-01', 'odd', 0").unwrap();
        let expected = CodebaseFields {
            exclusivity: Some(Exclusivity::Available),
            lines_of_code: Some(9),
            commits: Some(2),
            contributors: Some(1),
            history_start: Day::parse("2020-01-01"),
            ci_on_prs: Some(false),
            ..CodebaseFields::default()
        };
        assert_eq!(fields, expected, "a text that is no date counts as absent");
        assert!(read("'odd', 9, 2, 1, NULL, NULL, NULL, 0").is_err());
    }

    #[test]
    fn fields_have_the_values_that_were_read_by_their_names() {
        let fields = CodebaseFields {
            exclusivity: Some(Exclusivity::Available),
            lines_of_code: Some(9),
            commits: Some(2),
            contributors: Some(1),
            merged_prs: Some(0),
            history_start: Day::parse("2020-01-01"),
            history_end: Day::parse("2021-01-01"),
            ci_on_prs: Some(false),
        };
        assert_eq!(fields.get("history_start"), json!("2020-01-01"));
        let mut restored = CodebaseFields::default();
        for name in CodebaseFields::NAMES {
            assert!(fields.has(name) && !restored.has(name), "{name}");
            restored.set(name, fields.get(name));
        }
        assert_eq!(restored, fields);
        restored.set("commits", Value::Null);
        assert_eq!((restored.has("commits"), fields.has("title")), (false, false));
        assert_eq!(fields.measured().count(), CodebaseFields::NAMES.len() - 1);
    }
}
