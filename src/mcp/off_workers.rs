//! Work of tool calls that would keep a worker thread of the async runtime from other requests: parsing and
//! truncating large results.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use tokio::{
    runtime::{Handle, RuntimeFlavor},
    task,
};

/// Runs a future. While it computes, another thread takes over the worker's other tasks; while it waits, it
/// occupies no thread.
pub async fn run<F: Future>(future: F) -> F::Output {
    OffWorkers(Box::pin(future)).await
}

struct OffWorkers<F>(Pin<Box<F>>);

impl<F: Future> Future for OffWorkers<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let mut poll = || self.0.as_mut().poll(context);
        match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
            Ok(RuntimeFlavor::MultiThread) => task::block_in_place(poll),
            // The only thread of the runtime: no other can take over.
            _ => poll(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn other_tasks_run_while_a_future_computes() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let (sender, receiver) = mpsc::channel();
        let computing = runtime.spawn(run(async move {
            task::yield_now().await;
            // This task and the other one are on the same worker.
            tokio::spawn(async move { sender.send(7).unwrap() });
            receiver.recv().unwrap()
        }));
        assert_eq!(runtime.block_on(computing).unwrap(), 7);
    }

    #[tokio::test]
    async fn future_runs_on_a_single_thread() {
        let output = run(async {
            task::yield_now().await;
            7
        });
        assert_eq!(output.await, 7);
    }
}
