//! The reference run: for each question the calls that a competent agent would make. Answers are computed from the outputs of
//! tools alone.

pub mod both;
pub mod buyer;
pub mod catalog;
pub mod long;
pub mod money;
pub mod planted;
pub mod unanswerable;
pub mod vendor;

use serde_json::Value;

/// An answer, or why a script found none.
pub type Answer = Result<Value, String>;
