//! The entry points of a market for reads and writes. They own the connection, the transaction, the thread,
//! the commit, and the wait until the search index contains the change.
//!
//! Operations are passed on as trait objects, so what surrounds them is compiled once, and not for each of them.

use std::{
    cell::{Cell, RefCell},
    sync::Arc,
    time::Duration,
};

use tracing::Span;

use super::{
    Ids, Inner, Market, MarketId, Permit, Reader, Requester, SearchIndex, UsedKey, Writer,
    due_steps::MAX_STEPS_PER_TRANSACTION, key_cache, milliseconds, other_processes, spawn_blocking,
    webhook_queue::WebhookQueue,
};
use crate::{
    error::{Error, Result},
    store,
};

/// A read operation on its way to a connection.
pub type ReadWork<T> = Box<dyn FnOnce(&Reader) -> Result<T> + Send>;

/// A write operation on its way to the connection.
pub type WriteWork<T> = Box<dyn FnOnce(&mut Writer) -> Result<T> + Send>;

/// A write operation that keeps its result itself.
type WriteStep<'w> = &'w mut dyn FnMut(&mut Writer) -> Result<()>;

/// What a write was waiting for, and what request it belongs to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WriteCause<'r> {
    /// How long the operation waited for the write connection.
    waited: Duration,
    /// ID of the request; `None` if the work belongs to no request.
    request_id: Option<&'r str>,
    /// Key of the request; `None` if the work is that of nobody's key.
    used_key: Option<UsedKey>,
}

impl WriteCause<'_> {
    fn of(permit: &Permit, market: MarketId) -> WriteCause<'_> {
        let requester = permit.requester();
        let (request_id, used_key) = (requester.request_id(), requester.key_of(market));
        WriteCause { waited: permit.waited(), request_id, used_key }
    }
}

impl Market {
    /// Runs a read of a few rows by key on the current thread if a connection is free. Switching to a
    /// blocking thread and back would cost several times as much as the read itself. Don't use this for
    /// searches.
    pub fn read_inline<T: Send + 'static>(
        &self,
        requester: Requester,
        work: impl FnOnce(&Reader) -> Result<T> + Send + 'static,
    ) -> impl Future<Output = Result<T>> + Send {
        self.read_boxed_inline(requester, Box::new(work))
    }

    async fn read_boxed_inline<T: Send + 'static>(
        &self,
        requester: Requester,
        work: ReadWork<T>,
    ) -> Result<T> {
        if let Some(permit) = self.inner.readers.try_acquire(&requester)
            && let Some(reader) = self.inner.store.try_reader()
        {
            let index = self.search_index();
            let _span = span_of_read(&permit).entered();
            return reader.read(|rows| work(&self.inner.reader(rows, index)));
        }
        // Boxed, since the future of every request has room for those that are not.
        Box::pin(self.read_boxed(requester, work)).await
    }

    /// Runs a read operation on a blocking thread, as soon as the requester gets a read connection.
    pub fn read<T: Send + 'static>(
        &self,
        requester: Requester,
        work: impl FnOnce(&Reader) -> Result<T> + Send + 'static,
    ) -> impl Future<Output = Result<T>> + Send {
        self.read_boxed(requester, Box::new(work))
    }

    /// Like [`Market::read`], for a part of a response that is already being sent. Fails if the key of the request, or its session,
    /// has ended.
    pub fn read_part<T: Send + 'static>(
        &self,
        requester: Requester,
        work: impl FnOnce(&Reader) -> Result<T> + Send + 'static,
    ) -> impl Future<Output = Result<T>> + Send {
        let used = requester.key_of(self.id());
        self.read(requester, move |reader| {
            if let Some(used) = used {
                key_cache::check_has_not_ended(reader.rows, used, reader.now)?;
            }
            work(reader)
        })
    }

    async fn read_boxed<T: Send + 'static>(&self, requester: Requester, work: ReadWork<T>) -> Result<T> {
        let (market, request) = (self.clone(), Span::current());
        let read = move |permit| request.in_scope(|| market.inner.read(permit, work));
        self.inner.readers.run(requester, read).await
    }

    /// Runs blocking work on a blocking thread, with any number of reads and writes. As these wait on the
    /// thread, the number of such threads is limited; see
    /// [`max_blocking_threads`](super::max_blocking_threads).
    pub async fn spawn_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Market) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let thread =
            Arc::clone(&self.inner.waiting_threads).acquire_owned().await.map_err(Error::internal)?;
        let market = self.clone();
        spawn_blocking(move || {
            let _thread = thread;
            work(&market)
        })
        .await
    }

    /// Runs a write operation on a blocking thread, as soon as the requester gets the write connection.
    /// Returns when the index contains the change. Fails if the disk is full.
    pub fn write<T: Send + 'static>(
        &self,
        requester: Requester,
        work: impl FnOnce(&mut Writer) -> Result<T> + Send + 'static,
    ) -> impl Future<Output = Result<T>> + Send {
        self.write_boxed(requester, true, Box::new(work))
    }

    /// Like [`Market::write`], for an operation that frees space, or checks itself whether there is enough.
    /// It may use the reserve of the disk.
    pub fn write_freeing<T: Send + 'static>(
        &self,
        requester: Requester,
        work: impl FnOnce(&mut Writer) -> Result<T> + Send + 'static,
    ) -> impl Future<Output = Result<T>> + Send {
        self.write_boxed(requester, false, Box::new(work))
    }

    async fn write_boxed<T: Send + 'static>(
        &self,
        requester: Requester,
        needs_space: bool,
        work: WriteWork<T>,
    ) -> Result<T> {
        let (market, request) = (self.clone(), Span::current());
        let write = move |permit| {
            request.in_scope(|| {
                if needs_space {
                    market.ensure_space(0)?;
                }
                keep_result(work, |step| market.write_and_index(permit, step))
            })
        };
        self.inner.writers.run(requester, write).await
    }

    /// Runs a read operation of a background job or a command on the current thread.
    pub fn read_blocking<T>(&self, work: impl FnOnce(&Reader) -> Result<T>) -> Result<T> {
        self.read_blocking_for(Requester::process(), work)
    }

    /// Runs a read operation of a request on the current thread, which must not serve requests.
    pub fn read_blocking_for<T>(
        &self,
        requester: Requester,
        work: impl FnOnce(&Reader) -> Result<T>,
    ) -> Result<T> {
        let permit = self.inner.readers.acquire_blocking(requester)?;
        self.inner.read(permit, work)
    }

    /// Fails if the key of a request, or its session, has ended, for work that changes something besides this market. Writes check
    /// that themselves. Runs on the current thread, which must not serve requests.
    pub fn check_key(&self, requester: &Requester) -> Result<()> {
        let Some(used) = requester.key_of(self.id()) else { return Ok(()) };
        self.read_blocking_for(requester.clone(), |reader| {
            key_cache::check_has_not_ended(reader.rows, used, reader.now)
        })
    }

    /// Runs a write operation of a background job or a command on the current thread. Returns when the index
    /// contains the change. Does not check the reserve of the disk.
    pub fn write_blocking<T>(&self, work: impl FnOnce(&mut Writer) -> Result<T>) -> Result<T> {
        self.write_blocking_for(Requester::process(), work)
    }

    /// Runs a write operation of a request on the current thread, which must not serve requests. Returns when
    /// the index contains the change.
    pub fn write_blocking_for<T>(
        &self,
        requester: Requester,
        work: impl FnOnce(&mut Writer) -> Result<T>,
    ) -> Result<T> {
        let permit = self.inner.writers.acquire_blocking(requester)?;
        keep_result(work, |step| self.write_and_index(permit, step))
    }

    /// Like [`Market::write_blocking`], for an operation that executes very many statements, none of which
    /// changes many rows.
    pub fn write_large<T>(&self, work: impl FnOnce(&mut Writer) -> Result<T>) -> Result<T> {
        let permit = self.inner.writers.acquire_blocking(Requester::process())?;
        let settings = self.inner.store.start_large_transaction()?;
        keep_result(work, |step| {
            let written = self.write_prepared(&permit, step);
            drop(settings);
            self.index_written(permit, written)
        })
    }

    /// Runs a write operation with the write connection, and then waits for the index without it.
    fn write_and_index(&self, permit: Permit, step: WriteStep) -> Result<()> {
        let span = tracing::debug_span!("write", wait_ms = milliseconds(permit.waited()));
        let _entered = span.enter();
        let written = self.write_prepared(&permit, step);
        self.index_written(permit, written)
    }

    /// Gives the write connection to the next writer, and waits until the index contains what was written.
    fn index_written(&self, permit: Permit, written: Result<Option<i64>>) -> Result<()> {
        let requester = permit.requester().clone();
        drop(permit);
        if let Some(change) = written? {
            let stopwatch = self.stopwatch();
            let committed_at = stopwatch.elapsed();
            let indexed = self.wait_until_indexed(change as u64);
            requester.count_index_wait(stopwatch.elapsed().saturating_sub(committed_at));
            indexed?;
        }
        Ok(())
    }

    /// Runs a write operation that also renders the listings that it changes. A second transaction for that
    /// would double the time that the write waits for the disk. Returns the last change that the index now lacks.
    fn write_prepared(&self, permit: &Permit, step: WriteStep) -> Result<Option<i64>> {
        let inner = &self.inner;
        let (prepared, change) = self.write_unindexed(WriteCause::of(permit, self.id()), |writer| {
            step(writer)?;
            inner.indexer.prepare(writer.rows, writer.now)
        })?;
        if !prepared.is_empty() {
            inner.indexer.keep_prepared(prepared, self.snapshot().change());
        }
        Ok(change)
    }

    /// Runs a write operation after the steps that are due, without updating the index. Also
    /// returns the last change that the index now lacks.
    pub(super) fn write_unindexed<T>(
        &self,
        cause: WriteCause,
        work: impl FnOnce(&mut Writer) -> Result<T>,
    ) -> Result<(T, Option<i64>)> {
        let mut change = None;
        let result = keep_result(work, |step| {
            change = self.write_step(cause, step)?;
            Ok(())
        })?;
        Ok((result, change))
    }

    fn write_step(&self, cause: WriteCause, step: WriteStep) -> Result<Option<i64>> {
        let inner = &self.inner;
        let (has_enqueued, webhooks) = (Cell::new(false), WebhookQueue::default());
        let (mut steps_change, mut has_committed) = (None, false);
        let written = loop {
            match self.write_once(cause, &has_enqueued, &webhooks, step) {
                Ok((Written::DueSteps, change)) => {
                    (steps_change, has_committed) = (change.or(steps_change), true);
                }
                Ok((Written::Operation, change)) => break Ok(change.or(steps_change)),
                Err(error) => break Err(error),
            }
        };
        if written.is_ok() || has_committed {
            inner.clock.count_write();
            inner.key_cache.clear();
            inner.notify_of_commit();
            if has_enqueued.get() {
                inner.background_signal.notify();
            }
            if webhooks.has_enqueued.get() {
                inner.webhook_signal.notify();
            }
            if inner.updater.is_none() {
                other_processes::notify_server(&inner.data_dir);
            }
        }
        if let (Err(_), Some(change)) = (&written, steps_change) {
            // The steps stand although the operation failed, and nothing else would update the index.
            self.wait_until_indexed(change as u64)?;
        }
        written
    }

    /// Carries out steps that are due, in a transaction of their own, so that they stand if the operation fails.
    /// Without any, runs the operation. Also returns the last change that the index now lacks.
    fn write_once(
        &self,
        cause: WriteCause,
        has_enqueued: &Cell<bool>,
        webhooks: &WebhookQueue,
        step: WriteStep,
    ) -> Result<(Written, Option<i64>)> {
        let inner = &self.inner;
        webhooks.forget();
        let (ids, secrets) = (inner.clock.pending_ids(), inner.entropy.count());
        let done_steps = self.lock_done_steps().is_some().then(RefCell::default);
        let written = inner.store.write_after(cause.waited, |rows| {
            let mut writer = Writer {
                rows,
                now: inner.clock.now(),
                settings: inner.settings.current(),
                entropy: &inner.entropy,
                blobs: &inner.blobs,
                is_replay: false,
                ids: Ids::Pending(&ids),
                is_quiet: false,
                is_past: false,
                run_step: inner.run_step,
                has_enqueued,
                webhooks,
                report_count: inner.clock.report_count(),
                done_steps: done_steps.as_ref(),
                collected_events: None,
                request_id: cause.request_id,
            };
            if writer.run_due_steps(writer.now, MAX_STEPS_PER_TRANSACTION)? > 0 {
                return Ok(Written::DueSteps);
            }
            if let Some(used) = cause.used_key {
                key_cache::check_has_not_ended(rows, used, writer.now)?;
            }
            step(&mut writer)?;
            // No other transaction takes IDs before this one ends.
            ids.commit();
            Ok(Written::Operation)
        });
        match &written {
            Ok(_) => {
                if let (Some(done), Some(all)) = (done_steps, &mut *self.lock_done_steps()) {
                    all.extend(done.into_inner());
                }
            }
            // What failed changes no later ID, and no later secret.
            Err(_) => inner.entropy.give_back_from(secrets),
        }
        written
    }
}

/// What a transaction has written.
#[derive(Clone, Copy, Debug)]
enum Written {
    /// Steps that were due. The operation has not run yet.
    DueSteps,
    Operation,
}

/// Lets `run` run an operation, and returns the operation's result.
fn keep_result<T>(
    work: impl FnOnce(&mut Writer) -> Result<T>,
    run: impl FnOnce(WriteStep) -> Result<()>,
) -> Result<T> {
    let (mut work, mut result) = (Some(work), None);
    run(&mut |writer| {
        result = work.take().map(|work| work(writer)).transpose()?;
        Ok(())
    })?;
    Ok(result.expect("a write succeeds only after its operation"))
}

/// Returns the span of a read. Like all spans of entry points, it costs nothing unless the filter of the log
/// enables it.
fn span_of_read(permit: &Permit) -> Span {
    tracing::debug_span!("read", wait_ms = milliseconds(permit.waited()))
}

impl Inner {
    /// Runs a read operation with one of the read connections.
    fn read<T>(&self, permit: Permit, work: impl FnOnce(&Reader) -> Result<T>) -> Result<T> {
        let _span = span_of_read(&permit).entered();
        let index = SearchIndex::current(self);
        let result = self.store.read(|rows| work(&self.reader(rows, index)));
        drop(permit);
        result
    }

    fn reader<'a>(&'a self, rows: &'a store::Reader<'a>, index: SearchIndex<'a>) -> Reader<'a> {
        Reader {
            rows,
            index,
            now: self.clock.now(),
            settings: self.settings.current(),
            cursor_key: &self.cursor_key,
            ids: self.clock.pending_ids(),
        }
    }
}
