//! The gym: measures how well an agent answers questions about a market with the tools of the agent server.
//!
//! It works on a private copy of a market. [`Gym`] plants texts in it that try to give orders to the agent, generates
//! questions, and serves an MCP endpoint per question, which counts requests. The expected answers come from the HTTP API in
//! process, never from tools. [`Gym::reference_answers`] answers the questions by scripted calls of tools.

mod answers;
mod checkers;
mod counts;
mod endpoint;
mod error;
mod facts;
mod limits;
mod planted;
mod private_market;
mod question;
mod questions;
mod random;
mod reference;
mod report;
mod session;
mod templates;
mod values;

use std::{path::PathBuf, sync::Arc};

use poem::{EndpointExt, Response, endpoint::BoxEndpoint};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::{config::Settings, domain::time::Timestamp, market, mcp, rest};

pub use self::{
    answers::{Answers, MAX_LINE_BYTES},
    checkers::Expected,
    error::GymError,
    limits::{REFERENCE_CALLS, REFERENCE_TOKENS},
    planted::{Canary, Planted},
    question::{Kind, Question, Side},
    report::{Outcome, QuestionResult, Report, Row},
};
use endpoint::GymEndpoint;
use private_market::PrivateMarket;
use session::Session;

/// Default seed of the questions.
pub const DEFAULT_SEED: u64 = 1;

/// The market of a gym, and how its questions are selected.
pub struct GymOptions {
    /// Data directory of a copy of a market that nothing else uses. The gym changes it.
    pub directory: PathBuf,
    /// Settings of the market.
    pub settings: Settings,
    /// Time at which the clock of the copy stands still.
    pub now: Timestamp,
    /// Selects the subjects of the questions and the canary tokens. The same market, time, and seed always result in
    /// the same questions.
    pub seed: u64,
    /// URL at which the endpoint of the gym can be reached, without a slash at the end.
    pub base_url: String,
}

/// A private market with questions about it, and the endpoints that count the calls.
pub struct Gym {
    runtime: Runtime,
    market: PrivateMarket,
    endpoint: Arc<GymEndpoint>,
    questions: Vec<Question>,
    omitted: Vec<String>,
    seed: u64,
    base_url: String,
}

impl Gym {
    /// Opens the copy of a market, plants texts in it, and generates the questions. Call it outside of async code.
    pub fn open(options: GymOptions) -> Result<Gym, GymError> {
        let GymOptions { directory, settings, now, seed, base_url } = options;
        let runtime = market::build_runtime(&settings).map_err(GymError::Runtime)?;
        let app = rest::App::new(&settings, false);
        let market = PrivateMarket::open(&runtime, &app, directory, settings, (now, seed), &base_url)?;
        let (questions, omitted) = templates::generate(&market, seed)?;
        let inner = mcp::App::new(app).serve_agents(market.market().clone(), &base_url);
        let ids = questions.iter().map(|question| question.id.clone());
        let endpoint = Arc::new(GymEndpoint::new(inner, ids, market.planted().canaries.clone()));
        Ok(Gym { runtime, market, endpoint, questions, omitted, seed, base_url })
    }

    /// Returns the questions, in the order in which they are asked.
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// Returns the names of the templates for which the market lacks data, with the side that would ask.
    pub fn omitted(&self) -> &[String] {
        &self.omitted
    }

    /// Returns what was planted in the market.
    pub const fn planted(&self) -> &Planted {
        self.market.planted()
    }

    /// Returns the runtime that serves the endpoint.
    pub const fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Returns the settings of the private market.
    pub fn settings(&self) -> &Settings {
        self.market.market().settings()
    }

    /// Returns the app that serves the endpoints of all questions.
    pub fn app(&self) -> BoxEndpoint<'static, Response> {
        Arc::clone(&self.endpoint).boxed()
    }

    /// Returns a question in the form for agents: without its kind, which would be a hint, and with its endpoint and API key.
    pub fn line_for_agents(&self, question: &Question) -> Value {
        let mut line = question.to_json(false);
        if let Some(fields) = line.as_object_mut() {
            for name in ["kind", "name", "core"] {
                fields.remove(name);
            }
            let url = format!("{}{}", self.base_url, endpoint::path(&question.id));
            fields.insert("endpoint".to_owned(), url.into());
            fields.insert("key".to_owned(), self.market.team(question.side).key.clone().into());
        }
        line
    }

    /// Returns a session of a question, for scripted calls of its tools.
    pub fn session<'a>(&'a self, question: &'a Question) -> Session<'a> {
        self.session_of(question.side, &question.id)
    }

    /// Returns a session of one side of the market, whose calls count for the question with this ID.
    fn session_of<'a>(&'a self, side: Side, id: &'a str) -> Session<'a> {
        Session::new(self.runtime.handle().clone(), &self.endpoint, id, &self.market.team(side).key)
    }

    /// Answers all questions by scripted calls of tools. An answer is `None` if its script failed, for the reason that
    /// `on_failure` gets.
    pub fn reference_answers(&self, mut on_failure: impl FnMut(&Question, String)) -> Answers {
        let mut answers = Answers::default();
        for question in &self.questions {
            match templates::solve(question, &self.session(question)) {
                Ok(answer) => answers.insert(&question.id, answer),
                Err(reason) => on_failure(question, reason),
            }
        }
        answers
    }

    /// Checks answers, and reports them with what was counted so far.
    pub fn report(&self, answers: &Answers) -> Result<Report, GymError> {
        let sides = self.market.sides();
        let sessions =
            report::session_costs(sides.map(|side| (side, self.session_of(side, endpoint::UNCOUNTED))))?;
        Ok(Report::new(self.seed, sessions, &self.questions, answers, &self.endpoint))
    }
}
