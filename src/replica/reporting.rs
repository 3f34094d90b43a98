//! Reports to the primary when keys and sessions were used here.

use std::{sync::Arc, time::Duration};

use poem::http::header;
use tokio::{sync::Notify, time::timeout};

use super::{forwarding::Forwarder, served_copy::ServedCopy, shared::Shared};
use crate::{
    error::{Error, ErrorChain, Result},
    market::Uses,
    web::reported_uses,
};

/// Time between two reports: a quarter of the shortest time after which an idle session can end.
const INTERVAL: Duration = Duration::from_secs(15);

/// How long the primary may take to record a report.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Reports uses until `stop` is notified, and then once more.
pub(super) async fn run(shared: Arc<Shared>, forwarder: Arc<Forwarder>, stop: Arc<Notify>) {
    loop {
        let is_stopped = timeout(INTERVAL, stop.notified()).await.is_ok();
        report(&shared, &forwarder).await;
        if is_stopped {
            return;
        }
    }
}

/// Reports the uses that were not reported yet. If that fails, the next report has them.
async fn report(shared: &Shared, forwarder: &Forwarder) {
    let Some(copy) = shared.current() else { return };
    loop {
        let uses = copy.market.key_cache().take_uses();
        if uses.is_empty() {
            return;
        }
        let are_more = uses.is_full();
        if let Err(error) = send(&copy, forwarder, &uses).await {
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

async fn send(copy: &ServedCopy, forwarder: &Forwarder, uses: &Uses) -> Result<()> {
    let (body, authorization) = reported_uses::seal(uses, &copy.sealer, copy.market.entropy());
    let sending =
        forwarder.post(reported_uses::PATH)?.header(header::AUTHORIZATION, authorization).timeout(TIMEOUT);
    let response = sending.body(body).send().await;
    let response = response.and_then(reqwest::Response::error_for_status);
    response.map(drop).map_err(|error| Error::Internal(error.without_url().into()))
}
