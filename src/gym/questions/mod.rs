//! The questions: for each kind a file with functions that choose a subject from the market, and compute the expected answer
//! from the HTTP API. What agents can do to find the answer is in `reference`.

pub mod both;
pub mod buyer;
pub mod catalog;
pub mod long;
pub mod money;
pub mod planted;
pub mod unanswerable;
pub mod vendor;
pub mod vendor_money;

use serde_json::Value;

use super::{checkers::Expected, error::GymError};

/// What a template asks about a market.
pub struct Asked {
    /// The question.
    pub text: String,
    /// The right answer.
    pub expected: Expected,
    /// The facts for the script of the reference run. The question states all of them.
    pub subject: Value,
}

/// The question of a template; `None` if the market lacks data for it.
pub type Asking = Result<Option<Asked>, GymError>;
