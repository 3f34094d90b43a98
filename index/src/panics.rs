//! Panics of the engine, which trusts its files: damage that no checksum was verified for makes it panic.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::Error;

thread_local! {
    static IS_CATCHING: Cell<bool> = const { Cell::new(false) };
}

/// Runs work with an index. A panic is an [`Error::Panicked`].
pub fn catch_panics<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    // Shared state is either immutable, or replaced as a whole after the work has succeeded. A writer is dropped
    // after any error.
    let was_catching = IS_CATCHING.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    IS_CATCHING.set(was_catching);
    result.unwrap_or_else(|panic| Err(Error::Panicked(message(panic.as_ref()).to_owned())))
}

/// Whether a panic of this thread would be caught by [`catch_panics`], so that a panic hook need not print it.
pub fn is_catching_panics() -> bool {
    IS_CATCHING.get()
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panic_is_an_error_and_is_known_to_be_caught() {
        let nested = catch_panics(|| {
            let inner: Result<(), Error> = catch_panics(|| panic!("offset {} is too large", 7));
            assert!(is_catching_panics());
            inner
        });
        assert!(matches!(nested, Err(Error::Panicked(message)) if message == "offset 7 is too large"));
        assert!(!is_catching_panics());
        assert!(matches!(catch_panics(|| Ok(3)), Ok(3)));
    }
}
