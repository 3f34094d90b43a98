//! Questions about another market than the demo.

use marketplace::{fixtures, worlds};

use super::open;
use crate::harness::TestMarket;

#[test]
fn generated_market_is_answered_and_not_changed() {
    let market = TestMarket::empty();
    fixtures::generate(market.market(), 60, &()).unwrap();
    let directory = tempfile::tempdir().unwrap();
    worlds::copy_records(market.market(), &directory.path().join("market")).unwrap();
    let listings = |market: &TestMarket| {
        market.read(|reader| Ok(marketplace::store::teams::list(reader.rows)?.len())).unwrap()
    };
    let before = listings(&market);
    let opened = open(directory, market.clock().now(), 3);
    let gym = &opened.gym;
    assert!(gym.questions().len() >= 20, "{} questions, without {:?}", gym.questions().len(), gym.omitted());
    let answers = gym.reference_answers(|question, reason| panic!("{}: {reason}", question.name));
    let report = gym.report(&answers).unwrap();
    assert_eq!(report.total.right, report.total.questions, "{}", report.to_text());
    assert_eq!(listings(&market), before);
}
