//! Where a journal was recorded.

/// The addresses that a journal was recorded at.
#[derive(Clone, Debug)]
pub struct Addresses {
    /// Name of the world.
    pub world: String,
    /// Base address of the server.
    pub server: String,
    /// Base address of the world.
    pub base: String,
    /// Address of its port, if it has one.
    pub port: Option<String>,
}
