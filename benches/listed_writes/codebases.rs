//! Codebases on listings, for benchmarks of writes that touch a listing.

use std::collections::BTreeMap;

use marketplace::{
    domain::{
        assets::{ArtifactStatus, Channel},
        codebase_fields::CodebaseFields,
        field_locks::FieldLocks,
        listings::Actor,
        row_ids::AssetRowId,
        time::Day,
    },
    error::Result,
    market::{Market, Writer},
    operations::{self, access::Platform, teams::TeamInput},
    store::{
        self,
        assets::{KindFields, NewAsset, NewData},
        listings::ListingFields,
    },
};
use uuid::Uuid;

/// Creates a vendor with codebases, each on its own listing. Returns an API key and the IDs of the codebases.
pub fn create_codebases(market: &Market, count: usize) -> (String, Vec<Uuid>) {
    let team = TeamInput { name: "Bench", is_vendor: true, is_buyer: false, tier: 1, has_accepted_nda: true };
    market.write_blocking(|writer| operations::teams::create(writer, &team)).expect("create a team");
    let (_, key) = market
        .write_blocking(|writer| operations::keys::create(writer, "Bench", "bench", None))
        .expect("create an API key");
    let codebases = (0..count).map(|number| {
        market.write_blocking(|writer| create_listed_codebase(writer, number)).expect("create a listing")
    });
    (key, codebases.collect())
}

fn create_listed_codebase(writer: &mut Writer, number: usize) -> Result<Uuid> {
    let vendor = Platform::of_process().vendor(operations::teams::resolve(writer.rows, "Bench")?)?;
    let tags = ["finance".to_owned()];
    let fields = ListingFields {
        title: format!("Ledgers of a small bank, part {number}"),
        description:
            "The history of the ledgers, with the tests, the tickets, and the reviews, as long as it gets."
                .to_owned(),
        domain_tags: tags.to_vec(),
        price: Some(marketplace::domain::money::Cents(4_900)),
        accepts_bids: true,
        ..ListingFields::default()
    };
    let listing_id = writer.new_id(marketplace::domain::collections::Collection::Listings);
    let listing = operations::listing_lifecycle::create(writer, &vendor, Actor::Team, listing_id, &fields)?;
    let (asset, id) = insert_codebase(writer, &format!("Ledger {number}"), &tags)?;
    store::listings::attach_asset(writer.rows, listing, asset)?;
    Ok(id)
}

fn insert_codebase(writer: &Writer, title: &str, tags: &[String]) -> Result<(AssetRowId, Uuid)> {
    let team = operations::teams::resolve(writer.rows, "Bench")?.row_id;
    let id = writer.new_id(marketplace::domain::collections::Collection::Listings);
    let fields = CodebaseFields {
        lines_of_code: Some(120_000),
        commits: Some(4_000),
        contributors: Some(12),
        merged_prs: Some(300),
        history_start: Day::parse("2019-04-05"),
        history_end: Day::parse("2024-04-05"),
        ci_on_prs: Some(true),
        ..CodebaseFields::default()
    };
    let asset = NewAsset {
        id,
        team,
        group: store::groups::find_default_row_id(writer.rows, team)?,
        title,
        description: Some("A paragraph about it, as long as vendors write them when they are in a hurry."),
        domain_tags: tags,
        other_domain: None,
        price: None,
        notes: None,
        extra_columns: &BTreeMap::new(),
        created_at: writer.now,
        locks: &FieldLocks::new(),
        kind_fields: KindFields::Codebase { fields, languages: None },
    };
    let row = store::assets::insert(writer.rows, &asset)?;
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
    store::assets::attach_data(writer.rows, row, &data)?;
    Ok((row, id))
}
