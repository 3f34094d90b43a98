//! Changes that searches find before the engine has written them.

use marketplace_index::{Index, Scope};

use super::market::{TestIndex, listing_with_title};

#[test]
fn shown_changes_are_found_and_written_later() {
    let mut market = TestIndex::with_titles(&["robot arms", "kitchen robot", "gripper"]);
    let other = Index::open(market.directory.path()).unwrap();
    market.show(&[listing_with_title(2, "welding robots"), listing_with_title(4, "robot arm")], &[3]);
    let check = |market: &TestIndex| {
        assert_eq!(market.find("robots"), [4, 2, 1]);
        assert_eq!(market.find("\"robot arm\""), [4, 1]);
        assert_eq!((market.find("wel"), market.find("wedling")), (vec![2], vec![2]));
        assert_eq!((market.find("kitchen"), market.find("gripper")), (vec![], vec![]));
        assert_eq!(market.index.snapshot().count(Scope::Market), 3);
    };
    check(&market);
    assert!(market.writer().is_ahead() && !other.reload().unwrap());
    market.writer().flush().unwrap();
    check(&market);
    assert!(!market.writer().is_ahead() && other.reload().unwrap());
    assert_eq!(other.snapshot().fingerprints(), market.index.snapshot().fingerprints());
}

#[test]
fn repeatedly_shown_listing_is_found_once() {
    let mut market = TestIndex::with_titles(&["robot", "arm"]);
    for round in 0..100 {
        market.show(&[listing_with_title(1 + round % 40, &format!("kitchen round{round}"))], &[]);
        assert_eq!(market.find(&format!("round{round}")), [1 + round % 40]);
    }
    assert_eq!(market.find("kitchen").len(), 40);
    market.show(&[], &(1..=40).collect::<Vec<u64>>());
    assert_eq!(market.index.snapshot().count(Scope::Market), 0);
    market.finish();
    assert_eq!(market.index.snapshot().count(Scope::Market), 0);
}

#[test]
fn shown_changes_stay_visible_until_another_writer_has_made_them_again() {
    let mut market = TestIndex::with_titles(&["robot", "arm"]);
    market.show(&[listing_with_title(1, "kitchen")], &[2]);
    let index = market.index.clone();
    market.reopen();
    market.index = index.clone();
    let mut writer = index.writer(15_000_000, 1).unwrap();
    assert_eq!((writer.last_change(), index.snapshot().change()), (1, 2));
    let found = |title: &str| market.find(title).len();
    assert_eq!((found("kitchen"), found("robot"), found("arm")), (1, 0, 0));
    // The changes may differ from those that were shown.
    writer.put(&listing_with_title(1, "welding")).unwrap();
    writer.remove(2).unwrap();
    writer.show(2).unwrap();
    let check =
        || assert_eq!((found("welding"), found("kitchen"), found("robot"), found("arm")), (1, 0, 0, 0));
    check();
    writer.flush().unwrap();
    check();
}

#[test]
fn long_texts_are_written_at_once() {
    let mut market = TestIndex::with_titles(&["robot"]);
    let mut doc = listing_with_title(1, "kitchen");
    doc.text.description = "word ".repeat(20_000);
    market.show(std::slice::from_ref(&doc), &[]);
    assert!(market.writer().is_ahead());
    doc.listing = 2;
    market.show(&[doc], &[]);
    assert!(!market.writer().is_ahead(), "both together are too long to be built anew for each change");
    assert_eq!(market.find("kitchen").len(), 2);
    market.show(&[listing_with_title(3, "kitchen")], &[]);
    assert!(market.writer().is_ahead());
}
