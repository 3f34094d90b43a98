//! Browsing the catalog: against an oracle on generated markets, and rule by rule.

mod browse_oracle;
mod details;
mod generated;
mod oracle;
mod rules;
pub mod shop;
