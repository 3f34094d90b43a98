//! The data of events about wallets: credits and earnings. Only the team and operators see them.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::{
    credit_purchases::CreditPurchaseStatus, ledger::EntryType, listings::Actor, withdrawals::WithdrawalStatus,
};

/// The balances of a wallet after a change, in US dollars with two decimals.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BalanceData {
    /// Credits that the team can spend.
    pub credits: String,
    /// Total earnings so far, net of fees and refunds.
    pub earned: String,
    /// Earnings on hold.
    pub pending: String,
    /// Earnings that can be converted or withdrawn.
    pub available: String,
}

/// A change of a wallet by a ledger entry that belongs to no purchase.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WalletData {
    /// Who changed it.
    pub actor: Actor,
    /// ID of the ledger entry.
    pub ledger_entry_id: Uuid,
    /// Type of the entry.
    pub entry_type: EntryType,
    /// ID of the credit purchase; `null` if the entry belongs to none.
    pub credit_purchase_id: Option<Uuid>,
    /// Change of the credits, in US dollars with two decimals; negative if they were deducted.
    pub amount: String,
    /// Currency of all amounts. Always `USD`.
    pub currency: &'static str,
    /// Description for people.
    pub description: String,
    /// The balances after the change.
    pub balances: BalanceData,
}

/// A purchase of credits that added none: after it was requested, rejected, or canceled.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CreditPurchaseData {
    /// ID of the credit purchase.
    pub credit_purchase_id: Uuid,
    /// Who requested, rejected, or canceled it.
    pub actor: Actor,
    /// State of the purchase.
    pub status: CreditPurchaseStatus,
    /// The credits, and what they cost, in US dollars with two decimals.
    pub amount: String,
    /// Currency of the amount. Always `USD`.
    pub currency: &'static str,
}

/// Earnings of a sale that became available at the end of their hold.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AvailableEarningsData {
    /// ID of the ledger entry of the sale.
    pub ledger_entry_id: Uuid,
    /// ID of the sale.
    pub purchase_id: Option<Uuid>,
    /// Amount that became available, in US dollars with two decimals.
    pub amount: String,
    /// Currency of all amounts. Always `USD`.
    pub currency: &'static str,
    /// The balances after the change.
    pub balances: BalanceData,
}

/// A withdrawal after it was requested, paid, or failed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WithdrawalData {
    /// ID of the withdrawal.
    pub withdrawal_id: Uuid,
    /// Who requested or decided it.
    pub actor: Actor,
    /// State of the withdrawal.
    pub status: WithdrawalStatus,
    /// ID of the ledger entry that was posted: of the withdrawal, or of its reversal; `null` if it was paid.
    pub ledger_entry_id: Option<Uuid>,
    /// Amount of the withdrawal, in US dollars with two decimals.
    pub amount: String,
    /// Currency of all amounts. Always `USD`.
    pub currency: &'static str,
    /// The balances after the change.
    pub balances: BalanceData,
}
