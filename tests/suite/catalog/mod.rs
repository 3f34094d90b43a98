//! Browsing the catalog: generated markets compared with an oracle, and tests of each rule.

mod browse_oracle;
mod details;
mod generated;
mod oracle;
mod rules;
pub mod small_market;
mod walks;
