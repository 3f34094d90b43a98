//! Applies the faults of a world to the jobs, the hosts, and the webhooks of its market.

use std::sync::Arc;

use super::{Faults, Moment, WebhookEffect};
use crate::{
    domain::{
        jobs::JobKind,
        webhooks::{AttemptError, AttemptResult},
    },
    market::{HostCheck, Market},
    operations::webhook_inbox::OutgoingMessage,
};

impl Faults {
    /// Returns which hosts of repositories a market of the world can reach.
    pub fn host_check(self: &Arc<Self>, market: &Market) -> HostCheck {
        let (faults, clock) = (Arc::clone(self), Arc::clone(market.clock()));
        Arc::new(move |host| faults.can_reach(Moment::of(&clock), host))
    }

    /// Returns which attempts of jobs of a market of the world fail.
    pub fn job_check(self: &Arc<Self>, market: &Market) -> impl Fn(JobKind) -> bool + use<> {
        let (faults, clock) = (Arc::clone(self), Arc::clone(market.clock()));
        move |kind| faults.fails_job(Moment::of(&clock), kind)
    }

    /// Returns how the webhooks of a market of the world answer, where `accept` is how they answer without faults.
    pub fn receiver<F: Fn(&OutgoingMessage) -> AttemptResult>(
        self: &Arc<Self>,
        market: &Market,
        accept: F,
    ) -> impl Fn(&OutgoingMessage) -> AttemptResult + use<F> {
        let (faults, clock) = (Arc::clone(self), Arc::clone(market.clock()));
        let answer = |outcome| AttemptResult { outcome, retry_after: None, response: String::new() };
        move |message| match faults.for_webhook(Moment::of(&clock), &message.url, message.event_type) {
            None => accept(message),
            Some(WebhookEffect::Lose) => answer(Err(AttemptError::Unreachable)),
            Some(WebhookEffect::Answer(status)) => {
                accept(message);
                answer(Ok(status))
            }
            Some(WebhookEffect::Duplicate) => {
                accept(message);
                accept(message)
            }
        }
    }
}
