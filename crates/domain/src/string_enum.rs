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
    };
}

pub use string_enum;
