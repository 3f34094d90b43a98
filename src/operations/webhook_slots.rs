//! How many requests to webhooks are in progress, and whose turn it is. Slow webhooks of one team delay no other
//! team.

use std::collections::{HashMap, HashSet};

use crate::{
    domain::{
        row_ids::{WebhookDeliveryRowId, WebhookRowId},
        teams::TeamRowId,
    },
    store::webhook_deliveries::Waiting,
};

/// Maximum number of attempts of one webhook that are in progress.
pub(super) const MAX_PER_WEBHOOK: usize = 4;

/// Maximum number of attempts of one team, or of the operators, that are in progress.
const MAX_PER_TEAM: usize = 8;

/// The team of a webhook; `None` if it is one of the operators.
type Owner = Option<TeamRowId>;

/// The attempts that are in progress.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    max: usize,
    running: HashMap<WebhookDeliveryRowId, (WebhookRowId, Owner)>,
    /// The number of the last attempt of each owner, as long as it has pending deliveries.
    last_starts: HashMap<Owner, u64>,
    starts: u64,
}

impl Slots {
    /// Creates slots for `max` attempts.
    pub(super) fn new(max: u32) -> Slots {
        Slots { max: max as usize, running: HashMap::new(), last_starts: HashMap::new(), starts: 0 }
    }

    /// Whether an attempt of a delivery is in progress.
    pub(super) fn is_running(&self, delivery: WebhookDeliveryRowId) -> bool {
        self.running.contains_key(&delivery)
    }

    /// Occupies a slot.
    pub(super) fn start(&mut self, delivery: WebhookDeliveryRowId, waiting: &Waiting) {
        self.starts += 1;
        self.running.insert(delivery, (waiting.webhook, waiting.team));
        self.last_starts.insert(waiting.team, self.starts);
    }

    /// Frees the slot of a delivery.
    pub(super) fn end(&mut self, delivery: WebhookDeliveryRowId) {
        self.running.remove(&delivery);
    }

    /// Forgets the turns of owners without pending deliveries.
    pub(super) fn retain_owners(&mut self, waiting: &[Waiting]) {
        let owners: HashSet<Owner> = waiting.iter().map(|webhook| webhook.team).collect();
        self.last_starts.retain(|owner, _| owners.contains(owner));
    }

    /// Returns the index of the webhook that may send next: one of the team with the fewest attempts in progress, or
    /// else of the team whose last attempt was the earliest. `None` if none may.
    pub(super) fn choose<'a>(&self, waiting: impl Iterator<Item = &'a Waiting>) -> Option<usize> {
        let (mut of_owners, mut of_webhooks) = (HashMap::new(), HashMap::new());
        for (webhook, owner) in self.running.values() {
            *of_webhooks.entry(*webhook).or_insert(0_usize) += 1;
            *of_owners.entry(*owner).or_insert(0_usize) += 1;
        }
        let is_free = self.running.len() < self.max;
        // A team can have several only while half of the slots are free.
        let max_of_owner = if self.running.len() * 2 < self.max { MAX_PER_TEAM } else { 1 };
        let candidates = waiting.enumerate().filter_map(|(index, webhook)| {
            let of_owner = of_owners.get(&webhook.team).copied().unwrap_or(0);
            let of_webhook = of_webhooks.get(&webhook.webhook).copied().unwrap_or(0);
            let last_start = self.last_starts.get(&webhook.team).copied().unwrap_or(0);
            let is_allowed = is_free && of_owner < max_of_owner && of_webhook < MAX_PER_WEBHOOK;
            is_allowed.then_some(((of_owner, last_start, webhook.first_at, webhook.webhook), index))
        });
        candidates.min().map(|(_, index)| index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::Timestamp;

    fn waiting(webhook: i64, team: i64) -> Waiting {
        let team = (team > 0).then_some(TeamRowId(team));
        Waiting { webhook: WebhookRowId(webhook), team, first_at: Timestamp(webhook), next_at: None }
    }

    /// Starts attempts while some are allowed, each of another delivery. Returns the webhooks in their order.
    fn fill(slots: &mut Slots, webhooks: &[Waiting]) -> Vec<i64> {
        let mut chosen = Vec::new();
        while let Some(index) = slots.choose(webhooks.iter()) {
            let delivery = WebhookDeliveryRowId(1_000 + slots.starts as i64);
            slots.start(delivery, &webhooks[index]);
            chosen.push(webhooks[index].webhook.0);
        }
        chosen
    }

    #[test]
    fn team_and_webhook_have_maximums() {
        let mut slots = Slots::new(64);
        assert_eq!(fill(&mut slots, &[waiting(1, 1)]).len(), MAX_PER_WEBHOOK);
        let of_team: Vec<Waiting> = (1..=5).map(|webhook| waiting(webhook, 1)).collect();
        assert_eq!(fill(&mut slots, &of_team).len(), MAX_PER_TEAM - MAX_PER_WEBHOOK);
        assert_eq!(slots.choose([waiting(9, 0)].iter()), Some(0), "operators are no team");
    }

    #[test]
    fn team_has_several_slots_only_while_half_are_free() {
        let mut slots = Slots::new(8);
        let first: Vec<Waiting> = (1..=3).map(|webhook| waiting(webhook, 1)).collect();
        assert_eq!(fill(&mut slots, &first).len(), 4);
        let others: Vec<Waiting> = (2..=9).map(|team| waiting(10 + team, team)).collect();
        assert_eq!(fill(&mut slots, &others), [12, 13, 14, 15], "each other team gets one");
    }

    #[test]
    fn teams_take_turns() {
        let mut slots = Slots::new(1);
        let webhooks = [waiting(1, 1), waiting(2, 2), waiting(3, 3)];
        let mut order = Vec::new();
        for _ in 0..6 {
            let index = slots.choose(webhooks.iter()).unwrap();
            slots.start(WebhookDeliveryRowId(7), &webhooks[index]);
            assert_eq!(slots.choose(webhooks.iter()), None);
            slots.end(WebhookDeliveryRowId(7));
            order.push(webhooks[index].webhook.0);
        }
        assert_eq!(order, [1, 2, 3, 1, 2, 3], "although the first one has waited longest");
        slots.retain_owners(&webhooks[..1]);
        assert_eq!(slots.last_starts.len(), 1);
    }
}
