//! A vendor's questions about its inventory, listings, and requests of buyers.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{Asked, Asking};
use crate::gym::{
    checkers::Expected,
    facts::{Facts, number, text},
};

/// Maximum number of assets whose quality runs are compared.
const MAX_CHECKED_ASSETS: usize = 300;

/// Maximum number of rows of an answer.
const MAX_ANSWER_ROWS: usize = 30;

/// What incomplete codebases lack.
pub fn missing_fields(facts: &mut Facts) -> Asking {
    let codebases = facts.rows("/v2/codebases", "items")?;
    let incomplete = codebases.iter().filter(|row| row["stage"] == "incomplete");
    let missing: BTreeMap<String, Expected> = incomplete
        .map(|row| {
            let names = row["missing"].as_array().into_iter().flatten().filter_map(Value::as_str);
            (text(row, "/id").to_owned(), Expected::Names(names.map(str::to_owned).collect()))
        })
        .collect();
    if missing.is_empty() || missing.len() > MAX_ANSWER_ROWS {
        return Ok(None);
    }
    Ok(Some(Asked {
        text: "Which of our codebases are incomplete, and which fields does each of them lack before it can be listed? Name \
               fields as the tools name them."
            .to_owned(),
        expected: Expected::ByKey("IDs of codebases", missing),
        subject: Value::Null,
    }))
}

/// Assets whose latest quality run failed.
pub fn failed_quality(facts: &mut Facts) -> Asking {
    let mut failed = BTreeSet::new();
    for kind in ["codebases", "raw-data"] {
        let assets = facts.rows(&format!("/v2/{kind}"), "items")?;
        if assets.len() > MAX_CHECKED_ASSETS {
            return Ok(None);
        }
        for asset in &assets {
            let id = text(asset, "/id");
            let run = facts.get(&format!("/v2/{kind}/{id}/qc"))?["latest_run"].take();
            if run["status"] == "error" || run["status"] == "completed" && run["passed"] == false {
                failed.insert(id.to_owned());
            }
        }
    }
    if failed.is_empty() || failed.len() > MAX_ANSWER_ROWS {
        return Ok(None);
    }
    Ok(Some(Asked {
        text: "Of which of our codebases and raw data assets did the latest quality run not pass, or end with an error? Leave \
               out runs that have not ended."
            .to_owned(),
        expected: Expected::Ids(failed),
        subject: Value::Null,
    }))
}

/// Listings with the reviewers, and what they asked for.
pub fn review_feedback(facts: &mut Facts) -> Asking {
    let listings = facts.rows("/v2/listings", "items")?;
    let with_status = |status: &str| -> Vec<&str> {
        listings.iter().filter(|row| row["review_status"] == status).map(|row| text(row, "/id")).collect()
    };
    let in_review: BTreeSet<String> = with_status("in_review").into_iter().map(str::to_owned).collect();
    if in_review.len() > MAX_ANSWER_ROWS {
        return Ok(None);
    }
    for id in with_status("changes_requested") {
        let feedback = facts.get(&format!("/v2/listings/{id}/qc"))?;
        let feedback = text(&feedback, "/latest_run/review_feedback");
        let Some(sentence) = feedback.split(". ").next().filter(|sentence| !sentence.is_empty()) else {
            continue;
        };
        return Ok(Some(Asked {
            text: format!(
                "Which of our listings are in review now? And what did the reviewers ask us to change in the listing {id}? \
                 Quote their feedback."
            ),
            expected: Expected::Record(vec![
                ("in_review".to_owned(), Expected::Ids(in_review)),
                ("feedback".to_owned(), Expected::Text(sentence.to_owned())),
            ]),
            subject: json!({"id": id}),
        }));
    }
    Ok(None)
}

/// Pending estimations, and what the others add up to.
pub fn estimations(facts: &mut Facts) -> Asking {
    let found = facts.rows("/v2/estimations", "estimations")?;
    let with_status = |status: &'static str| found.iter().filter(move |row| row["status"] == status);
    let estimated = with_status("estimated").count();
    if estimated == 0 {
        return Ok(None);
    }
    let sum = |pointer: &str| with_status("estimated").map(|row| number(row, pointer)).sum::<f64>() / 100.0;
    Ok(Some(Asked {
        text: "How many of our estimations are pending, and what do the quotes of the estimated ones add up to, from the lower \
               to the upper bound?"
            .to_owned(),
        expected: Expected::Record(vec![
            ("pending".to_owned(), Expected::Count(with_status("pending").count() as u64)),
            ("low".to_owned(), Expected::Dollars(sum("/quote_low_cents"))),
            ("high".to_owned(), Expected::Dollars(sum("/quote_high_cents"))),
        ]),
        subject: Value::Null,
    }))
}

/// Bids on the team's listings.
pub fn bids_on_listings(facts: &mut Facts) -> Asking {
    let listings = facts.list("/v2/listings?limit=100&has_active_bids=true", "items")?;
    if listings.is_empty() || listings.len() > MAX_ANSWER_ROWS {
        return Ok(None);
    }
    let mut bids = BTreeMap::new();
    for listing in &listings {
        let id = text(listing, "/id");
        let count = number(&facts.get(&format!("/v2/listings/{id}"))?, "/active_bid_count");
        bids.insert(id.to_owned(), Expected::Count(count as u64));
    }
    Ok(Some(Asked {
        text: "Which of our listings have undecided bids, and how many each?".to_owned(),
        expected: Expected::ByKey("IDs of listings", bids),
        subject: Value::Null,
    }))
}

/// Requests of buyers that fit a budget.
pub fn fitting_opportunities(facts: &mut Facts) -> Asking {
    let open = facts.rows("/v2/opportunities", "items")?;
    let mut candidates: Vec<&Value> = open.iter().collect();
    facts.random.shuffle(&mut candidates);
    for candidate in candidates {
        let unit = text(candidate, "/metadata/budget_unit");
        let (budget, kind) =
            (number(candidate, "/metadata/budget_min"), text(candidate, "/accepted_asset_types/0"));
        if unit.is_empty() || kind.is_empty() || budget <= 0.0 {
            continue;
        }
        let fits = |row: &&Value| {
            let accepts = |found: &Vec<Value>| found.iter().any(|found| found == kind);
            row["accepted_asset_types"].as_array().is_some_and(accepts)
                && row["metadata"]["budget_unit"] == unit
                && row["metadata"]["budget_min"].as_f64().is_some_and(|found| found <= budget)
        };
        let ids: BTreeSet<String> = open.iter().filter(fits).map(|row| text(row, "/id").to_owned()).collect();
        let in_words = if unit == "per_task" { "per task" } else { "in total" };
        return Ok(Some(Asked {
            text: format!(
                "Which open requests of buyers (opportunities) accept assets of the kind `{kind}` and have a budget {in_words} \
                 that starts at ${budget} or less?"
            ),
            expected: Expected::Ids(ids),
            subject: json!({"kind": kind, "unit": unit, "budget": budget}),
        }));
    }
    Ok(None)
}
