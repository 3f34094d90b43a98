//! Random money operations of several teams, compared with a model: credits are never negative, the sum over all
//! accounts is zero, and the stored balances are those of the postings.

use std::collections::BTreeMap;

use marketplace::{
    domain::{ledger::PaymentSource, money::Cents, row_ids::PurchaseRowId},
    store::{self, wallet::Balances},
};
use proptest::prelude::*;
use uuid::Uuid;

use super::{
    DAY, adjust, balances, buy_credits, code, convert, earnings_by_entries, mark, money_market, refund, sell,
    withdraw,
};
use crate::harness::TestMarket;

const TEAMS: [&str; 3] = ["seller", "both", "buyer"];

#[derive(Clone, Debug)]
enum Act {
    Buy { team: usize, cents: i64 },
    Adjust { team: usize, cents: i64 },
    Convert { team: usize, cents: i64 },
    Withdraw { team: usize, cents: i64 },
    Decide { withdrawal: usize, is_paid: bool },
    Sell { vendor: usize, buyer: usize, cents: i64, source: PaymentSource },
    Refund { purchase: usize },
    Pass { days: i64 },
}

fn act() -> impl Strategy<Value = Act> {
    let team = 0..TEAMS.len();
    let source = prop_oneof![Just(PaymentSource::Invoice), Just(PaymentSource::Credits)];
    prop_oneof![
        2 => (team.clone(), 1..5_000_i64).prop_map(|(team, cents)| Act::Buy { team, cents }),
        1 => (team.clone(), -3_000..3_000_i64).prop_map(|(team, cents)| Act::Adjust { team, cents }),
        1 => (team.clone(), 1..2_000_i64).prop_map(|(team, cents)| Act::Convert { team, cents }),
        1 => (team.clone(), 1..2_000_i64).prop_map(|(team, cents)| Act::Withdraw { team, cents }),
        1 => (0..8_usize, any::<bool>()).prop_map(|(withdrawal, is_paid)| Act::Decide { withdrawal, is_paid }),
        3 => (team, 1..3_usize, 0..3_000_i64, source).prop_map(|(vendor, distance, cents, source)| {
            Act::Sell { vendor, buyer: (vendor + distance) % TEAMS.len(), cents, source }
        }),
        2 => (0..12_usize).prop_map(|purchase| Act::Refund { purchase }),
        2 => (0..6_i64).prop_map(|days| Act::Pass { days }),
    ]
}

/// A sale, with what is left of its hold.
struct Sale {
    row_id: PurchaseRowId,
    vendor: usize,
    buyer: usize,
    price: i64,
    source: PaymentSource,
    is_refunded: bool,
}

#[derive(Default)]
struct Model {
    wallets: [Balances; TEAMS.len()],
    sales: Vec<Sale>,
    /// Remaining earnings on hold, by the day on which the hold ends and the number of the sale.
    holds: BTreeMap<(i64, usize), i64>,
    /// The withdrawals: ID, team, cents, and whether it is decided.
    withdrawals: Vec<(Uuid, usize, i64, bool)>,
    day: i64,
}

impl Model {
    /// Carries out an act on the market and on the model, which must agree about the outcome.
    fn perform(&mut self, market: &TestMarket, act: &Act) {
        match *act {
            Act::Pass { days } => {
                market.clock().advance(days * DAY);
                market.market().run_due_steps().unwrap();
                self.day += days;
                self.end_holds();
            }
            Act::Buy { team, cents } => {
                buy_credits(market, TEAMS[team], Cents(cents)).unwrap();
                self.wallets[team].credits.0 += cents;
            }
            Act::Adjust { team, cents } => {
                let expected = match self.wallets[team].credits.0 + cents {
                    _ if cents == 0 => "amount value_error",
                    ..0 => "insufficient_credits",
                    _ => "ok",
                };
                assert_eq!(code(adjust(market, TEAMS[team], Cents(cents), "Gift")), expected);
                self.wallets[team].credits.0 += if expected == "ok" { cents } else { 0 };
            }
            Act::Convert { team, cents } => {
                let used = self.use_earnings(team, cents);
                assert_eq!(code(convert(market, TEAMS[team], Cents(cents))), used);
                self.wallets[team].credits.0 += if used == "ok" { cents } else { 0 };
            }
            Act::Withdraw { team, cents } => {
                let used = self.use_earnings(team, cents);
                let withdrawal = withdraw(market, TEAMS[team], Cents(cents));
                if let Ok(withdrawal) = &withdrawal {
                    self.withdrawals.push((withdrawal.id, team, cents, false));
                }
                assert_eq!(code(withdrawal), used);
            }
            Act::Decide { withdrawal, is_paid } => self.decide(market, withdrawal, is_paid),
            Act::Sell { vendor, buyer, cents, source } => self.sell(market, (vendor, buyer), cents, source),
            Act::Refund { purchase } => self.refund(market, purchase),
        }
    }

    fn end_holds(&mut self) {
        while let Some(hold) = self.holds.first_entry()
            && hold.key().0 <= self.day
        {
            let ((_, sale), cents) = hold.remove_entry();
            let wallet = &mut self.wallets[self.sales[sale].vendor];
            wallet.pending.0 -= cents;
            wallet.available.0 += cents;
        }
    }

    fn use_earnings(&mut self, team: usize, cents: i64) -> &'static str {
        let available = &mut self.wallets[team].available.0;
        if *available < cents {
            return "insufficient_earnings";
        }
        *available -= cents;
        "ok"
    }

    fn decide(&mut self, market: &TestMarket, number: usize, is_paid: bool) {
        let Some((id, team, cents, is_decided)) = self.withdrawals.get_mut(number) else { return };
        let expected = if *is_decided { "invalid_transition" } else { "ok" };
        assert_eq!(code(mark(market, *id, is_paid)), expected);
        if !*is_decided && !is_paid {
            self.wallets[*team].available.0 += *cents;
        }
        *is_decided = true;
    }

    fn sell(
        &mut self,
        market: &TestMarket,
        (vendor, buyer): (usize, usize),
        price: i64,
        source: PaymentSource,
    ) {
        let total = price + Cents(price).percent(5.0).0;
        let has_credits = source == PaymentSource::Invoice || self.wallets[buyer].credits.0 >= total;
        let sold = sell(market, (TEAMS[vendor], TEAMS[buyer]), Cents(price), source);
        if !has_credits {
            assert_eq!(code(sold), "insufficient_credits");
            return;
        }
        let net = price - Cents(price).percent(10.0).0;
        self.wallets[vendor].earned.0 += net;
        self.wallets[vendor].pending.0 += net;
        if source == PaymentSource::Credits {
            self.wallets[buyer].credits.0 -= total;
        }
        if net > 0 {
            self.holds.insert((self.day + 7, self.sales.len()), net);
        }
        let row_id = sold.unwrap();
        self.sales.push(Sale { row_id, vendor, buyer, price, source, is_refunded: false });
    }

    fn refund(&mut self, market: &TestMarket, number: usize) {
        let Some(Sale { row_id, vendor, buyer, price, source, is_refunded: false }) = self.sales.get(number)
        else {
            return;
        };
        let (vendor, price) = (*vendor, *price);
        let share = price - Cents(price).percent(10.0).0;
        let refunded = refund(market, *row_id);
        let wallet = &mut self.wallets[vendor];
        if wallet.pending.0 + wallet.available.0 < share {
            assert_eq!(code(refunded), "insufficient_earnings");
            return;
        }
        refunded.unwrap();
        wallet.earned.0 -= share;
        let mut needed = share;
        // Its own hold, then what is available, then the holds that end last.
        let (own, mut others): (Vec<_>, Vec<_>) = self
            .holds
            .keys()
            .copied()
            .filter(|key| self.sales[key.1].vendor == vendor)
            .partition(|key| key.1 == number);
        others.reverse();
        for source in own.into_iter().map(Some).chain([None]).chain(others.into_iter().map(Some)) {
            let (left, balance) = match source {
                Some(hold) => (self.holds.get_mut(&hold).unwrap(), Some(&mut wallet.pending.0)),
                None => (&mut wallet.available.0, None),
            };
            let taken = needed.min(*left);
            needed -= taken;
            *left -= taken;
            if let Some(pending) = balance {
                *pending -= taken;
            }
        }
        assert_eq!(needed, 0);
        self.holds.retain(|_, cents| *cents > 0);
        if *source == PaymentSource::Credits {
            self.wallets[*buyer].credits.0 += price + Cents(price).percent(5.0).0;
        }
        self.sales[number].is_refunded = true;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn balances_follow_from_the_operations(acts in prop::collection::vec(act(), 1..60)) {
        let (market, mut model) = (money_market(), Model::default());
        for act in &acts {
            model.perform(&market, act);
            for (team, expected) in TEAMS.iter().zip(&model.wallets) {
                prop_assert_eq!(balances(&market, team), *expected, "{} after {:?}", team, act);
                prop_assert_eq!(
                    earnings_by_entries(&market, team),
                    (expected.pending, expected.available),
                    "{} after {:?}",
                    team,
                    act
                );
                prop_assert!(expected.credits.0 >= 0 && expected.available.0 >= 0);
            }
        }
        let found = market.read(|reader| {
            let sum: i64 = store::wallet::platform_balances(reader.rows)?.iter().map(|(_, cents)| cents.0).sum();
            Ok((sum, store::verify::find_ledger_inconsistencies(reader.rows)?))
        });
        let (platform, inconsistencies) = found.unwrap();
        prop_assert_eq!(inconsistencies, [""; 0]);
        let teams: i64 = model
            .wallets
            .iter()
            .map(|wallet| wallet.credits.0 + wallet.pending.0 + wallet.available.0)
            .sum();
        prop_assert_eq!(platform + teams, 0);
    }
}
