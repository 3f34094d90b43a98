//! Limits the number of worlds that run jobs at the same time. A job may start a child process with a lot of memory.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// The places of worlds that run jobs.
#[derive(Clone, Debug)]
pub struct JobPlaces(Arc<Places>);

#[derive(Debug)]
struct Places {
    free: Mutex<usize>,
    freed: Condvar,
}

/// The place of a world, which is free again when it is dropped.
#[derive(Debug)]
pub struct JobPlace(Arc<Places>);

impl JobPlaces {
    /// Creates this number of places.
    pub fn new(count: usize) -> JobPlaces {
        JobPlaces(Arc::new(Places { free: Mutex::new(count), freed: Condvar::new() }))
    }

    /// Waits for a place.
    pub fn take(&self) -> JobPlace {
        let Places { free, freed } = &*self.0;
        let free = free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free = freed.wait_while(free, |free| *free == 0).unwrap_or_else(PoisonError::into_inner);
        *free -= 1;
        JobPlace(Arc::clone(&self.0))
    }
}

impl Drop for JobPlace {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        thread,
    };

    use super::*;

    #[test]
    fn places_bound_how_many_run_at_once() {
        let (places, running) = (JobPlaces::new(2), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    let _place = places.take();
                    assert!(running.fetch_add(1, Ordering::SeqCst) < 2);
                    thread::yield_now();
                    running.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        assert_eq!(*places.0.free.lock().unwrap(), 2);
    }
}
