//! Questions, and who asks them.

use serde_json::{Value, json};

use super::checkers::Expected;
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
    /// Whether an answer is right.
    pub fn accepts(&self, answer: &Value) -> bool {
        self.expected.accepts(&self.text, answer)
    }

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
