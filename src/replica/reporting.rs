//! Reports to the primary when keys and sessions were used here, and learns from its responses whether the copy is behind.

use std::{
    collections::VecDeque,
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use poem::http::header;
use tokio::{sync::Notify, time::timeout};

use super::{forwarding::Forwarder, served_copy::ServedCopy, shared::Shared};
use crate::{
    domain::commit_position::CommitPosition,
    error::ErrorChain,
    market::Uses,
    web::{positions::StatedPosition, reported_uses},
};

/// Time between two reports: a quarter of the shortest time after which an idle session can end.
const INTERVAL: Duration = Duration::from_secs(15);

/// How long the primary may take to record a report. The last one is sent when the replica stops.
pub const REPORT_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum number of positions that are remembered: those of an hour.
const MAX_AWAITED: usize = 240;

/// Positions that the primary had, and a copy has not reached, with when it had them.
#[derive(Default)]
struct Awaited {
    /// Another copy may be of another generation, which may never reach the positions.
    copy: Weak<ServedCopy>,
    positions: VecDeque<(CommitPosition, Instant)>,
}

impl Awaited {
    /// Adds the position that the primary has now, if it has said so. Returns for how long the copy has lacked something.
    fn note(&mut self, copy: &Arc<ServedCopy>, position: StatedPosition) -> Duration {
        if self.copy.as_ptr() != Arc::as_ptr(copy) {
            *self = Awaited { copy: Arc::downgrade(copy), positions: VecDeque::new() };
        }
        self.positions.retain(|(position, _)| !copy.has_reached(*position));
        if let StatedPosition::At(position) = position
            && !copy.has_reached(position)
            && self.positions.len() < MAX_AWAITED
        {
            self.positions.push_back((position, Instant::now()));
        }
        self.positions.front().map_or(Duration::ZERO, |(_, since)| since.elapsed())
    }
}

/// Reports until `stop` is notified, and then once more.
pub(super) async fn run(shared: Arc<Shared>, forwarder: Arc<Forwarder>, stop: Arc<Notify>) {
    let mut awaited = Awaited::default();
    loop {
        let is_stopped = timeout(INTERVAL, stop.notified()).await.is_ok();
        if let Some(copy) = shared.current() {
            if !is_stopped {
                ask_for_position(&shared, &copy, &forwarder, &mut awaited).await;
            }
            report(&shared, copy, &forwarder).await;
        }
        if is_stopped {
            return;
        }
    }
}

/// Asks the primary for its position by an empty report, which it answers even if it may not write.
async fn ask_for_position(
    shared: &Shared,
    copy: &Arc<ServedCopy>,
    forwarder: &Forwarder,
    awaited: &mut Awaited,
) {
    let sent = send(copy, forwarder, &Uses::default()).await;
    let is_away = sent.as_ref().is_err_and(|error| error.is_connect() || error.is_timeout());
    shared.state.set_primary_away(is_away);
    let position = sent.unwrap_or_else(|error| {
        tracing::warn!(cause = %ErrorChain(&error.without_url()), "the primary cannot be asked for its position");
        StatedPosition::None
    });
    let behind = awaited.note(copy, position);
    if shared.current().is_some_and(|current| Arc::ptr_eq(&current, copy)) {
        shared.state.set_behind(behind);
    }
}

/// Reports the uses that were not reported yet. If that fails, the next report has them.
async fn report(shared: &Shared, copy: Arc<ServedCopy>, forwarder: &Forwarder) {
    loop {
        let uses = copy.market.key_cache().take_uses();
        if uses.is_empty() {
            return;
        }
        let are_more = uses.is_full();
        if let Err(error) = send(&copy, forwarder, &uses).await {
            let error = error.without_url();
            tracing::warn!(cause = %ErrorChain(&error), "uses of keys and sessions cannot be reported to the primary; trying again");
            // Another copy may be served by now.
            shared.current().unwrap_or(copy).market.key_cache().keep_uses(&uses);
            return;
        }
        if !are_more {
            return;
        }
    }
}

/// Sends a report, and returns the position in the response.
async fn send(copy: &ServedCopy, forwarder: &Forwarder, uses: &Uses) -> reqwest::Result<StatedPosition> {
    let (body, authorization) = reported_uses::seal(uses, &copy.sealer, copy.market.entropy());
    let sending = forwarder
        .post(reported_uses::PATH)
        .header(header::AUTHORIZATION, authorization)
        .timeout(REPORT_TIMEOUT);
    let response = sending.body(body).send().await.and_then(reqwest::Response::error_for_status)?;
    Ok(copy.positions.find(response.headers()))
}
