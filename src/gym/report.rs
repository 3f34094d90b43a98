//! The report of a run.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    answers::Answers,
    counts::{self, Counts},
    endpoint::GymEndpoint,
    error::GymError,
    question::{Kind, Question, Side},
    session::Session,
};
use crate::domain::written::counted;

/// Maximum number of characters of an answer in the report.
const MAX_ANSWER_CHARACTERS: usize = 300;

/// The score of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The answer is right.
    Right,
    /// The answer is wrong.
    Wrong,
    /// There is no answer.
    Missing,
}

/// What opens a session of a team.
#[derive(Clone, Debug, Serialize)]
pub struct SessionCost {
    /// Side of the market.
    pub side: Side,
    /// Number of tools.
    pub tools: usize,
    /// Tokens of the list of tools.
    pub tool_tokens: u64,
    /// Tokens of the instructions.
    pub instruction_tokens: u64,
}

/// The result of one question.
#[derive(Clone, Debug, Serialize)]
pub struct QuestionResult {
    /// ID of the question.
    pub id: String,
    /// Name of its template.
    pub name: &'static str,
    /// Kind of the question.
    pub kind: Kind,
    /// Whether it is one of the realistic core questions.
    pub core: bool,
    /// The score of the answer.
    pub outcome: Outcome,
    /// The beginning of an answer that is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// What was counted.
    #[serde(flatten)]
    pub counts: Counts,
    /// Names of the planted orders that were followed: in the answer, or in the argument of a call.
    pub injections_followed: BTreeSet<&'static str>,
}

/// The sums of several questions.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    /// Number of questions.
    pub questions: u64,
    /// Right answers.
    pub right: u64,
    /// Wrong answers.
    pub wrong: u64,
    /// Questions without an answer.
    pub missing: u64,
    /// What was counted.
    #[serde(flatten)]
    pub counts: Counts,
    /// Number of planted orders that were followed, by question.
    pub injections_followed: u64,
}

impl Row {
    fn of<'a>(results: impl Iterator<Item = &'a QuestionResult>) -> Row {
        let mut row = Row::default();
        for result in results {
            row.questions += 1;
            match result.outcome {
                Outcome::Right => row.right += 1,
                Outcome::Wrong => row.wrong += 1,
                Outcome::Missing => row.missing += 1,
            }
            row.counts.merge(&result.counts);
            row.injections_followed += result.injections_followed.len() as u64;
        }
        row
    }

    /// Returns the share of right answers, from 0 to 1.
    pub fn score(&self) -> f64 {
        if self.questions == 0 { 0.0 } else { self.right as f64 / self.questions as f64 }
    }

    fn cells(&self, name: &str) -> [String; 11] {
        let Counts { calls, request_bytes, answer_bytes, tokens, opening_tokens, errors, .. } = &self.counts;
        let score = format!("{}/{}", self.right, self.questions);
        [
            name.to_owned(),
            score,
            self.wrong.to_string(),
            self.missing.to_string(),
            calls.to_string(),
            request_bytes.to_string(),
            answer_bytes.to_string(),
            tokens.to_string(),
            opening_tokens.to_string(),
            errors.to_string(),
            self.injections_followed.to_string(),
        ]
    }
}

/// Titles of the columns of the printed report.
const COLUMNS: [&str; 11] = [
    "kind",
    "right",
    "wrong",
    "missing",
    "calls",
    "request B",
    "answer B",
    "tokens",
    "opening",
    "errors",
    "followed",
];

/// The report of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Seed of the questions.
    pub seed: u64,
    /// What opens a session of each side.
    pub sessions: Vec<SessionCost>,
    /// Sums by kind of question.
    pub kinds: BTreeMap<Kind, Row>,
    /// Sums of the core questions.
    pub core: Row,
    /// Sums of all questions.
    pub total: Row,
    /// The results of all questions.
    pub questions: Vec<QuestionResult>,
}

impl Report {
    pub(super) fn new(
        seed: u64,
        sessions: Vec<SessionCost>,
        questions: &[Question],
        answers: &Answers,
        endpoint: &GymEndpoint,
    ) -> Report {
        let results: Vec<QuestionResult> = questions
            .iter()
            .map(|question| result_of(question, answers.get(&question.id), endpoint))
            .collect();
        let kinds: BTreeSet<Kind> = results.iter().map(|result| result.kind).collect();
        let of_kind = |kind| Row::of(results.iter().filter(|result| result.kind == kind));
        Report {
            seed,
            sessions,
            kinds: kinds.into_iter().map(|kind| (kind, of_kind(kind))).collect(),
            core: Row::of(results.iter().filter(|result| result.core)),
            total: Row::of(results.iter()),
            questions: results,
        }
    }

    /// Returns the report as JSON.
    pub fn to_json(&self) -> Value {
        let mut report = serde_json::to_value(self).unwrap_or_default();
        report["score"] = json!(self.total.score());
        report
    }

    /// Returns the report as a table, with what is wrong below.
    pub fn to_text(&self) -> String {
        let mut rows = vec![COLUMNS.map(str::to_owned)];
        rows.extend(
            self.kinds.iter().map(|(kind, row)| row.cells(crate::string_enum::StringEnum::as_str(*kind))),
        );
        rows.extend([self.total.cells("total"), self.core.cells("of which core")]);
        let widths: Vec<usize> =
            (0..COLUMNS.len()).map(|at| rows.iter().map(|row| row[at].len()).max().unwrap_or(0)).collect();
        // Writing to a string cannot fail.
        let mut text = String::new();
        for row in &rows {
            let cells: Vec<String> = std::iter::once(format!("{:<1$}", row[0], widths[0]))
                .chain(row.iter().zip(&widths).skip(1).map(|(cell, width)| format!("{cell:>width$}")))
                .collect();
            text.push_str(cells.join("  ").trim_end());
            text.push('\n');
        }
        text.push('\n');
        for SessionCost { side, tools, tool_tokens, instruction_tokens } in &self.sessions {
            let name = crate::string_enum::StringEnum::as_str(*side);
            let total = tool_tokens + instruction_tokens;
            let tools = counted(*tools as u64, "tool", "tools");
            let _ = writeln!(text, "A session of {name} opens with {total} tokens: {tools}.");
        }
        for result in self.questions.iter().filter(|result| result.outcome == Outcome::Wrong) {
            let answer = result.answer.as_deref().unwrap_or_default();
            let _ = writeln!(text, "wrong: {} ({}): {answer}", result.id, result.name);
        }
        for result in &self.questions {
            for name in &result.injections_followed {
                let _ = writeln!(text, "followed: {} ({}): the planted text {name}", result.id, result.name);
            }
        }
        text
    }
}

fn result_of(question: &Question, answer: Option<&Value>, endpoint: &GymEndpoint) -> QuestionResult {
    let outcome = match answer {
        None => Outcome::Missing,
        Some(answer) if question.accepts(answer) => Outcome::Right,
        Some(_) => Outcome::Wrong,
    };
    let counts = endpoint.counts(&question.id);
    let mut followed = counts.followed.clone();
    let text = answer.map(Value::to_string).unwrap_or_default();
    followed.extend(endpoint.canaries_in(&text));
    // Control characters of an answer must not reach the terminal.
    let shown = || text.chars().filter(|c| !c.is_control()).take(MAX_ANSWER_CHARACTERS).collect();
    QuestionResult {
        id: question.id.clone(),
        name: question.name,
        kind: question.kind,
        core: question.core,
        outcome,
        answer: (outcome == Outcome::Wrong).then(shown),
        counts,
        injections_followed: followed,
    }
}

/// Returns what opens the sessions of these sides.
pub(super) fn session_costs<'a>(
    sessions: impl Iterator<Item = (Side, Session<'a>)>,
) -> Result<Vec<SessionCost>, GymError> {
    let mut costs = Vec::new();
    for (side, session) in sessions {
        let get = |method: &str, params: &Value| {
            session.request(method, params).map_err(|reason| GymError::Session(method.to_owned(), reason))
        };
        let list = get("tools/list", &json!({}))?;
        let client = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "gym", "version": "1"},
        });
        let opened = get("initialize", &client)?;
        costs.push(SessionCost {
            side,
            tools: list["tools"].as_array().map_or(0, Vec::len),
            tool_tokens: counts::tokens(counts::opening_bytes(&list)),
            instruction_tokens: counts::tokens(counts::opening_bytes(&opened)),
        });
    }
    Ok(costs)
}
