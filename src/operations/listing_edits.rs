//! The form in which a vendor edits a listing: the fields, the assets that its sample can have, and updates that detect
//! concurrent changes.

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::{access::Vendor, listing_drafts, listing_fields, listing_lifecycle, listings, selections};
use crate::{
    domain::{
        inventory::Asset,
        listings::{Actor, LifecycleStage},
        money::Cents,
    },
    error::{Error, Problem, Result},
    market::{Reader, Writer},
    store::{
        self,
        listings::{ListingFields, ListingRow},
    },
    string_enum::StringEnum,
};

/// Maximum number of domains of a listing.
const MAX_DOMAINS: usize = 20;

/// Maximum number of inventory tags of a listing.
const MAX_TAGS: usize = 50;

/// Number of a listing's assets that are read for its sample.
const MAX_SAMPLE_CHOICES: usize = 100;

/// A listing that is edited.
#[derive(Clone, Debug)]
pub struct EditedListing {
    /// The listing.
    pub listing: ListingRow,
    /// The fields that its vendor edits.
    pub fields: ListingFields,
    /// The first assets of the listing.
    pub assets: Vec<Asset>,
    /// The other assets of its sample. They are further assets of the listing, or were detached.
    pub other_sampled: Vec<Asset>,
    /// Number of assets of the listing.
    pub asset_count: usize,
    /// The price of all its assets if a buyer selects them one by one; `None` if that is not possible.
    pub price_of_all: Option<Cents>,
    /// The reviewer's note to the vendor with the last decision.
    pub review_feedback: Option<String>,
}

/// Returns one of the team's own listings to edit it.
pub fn find(reader: &Reader, vendor: &Vendor, id: Uuid) -> Result<EditedListing> {
    let listing = listings::find_own(reader.rows, vendor, id)?;
    let fields = store::listings::find_fields(reader.rows, listing.row_id)?;
    let assets = store::listing_assets::list_first(reader.rows, listing.row_id, MAX_SAMPLE_CHOICES)?;
    let sampled = fields.sample.iter().map(|sampled| sampled.asset_id);
    let others: Vec<Uuid> = sampled.filter(|id| assets.iter().all(|asset| asset.id != *id)).collect();
    let other_sampled = if others.is_empty() {
        Vec::new()
    } else {
        let query =
            store::inventory::Query { ids: others, ..store::inventory::Query::new(vendor.team_row_id()) };
        store::inventory::list_page(reader.rows, &query, None, MAX_SAMPLE_CHOICES, 0)?
    };
    let asset_count = store::listings::asset_count(reader.rows, listing.row_id)?;
    let price_of_all = selections::price_of_all(reader.rows, &listing)?;
    let review_feedback = store::listings::find_review_feedback(reader.rows, listing.row_id)?;
    Ok(EditedListing { listing, fields, assets, other_sampled, asset_count, price_of_all, review_feedback })
}

/// Returns an identifier of a version of the fields of a listing, to detect that somebody else changed them.
pub fn revision(fields: &ListingFields) -> String {
    let ListingFields { title, description, domain_tags, tag_slugs, price, sample_price, sample, .. } =
        fields;
    let ListingFields { accepts_bids, terms, delivery, available_from, is_exclusive, .. } = fields;
    let delivery = delivery.map(|(method, days)| (method.as_str(), days));
    let texts = (title, description, domain_tags, tag_slugs, terms);
    let prices = (price.map(|price| price.0), sample_price.map(|price| price.0), sample, accepts_bids);
    let rest = (delivery, available_from.map(|at| at.0), is_exclusive);
    let values = serde_json::to_vec(&(texts, prices, rest)).unwrap_or_default();
    HEXLOWER.encode(&Sha256::digest(&values)[..12])
}

/// Returns the problems with the fields of a listing in this stage, apart from those with what they refer to.
pub fn find_problems(fields: &ListingFields, stage: LifecycleStage) -> Vec<Problem> {
    let mut problems = match listing_fields::check(fields, stage == LifecycleStage::Active) {
        Err(Error::Invalid(problems)) => problems,
        _ => Vec::new(),
    };
    for (name, count, max, what) in [
        ("domain_tags", fields.domain_tags.len(), MAX_DOMAINS, "domains"),
        ("tag_slugs", fields.tag_slugs.len(), MAX_TAGS, "tags"),
    ] {
        if count > max {
            let rule = format!("Choose at most {max} {what}.");
            problems.push(Problem::body(&[name], "too_long", rule));
        }
    }
    problems
}

/// Creates a draft with these assets. Returns its ID.
pub fn create(
    writer: &mut Writer,
    vendor: &Vendor,
    actor: Actor,
    fields: &ListingFields,
    assets: &[Uuid],
) -> Result<Uuid> {
    check(writer.rows, fields, LifecycleStage::Draft, &ListingFields::default())?;
    listing_drafts::create(writer, vendor, actor, fields, assets)
}

/// Changes the fields of a listing whose vendor saw them in a revision. Fails if they were changed since. A change to the same
/// values has no effect in any stage.
pub fn update(
    writer: &mut Writer,
    vendor: &Vendor,
    actor: Actor,
    (id, seen): (Uuid, &str),
    change: impl FnOnce(&mut ListingFields),
) -> Result<()> {
    let listing = listings::find_own(writer.rows, vendor, id)?;
    if revision(&store::listings::find_fields(writer.rows, listing.row_id)?) != seen {
        let message = "This listing was changed after you opened it, so nothing was saved. Compare what it says now \
                       with what you typed, then save again.";
        return Err(Error::Conflict(message.to_owned()));
    }
    update_any(writer, vendor, actor, id, change)
}

/// Like [`update`], whatever somebody else changed meanwhile.
pub fn update_any(
    writer: &mut Writer,
    vendor: &Vendor,
    actor: Actor,
    id: Uuid,
    change: impl FnOnce(&mut ListingFields),
) -> Result<()> {
    let listing = listings::find_own(writer.rows, vendor, id)?;
    let stored = store::listings::find_fields(writer.rows, listing.row_id)?;
    let mut fields = stored.clone();
    change(&mut fields);
    if fields == stored {
        return Ok(());
    }
    check(writer.rows, &fields, listing.status.stage(), &stored)?;
    listing_lifecycle::update(writer, vendor, actor, id, &fields).map(drop)
}

/// Checks the fields, and that the market has the domains and tags that are new.
fn check(
    rows: &store::Reader,
    fields: &ListingFields,
    stage: LifecycleStage,
    stored: &ListingFields,
) -> Result<()> {
    let mut problems = find_problems(fields, stage);
    let known_domains = store::taxonomy::domain_slugs(rows)?;
    let known_tags = store::taxonomy::inventory_tags(rows)?;
    let is_domain = |slug: &String| known_domains.contains(slug) || stored.domain_tags.contains(slug);
    let is_tag =
        |slug: &String| known_tags.iter().any(|tag| tag.slug == *slug) || stored.tag_slugs.contains(slug);
    for (name, is_known) in [
        ("domain_tags", fields.domain_tags.iter().all(is_domain)),
        ("tag_slugs", fields.tag_slugs.iter().all(is_tag)),
    ] {
        if !is_known {
            let rule = "The market does not have one of these. Open the page again, and choose among those it shows.";
            problems.push(Problem::body(&[name], "unknown_slug", rule));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Error::Invalid(problems)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_of_a_field_is_another_revision() {
        let fields = ListingFields { title: "Maps".to_owned(), ..ListingFields::default() };
        let known = revision(&fields);
        assert_eq!(known, revision(&fields.clone()));
        for changed in [
            ListingFields { title: "Map".to_owned(), ..fields.clone() },
            ListingFields { price: Some(Cents(0)), ..fields.clone() },
            ListingFields { sample_price: Some(Cents(0)), ..fields.clone() },
            ListingFields { terms: "x".to_owned(), ..fields.clone() },
            ListingFields { description: "x".to_owned(), ..fields.clone() },
            ListingFields { is_exclusive: true, ..fields.clone() },
        ] {
            assert_ne!(known, revision(&changed));
        }
    }

    #[test]
    fn numbers_of_domains_are_limited() {
        let many = |count: usize| ListingFields {
            title: "Maps".to_owned(),
            domain_tags: (0..count).map(|number| number.to_string()).collect(),
            ..ListingFields::default()
        };
        assert!(find_problems(&many(20), LifecycleStage::Draft).is_empty());
        assert_eq!(find_problems(&many(21), LifecycleStage::Draft).len(), 1);
    }
}
