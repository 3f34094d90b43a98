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

use serde_json::{Value, json};

use super::{checkers::Expected, error::GymError};
use crate::string_enum::{StringEnum, string_enum};

string_enum! {
    /// What a question tests.
    Kind {
        /// A buyer's questions.
        Buyer = "buyer",
        /// A vendor's questions.
        Vendor = "vendor",
        /// Questions of a team with both roles.
        Both = "both",
        /// Questions that the tools cannot answer.
        Unanswerable = "unanswerable",
        /// Questions about listings whose texts give orders.
        Injection = "injection",
        /// The same with characters that people do not see.
        Hidden = "hidden",
        /// Questions whose answers need several pages, or parts of long texts.
        Long = "long",
        /// Sums, medians, fees, and cents.
        Money = "money",
    }
}

string_enum! {
    /// The roles of the team that asks.
    Side {
        /// A team that only buys.
        Buyer = "buyer",
        /// A team that only sells.
        Vendor = "vendor",
        /// A team that does both.
        Both = "both",
    }
}

/// What a template asks about a market.
pub struct Asked {
    /// The question.
    pub text: String,
    /// The right answer.
    pub expected: Expected,
    /// What the script of the reference run needs to know: nothing that the question does not say.
    pub subject: Value,
}

/// The question of a template; `None` if the market lacks data for it.
pub type Asking = Result<Option<Asked>, GymError>;

/// A question about a market.
#[derive(Clone, Debug)]
pub struct Question {
    /// ID of the question.
    pub id: String,
    /// Name of its template.
    pub name: &'static str,
    /// What it tests.
    pub kind: Kind,
    /// Who asks.
    pub side: Side,
    /// Name of the team that asks.
    pub team: String,
    /// Whether it is one of the realistic core questions.
    pub core: bool,
    /// The question.
    pub text: String,
    /// The right answer.
    pub expected: Expected,
    /// What the script of the reference run needs to know.
    pub(super) subject: Value,
}

impl Question {
    /// Returns the question as JSON, with the expected answer if requested.
    pub fn to_json(&self, with_answer: bool) -> Value {
        let mut line = json!({
            "id": self.id, "name": self.name, "kind": self.kind.as_str(), "core": self.core,
            "role": self.side.as_str(), "team": self.team, "question": self.text,
            "answer_format": self.expected.format(),
        });
        if with_answer {
            line["expected"] = self.expected.to_json();
        }
        line
    }
}
