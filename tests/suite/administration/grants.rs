//! The lives of upload grants.

use marketplace::{domain::row_ids::GrantRowId, error::Error, operations::grants};

use super::{HOUR, event_types, events, problems, refusal, run_steps};
use crate::{
    catalog::small_market::small_market,
    harness::{TestMarket, grant_input},
};

fn create(market: &TestMarket) -> GrantRowId {
    let grant = grant_input("Seller house", "Code");
    market.write(|writer| grants::create(writer, &grant)).unwrap().0
}

#[test]
fn grant_expires_once_at_its_time() {
    let market = small_market(&[]);
    create(&market);
    market.clock().advance(30 * HOUR);
    for _ in 0..2 {
        run_steps(&market);
    }
    let found = events(&market, &["upload_grant."]);
    assert_eq!(event_types(&market, &["upload_grant."]), ["upload_grant.created", "upload_grant.expired"]);
    assert_eq!(found[1].occurred_at, "2026-03-02T09:00:00.000Z");
    assert!(found[1].has_team && found[1].subject == found[0].subject);
    assert_eq!(found[1].data["grant_id"], found[0].subject);
}

#[test]
fn grant_that_has_ended_is_not_revoked() {
    let market = small_market(&[]);
    let [revoked, expired] = [create(&market), create(&market)];
    let revoke = |grant| market.write(|writer| grants::revoke(writer, grant));
    revoke(revoked).unwrap();
    market.clock().advance(24 * HOUR);
    assert_eq!(refusal(revoke(revoked)), ("revoked", vec![]));
    assert_eq!(refusal(revoke(expired)), ("expired", vec![]));
    assert!(matches!(revoke(GrantRowId(99)), Err(Error::NotFound(_))));
    let expected = ["created", "created", "revoked", "expired"].map(|verb| format!("upload_grant.{verb}"));
    assert_eq!(event_types(&market, &["upload_grant."]), expected);
}

#[test]
fn expired_grant_stays_expired_when_the_clock_jumps_back() {
    let market = small_market(&[]);
    let grant = create(&market);
    market.clock().advance(24 * HOUR);
    run_steps(&market);
    market.clock().advance(-HOUR);
    assert_eq!(refusal(market.write(|writer| grants::revoke(writer, grant))), ("expired", vec![]));
    market.clock().advance(HOUR);
    run_steps(&market);
    assert_eq!(event_types(&market, &["upload_grant.expired"]).len(), 1);
}

#[test]
fn title_of_a_grant_has_bounds() {
    let market = small_market(&[]);
    for title in ["", " ", "a\nb", &"x".repeat(201)] {
        let grant = grant_input("Seller house", title);
        assert_eq!(problems(market.write(|writer| grants::create(writer, &grant))).len(), 1, "{title:?}");
    }
}
