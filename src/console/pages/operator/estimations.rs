//! Estimations: quotes for repositories of vendors.

use super::prelude::*;
use crate::{
    domain::{
        assets::RepositoryChannel, collections::Collection, estimation_requests::EstimationRequest,
        estimations::EstimationStatus,
    },
    operations::estimations,
    store::records::estimations::ESTIMATIONS as ESTIMATION_RECORDS,
};

/// The resource.
pub struct Estimations;

impl Resource for Estimations {
    const LIST: &'static str = ESTIMATIONS;
    const TITLE: &'static str = "Estimations";
    const RECORDS: &'static Records = &ESTIMATION_RECORDS;
    const EMPTY: &'static str = "Repositories that vendors want to have estimated appear here.";
    const TABS: &'static [(&'static str, &'static str)] = LISTING_TABS;

    const FIELDS: &'static [RecordField] = &[
        RecordField::listed("name", "Name", Plain),
        RecordField::listed("team_id", "Vendor", Record(TEAMS)),
        RecordField::listed("sku", "Kind", Called(kinds::named)),
        RecordField::listed("status", "Status", State),
        RecordField::listed("quote_low", "Quote from, USD", Money),
        RecordField::listed("quote_high", "Quote up to, USD", Money),
        RecordField::listed("created_at", "Requested", Moment),
        RecordField::detail("channel", "Host", Word),
        RecordField::detail("repo_full_name", "Repository", Plain),
        RecordField::detail("failure_message", "Why there is no quote", Plain),
        RecordField::detail("inventory_asset_id", "Asset", Record(ASSETS)),
        RecordField::detail("completed_at", "Ended", Moment),
        RecordField::detail("id", "ID", Id),
    ];

    const FILTERS: &'static [ListFilter] = &[
        ListFilter::choice("status", "Status", text::word_choices::<EstimationStatus>),
        ListFilter::text("team_id", "Vendor, by name or ID"),
    ];

    const NEW: Option<&'static Step> = Some(&Step {
        label: "Request an estimation",
        question: "In the name of the vendor, who is notified of the quote. The quote is not binding.",
        inputs: &[
            inputs::TEAM,
            Input::Options("sku", "Kind", kinds::choices),
            Input::Options("channel", "Host", text::word_choices::<RepositoryChannel>),
            Input::Line("repo_full_name", "Repository", "As owner/name."),
            Input::Line(
                "inventory_asset_id",
                "ID of the asset",
                "If the repository belongs to an asset of the vendor.",
            ),
        ],
        operation: "create_estimation",
        perform: |writer, operator, _, fields| {
            let vendor = operator.platform().vendor(inputs::team(writer, fields)?)?;
            let request = EstimationRequest {
                sku: resources::choice(fields, "sku")?,
                channel: resources::choice(fields, "channel")?,
                repo_full_name: resources::typed(fields, "repo_full_name").to_owned(),
                inventory_asset_id: resources::optional_id(fields, "inventory_asset_id")?,
            };
            let ids = (writer.new_id(Collection::Estimations), vendor.team().id);
            let made = estimations::request(writer, &vendor, Actor::Team, ids, &request)?;
            Ok(Some(resources::path_of::<Estimations>(&made.id.to_string())))
        },
        ..Step::DEFAULT
    });
}
