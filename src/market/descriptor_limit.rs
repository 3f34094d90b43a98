//! The number of files that the process may have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit on open files to the highest one that the process may set, and returns that; `None` if there is none.
/// Usual limits are 1,024 files, which programs that use `select` need, and far more on request. A server of worlds uses
/// some files for each that is in use.
pub fn raise_descriptor_limit() -> Option<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current == maximum {
        return current;
    }
    match setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        Ok(()) => maximum,
        Err(cause) => {
            tracing::warn!(%cause, "the limit on open files cannot be raised");
            current
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_is_the_highest_afterwards() {
        let raised = raise_descriptor_limit();
        let limit = getrlimit(Resource::Nofile);
        assert_eq!((limit.current, limit.current), (raised, limit.maximum));
    }
}
