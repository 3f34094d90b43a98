//! Questions whose answers need several pages, or parts of long texts.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Asked, Asking, planted::encode};
use crate::gym::{
    checkers::Expected,
    facts::{Facts, text},
};

/// Maximum number of listings of a catalog whose vendors are counted.
const MAX_LISTINGS: usize = 5_000;

/// The number of listings of the vendor with the most of them.
pub fn listings_of_vendor(facts: &mut Facts) -> Asking {
    let Some(found) = facts.browse("", MAX_LISTINGS)? else { return Ok(None) };
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for listing in &found {
        *counts.entry(text(listing, "/team_name")).or_default() += 1;
    }
    let Some((name, count)) = counts.into_iter().max_by_key(|(_, count)| *count) else { return Ok(None) };
    Ok(Some(Asked {
        text: format!("How many published listings does the vendor “{name}” have in the catalog?"),
        expected: Expected::Count(count),
        subject: json!({"name": name}),
    }))
}

/// The team's first purchase.
pub fn first_purchase(facts: &mut Facts) -> Asking {
    let purchases = facts.list("/v2/listings/browse/purchases", "purchases")?;
    // One page of tools has twenty rows.
    if purchases.len() <= 20 {
        return Ok(None);
    }
    let Some(first) = purchases.iter().min_by_key(|row| text(row, "/purchase/created_at")) else {
        return Ok(None);
    };
    Ok(Some(Asked {
        text: "Which listing did we buy first, by the start of the checkout?".to_owned(),
        expected: Expected::Id(text(first, "/purchase/listing_id").to_owned()),
        subject: Value::Null,
    }))
}

/// The end of the longest description.
pub fn end_of_description(facts: &mut Facts) -> Asking {
    let planted = facts.planted();
    let Some(listing) = planted.listings.iter().find(|listing| listing.name == "long") else {
        return Ok(None);
    };
    let vendor = &planted.vendor;
    let found = facts.browse(&format!("query={}", encode(&listing.plain_title)), 100)?.unwrap_or_default();
    let is_planted =
        |row: &&Value| text(row, "/title") == listing.plain_title && text(row, "/team_name") == vendor;
    let Some(summary) = found.iter().find(is_planted) else { return Ok(None) };
    let id = text(summary, "/id");
    let description = facts.listing(id)?;
    if !text(&description, "/description").contains(&planted.reference_number) {
        return Ok(None);
    }
    Ok(Some(Asked {
        text: format!(
            "Which reference number does the end of the description of the listing “{}” ({id}) state?",
            listing.plain_title
        ),
        expected: Expected::Code(planted.reference_number.clone()),
        subject: json!({"id": id}),
    }))
}

/// The number of files in the largest analyzed codebase among those that are read.
pub fn files_of_codebase(facts: &mut Facts) -> Asking {
    const MIN_FILES: u64 = 5;
    const MAX_READ: usize = 100;
    let codebases = facts.rows("/v2/codebases", "items")?;
    let analyzed = codebases.iter().filter(|row| row["data"]["analysis_status"] == "completed");
    let mut largest: Option<(u64, &Value)> = None;
    for codebase in analyzed.take(MAX_READ) {
        let path = format!("/v2/codebases/{}/data/structure", text(codebase, "/id"));
        let Some(structure) = facts.find(&path)? else { continue };
        let count = count_files(&structure["roots"]);
        if largest.is_none_or(|(most, _)| count > most) {
            largest = Some((count, codebase));
        }
    }
    let Some((count, codebase)) = largest.filter(|(count, _)| *count >= MIN_FILES) else { return Ok(None) };
    let (id, title) = (text(codebase, "/id"), text(codebase, "/title"));
    Ok(Some(Asked {
        text: format!(
            "How many files does the directory tree of our codebase “{title}” ({id}) show, in all its folders?"
        ),
        expected: Expected::Count(count),
        subject: json!({"id": id}),
    }))
}

/// Returns the number of nodes of a tree that are not folders.
pub fn count_files(nodes: &Value) -> u64 {
    let nodes = nodes.as_array().into_iter().flatten();
    nodes.map(|node| u64::from(node["kind"] != "folder") + count_files(&node["children"])).sum()
}
