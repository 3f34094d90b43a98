//! Calls for questions whose answers need several pages, or parts of long texts.

use serde_json::{Value, json};

use super::{Answer, buyer::purchases, catalog::count};
use crate::gym::{facts::text, questions::long::count_files, session::Session};

pub fn listings_of_vendor(session: &Session, subject: &Value) -> Answer {
    count(session, "browse_listings", &json!({"vendor": subject["name"]}))
}

pub fn first_purchase(session: &Session, _: &Value) -> Answer {
    let purchases = purchases(session, &["purchase.created_at", "purchase.listing_id"])?;
    let first = purchases.iter().min_by_key(|row| text(row, "/purchase/created_at")).ok_or("no purchase")?;
    Ok(first["purchase"]["listing_id"].clone())
}

pub fn end_of_description(session: &Session, subject: &Value) -> Answer {
    let description =
        session.whole_text("get_listing", &json!({"listing_id": subject["id"]}), "description")?;
    let sentence = description.rsplit("The reference number").next().unwrap_or_default();
    Ok(json!(sentence.trim_start_matches(" of this collection is ")))
}

pub fn files_of_codebase(session: &Session, subject: &Value) -> Answer {
    let structure = session.call("get_codebase_structure", &json!({"asset_id": subject["id"]}))?;
    if structure["cut"].is_string() {
        return Err("the tree has more than one answer shows".to_owned());
    }
    Ok(count_files(&structure["roots"]).into())
}
