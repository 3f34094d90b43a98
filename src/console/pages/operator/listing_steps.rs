//! What operators do to listings: what their vendors do, in their names, and what the market decides.

use super::{listing_forms, prelude::*, quality_runs::QualityRuns};
use crate::{
    domain::{
        listing_lifecycle::{ListingState, Operation, missing_for_review},
        listings::{CatalogStatus, ListingStatus, ReviewStatus},
    },
    operations::{certifications, listing_assets, listing_lifecycle as lifecycle, listings, review_cases},
    store::records::{
        Filters,
        listings::LISTINGS as LISTING_RECORDS,
        pages::{Start, TeamPageRequest},
    },
};

/// Number of featured listings that are shown.
const FEATURED: u32 = 200;

const NOTE: Input = Input::Required(&Input::Lines(
    "note",
    "Note for the vendor",
    "The vendor reads it in the notification, and with the listing.",
));

/// Returns why the state of a listing refuses an operation.
fn refused(record: &AnyRecord, operation: Operation, reason: &'static str) -> Option<&'static str> {
    let review = ReviewStatus::parse(record.text("review_status"));
    let catalog = CatalogStatus::parse(record.text("catalog_status"));
    let (Some(review), Some(catalog)) = (review, catalog) else { return Some(reason) };
    let state = ListingState {
        status: ListingStatus { review, catalog },
        is_certified: record.time("certified_at").is_some(),
        is_featured: record.integer("featured").is_some(),
    };
    state.after(operation).is_err().then_some(reason)
}

/// Returns the ID of a listing, and the proof to act in the name of its vendor.
fn own(writer: &Writer, operator: &ActingOperator, record: &AnyRecord) -> Result<(Uuid, Vendor)> {
    let id = id_of(record)?;
    Ok((id, operator.platform().vendor_of_listing(writer.rows, id)?))
}

/// Does something in the name of the vendor.
fn as_vendor<T>(
    writer: &mut Writer,
    operator: &ActingOperator,
    record: &AnyRecord,
    operation: fn(&mut Writer, &Vendor, Actor, Uuid) -> Result<T>,
) -> Result<Option<String>> {
    let (id, vendor) = own(writer, operator, record)?;
    operation(writer, &vendor, Actor::Team, id).map(|_| None)
}

/// Shows the featured listings by their places.
fn featured(reader: &Reader, platform: Platform, _: &AnyRecord) -> Result<Previewed> {
    let request = TeamPageRequest { start: Start::Newest, limit: FEATURED, counts: false };
    let filters = Filters::default().with("featured", true);
    let mut found = records::page_of_any(reader, platform, &LISTING_RECORDS, &filters, request)?.rows;
    found.sort_by_key(|listing| listing.integer("featured"));
    let rows: Vec<Vec<Markup>> = found
        .iter()
        .map(|listing| {
            let place = listing.integer("featured").unwrap_or_default();
            vec![html! { (place) }, html! { span.long { bdi { (listing.text("title")) } } }]
        })
        .collect();
    Ok(Previewed::new(move |_| {
        html! {
            @if rows.is_empty() { p.note { "No listing is featured now." } }
            @else { (tables::table("Featured listings", &[Head::text("Place"), Head::text("Listing")], &rows)) }
        }
    }))
}

/// Names the required checks of a listing that have not passed.
fn checks(reader: &Reader, platform: Platform, record: &AnyRecord) -> Result<Previewed> {
    let warning = review_cases::required_checks(reader, platform, id_of(record)?)?.approval_warning();
    Ok(Previewed::new(move |_| {
        html! { @if let Some(warning) = warning { (badges::warning(warning)) } }
    }))
}

/// Returns what a listing lacks before it can be submitted.
fn missing(record: &AnyRecord) -> Option<String> {
    let assets =
        record.integer("asset_count").and_then(|count| usize::try_from(count).ok()).unwrap_or_default();
    let (title, description) = (record.text("title"), record.text("description"));
    let missing = missing_for_review(title, description, record.integer("price").is_some(), assets);
    (!missing.is_empty()).then(|| format!("Missing: {}.", missing.join(", ")))
}

/// Says that a listing has no assets.
fn without_assets(record: &AnyRecord) -> Option<String> {
    (record.integer("asset_count") == Some(0)).then(|| "The listing has no assets.".to_owned())
}

/// All steps, in the order of a listing's life.
pub const STEPS: &[Step] = &[
    Step {
        obstacle: |record| {
            refused(
                record,
                Operation::UpdateTerms,
                "A listing in review, or in the archive, cannot be changed.",
            )
        },
        ..listing_forms::CHANGE
    },
    Step {
        name: "submit",
        label: "Submit for review",
        question: "In the name of the vendor. A quality run starts, if the vendor has the credits for it.",
        obstacle: |record| {
            let reason = match record.text("review_status") {
                "rejected" => "A rejected listing cannot be submitted. Its vendor can make a new one.",
                _ => "Only a draft, or a listing with requested changes, can be submitted.",
            };
            refused(record, Operation::Submit, reason)
        },
        missing,
        operation: "submit_listing",
        perform: |writer, operator, record, _| as_vendor(writer, operator, record, lifecycle::submit),
        ..Step::DEFAULT
    },
    Step {
        name: "withdraw",
        label: "Withdraw from review",
        question: "In the name of the vendor. Its quality run is canceled.",
        obstacle: |record| refused(record, Operation::Withdraw, "Only a listing in review can be withdrawn."),
        operation: "withdraw_listing",
        perform: |writer, operator, record, _| as_vendor(writer, operator, record, lifecycle::withdraw),
        ..Step::DEFAULT
    },
    Step {
        name: "approve",
        label: "Approve",
        question: "The vendor is notified, and can publish the listing.",
        obstacle: |record| refused(record, Operation::Approve, "Only a listing in review can be approved."),
        preview: Some(checks),
        operation: "approve_listing",
        perform: |writer, operator, record, _| {
            lifecycle::approve(writer, operator.platform(), Actor::Platform, id_of(record)?).map(|_| None)
        },
        ..Step::DEFAULT
    },
    Step {
        name: "request-changes",
        label: "Request changes",
        question: "The listing goes back to its vendor, who can change it and submit it again.",
        inputs: &[NOTE],
        obstacle: |record| {
            refused(
                record,
                Operation::RequestChanges,
                "Changes can be requested only of a listing in review.",
            )
        },
        operation: "request_listing_changes",
        perform: |writer, operator, record, fields| {
            let note = fields.require("note", "Say what the vendor should change.")?;
            let platform = operator.platform();
            lifecycle::request_changes(writer, platform, Actor::Platform, id_of(record)?, Some(note))
                .map(|_| None)
        },
        ..Step::DEFAULT
    },
    Step {
        name: "reject",
        label: "Reject",
        question: "The listing cannot be submitted again. The vendor is notified.",
        inputs: &[NOTE],
        obstacle: |record| refused(record, Operation::Reject, "Only a listing in review can be rejected."),
        is_final: true,
        operation: "reject_listing",
        perform: |writer, operator, record, fields| {
            let note = fields.require("note", "Say why the listing is rejected.")?;
            let platform = operator.platform();
            lifecycle::reject(writer, platform, Actor::Platform, id_of(record)?, Some(note)).map(|_| None)
        },
        ..Step::DEFAULT
    },
    Step {
        name: "publish",
        label: "Publish",
        question: "In the name of the vendor. Buyers find the listing in the catalog from now on.",
        obstacle: |record| {
            refused(
                record,
                Operation::Publish,
                "Only an approved listing that is not in the catalog can be published.",
            )
        },
        operation: "publish_listing",
        perform: |writer, operator, record, _| as_vendor(writer, operator, record, lifecycle::publish),
        ..Step::DEFAULT
    },
    Step {
        name: "unpublish",
        label: "Take out of the catalog",
        question: "In the name of the vendor. Buyers no longer find it. Bids on it stay.",
        obstacle: |record| refused(record, Operation::Unpublish, "The listing is not in the catalog."),
        operation: "unpublish_listing",
        perform: |writer, operator, record, _| as_vendor(writer, operator, record, lifecycle::unpublish),
        ..Step::DEFAULT
    },
    Step {
        name: "archive",
        label: "Archive",
        question: "In the name of the vendor. All bids on it that wait are declined, and stay so if it is restored.",
        obstacle: |record| {
            refused(record, Operation::Archive, "A listing in review, or in the archive, cannot be archived.")
        },
        is_final: true,
        operation: "archive_listing",
        perform: |writer, operator, record, _| as_vendor(writer, operator, record, lifecycle::archive),
        ..Step::DEFAULT
    },
    Step {
        name: "restore",
        label: "Restore",
        question: "In the name of the vendor. It keeps what the review decided, and is not in the catalog.",
        obstacle: |record| refused(record, Operation::Restore, "The listing is not in the archive."),
        operation: "restore_listing",
        perform: |writer, operator, record, _| as_vendor(writer, operator, record, lifecycle::restore),
        ..Step::DEFAULT
    },
    Step {
        name: "certify",
        label: "Certify",
        question: "The listing is certified as it is now, whatever its quality runs found. A change of its assets ends that.",
        obstacle: |record| {
            let is_certified = record.time("certified_at").is_some();
            is_certified
                .then_some("The listing is certified already.")
                .or_else(|| refused(record, Operation::Certify, "The listing cannot be certified."))
        },
        missing: without_assets,
        operation: "certify_listing",
        perform: |writer, operator, record, _| {
            certifications::certify(writer, operator.platform(), Actor::Platform, id_of(record)?)
                .map(|_| None)
        },
        ..Step::DEFAULT
    },
    Step {
        name: "revoke",
        label: "Revoke the certification",
        question: "Buyers no longer see the listing as certified.",
        obstacle: |record| refused(record, Operation::Revoke, "The listing is not certified."),
        operation: "revoke_listing_certification",
        perform: |writer, operator, record, _| {
            certifications::revoke(writer, operator.platform(), Actor::Platform, id_of(record)?).map(|_| None)
        },
        ..Step::DEFAULT
    },
    Step {
        name: "feature",
        label: "Feature",
        question: "The listing gets a place among the featured listings, or another one. No two have the same place.",
        inputs: &[Input::Required(&Input::Number("place", "Place", "1 is the first."))],
        preview: Some(featured),
        operation: "feature_listing",
        perform: |writer, operator, record, fields| {
            let (platform, place) = (operator.platform(), resources::required_number(fields, "place")?);
            lifecycle::feature(writer, platform, Actor::Platform, id_of(record)?, place).map(|_| None)
        },
        ..Step::DEFAULT
    },
    Step {
        name: "unfeature",
        label: "Do not feature any more",
        question: "The listing loses its place among the featured listings.",
        obstacle: |record| refused(record, Operation::Unfeature, "The listing is not featured."),
        preview: Some(featured),
        operation: "unfeature_listing",
        perform: |writer, operator, record, _| {
            lifecycle::unfeature(writer, operator.platform(), Actor::Platform, id_of(record)?).map(|_| None)
        },
        ..Step::DEFAULT
    },
    Step {
        name: "check",
        label: "Start a quality run",
        question: "The listing is checked with all its assets. Its vendor pays for it.",
        operation: "create_quality_run",
        creates: QualityRuns::SUBJECT,
        perform: |writer, operator, record, _| {
            // Fails if the team was closed.
            let (id, _) = own(writer, operator, record)?;
            let run = lifecycle::start_run(writer, operator.platform(), id)?.run_id;
            Ok(Some(resources::path_of::<QualityRuns>(&run.to_string())))
        },
        ..Step::DEFAULT
    },
    Step {
        name: "attach",
        label: "Attach assets",
        question: "In the name of the vendor. It ends the approval and the certification of the listing.",
        inputs: &[Input::Required(&Input::Lines(
            "asset_ids",
            "IDs of assets",
            "One in each line. They belong to the vendor.",
        ))],
        obstacle: |record| {
            refused(
                record,
                Operation::Attach,
                "Only a draft, or a listing that waits to be published, can be changed.",
            )
        },
        operation: "attach_listing_assets",
        perform: |writer, operator, record, fields| {
            let (id, vendor) = own(writer, operator, record)?;
            let (listing, assets) =
                (listings::find_own(writer.rows, &vendor, id)?, resources::ids(fields, "asset_ids")?);
            listing_assets::attach_all(writer, &vendor, Actor::Team, &listing, &assets, false).map(|()| None)
        },
        ..Step::DEFAULT
    },
    Step {
        name: "detach",
        label: "Detach an asset",
        question: "In the name of the vendor. It ends the approval and the certification of the listing.",
        inputs: &[Input::Required(&Input::Line(
            "asset_id",
            "ID of the asset",
            "The list of its assets links the pages with the IDs.",
        ))],
        obstacle: |record| {
            refused(
                record,
                Operation::Detach,
                "Only a draft, or a listing that waits to be published, can be changed.",
            )
        },
        missing: without_assets,
        operation: "detach_listing_asset",
        perform: |writer, operator, record, fields| {
            let ((id, vendor), asset) = (own(writer, operator, record)?, resources::id(fields, "asset_id")?);
            listing_assets::detach(writer, &vendor, Actor::Team, id, asset).map(|()| None)
        },
        ..Step::DEFAULT
    },
];
