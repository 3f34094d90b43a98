//! Random purchases, bids, and decisions, against the rules: 5 % on top of the price, paid from credits once and given back by
//! a refund; at most one pending or completed purchase of each kind of a listing; an agreement for each completed purchase.

use std::collections::BTreeMap;

use marketplace::operations::purchases as operations_of_purchases;
use uuid::Uuid;

use super::{BUYER, agreement, bid, buy, complete, credits, decide, id_of, shop};
use crate::{
    harness::{
        TestMarket,
        browser::{Browser, Page},
        random::Random,
    },
    sales::accept,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Pending,
    Completed,
    Canceled,
    Refunded,
}

/// A purchase, as the rules have it.
#[derive(Clone, Debug)]
struct Bought {
    listing: &'static str,
    is_sample: bool,
    price: i64,
    paid_with_credits: bool,
    state: State,
}

impl Bought {
    /// Returns what the buyer pays: 5 % more than the price. All prices here are multiples of 20 cents.
    fn total(&self) -> i64 {
        assert_eq!(self.price * 5 % 100, 0);
        self.price + self.price * 5 / 100
    }

    fn is_in_effect(&self) -> bool {
        matches!(self.state, State::Pending | State::Completed)
    }
}

/// What should be.
#[derive(Debug, Default)]
struct Model(BTreeMap<Uuid, Bought>);

impl Model {
    fn credits(&self) -> i64 {
        let paid = |bought: &&Bought| bought.state == State::Completed && bought.paid_with_credits;
        100_000 - self.0.values().filter(paid).map(Bought::total).sum::<i64>()
    }

    fn allows(&self, listing: &str, is_sample: bool) -> bool {
        !self.0.values().any(|old| old.listing == listing && old.is_sample == is_sample && old.is_in_effect())
    }

    fn any(&self, random: &mut Random) -> Option<Uuid> {
        let ids: Vec<Uuid> = self.0.keys().copied().collect();
        if ids.is_empty() { None } else { Some(*random.pick(&ids)) }
    }
}

/// Opens the page, and signs if there is something to sign.
async fn attempt(
    browser: &Browser<'_>,
    path: String,
    is_bid: bool,
    listing: &str,
    choices: &str,
) -> Option<Page> {
    let page = browser.get(&format!("{path}?{choices}")).await;
    if !page.text.contains("name=\"quote\"") {
        return None;
    }
    Some(if is_bid { bid(browser, listing, choices).await } else { buy(browser, listing, choices).await })
}

async fn purchase(browser: &Browser<'_>, random: &mut Random, model: &mut Model) {
    let (listing, is_sample, price) = *random.pick(&[
        ("plain", false, 5_000),
        ("plain", true, 200),
        ("free", false, 3_000),
        ("free", true, 0),
        ("dear", false, 500_000),
    ]);
    let with_credits = random.percent(60);
    let scope = if is_sample { "sample" } else { "all" };
    let choices = format!("scope={scope}&pay_with={}", if with_credits { "credits" } else { "invoice" });
    let state = if with_credits || price == 0 { State::Completed } else { State::Pending };
    let new = Bought { listing, is_sample, price, paid_with_credits: with_credits, state };
    let is_allowed = model.allows(listing, is_sample) && (!with_credits || new.total() <= model.credits());
    let answer = attempt(browser, super::buy_path(listing), false, listing, &choices).await;
    assert_eq!(answer.is_some(), is_allowed, "{new:?}");
    if let Some(answer) = answer {
        let path = answer.location().split('?').next().unwrap().to_owned();
        assert!(model.0.insert(id_of(&path), new).is_none());
    }
}

/// Bids, and lets the vendor accept it at once.
async fn accepted_bid(market: &TestMarket, browser: &Browser<'_>, random: &mut Random, model: &mut Model) {
    let (listing, price) = *random.pick(&[("plain", 4_000), ("dear", 300_000)]);
    let answer =
        attempt(browser, super::bid_path(listing), true, listing, &format!("amount={}", price / 100)).await;
    assert_eq!(answer.is_some(), model.allows(listing, false), "{listing}");
    let Some(answer) = answer else { return };
    let offer = id_of(answer.location().split('?').next().unwrap());
    let id = accept(market, "seller", offer).unwrap();
    let mut new =
        Bought { listing, is_sample: false, price, paid_with_credits: true, state: State::Completed };
    if new.total() > model.credits() {
        new = Bought { paid_with_credits: false, state: State::Pending, ..new };
    }
    model.0.insert(id, new);
}

fn decision(market: &TestMarket, random: &mut Random, model: &mut Model) {
    let Some(id) = model.any(random) else { return };
    let before = model.0[&id].state;
    let (is_done, from, to) = match random.below(3) {
        0 => (complete(market, id).is_ok(), State::Pending, State::Completed),
        1 => {
            let canceled = decide(market, id, operations_of_purchases::cancel);
            (canceled.is_ok(), State::Pending, State::Canceled)
        }
        _ => {
            let refunded = decide(market, id, operations_of_purchases::refund);
            (refunded.is_ok(), State::Completed, State::Refunded)
        }
    };
    assert_eq!(is_done, before == from, "{:?} to {to:?}", model.0[&id]);
    if is_done {
        model.0.get_mut(&id).unwrap().state = to;
    }
}

#[tokio::test]
async fn random_deals_follow_the_rules() {
    for seed in 1..=3 {
        let market = shop();
        let browser = Browser::signed_in(&market, BUYER).await;
        let (mut random, mut model) = (Random::new(seed), Model::default());
        for _ in 0..40 {
            match random.below(4) {
                0 | 1 => purchase(&browser, &mut random, &mut model).await,
                2 => accepted_bid(&market, &browser, &mut random, &mut model).await,
                _ => decision(&market, &mut random, &mut model),
            }
            assert_eq!(credits(&market, "buyer"), model.credits(), "seed {seed}: {model:?}");
            // The budget of a minute is for people.
            market.clock().advance(60_000_000);
        }
        for (id, bought) in &model.0 {
            let path = format!("/console/purchases/{id}");
            let money = format!("{}.{:02}", bought.total() / 100, bought.total() % 100);
            match bought.state {
                State::Completed | State::Refunded => {
                    let text = agreement(&browser, &path).await;
                    assert!(text.contains(&format!("Total: {money} USD\n")), "{money} in {text}");
                }
                State::Pending | State::Canceled => {
                    assert_eq!(browser.get(&format!("{path}/agreement")).await.status(), 404);
                }
            }
            market.clock().advance(60_000_000);
        }
        let file = browser.get("/console/purchases?format=csv").await;
        assert_eq!(file.text.trim_end().lines().count(), model.0.len() + 1, "seed {seed}");
    }
}
