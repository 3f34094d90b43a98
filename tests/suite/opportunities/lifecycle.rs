//! Opportunities from draft to closed or canceled: who sees them, who is told, and what time does.

use marketplace::{
    clock::fixture_record_id,
    domain::{
        changes::Change,
        events::EventType,
        listings::Actor,
        opportunities::{Opportunity, OpportunityKind},
        opportunity_fields::{OpportunityChange, OpportunityFields},
        time::Timestamp,
    },
    operations::opportunities::{self, MAX_UNFINISHED, cancel, close, publish},
    store::{self, teams::NewTeam},
};
use serde_json::json;
use uuid::Uuid;

use super::{
    BOTH, BUYER, DAY, OTHER, SELLER, all_events, buyer, create, event_views, events_of, fields,
    notification_types, notifications_of, now, perform, refusal,
};
use crate::{
    catalog::small_market::{small_market, small_market_with},
    harness::TestMarket,
};

const LISTING: OpportunityKind = OpportunityKind::Listing;

async fn statuses(market: &TestMarket, id: Uuid) -> Vec<u16> {
    let mut statuses = Vec::new();
    for key in [SELLER, BOTH] {
        statuses.push(market.get(key, &format!("/v2/opportunities/{id}")).await.status);
    }
    statuses
}

async fn open_count(market: &TestMarket) -> usize {
    let page = market.get(SELLER, "/v2/opportunities").await.ok();
    page["items"].as_array().unwrap().len()
}

#[tokio::test]
async fn published_opportunity_is_visible_and_every_vendor_is_told_once() {
    let market = small_market(&[]);
    let id = create(&market, 1, LISTING, &fields("Maps")).unwrap();
    assert_eq!((open_count(&market).await, statuses(&market, id).await), (0, vec![404, 404]));
    let own = market.get(BUYER, &format!("/v2/buyer/opportunities/{id}")).await.ok();
    assert_eq!((&own["status"], &own["closed_at"]), (&json!("draft"), &json!(null)));

    perform(&market, publish, id, LISTING).unwrap();
    assert_eq!((open_count(&market).await, statuses(&market, id).await), (1, vec![200, 200]));
    let mut ids = Vec::new();
    for (key, title) in
        [(SELLER, "New request: Maps"), (BOTH, "New request: Maps"), (BUYER, "Your request is published")]
    {
        let all = notifications_of(&market, key).await;
        assert_eq!(all.len(), 1, "{key}");
        let notification = &all[0];
        assert_eq!(
            (&notification["type"], &notification["title"]),
            (&json!("opportunity_published"), &json!(title))
        );
        assert_eq!(notification["opportunity_id"], id.to_string());
        ids.push(notification["id"].as_str().unwrap().to_owned());
    }
    assert!(notifications_of(&market, OTHER).await.is_empty());
    let distinct: std::collections::BTreeSet<_> = ids.iter().collect();
    assert_eq!(distinct.len(), 3);

    // The same operations in another market give the same IDs.
    let twin = small_market(&[]);
    create(&twin, 1, LISTING, &fields("Maps")).unwrap();
    perform(&twin, publish, id, LISTING).unwrap();
    assert_eq!(notifications_of(&twin, SELLER).await[0]["id"], ids[0].as_str());
}

#[tokio::test]
async fn excluded_team_neither_sees_nor_hears_of_an_opportunity() {
    let market = small_market(&[]);
    let seller = fixture_record_id("teams", "seller");
    let id = create(&market, 1, LISTING, &fields("Maps")).unwrap();
    let exclude = |teams: &[Uuid]| {
        market.write(|writer| {
            let owner = buyer(writer.rows, "buyer");
            opportunities::exclude(writer, &owner, Actor::Team, (id, LISTING), teams)
        })
    };
    assert_eq!(refusal(exclude(&[seller, Uuid::nil()])), "team_ids.1 unknown_reference");
    assert_eq!(refusal(exclude(&[Uuid::nil(); 101])), "team_ids too_long");
    exclude(&[seller, seller]).unwrap();
    perform(&market, publish, id, LISTING).unwrap();
    assert_eq!(statuses(&market, id).await, [404, 200]);
    assert!(notifications_of(&market, SELLER).await.is_empty());
    let own = market.get(BUYER, &format!("/v2/buyer/opportunities/{id}")).await.ok();
    assert_eq!(
        (&own["visibility_mode"], &own["excluded_team_ids"]),
        (&json!("all_except"), &json!([seller.to_string()]))
    );

    // A team that was told before can still read it, but is told nothing more.
    exclude(&[fixture_record_id("teams", "both")]).unwrap();
    assert_eq!(statuses(&market, id).await, [404, 200]);
    perform(&market, close, id, LISTING).unwrap();
    assert_eq!(notification_types(&market, BOTH).await, ["opportunity_published"]);
    assert_eq!(refusal(exclude(&[seller])), "from closed: ");
    let excluded = events_of(&market, "opportunity");
    let counts: Vec<_> = excluded
        .iter()
        .filter(|(kind, ..)| *kind == EventType::OpportunityTeamsExcluded)
        .map(|(_, team, data)| (*team, data["excluded"]["count"].clone()))
        .collect();
    let owner = Some(fixture_record_id("teams", "buyer"));
    assert_eq!(counts, [(owner, json!(1)), (owner, json!(1))]);
}

#[tokio::test]
async fn closed_and_canceled_opportunities_notify_who_was_told_of_them() {
    let market = small_market(&[]);
    let (closed, canceled) = (
        create(&market, 1, LISTING, &fields("A")).unwrap(),
        create(&market, 2, LISTING, &fields("B")).unwrap(),
    );
    assert_eq!(
        refusal(perform(&market, cancel, canceled, LISTING)),
        "from draft: update, exclude, publish, close"
    );
    for id in [closed, canceled] {
        perform(&market, publish, id, LISTING).unwrap();
    }
    perform(&market, close, closed, LISTING).unwrap();
    perform(&market, cancel, canceled, LISTING).unwrap();
    for key in [SELLER, BOTH, BUYER] {
        let types = notification_types(&market, key).await;
        assert_eq!(types[2..], ["opportunity_closed", "opportunity_cancelled"], "{key}");
    }
    assert!(notifications_of(&market, OTHER).await.is_empty());
    // Both were told of them, so both can read them in any status.
    assert_eq!(
        (statuses(&market, closed).await, statuses(&market, canceled).await),
        (vec![200; 2], vec![200; 2])
    );
    assert_eq!(open_count(&market).await, 0);
    for (id, is_closed) in [(closed, true), (canceled, false)] {
        let own = market.get(BUYER, &format!("/v2/buyer/opportunities/{id}")).await.ok();
        assert_eq!(own["closed_at"].is_string(), is_closed);
        for operation in [publish, close, cancel] {
            assert!(refusal(perform(&market, operation, id, LISTING)).starts_with("from c"));
        }
    }
}

#[tokio::test]
async fn closed_draft_is_shown_to_nobody() {
    let market = small_market(&[]);
    let id = create(&market, 1, LISTING, &fields("Maps")).unwrap();
    perform(&market, close, id, LISTING).unwrap();
    assert_eq!(statuses(&market, id).await, [404, 404]);
    for key in [SELLER, BOTH, BUYER] {
        assert!(notifications_of(&market, key).await.is_empty());
    }
    assert_eq!(
        event_views(&market, "opportunity"),
        ["opportunity.created buyer", "opportunity.closed buyer"]
    );
}

/// "Once published, only its deadline may change, and only to later."
#[tokio::test]
async fn published_opportunity_allows_only_a_later_deadline() {
    let market = small_market(&[]);
    let id = create(&market, 1, LISTING, &fields("Maps")).unwrap();
    let update = |change: OpportunityChange| {
        market.write(|writer| {
            let owner = buyer(writer.rows, "buyer");
            opportunities::update(writer, &owner, Actor::Team, (id, LISTING), change)
        })
    };
    let title = || OpportunityChange { title: Some("Globes".to_owned()), ..OpportunityChange::default() };
    let deadline = |days: i64| OpportunityChange {
        deadline: Change::Set(Timestamp(now().0 + days * DAY)),
        ..OpportunityChange::default()
    };
    assert_eq!(update(title()).unwrap().title, "Globes");
    update(deadline(5)).unwrap();
    assert_eq!(refusal(update(deadline(-1))), "deadline value_error");
    perform(&market, publish, id, LISTING).unwrap();
    assert_eq!(refusal(update(title())), "from published: extend_deadline, exclude, close, cancel");
    let both = OpportunityChange { deadline: deadline(9).deadline, ..title() };
    assert_eq!(refusal(update(both)), "from published: extend_deadline, exclude, close, cancel");
    let cleared = OpportunityChange { deadline: Change::Clear, ..OpportunityChange::default() };
    for earlier in [deadline(4), deadline(5), deadline(100_000), cleared] {
        assert_eq!(refusal(update(earlier)), "deadline value_error");
    }
    update(deadline(6)).unwrap();
    let own = market.get(SELLER, &format!("/v2/opportunities/{id}")).await.ok();
    assert_eq!((&own["title"], &own["deadline"]), (&json!("Globes"), &json!("2026-03-07T09:00:00.000Z")));
}

/// Nobody can change the day of the evaluation any more, so the problem is at the deadline.
#[tokio::test]
async fn published_deadline_is_not_moved_beyond_the_evaluation() {
    let market = small_market(&[]);
    let project =
        OpportunityFields { evaluation_date: Some(Timestamp(now().0 + 12 * DAY)), ..fields("Labels") };
    let kind = OpportunityKind::Project;
    let id = create(&market, 1, kind, &project).unwrap();
    let extend = |days: i64| {
        let change = OpportunityChange {
            deadline: Change::Set(Timestamp(now().0 + days * DAY)),
            ..OpportunityChange::default()
        };
        market.write(|writer| {
            let owner = buyer(writer.rows, "buyer");
            opportunities::update(writer, &owner, Actor::Team, (id, kind), change)
        })
    };
    assert_eq!(refusal(extend(13)), "evaluation_date value_error", "of a draft");
    perform(&market, publish, id, kind).unwrap();
    assert_eq!(refusal(extend(13)), "deadline value_error");
    assert_eq!(extend(12).unwrap().deadline, project.evaluation_date);
}

/// Returns the days from now on which deadlines have passed.
fn passed_days(market: &TestMarket) -> Vec<i64> {
    let all = all_events(market).into_iter();
    let passed = all.filter(|event| event.event_type == EventType::OpportunityDeadlinePassed);
    passed.map(|event| (event.occurred_at.0 - now().0) / DAY).collect()
}

/// "When the deadline passes, `opportunity.deadline_passed` is written and the status stays published."
#[tokio::test]
async fn deadline_passes_once_at_its_time() {
    let market = small_market(&[]);
    let id = create(&market, 1, LISTING, &fields("Maps")).unwrap();
    perform(&market, publish, id, LISTING).unwrap();
    let passed = || passed_days(&market);
    market.clock().advance(9 * DAY);
    market.run_background();
    assert!(passed().is_empty());
    // The server was down when the deadline passed.
    market.clock().advance(30 * DAY);
    assert_eq!(open_count(&market).await, 0);
    for _ in 0..2 {
        market.run_background();
        assert_eq!(passed(), [10, 10], "one for the owner, and one for the vendors that were told");
    }
    let own = market.get(BUYER, &format!("/v2/buyer/opportunities/{id}")).await.ok();
    assert_eq!(own["status"], "published");
    // A later deadline opens it again, and passes in turn.
    let change = OpportunityChange {
        deadline: Change::Set(Timestamp(now().0 + 50 * DAY)),
        ..OpportunityChange::default()
    };
    market
        .write(|writer| {
            let owner = buyer(writer.rows, "buyer");
            opportunities::update(writer, &owner, Actor::Team, (id, LISTING), change)
        })
        .unwrap();
    assert_eq!(open_count(&market).await, 1);
    market.clock().advance(30 * DAY);
    market.run_background();
    assert_eq!(passed(), [10, 10, 50, 50]);
    // One that is closed before has none.
    let closed = create(&market, 2, LISTING, &{
        let mut later = fields("B");
        later.deadline = Some(Timestamp(now().0 + 80 * DAY));
        later
    })
    .unwrap();
    perform(&market, publish, closed, LISTING).unwrap();
    perform(&market, close, closed, LISTING).unwrap();
    market.clock().advance(30 * DAY);
    market.run_background();
    assert_eq!(passed().len(), 4);
}

#[tokio::test]
async fn deadlines_of_fixtures_pass() {
    let record = |key: &str, status: &str, deadline: &str| {
        json!({"key": key, "owner": "buyer", "title": key, "description": "D", "status": status,
            "visibility_mode": "all_vendors", "created_at": "-P9D", "deadline": deadline})
    };
    let records = [("past", "published", "-P1D"), ("next", "published", "P1D"), ("draft", "draft", "P1D")];
    let records: Vec<_> = records.into_iter().map(|(key, status, at)| record(key, status, at)).collect();
    let market = small_market_with(&[], &json!({"opportunities": records}));
    let passed = || passed_days(&market);
    assert_eq!(passed(), [-1]);
    market.clock().advance(2 * DAY);
    market.run_background();
    assert_eq!(passed(), [-1, 1]);
}

#[tokio::test]
async fn draft_whose_deadline_has_passed_cannot_be_published() {
    let market = small_market(&[]);
    let id = create(&market, 1, LISTING, &fields("Maps")).unwrap();
    market.clock().advance(11 * DAY);
    assert_eq!(refusal(perform(&market, publish, id, LISTING)), "deadline value_error");
}

#[tokio::test]
async fn only_the_owner_can_change_an_opportunity() {
    let market = small_market(&[]);
    let id = create(&market, 1, LISTING, &fields("Maps")).unwrap();
    for key in ["other", "both"] {
        for operation in [publish, close, cancel] {
            let foreign = market.write(|writer| {
                let other = buyer(writer.rows, key);
                operation(writer, &other, Actor::Team, (id, LISTING))
            });
            assert_eq!(refusal(foreign), "not_found");
        }
    }
    // Nor is an opportunity for listings a project opportunity.
    assert_eq!(refusal(perform(&market, publish, id, OpportunityKind::Project)), "not_found");
    let mut invalid = fields("");
    invalid.excluded_team_ids = vec![Uuid::nil()];
    assert_eq!(
        refusal(create(&market, 2, LISTING, &invalid)),
        "title string_too_short, excluded_team_ids value_error, excluded_team_ids.0 unknown_reference"
    );
}

#[tokio::test]
async fn unfinished_opportunities_of_a_team_are_limited() {
    let market = small_market(&[]);
    for number in 0..MAX_UNFINISHED {
        create(&market, 1 + u128::from(number), LISTING, &fields("Maps")).unwrap();
    }
    assert_eq!(refusal(create(&market, 0, LISTING, &fields("Maps"))), "quota_exceeded");
    perform(&market, close, Uuid::from_u128(1), LISTING).unwrap();
    create(&market, 0, LISTING, &fields("Maps")).unwrap();
}

/// "A bulk act writes one event with a count and up to 100 ids", and bulk notifications are one statement.
#[tokio::test]
async fn cost_of_publishing_does_not_depend_on_the_number_of_vendors() {
    let market = small_market(&[]);
    let publish_next = |number: u128| {
        let id = create(&market, number, LISTING, &fields("Maps")).unwrap();
        let before = market.market().statement_count();
        perform(&market, publish, id, LISTING).unwrap();
        market.market().statement_count() - before
    };
    let cost = publish_next(1);
    market
        .write(|writer| {
            for number in 0..300_u128 {
                let id = Uuid::from_u128(1_000 + number);
                store::teams::insert(
                    writer.rows,
                    &NewTeam {
                        id,
                        group_id: id,
                        name: &format!("Vendor {number}"),
                        is_vendor: number % 3 != 0,
                        is_buyer: true,
                        tier: 1,
                        nda_accepted_at: (number % 3 != 1).then_some(writer.now),
                        avatar_url: None,
                        created_at: writer.now,
                    },
                )?;
            }
            Ok(())
        })
        .unwrap();
    assert_eq!(publish_next(2), cost);
    let published = events_of(&market, "opportunity");
    let bulk: Vec<_> = published
        .iter()
        .filter(|(kind, team, _)| *kind == EventType::OpportunityPublished && team.is_none())
        .map(|(_, _, data)| {
            (data["vendors"]["count"].clone(), data["vendors"]["team_ids"].as_array().unwrap().len())
        })
        .collect();
    assert_eq!(bulk, [(json!(2), 2), (json!(102), 100)]);
    let owner =
        published.iter().filter(|(kind, team, _)| *kind == EventType::OpportunityPublished && team.is_some());
    assert!(
        owner.clone().count() == 2 && owner.into_iter().all(|(_, _, data)| data.get("vendors").is_none())
    );
}

#[test]
fn update_that_changes_nothing_is_not_recorded() {
    let market = small_market(&[]);
    let kind = OpportunityKind::Listing;
    let id = create(&market, 1, kind, &fields("Wanted")).unwrap();
    let updated_at = |opportunity: Opportunity| opportunity.updated_at;
    let change = |title: &str| {
        let change = OpportunityChange { title: Some(title.to_owned()), ..OpportunityChange::default() };
        market
            .write(|writer| {
                let owner = buyer(writer.rows, "buyer");
                opportunities::update(writer, &owner, Actor::Team, (id, kind), change)
            })
            .unwrap()
    };
    market.clock().advance(DAY);
    assert_eq!(updated_at(change("Wanted")), now());
    assert_eq!(event_views(&market, "opportunity"), ["opportunity.created buyer"]);
    assert_eq!(updated_at(change("Needed")).0, now().0 + DAY);
    let events = ["opportunity.created buyer", "opportunity.updated buyer"];
    assert_eq!(event_views(&market, "opportunity"), events);
}
