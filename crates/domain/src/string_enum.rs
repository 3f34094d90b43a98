//! String enums: enums whose variants have one string form in fixtures, in the database, and in JSON.

/// An enum in which each variant has a fixed string form.
pub trait StringEnum: Copy + Eq + Send + Sync + 'static {
    /// Name of the enum in JSON schemas.
    const NAME: &'static str;
    /// All variants, in the order in which documents list them.
    const ALL: &'static [Self];

    /// Returns the string form of the variant.
    fn as_str(self) -> &'static str;

    /// Parses the string form of a variant.
    fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|variant| variant.as_str() == text)
    }
}

/// Declares an enum that implements [`StringEnum`], and serde and JSON Schema with the same strings.
#[macro_export]
macro_rules! string_enum {
    ($(#[$meta:meta])* $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord,
            serde::Serialize, serde::Deserialize, schemars::JsonSchema,
        )]
        pub enum $name {
            $($(#[$variant_meta])* #[serde(rename = $text)] $variant),+
        }

        impl $crate::string_enum::StringEnum for $name {
            const NAME: &'static str = stringify!($name);
            const ALL: &'static [Self] = &[$(Self::$variant),+];

            fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text),+
                }
            }
        }

        $crate::string_enum_column!($name);
    };
}

/// Lets a string enum be a parameter of statements, and be read from columns.
#[cfg(feature = "rusqlite")]
#[doc(hidden)]
#[macro_export]
macro_rules! string_enum_column {
    ($name:ident) => {
        impl $crate::rusqlite::ToSql for $name {
            fn to_sql(&self) -> $crate::rusqlite::Result<$crate::rusqlite::types::ToSqlOutput<'_>> {
                Ok($crate::string_enum::StringEnum::as_str(*self).into())
            }
        }

        impl $crate::rusqlite::types::FromSql for $name {
            fn column_result(
                value: $crate::rusqlite::types::ValueRef<'_>,
            ) -> $crate::rusqlite::types::FromSqlResult<Self> {
                $crate::string_enum::column_result(value)
            }
        }
    };
}

/// Does nothing without a database.
#[cfg(not(feature = "rusqlite"))]
#[doc(hidden)]
#[macro_export]
macro_rules! string_enum_column {
    ($name:ident) => {};
}

/// Reads a column that contains a variant.
#[cfg(feature = "rusqlite")]
#[doc(hidden)]
pub fn column_result<T: StringEnum>(
    value: rusqlite::types::ValueRef<'_>,
) -> rusqlite::types::FromSqlResult<T> {
    let text = value.as_str()?;
    let invalid =
        || rusqlite::types::FromSqlError::Other(format!("{text:?} is not a valid {}", T::NAME).into());
    T::parse(text).ok_or_else(invalid)
}

pub use string_enum;
