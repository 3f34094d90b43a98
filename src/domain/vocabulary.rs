//! Closed sets of words: enums whose variants have one spelling in fixtures, in the database and on the wire.

/// A closed set of words.
pub trait Vocabulary: Copy + Eq + Send + Sync + 'static {
    /// The set's name in schemas.
    const NAME: &'static str;
    /// Every word, in the order in which documents list them.
    const ALL: &'static [Self];

    /// The word's spelling.
    fn word(self) -> &'static str;

    /// The word that is spelled so.
    fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|known| known.word() == word)
    }
}

/// Declares an enum as a [`Vocabulary`], with its serde and JSON Schema spelling.
macro_rules! vocabulary {
    ($(#[$meta:meta])* $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord,
            serde::Serialize, serde::Deserialize, schemars::JsonSchema,
        )]
        pub enum $name {
            $($(#[$variant_meta])* #[serde(rename = $word)] $variant),+
        }

        impl $crate::domain::vocabulary::Vocabulary for $name {
            const NAME: &'static str = stringify!($name);
            const ALL: &'static [Self] = &[$(Self::$variant),+];

            fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }
        }
    };
}

pub(crate) use vocabulary;
