//! The proof of the right to decide for the platform. The parent module defines what it permits for teams.

/// Proof of the right to decide for the platform, and to act in the name of any team. Fixture sets, commands,
/// background jobs, and operators have it.
#[derive(Clone, Copy, Debug)]
pub struct Platform(pub(super) ());

impl Platform {
    /// Creates the proof for code of this process that runs on nobody's request. Code that serves requests
    /// must not call it, which a test of the layers checks.
    pub const fn of_process() -> Platform {
        Platform(())
    }
}
