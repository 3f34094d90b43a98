//! Tasksets that the platform makes in the name of a vendor.

use std::collections::BTreeMap;

use marketplace::{
    clock::fixture_record_id,
    domain::tasks::{BuildStatus, Column, ColumnKind, DerivedColumn, VersionStage, VersionState},
    error::{Error, Result},
    market::Writer,
    operations::{
        access::Vendor,
        task_changes::{self, TaskInput, VersionInput},
        teams,
    },
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{event_types, events, platform, problems, refusal};
use crate::{
    catalog::small_market::{BROWSE, published, small_market, small_market_with},
    harness::TestMarket,
};

pub fn seller(writer: &Writer) -> Result<Vendor> {
    platform().vendor(teams::resolve(writer.rows, "Seller house")?)
}

fn column(name: &str, kind: ColumnKind, derives: Option<DerivedColumn>) -> Column {
    Column { name: name.to_owned(), label: name.to_owned(), kind, derives }
}

pub fn task(external_id: &str) -> TaskInput {
    TaskInput { name: "Task".to_owned(), external_id: Some(external_id.to_owned()), ..TaskInput::default() }
}

pub fn version(current_state: VersionState) -> VersionInput {
    VersionInput {
        current_state,
        lifecycle_stage: VersionStage::Accepted,
        brief: BTreeMap::from([("prompt".to_owned(), json!("Sort."))]),
        agent_config: BTreeMap::new(),
        environment: BTreeMap::new(),
    }
}

/// Creates a taskset of the seller with a column of each kind.
fn create_taskset(market: &TestMarket) -> Uuid {
    let columns = [
        column("level", ColumnKind::Number, None),
        column("area", ColumnKind::Text, None),
        column("runs", ColumnKind::Derived, Some(DerivedColumn::Runs)),
    ];
    market
        .write(|writer| {
            let seller = seller(writer)?;
            task_changes::create_taskset(writer, &seller, "Sorting", &columns)
        })
        .unwrap()
}

fn add_task(market: &TestMarket, taskset: Uuid, task: &TaskInput) -> Result<Uuid> {
    market.write(|writer| {
        let seller = seller(writer)?;
        task_changes::add_task(writer, &seller, taskset, task)
    })
}

fn add_version(market: &TestMarket, task: Uuid, input: &VersionInput) -> Result<(Uuid, u32)> {
    market.write(|writer| {
        let seller = seller(writer)?;
        task_changes::add_version(writer, &seller, task, input)
    })
}

fn record_build(market: &TestMarket, version: Uuid, status: BuildStatus) -> Result<(Uuid, u32)> {
    market.write(|writer| {
        let seller = seller(writer)?;
        task_changes::record_build(writer, &seller, version, status)
    })
}

/// The vendor can import everything that the platform adds as an asset.
#[tokio::test]
async fn task_with_a_successful_build_becomes_an_asset() {
    let market = small_market(&[]);
    let taskset = create_taskset(&market);
    let task = add_task(&market, taskset, &task("t-1")).unwrap();
    let (first, _) = add_version(&market, task, &version(VersionState::Live)).unwrap();
    let (second, number) = add_version(&market, task, &version(VersionState::Live)).unwrap();
    assert_eq!(number, 2);
    record_build(&market, first, BuildStatus::Failed).unwrap();
    let (build, number) = record_build(&market, second, BuildStatus::Queued).unwrap();
    assert_eq!(number, 1);
    let update = |status| {
        market.write(|writer| {
            let seller = seller(writer)?;
            task_changes::update_build(writer, &seller, build, status)
        })
    };
    let import = json!({"task_ids": [task], "task_type": "coding"});
    let skipped = market.call("mkt_seller", "POST", "/v2/tasks/import", &import).await.ok();
    assert_eq!(skipped["skipped"][0]["reason"], "build_not_succeeded", "{skipped}");
    update(BuildStatus::Running).unwrap();
    update(BuildStatus::Succeeded).unwrap();
    assert_eq!(refusal(update(BuildStatus::Running)), ("succeeded", vec![]));
    let imported = market.call("mkt_seller", "POST", "/v2/tasks/import", &import).await.ok();
    assert_eq!(imported["imported"][0]["title"], "Task", "{imported}");
    let expected = [
        "taskset.created",
        "task.created",
        "task_version.created",
        "task_version.created",
        "task_build.recorded",
        "task_build.recorded",
        "task_build.updated",
        "task_build.updated",
    ];
    let prefixes = ["taskset.", "task.", "task_version.", "task_build."];
    assert_eq!(event_types(&market, &prefixes), expected);
    assert!(events(&market, &prefixes).iter().all(|event| event.has_team));
}

#[test]
fn task_matches_the_columns_of_its_taskset() {
    let market = small_market(&[]);
    let taskset = create_taskset(&market);
    let with = |name: &str, value: Value| TaskInput {
        name: "Task".to_owned(),
        column_values: BTreeMap::from([(name.to_owned(), value)]),
        ..TaskInput::default()
    };
    for (name, value) in [
        ("level", json!("1")),
        ("area", json!(1)),
        ("runs", json!(1)),
        ("runs", json!(null)),
        ("other", json!(1)),
    ] {
        assert_eq!(
            problems(add_task(&market, taskset, &with(name, value.clone()))).len(),
            1,
            "{name} {value}"
        );
    }
    for (name, value) in [("level", json!(1.5)), ("level", json!(null)), ("area", json!("x"))] {
        add_task(&market, taskset, &with(name, value)).unwrap();
    }
    assert_eq!(problems(add_task(&market, taskset, &with("area", json!("x".repeat(70_000))))).len(), 1);
    let invalid =
        TaskInput { tags: vec![String::new()], external_id: Some(String::new()), ..TaskInput::default() };
    assert_eq!(problems(add_task(&market, taskset, &invalid)).len(), 3);
}

#[test]
fn columns_of_a_taskset_are_checked() {
    let market = small_market(&[]);
    let create = |columns: &[Column]| {
        market.write(|writer| {
            let seller = seller(writer)?;
            task_changes::create_taskset(writer, &seller, "Sorting", columns)
        })
    };
    let text = column("a", ColumnKind::Text, None);
    for columns in [
        vec![text.clone(), text.clone()],
        vec![column("a", ColumnKind::Derived, None)],
        vec![column("a", ColumnKind::Text, Some(DerivedColumn::Runs))],
    ] {
        assert_eq!(problems(create(&columns)).len(), 1, "{columns:?}");
    }
    assert_eq!(problems(create(&[column("", ColumnKind::Text, None)])).len(), 2, "its name and its label");
    let many: Vec<Column> = (0..51).map(|n| column(&n.to_string(), ColumnKind::Text, None)).collect();
    assert_eq!(problems(create(&many)).len(), 1);
    create(&many[..50]).unwrap();
}

#[test]
fn identifier_of_a_task_is_unique_until_it_is_deleted() {
    let market = small_market(&[]);
    let taskset = create_taskset(&market);
    let id = add_task(&market, taskset, &task("t-1")).unwrap();
    assert!(matches!(add_task(&market, taskset, &task("t-1")), Err(Error::Conflict(_))));
    let delete = || {
        market.write(|writer| {
            let seller = seller(writer)?;
            task_changes::delete_task(writer, &seller, id)
        })
    };
    delete().unwrap();
    assert!(matches!(delete(), Err(Error::NotFound(_))));
    assert!(matches!(add_version(&market, id, &version(VersionState::Draft)), Err(Error::NotFound(_))));
    add_task(&market, taskset, &task("t-1")).unwrap();
    assert_eq!(event_types(&market, &["task."]), ["task.created", "task.deleted", "task.created"]);
}

#[test]
fn taskset_of_another_team_does_not_exist() {
    let market = small_market(&[]);
    let taskset = create_taskset(&market);
    let task_id = add_task(&market, taskset, &task("t-1")).unwrap();
    let (version_id, _) = add_version(&market, task_id, &version(VersionState::Draft)).unwrap();
    let (build_id, _) = record_build(&market, version_id, BuildStatus::Queued).unwrap();
    let other = |work: &dyn Fn(&mut Writer, &Vendor) -> Result<()>| {
        market.write(|writer| {
            let other = platform().vendor(teams::resolve(writer.rows, "Both house")?)?;
            work(writer, &other)
        })
    };
    for result in [
        other(&|writer, vendor| task_changes::add_task(writer, vendor, taskset, &task("x")).map(|_| ())),
        other(&|writer, vendor| task_changes::delete_task(writer, vendor, task_id)),
        other(&|writer, vendor| {
            task_changes::add_version(writer, vendor, task_id, &version(VersionState::Draft)).map(|_| ())
        }),
        other(&|writer, vendor| {
            task_changes::record_build(writer, vendor, version_id, BuildStatus::Queued).map(|_| ())
        }),
        other(&|writer, vendor| task_changes::update_build(writer, vendor, build_id, BuildStatus::Failed)),
    ] {
        assert!(matches!(result, Err(Error::NotFound(_))), "{result:?}");
    }
}

#[tokio::test]
async fn listing_shows_the_number_of_tasks_after_each_change() {
    let records = json!({
        "tasksets": [{"key": "set", "team": "seller", "name": "Set", "created_at": "-P96D"}],
        "assets": [{"key": "set-asset", "team": "seller", "sku": "taskset", "title": "Set", "created_at": "-P95D",
            "taskset": "set"}],
    });
    let listing = published("a", 3, &json!({"assets": ["set-asset"]}));
    let market = small_market_with(&[listing], &records);
    let path = format!("{BROWSE}/{}", fixture_record_id("listings", "a"));
    let taskset = fixture_record_id("tasksets", "set");
    let id = add_task(&market, taskset, &task("t-1")).unwrap();
    add_task(&market, taskset, &task("t-2")).unwrap();
    assert_eq!(market.get("mkt_buyer", &path).await.ok()["catalog_scale"]["task_count"], 2);
    market
        .write(|writer| {
            let seller = seller(writer)?;
            task_changes::delete_task(writer, &seller, id)
        })
        .unwrap();
    assert_eq!(market.get("mkt_buyer", &path).await.ok()["catalog_scale"]["task_count"], 1);
}
