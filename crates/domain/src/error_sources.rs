//! Sources of errors: causes are kept as values, and joined to one line only for logs and operators.

use std::{borrow::Cow, error::Error as StdError, fmt};

/// Any error that can be the source of an internal error.
pub type BoxedError = Box<dyn StdError + Send + Sync>;

/// An error that says what failed, and keeps why.
#[derive(Debug)]
pub struct ErrorWithSource {
    /// What failed.
    pub message: Cow<'static, str>,
    /// Why.
    pub source: BoxedError,
}

impl fmt::Display for ErrorWithSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl StdError for ErrorWithSource {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(self.source.as_ref())
    }
}

/// Returns an error and its sources, outermost first.
pub fn sources<'e>(
    error: &'e (dyn StdError + 'static),
) -> impl Iterator<Item = &'e (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |error: &&'e (dyn StdError + 'static)| (*error).source())
}

/// Displays an error and its sources on one line, for logs and operators: `message: cause: cause of that`.
#[derive(Clone, Copy, Debug)]
pub struct ErrorChain<'e>(pub &'e (dyn StdError + 'static));

impl fmt::Display for ErrorChain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut previous = self.0.to_string();
        f.write_str(&previous)?;
        for source in sources(self.0).skip(1) {
            // Some libraries repeat the text of the source in their own.
            let text = source.to_string();
            if !previous.contains(&text) {
                write!(f, ": {text}")?;
                previous = text;
            }
        }
        Ok(())
    }
}
