//! The ledger: double entry, and append-only. Every movement of money is a [`Transfer`] that is computed here; its
//! postings sum to zero.

use super::{money::Cents, purchases::PurchaseKind, row_ids::TeamRowId};
use crate::string_enum::{StringEnum, string_enum};

#[cfg(test)]
mod tests;

string_enum! {
    /// The reason of a ledger entry.
    EntryType {
        /// Purchase of a whole listing.
        Sale = "sale",
        /// Purchase of a sample.
        SampleSale = "sample_sale",
        /// Purchase at the price of an accepted bid.
        AcceptedBidSale = "accepted_bid_sale",
        /// The platform's share of a sale.
        PlatformFee = "platform_fee",
        /// Refund of a purchase.
        Refund = "refund",
        /// Conversion of available earnings into credits.
        CreditConversion = "credit_conversion",
        /// Payout of available earnings.
        Withdrawal = "withdrawal",
        /// Correction of a team's credits by the platform, for instance a grant or a deduction.
        Adjustment = "adjustment",
    }
}

string_enum! {
    /// The kind of a ledger account.
    AccountKind {
        /// A team's credits, which it can spend in the marketplace.
        Credits = "credits",
        /// A team's earnings from sales.
        Earnings = "earnings",
        /// The platform's money.
        Platform = "platform",
        /// Payments from outside the marketplace. Its balance is normally negative.
        Payments = "payments",
        /// Payouts to vendors.
        Payouts = "payouts",
    }
}

/// A ledger account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Account {
    /// The credits of a team.
    Credits(TeamRowId),
    /// The earnings of a team.
    Earnings(TeamRowId),
    /// The platform's money.
    Platform,
    /// Payments from outside the marketplace.
    Payments,
    /// Payouts to vendors.
    Payouts,
}

impl Account {
    /// Returns the account of a kind. `team` must be `Some` exactly if each team has its own account of this
    /// kind, otherwise returns `None`.
    pub const fn new(kind: AccountKind, team: Option<TeamRowId>) -> Option<Account> {
        Some(match (kind, team) {
            (AccountKind::Credits, Some(team)) => Account::Credits(team),
            (AccountKind::Earnings, Some(team)) => Account::Earnings(team),
            (AccountKind::Platform, None) => Account::Platform,
            (AccountKind::Payments, None) => Account::Payments,
            (AccountKind::Payouts, None) => Account::Payouts,
            _ => return None,
        })
    }

    /// Returns the kind of the account.
    pub const fn kind(self) -> AccountKind {
        match self {
            Account::Credits(_) => AccountKind::Credits,
            Account::Earnings(_) => AccountKind::Earnings,
            Account::Platform => AccountKind::Platform,
            Account::Payments => AccountKind::Payments,
            Account::Payouts => AccountKind::Payouts,
        }
    }

    /// Returns the team that owns the account; `None` for the platform's accounts.
    pub const fn team(self) -> Option<TeamRowId> {
        match self {
            Account::Credits(team) | Account::Earnings(team) => Some(team),
            Account::Platform | Account::Payments | Account::Payouts => None,
        }
    }

    /// Returns the account name that the database stores.
    pub fn name(self) -> &'static str {
        self.kind().as_str()
    }
}

/// The amount by which an entry changes an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posting {
    /// The account.
    pub account: Account,
    /// The change of its balance.
    pub cents: Cents,
}

/// What a ledger entry moves, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Reason for the movement.
    pub entry_type: EntryType,
    /// The changes of the accounts, at most one for each account. Each is nonzero, and their sum is zero.
    pub postings: Vec<Posting>,
}

/// Where the money of a sale comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaymentSource {
    /// The buyer pays an invoice, outside the marketplace.
    Invoice,
    /// The buyer's credits.
    Credits,
}

/// Who takes part in a sale, and for how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SaleTerms {
    /// Kind of purchase.
    pub kind: PurchaseKind,
    /// The team that pays.
    pub buyer: TeamRowId,
    /// The team that earns.
    pub vendor: TeamRowId,
    /// Price before fees.
    pub price: Cents,
    /// Fee that the buyer pays in addition to the price.
    pub buyer_fee: Cents,
    /// Fee that the platform deducts from the vendor's proceeds.
    pub platform_fee: Cents,
    /// Where the money comes from.
    pub source: PaymentSource,
}

impl Transfer {
    /// Creates a transfer. Leaves out zero postings, and adds up those of the same account.
    fn new(entry_type: EntryType, changes: impl IntoIterator<Item = (Account, Cents)>) -> Transfer {
        let mut postings: Vec<Posting> = Vec::new();
        for (account, cents) in changes {
            match postings.iter_mut().find(|posting| posting.account == account) {
                Some(posting) => posting.cents.0 += cents.0,
                None => postings.push(Posting { account, cents }),
            }
        }
        postings.retain(|posting| posting.cents.0 != 0);
        Transfer { entry_type, postings }
    }

    fn move_from(entry_type: EntryType, from: Account, to: Account, amount: Cents) -> Transfer {
        Transfer::new(entry_type, [(from, Cents(-amount.0)), (to, amount)])
    }

    /// The payment of a sale: the price goes to the vendor, the buyer's fee to the platform. Without postings
    /// if the purchase is free.
    pub fn sale(terms: &SaleTerms) -> Transfer {
        let source = match terms.source {
            PaymentSource::Invoice => Account::Payments,
            PaymentSource::Credits => Account::Credits(terms.buyer),
        };
        let changes = [
            (source, Cents(-terms.price.0 - terms.buyer_fee.0)),
            (Account::Earnings(terms.vendor), terms.price),
            (Account::Platform, terms.buyer_fee),
        ];
        Transfer::new(sale_entry_type(terms.kind), changes)
    }

    /// The platform's share of a sale.
    pub fn platform_fee(terms: &SaleTerms) -> Transfer {
        let vendor = Account::Earnings(terms.vendor);
        Transfer::move_from(EntryType::PlatformFee, vendor, Account::Platform, terms.platform_fee)
    }

    /// The refund of a purchase: undoes all of its postings.
    pub fn refund(postings_of_purchase: &[Posting]) -> Transfer {
        let undone = postings_of_purchase.iter().map(|posting| (posting.account, Cents(-posting.cents.0)));
        Transfer::new(EntryType::Refund, undone)
    }

    /// Splits a refund into transfers that each take one of the shares from the vendor's earnings. The shares sum to the
    /// refunded amount; the first transfer also contains all other postings.
    pub fn split_refund(&self, shares: &[Cents]) -> Vec<Transfer> {
        let find = |is_wanted: fn(&Posting) -> bool| self.postings.iter().find(|posting| is_wanted(posting));
        let vendor = find(|posting| matches!(posting.account, Account::Earnings(_)) && posting.cents.0 < 0);
        let payer = find(|posting| posting.cents.0 > 0);
        let (Some(vendor), Some(payer)) = (vendor, payer) else { return vec![self.clone()] };
        let rest = shares.iter().skip(1);
        let mut parts: Vec<Transfer> = rest
            .map(|share| Transfer::move_from(self.entry_type, vendor.account, payer.account, *share))
            .collect();
        let undone = parts.iter().flat_map(|part| &part.postings);
        let undone = undone.map(|posting| (posting.account, Cents(-posting.cents.0)));
        let all = self.postings.iter().map(|posting| (posting.account, posting.cents));
        let first = Transfer::new(self.entry_type, all.chain(undone));
        parts.insert(0, first);
        parts
    }

    /// Credits that a team buys, paid from outside the marketplace.
    pub fn credit_purchase(team: TeamRowId, amount: Cents) -> Transfer {
        let credits = Account::Credits(team);
        Transfer::move_from(EntryType::Adjustment, Account::Payments, credits, amount)
    }

    /// A correction of a team's credits by the platform. Negative amounts are deducted.
    pub fn adjustment(team: TeamRowId, amount: Cents) -> Transfer {
        let credits = Account::Credits(team);
        Transfer::move_from(EntryType::Adjustment, Account::Platform, credits, amount)
    }

    /// The charge of a quality run. A negative charge is a refund.
    pub fn quality_charge(team: TeamRowId, charge: Cents) -> Transfer {
        Transfer::adjustment(team, Cents(-charge.0))
    }

    /// The conversion of available earnings into credits. It has no fee.
    pub fn conversion(team: TeamRowId, amount: Cents) -> Transfer {
        let (earnings, credits) = (Account::Earnings(team), Account::Credits(team));
        Transfer::move_from(EntryType::CreditConversion, earnings, credits, amount)
    }

    /// The withdrawal of available earnings.
    pub fn withdrawal(team: TeamRowId, amount: Cents) -> Transfer {
        Transfer::move_from(EntryType::Withdrawal, Account::Earnings(team), Account::Payouts, amount)
    }

    /// The reversal of a withdrawal that could not be paid.
    pub fn withdrawal_reversal(team: TeamRowId, amount: Cents) -> Transfer {
        Transfer::withdrawal(team, Cents(-amount.0))
    }

    /// Whether the postings sum to zero, without an overflow.
    pub fn is_balanced(&self) -> bool {
        self.postings.iter().map(|posting| i128::from(posting.cents.0)).sum::<i128>() == 0
    }

    /// Returns the change of an account; zero if the entry does not change it.
    pub fn change_of(&self, account: Account) -> Cents {
        let posting = self.postings.iter().find(|posting| posting.account == account);
        posting.map_or(Cents(0), |posting| posting.cents)
    }

    /// Returns the changes of the balances of teams, in the order of the postings. `pending` is the part of the
    /// changes of earnings that is on hold, or comes from holds; the rest changes the available earnings.
    pub fn balance_changes(&self, pending: Cents) -> Vec<BalanceChange> {
        let mut changes: Vec<BalanceChange> = Vec::new();
        for posting in &self.postings {
            let Some(team) = posting.account.team() else { continue };
            let position = changes.iter().position(|change| change.team == team).unwrap_or_else(|| {
                changes.push(BalanceChange::none(team));
                changes.len() - 1
            });
            let change = &mut changes[position];
            if posting.account == Account::Credits(team) {
                change.credits = posting.cents;
                continue;
            }
            change.pending = pending;
            change.available = Cents(posting.cents.0 - pending.0);
            if !self.entry_type.uses_earnings() {
                change.earned = posting.cents;
            }
        }
        changes
    }
}

/// The changes of a team's balances by an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BalanceChange {
    /// The team.
    pub team: TeamRowId,
    /// Change of its credits.
    pub credits: Cents,
    /// Change of its total earnings.
    pub earned: Cents,
    /// Change of its pending earnings.
    pub pending: Cents,
    /// Change of its available earnings.
    pub available: Cents,
}

impl BalanceChange {
    const fn none(team: TeamRowId) -> BalanceChange {
        let zero = Cents(0);
        BalanceChange { team, credits: zero, earned: zero, pending: zero, available: zero }
    }
}

impl EntryType {
    /// Whether entries of this type use earnings. Such entries do not change the total earnings of a team.
    pub const fn uses_earnings(self) -> bool {
        matches!(self, EntryType::CreditConversion | EntryType::Withdrawal)
    }
}

/// Returns the type of the ledger entry that a paid purchase creates.
pub const fn sale_entry_type(kind: PurchaseKind) -> EntryType {
    match kind {
        PurchaseKind::Full => EntryType::Sale,
        PurchaseKind::Sample => EntryType::SampleSale,
        PurchaseKind::AcceptedBid => EntryType::AcceptedBidSale,
    }
}
