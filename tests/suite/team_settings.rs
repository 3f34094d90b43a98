//! Settings that a team manages itself: the NDA, webhooks, upload grants, and notifications. It cannot see those of other
//! teams.

use marketplace::{
    domain::{
        assets::Exclusivity, events::EventType, grants::GrantState, listings::Actor,
        notifications::NotificationType, time::Timestamp,
    },
    error::Result,
    market::{Reader, Requester, Writer},
    operations::{
        access::{AuthenticatedTeam, Member, Platform, Vendor},
        nda,
        notifications::{self, MarkedRead},
        team_grants::{self, TeamGrantInput},
        team_webhooks,
        webhooks::CheckedUrl,
    },
    store::{self, nda_acceptances::NdaAcceptance},
    string_enum::StringEnum,
};
use serde_json::json;

use crate::{
    catalog::small_market::{published, small_market_with},
    harness::{
        TestMarket,
        teams::{team, vendor},
    },
};

const PLATFORM: Platform = Platform::of_process();

fn market() -> TestMarket {
    small_market_with(&[published("plain", 30, &json!({}))], &json!({}))
}

/// Performs an operation of a team.
fn act<T>(market: &TestMarket, key: &str, work: impl FnOnce(&mut Writer, &Member) -> Result<T>) -> Result<T> {
    market.write(|writer| {
        let member = member(writer.rows, key);
        work(writer, &member)
    })
}

/// Performs an operation of a vendor.
fn sell<T>(
    market: &TestMarket,
    key: &str,
    work: impl FnOnce(&mut Writer, &Vendor) -> Result<T>,
) -> Result<T> {
    market.write(|writer| {
        let vendor = vendor(writer.rows, key);
        work(writer, &vendor)
    })
}

fn member(rows: &store::Reader, key: &str) -> Member {
    PLATFORM.member(team(rows, key)).unwrap()
}

fn code<T>(result: Result<T>) -> Option<&'static str> {
    result.err().map(|error| error.code().unwrap().as_str())
}

fn needs_acceptance(market: &TestMarket) -> bool {
    market.read(|reader| nda::needs_acceptance(reader, &team(reader.rows, "seller"))).unwrap()
}

#[tokio::test]
async fn a_changed_nda_is_accepted_again() {
    let market = market();
    let authenticated =
        AuthenticatedTeam::authenticate(market.market(), Requester::process(), "mkt_seller").await.unwrap();
    assert!(!needs_acceptance(&market), "which text the team accepted is not known");
    let earlier = market
        .write(|writer| {
            let (seller, accepted_at) = (team(writer.rows, "seller"), writer.now);
            let other = NdaAcceptance { digest: [7; 32], accepted_by: None, accepted_at };
            store::nda_acceptances::insert(writer.rows, seller.row_id, &other)?;
            Ok(seller.nda_accepted_at)
        })
        .unwrap();
    assert!(needs_acceptance(&market));
    let digest = nda::current_text(market.market().settings()).hex_digest();
    let accept = |digest: &str| market.write(|writer| nda::accept(writer, &authenticated, digest));
    assert_eq!(code(accept(&"0".repeat(64))), Some("conflict"));
    assert!(needs_acceptance(&market));
    accept(&digest).unwrap();
    accept(&digest).unwrap();
    assert!(!needs_acceptance(&market));
    market
        .read(|reader| {
            let seller = team(reader.rows, "seller");
            assert_eq!(seller.nda_accepted_at, earlier, "the time of the first acceptance stays");
            let last = nda::last_acceptance(reader, &seller)?.unwrap();
            assert_eq!((last.accepted_by, last.accepted_by.is_some()), (authenticated.key_id(), true));
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_team_manages_its_own_webhooks() {
    let market = market();
    let settings = &market.market().settings().webhooks;
    let url = CheckedUrl::without_lookup(settings, "https://receiver.example/hook").unwrap();
    let types = [EventType::PurchaseCompleted];
    let (webhook, secret) = act(&market, "seller", |writer, seller| {
        team_webhooks::create(writer, seller, &url, "Orders", &types)
    })
    .unwrap();
    let id = webhook.id;
    let (_, rotated) =
        act(&market, "seller", |writer, seller| team_webhooks::rotate(writer, seller, id)).unwrap();
    assert!(secret != rotated);
    act(&market, "seller", |writer, seller| team_webhooks::test(writer, seller, id)).unwrap();
    let delivery = market
        .read(|reader| {
            let seller = member(reader.rows, "seller");
            assert_eq!(team_webhooks::list(reader, &seller)?.len(), 1);
            assert!(team_webhooks::list(reader, &member(reader.rows, "buyer"))?.is_empty());
            let deliveries = team_webhooks::list_deliveries(reader, &seller, id, None, 10)?;
            let types: Vec<EventType> = deliveries.iter().map(|delivery| delivery.event_type).collect();
            assert_eq!(types, [EventType::WebhookTested]);
            Ok(deliveries[0].id)
        })
        .unwrap();
    for stranger in ["buyer", "both"] {
        let rotated = act(&market, stranger, |writer, member| team_webhooks::rotate(writer, member, id));
        assert_eq!(code(rotated), Some("not_found"));
        let tested = act(&market, stranger, |writer, member| team_webhooks::test(writer, member, id));
        assert_eq!(code(tested), Some("not_found"));
        let redelivered =
            act(&market, stranger, |writer, member| team_webhooks::redeliver(writer, member, delivery));
        assert_eq!(code(redelivered), Some("not_found"));
        let deleted = act(&market, stranger, |writer, member| team_webhooks::delete(writer, member, id));
        assert_eq!(code(deleted), Some("not_found"));
    }
    act(&market, "seller", |writer, seller| {
        team_webhooks::redeliver(writer, seller, delivery)?;
        team_webhooks::delete(writer, seller, id)
    })
    .unwrap();
    let gone = market.read(|reader| team_webhooks::find(reader.rows, &member(reader.rows, "seller"), id));
    assert_eq!(code(gone), Some("not_found"));
}

#[test]
fn a_team_manages_its_own_upload_grants() {
    let market = market();
    let exclusivity = Exclusivity::Available;
    let input = TeamGrantInput { title: "Tide tables", exclusivity, group: None, max_bytes: None };
    let (grant, token) =
        sell(&market, "seller", |writer, seller| team_grants::create(writer, seller, &input)).unwrap();
    assert_eq!(token.len(), 32);
    let revoke =
        |team: &str| sell(&market, team, |writer, vendor| team_grants::revoke(writer, vendor, grant.id));
    assert_eq!(code(revoke("both")), Some("not_found"));
    revoke("seller").unwrap();
    market
        .read(|reader| {
            let listed = team_grants::list(reader, &vendor(reader.rows, "seller"), 10)?;
            let states: Vec<GrantState> = listed.iter().map(|grant| grant.state(reader.now)).collect();
            assert_eq!(states, [GrantState::Revoked]);
            assert!(team_grants::list(reader, &vendor(reader.rows, "both"), 10)?.is_empty());
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_team_marks_its_own_notifications_as_read() {
    let market = market();
    let unread = |team: &str| {
        market.read(|reader| notifications::unread_count(reader, &member(reader.rows, team))).unwrap()
    };
    let before = (unread("seller"), unread("buyer"));
    for key in ["seller", "seller", "buyer"] {
        market
            .write(|writer| {
                let team = team(writer.rows, key).row_id;
                notifications::send(
                    writer,
                    team,
                    NotificationType::SaleCompleted,
                    ("Sold", "A listing was sold."),
                    "/wallet",
                )
            })
            .unwrap();
    }
    assert_eq!((unread("seller"), unread("buyer")), (before.0 + 2, before.1 + 1));
    let newest = |team: &str| {
        let list = |reader: &Reader| notifications::list_newest(reader, &member(reader.rows, team), 1);
        market.read(list).unwrap().0[0].id
    };
    let (own, of_other) = (newest("seller"), newest("buyer"));
    let mark = |marked: MarkedRead| {
        act(&market, "seller", |writer, seller| {
            notifications::mark_read_by_team(writer, seller, Actor::Team, marked)
        })
    };
    assert_eq!(code(mark(MarkedRead::These(&[own, of_other]))), Some("not_found"));
    assert_eq!(unread("seller"), before.0 + 2);
    assert_eq!(mark(MarkedRead::These(&[own, own])).unwrap(), 1);
    assert_eq!(code(mark(MarkedRead::Until(of_other))), Some("not_found"));
    // What is written later stays unread, also if it has an earlier time.
    market
        .write(|writer| {
            let team = team(writer.rows, "seller").row_id;
            let sold = ("Sold before", "A listing was sold.");
            notifications::send(
                &writer.as_of(Timestamp(0)),
                team,
                NotificationType::SaleCompleted,
                sold,
                "/wallet",
            )
        })
        .unwrap();
    assert_eq!(mark(MarkedRead::Until(own)).unwrap(), before.0 + 1);
    assert_eq!((unread("seller"), unread("buyer")), (1, before.1 + 1));
}
