//! API keys of a check. They are never printed: reports name them.

/// An API key.
#[derive(Clone)]
pub struct Key {
    /// Its name in reports: the name of the variable that contains it.
    pub name: String,
    /// The key itself.
    pub secret: String,
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Key({})", self.name)
    }
}
