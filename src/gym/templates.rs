//! The table of all templates: for each, the asking team, the function that makes a question from a market, and the calls of
//! the reference run.

use serde_json::Value;

use super::{
    error::GymError,
    facts::Facts,
    private_market::PrivateMarket,
    question::{Kind, Question, Side},
    questions::{self as ask, Asking},
    reference::{self as solve_by, Answer},
    session::Session,
};
use crate::string_enum::StringEnum;

/// A template of questions.
struct Template {
    name: &'static str,
    kind: Kind,
    side: Side,
    core: bool,
    ask: fn(&mut Facts) -> Asking,
    solve: fn(&Session, &Value) -> Answer,
}

/// Declares templates that have the same kind and side. The name is that of the functions.
macro_rules! templates {
    ($($kind:ident $side:ident $core:literal $ask:ident $solve:ident: $($name:ident)+;)+) => {
        [$($(Template {
            name: stringify!($name),
            kind: Kind::$kind,
            side: Side::$side,
            core: $core,
            ask: ask::$ask::$name,
            solve: solve_by::$solve::$name,
        }),+),+]
    };
}

/// Templates whose functions have their names.
const TEMPLATES: [Template; 45] = templates! {
    Buyer Buyer true catalog catalog:
        cheapest_certified median_by_tier price_per_task free_samples certification_evidence taskset_columns;
    Buyer Buyer true buyer buyer: spending_by_month pending_bids latest_checkout next_deadline;
    Buyer Buyer false buyer buyer: project_bids;
    Buyer Buyer false catalog catalog: certified_environments;
    Vendor Vendor true vendor vendor:
        missing_fields failed_quality review_feedback estimations bids_on_listings fitting_opportunities;
    Vendor Vendor true vendor_money vendor: earnings_by_month next_release best_seller wallet;
    Both Both false both both: balance_of_month bids_on_both_sides bought_from project_bids_on_both_sides;
    Unanswerable Buyer false unanswerable unanswerable: other_buyers missing_listing drafts_of_others ungraded_task;
    Unanswerable Vendor false unanswerable unanswerable: buyer_of_sale bidder;
    Long Buyer false long long: listings_of_vendor first_purchase end_of_description;
    Long Vendor false long long: files_of_codebase;
    Money Vendor false money money: median_sale fees_of_month gross_and_net highest_quote refunds;
    Money Buyer false money money: buyer_fees average_price;
    Money Both false money money: gross_and_net buyer_fees;
};

/// Returns the templates about the planted listings.
fn planted_templates(names: &[&'static str]) -> Vec<(Kind, &'static str)> {
    let kind = |name: &str| if name.starts_with("hidden") { Kind::Hidden } else { Kind::Injection };
    names.iter().map(|name| (kind(name), *name)).collect()
}

/// Generates the questions of all templates. Returns them with the names and sides of the templates for which the market lacks
/// data.
pub fn generate(market: &PrivateMarket, seed: u64) -> Result<(Vec<Question>, Vec<String>), GymError> {
    let (mut questions, mut omitted) = (Vec::new(), Vec::new());
    let mut add = |name: &'static str, kind, side: Side, core, asked: Asking| -> Result<(), GymError> {
        match asked? {
            None => omitted.push(format!("{name} ({})", side.as_str())),
            Some(asked) => questions.push(Question {
                id: format!("q{:02}", questions.len() + 1),
                name,
                kind,
                side,
                team: market.team(side).name.clone(),
                core,
                text: asked.text,
                expected: asked.expected,
                subject: asked.subject,
            }),
        }
        Ok(())
    };
    for Template { name, kind, side, core, ask, .. } in TEMPLATES {
        let asked = if market.has(side) { ask(&mut Facts::new(market, side, seed, name)) } else { Ok(None) };
        add(name, kind, side, core, asked)?;
    }
    let names: Vec<&'static str> = market.planted().canaries.iter().map(|canary| canary.name).collect();
    for (kind, name) in planted_templates(&names) {
        let side = if market.has(Side::Buyer) { Side::Buyer } else { Side::Both };
        add(name, kind, side, false, ask::planted::price(&mut Facts::new(market, side, seed, name), name))?;
    }
    Ok((questions, omitted))
}

/// Function that answers a question with a fixed sequence of tool calls.
pub fn solve(question: &Question, session: &Session) -> Answer {
    let is_template = |template: &&Template| {
        template.name == question.name && template.kind == question.kind && template.side == question.side
    };
    match TEMPLATES.iter().find(is_template) {
        Some(template) => (template.solve)(session, &question.subject),
        None => solve_by::planted::price(session, &question.subject),
    }
}
