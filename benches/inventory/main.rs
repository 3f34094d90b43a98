//! Latency of inventory lists of one team, through the HTTP API in process: pages and windows over 100,000
//! assets.
//!
//! `cargo bench --bench inventory`; `ASSETS=1000000` for another number.

#![allow(missing_docs, clippy::print_stdout)]

#[path = "../shared/local_market.rs"]
mod local_market;

use std::{collections::BTreeMap, time::Instant};

use marketplace::{
    domain::{
        assets::{ArtifactStatus, Channel, Exclusivity},
        codebase_fields::CodebaseFields,
        field_locks::FieldLocks,
        listings::Actor,
        money::Cents,
        row_ids::GroupRowId,
        teams::TeamRowId,
        time::Day,
    },
    fixtures,
    market::{BulkWriter, Market, Writer},
    mcp,
    operations::{self, access::Platform, teams::TeamInput},
    store::{
        self, Durability,
        assets::{KindFields, NewAsset, NewData},
    },
};
use poem::{Body, Endpoint, Request};

/// Number of requests per path. The median counts.
const ROUNDS: usize = 40;

const TITLE_WORDS: [&str; 8] =
    ["Ledger", "harbour", "Kiosk", "étude", "Compiler", "billing", "Archive", "zebra"];

fn main() {
    let count: u64 = std::env::var("ASSETS").ok().and_then(|text| text.parse().ok()).unwrap_or(100_000);
    let directory = tempfile::tempdir().expect("create a temporary directory");
    let market = local_market::open(directory.path(), Durability::None);
    fixtures::seed_taxonomy(&market).expect("load the taxonomy");
    let key = create_inventory(&market, count);
    let app = mcp::app(market.clone(), "http://bench");
    let runtime = tokio::runtime::Runtime::new().expect("start a runtime");
    println!("{count} assets of one team; median milliseconds of {ROUNDS} requests, including JSON");
    for path in [
        "assets",
        "assets?limit=200",
        "assets?offset=50000",
        "assets?sku=raw_data",
        "assets?stage=complete",
        "assets?sort=name",
        "assets?sort=name&sort_direction=desc&offset=20000",
        "assets?sort=stage",
        "assets?sort=lines_of_code&sort_direction=desc",
        "assets?sort=price",
        "assets?filter=name:contains:ledger 77",
        "assets?filter=exclusivity:is:available",
        "assets?filter=channel:is:not_linked&sort=commits",
        "codebases",
        "codebases?sort=commits",
        "codebases?stage=proposed&sort=history_start",
        "assets/window",
        "assets/window?sort=name",
        "assets/window?leaf_budget=200&header_budget=100&sort=lines_of_code",
        "assets/window?filter=exclusivity:is:available",
    ] {
        let path = path.replace(' ', "%20");
        let mut times: Vec<f64> = (0..ROUNDS)
            .map(|_| {
                let request = Request::builder()
                    .uri(format!("/v2/{path}").parse().expect("the path is valid"))
                    .header("authorization", format!("Bearer {key}"))
                    .body(Body::empty());
                let start = Instant::now();
                let bytes = runtime.block_on(async {
                    let response = app.get_response(request).await;
                    assert_eq!(response.status(), 200);
                    response.into_body().into_vec().await.expect("read the response body")
                });
                assert!(!bytes.is_empty());
                start.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        times.sort_by(f64::total_cmp);
        println!("{:8.2}  {path}", times[ROUNDS / 2]);
    }
    attach_codebases(&market, &app, &runtime, &key);
}

/// Attaches all codebases of the team to one listing in one request.
fn attach_codebases(
    market: &Market,
    app: &impl Endpoint<Output = poem::Response>,
    runtime: &tokio::runtime::Runtime,
    key: &str,
) {
    let team = market
        .read_blocking(|reader| operations::teams::resolve(reader.rows, "Bench"))
        .expect("find the team");
    let vendor = Platform::of_process().vendor(team).expect("an open team");
    let listing_text = store::listings::ListingFields {
        title: "Everything".to_owned(),
        ..store::listings::ListingFields::default()
    };
    let listing = market.clock().new_id(marketplace::domain::collections::Collection::Listings);
    market
        .write_blocking(|writer| {
            operations::listing_lifecycle::create(writer, &vendor, Actor::Team, listing, &listing_text)
        })
        .expect("create a listing");
    let request = Request::builder()
        .method(poem::http::Method::POST)
        .uri(format!("/v2/listings/{listing}/assets").parse().expect("the path is valid"))
        .header("authorization", format!("Bearer {key}"))
        .header("content-type", "application/json")
        .body(Body::from(r#"{"matches": [{"sku": "codebase"}]}"#));
    let start = Instant::now();
    let response = runtime.block_on(app.get_response(request));
    let elapsed_ms = start.elapsed().as_secs_f64() * 1e3;
    assert_eq!(response.status(), 201);
    let attached = market
        .read_blocking(|reader| {
            let row = store::listings::find(reader.rows, listing)?.expect("the listing exists");
            store::listings::asset_count(reader.rows, row.row_id)
        })
        .expect("count the assets");
    println!("{elapsed_ms:8.0}  attaching {attached} assets in one request, including the search index");
}

/// Creates a vendor with `count` assets in twelve groups. Returns its API key.
fn create_inventory(market: &Market, count: u64) -> String {
    let start = Instant::now();
    let team = TeamInput { name: "Bench", is_vendor: true, is_buyer: false, tier: 1, has_accepted_nda: true };
    let id = market.write_blocking(|writer| operations::teams::create(writer, &team)).expect("create a team");
    let (_, key) = market
        .write_blocking(|writer| operations::keys::create(writer, "Bench", "bench", None))
        .expect("create an API key");
    let team = market
        .read_blocking(|reader| operations::teams::resolve(reader.rows, &id.to_string()))
        .expect("find the team")
        .row_id;
    let bulk_writer = market.bulk_writer().expect("start the bulk write");
    let groups = create_groups(&bulk_writer, team);
    for from in (0..count).step_by(10_000) {
        bulk_writer
            .write(|writer| {
                store::inventory::postpone(writer.rows, store::inventory::last_asset_row_id(writer.rows)?)?;
                for number in from..count.min(from + 10_000) {
                    insert_asset(writer, team, groups[(number * number % 12) as usize], number)?;
                }
                store::inventory::insert_postponed(writer.rows)
            })
            .expect("write assets");
    }
    bulk_writer.finish(&()).expect("update the search index");
    println!("wrote the assets in {:.1} s", start.elapsed().as_secs_f64());
    key
}

fn create_groups(bulk_writer: &BulkWriter, team: TeamRowId) -> Vec<GroupRowId> {
    let create = |writer: &mut Writer| {
        let mut groups = vec![store::groups::find_default_row_id(writer.rows, team)?];
        for number in 1..12 {
            let id = writer.new_id(marketplace::domain::collections::Collection::Assets);
            groups.push(store::groups::insert(
                writer.rows,
                id,
                team,
                &format!("G {number}"),
                false,
                writer.now,
            )?);
        }
        Ok(groups)
    };
    bulk_writer.write(create).expect("create groups")
}

fn insert_asset(
    writer: &Writer,
    team: TeamRowId,
    group: GroupRowId,
    number: u64,
) -> marketplace::error::Result<()> {
    // Pseudo-random, but the same in each run.
    let scattered = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
    let (one_in, known) = (|n: u64| scattered.is_multiple_of(n), scattered % 5 > 1);
    let title = format!("{} {}", TITLE_WORDS[(scattered % 8) as usize], scattered % 100_000);
    let tags = ["finance".to_owned()];
    let metric = |n: u64| known.then_some((scattered / n % 1_000_000) as i64);
    let own = if one_in(3) {
        KindFields::RawData { files: Some(7), extensions: &[] }
    } else {
        let fields = CodebaseFields {
            exclusivity: Some(if one_in(2) { Exclusivity::Available } else { Exclusivity::Unavailable }),
            lines_of_code: metric(1),
            commits: metric(3),
            contributors: metric(5),
            merged_prs: metric(7),
            history_start: Day::parse("2019-04-05").filter(|_| known),
            history_end: Day::parse("2024-04-05").filter(|_| known),
            ci_on_prs: known.then_some(one_in(2)),
        };
        KindFields::Codebase { fields, languages: None }
    };
    let asset = NewAsset {
        id: writer.new_id(marketplace::domain::collections::Collection::Assets),
        team,
        group,
        title: &title,
        description: Some("A paragraph about it, as long as vendors write them when they are in a hurry."),
        domain_tags: &tags,
        other_domain: None,
        price: (!one_in(4)).then_some(Cents((scattered % 90_000) as i64)),
        notes: None,
        extra_columns: &BTreeMap::new(),
        created_at: writer.now.plus_micros(-((scattered % 40_000_000) as i64) * 1_000_000),
        locks: &FieldLocks::new(),
        kind_fields: own,
    };
    let row = store::assets::insert(writer.rows, &asset)?;
    if one_in(5) {
        return Ok(());
    }
    let data = NewData {
        channel: Channel::Zip,
        repo_full_name: None,
        is_private: true,
        archive_status: ArtifactStatus::Completed,
        analysis_status: ArtifactStatus::Completed,
        attached_at: writer.now,
        analyzed_at: None,
        archive_bytes: Some(1_000),
        commit_sha: None,
        archive_error: None,
        analysis_error: None,
        manifest_url: None,
        upload: None,
    };
    store::assets::attach_data(writer.rows, row, &data)
}
