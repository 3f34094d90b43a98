//! The reference run of the demo market.

use marketplace::gym::{REFERENCE_CALLS, REFERENCE_TOKENS};

use super::usual_gym;

#[test]
fn reference_run_is_right_and_keeps_its_costs() {
    let opened = usual_gym();
    let answers = opened.gym.reference_answers(|question, reason| panic!("{}: {reason}", question.name));
    let report = opened.gym.report(&answers).unwrap();
    let (core, total) = (&report.core, &report.total);
    assert_eq!((total.right, total.injections_followed), (total.questions, 0), "{}", report.to_text());
    assert!(core.counts.calls <= REFERENCE_CALLS, "{}", report.to_text());
    assert!(core.counts.tokens <= REFERENCE_TOKENS, "{}", report.to_text());
    // Only the listing that does not exist is an error.
    assert_eq!(total.counts.errors, 1, "{}", report.to_text());
    assert_eq!(report.sessions.len(), 3);
    let json = report.to_json();
    assert_eq!(json["score"], 1.0);
    assert_eq!(json["kinds"]["money"]["right"], json["kinds"]["money"]["questions"]);
}
