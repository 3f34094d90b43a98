//! Reports to the primary when keys and sessions were used here, and learns from its responses whether the copy is behind.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use poem::http::header;
use tokio::{sync::Notify, time::timeout};

use super::{forwarding::Forwarder, served_copy::ServedCopy, shared::Shared};
use crate::{
    domain::commit_position::CommitPosition,
    error::ErrorChain,
    market::Uses,
    web::{positions::Written, reported_uses},
};

/// Time between two reports: a quarter of the shortest time after which an idle session can end.
const INTERVAL: Duration = Duration::from_secs(15);

/// How long the primary may take to record a report.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A position that the primary had, and the copy has not reached.
struct Awaited {
    position: CommitPosition,
    since: Instant,
}

/// Reports until `stop` is notified, and then once more.
pub(super) async fn run(shared: Arc<Shared>, forwarder: Arc<Forwarder>, stop: Arc<Notify>) {
    let mut awaited = None;
    loop {
        let is_stopped = timeout(INTERVAL, stop.notified()).await.is_ok();
        report(&shared, &forwarder, &mut awaited).await;
        if is_stopped {
            return;
        }
    }
}

/// Reports the uses that were not reported yet. If that fails, the next report has them. Without any, only asks where the primary is.
async fn report(shared: &Shared, forwarder: &Forwarder, awaited: &mut Option<Awaited>) {
    let Some(copy) = shared.current() else { return };
    loop {
        let uses = copy.market.key_cache().take_uses();
        let are_more = uses.is_full();
        let sent = send(&copy, forwarder, &uses).await;
        shared
            .state
            .set_primary_away(sent.as_ref().is_err_and(|error| error.is_connect() || error.is_timeout()));
        match sent {
            Ok(position) => {
                awaited.take_if(|awaited| copy.has_reached(awaited.position));
                if let Written::Until(position) = position
                    && awaited.is_none()
                    && !copy.has_reached(position)
                {
                    *awaited = Some(Awaited { position, since: Instant::now() });
                }
                shared
                    .state
                    .set_behind(awaited.as_ref().map_or(Duration::ZERO, |awaited| awaited.since.elapsed()));
            }
            Err(error) => {
                let error = error.without_url();
                tracing::warn!(cause = %ErrorChain(&error), "the primary cannot be reached with a report; trying again");
                // Another copy may be served by now.
                shared.current().unwrap_or(copy).market.key_cache().keep_uses(&uses);
                return;
            }
        }
        if !are_more {
            return;
        }
    }
}

/// Sends a report, and returns the position in the response.
async fn send(copy: &ServedCopy, forwarder: &Forwarder, uses: &Uses) -> reqwest::Result<Written> {
    let (body, authorization) = reported_uses::seal(uses, &copy.sealer, copy.market.entropy());
    let sending =
        forwarder.post(reported_uses::PATH).header(header::AUTHORIZATION, authorization).timeout(TIMEOUT);
    let response = sending.body(body).send().await.and_then(reqwest::Response::error_for_status)?;
    Ok(copy.positions.find(response.headers()))
}
