//! Random movements of credits and earnings.

use marketplace::{
    domain::{listings::Actor, money::Cents},
    error::Result,
    operations::{access::Platform, credit_purchases, wallet, withdrawals},
};

use super::{Done, Driver, team, vendor};

impl Driver<'_> {
    /// Buys, adjusts, and converts credits, and withdraws earnings.
    pub fn move_money(&mut self) -> Result<Done> {
        let platform = Platform::of_process();
        let (seller, payer) = (self.any_vendor()?, self.any_buyer()?);
        let (amount, earned) =
            (Cents(1 + self.random.below(20_000) as i64), Cents(1 + self.random.below(3_000) as i64));
        match self.random.below(8) {
            0..=2 => self.write(|writer| {
                let member = platform.member(team(writer.rows, payer)?)?;
                credit_purchases::create(writer, &member, Actor::Team, amount)
                    .map(|purchase| ("credits.buy", purchase.id))
            }),
            3 => self.write(|writer| {
                let (team, amount) = (team(writer.rows, payer)?, Cents(amount.0 - 10_000));
                wallet::adjust(writer, platform, Actor::Platform, &team, amount, "Correction")?;
                Ok(("credits.adjust", team.id))
            }),
            4 => self.write(|writer| {
                let vendor = vendor(writer.rows, seller)?;
                wallet::convert(writer, &vendor, Actor::Team, earned)?;
                Ok(("earnings.convert", vendor.team().id))
            }),
            5 | 6 => {
                // Earnings of a closed team stay payable.
                let is_closed = self.random.percent(20);
                let payee = if is_closed { self.pick(|made| &made.closed)? } else { seller };
                let id = self.write(|writer| {
                    let vendor = platform.vendor_even_if_closed(team(writer.rows, payee)?);
                    withdrawals::create(writer, &vendor, Actor::Team, earned).map(|made| made.id)
                })?;
                self.made().withdrawals.push(id);
                Ok(("withdrawal.create", id))
            }
            _ => {
                let (id, is_paid) = (self.pick(|made| &made.withdrawals)?, self.random.percent(50));
                self.write(|writer| {
                    if is_paid {
                        withdrawals::mark_paid(writer, platform, Actor::Platform, id)
                    } else {
                        withdrawals::mark_failed(writer, platform, Actor::Platform, id)
                    }
                })?;
                Ok(("withdrawal.end", id))
            }
        }
    }
}
