//! Bids of vendors on projects.

use super::prelude::*;
use crate::{
    console::parts::timeline::{self, Entry},
    domain::{
        collections::Collection,
        opportunities::{Attachment, Bid, BidEvent, BidStatus, OpportunityStatus},
        project_bids::{BidFields, BidOperation},
    },
    operations::project_bids,
    store::records::project_bids::PROJECT_BIDS as BID_RECORDS,
};

/// The resource.
pub struct ProjectBids;

impl Resource for ProjectBids {
    const LIST: &'static str = PROJECT_BIDS;
    const TITLE: &'static str = "Project bids";
    const RECORDS: &'static Records = &BID_RECORDS;
    const EMPTY: &'static str = "What vendors bid on projects appears here.";
    const TABS: &'static [(&'static str, &'static str)] = OPPORTUNITY_TABS;

    const FIELDS: &'static [RecordField] = &[
        RecordField::listed("id", "Bid", Id),
        RecordField::listed("opportunity_id", "Project", Record(PROJECTS)),
        RecordField::listed("team_id", "Vendor", Record(TEAMS)),
        RecordField::listed("buyer_id", "Buyer", Record(TEAMS)),
        RecordField::listed("status", "Status", State),
        RecordField::listed("num_tasks", "Tasks", Number),
        RecordField::listed("expected_timeline_days", "Days", Number),
        RecordField::listed("created_at", "Made", Moment),
        RecordField::detail("delivered", "Delivered tasksets", Linked(TASKSETS)),
        RecordField::detail("updated_at", "Changed", Moment),
        RecordField::detail("completed_at", "Delivery accepted", Moment),
    ];

    const FILTERS: &'static [ListFilter] = &[
        ListFilter::choice("status", "Status", text::word_choices::<BidStatus>),
        ListFilter::text("team_id", "Vendor, by name or ID"),
        ListFilter::text("buyer_id", "Buyer, by name or ID"),
        ListFilter::text("opportunity_id", "Project, by title or ID"),
    ];

    const DERIVED_COLUMNS: DeriveColumns = |record, _| {
        // Each delivered taskset has an ID and a name.
        let delivered: Vec<Delivered> =
            serde_json::from_str(record.text("delivered_tasksets")).unwrap_or_default();
        let ids: Vec<String> = delivered.into_iter().map(|taskset| taskset.id).collect();
        record.set("delivered", Value::Text(serde_json::to_string(&ids).unwrap_or_default()));
    };

    const STEPS: &'static [Step] = STEPS;

    const NEW: Option<&'static Step> = Some(&Step {
        label: "Bid on a project",
        question: "In the name of a vendor, who can have one bid on a project. The bid cannot be changed.",
        inputs: &[
            inputs::TEAM,
            Input::Line("opportunity_id", "ID of the project", "The vendor must see it."),
            Input::Number("num_tasks", "Tasks", "How many the vendor would deliver."),
            Input::Number("expected_timeline_days", "Days", "Leave it empty if the vendor does not say."),
        ],
        operation: "create_project_bid",
        perform: |writer, operator, _, fields| {
            let vendor = operator.platform().vendor(inputs::team(writer, fields)?)?;
            let days = fields.get("expected_timeline_days");
            let bid = BidFields {
                num_tasks: resources::required_number(fields, "num_tasks")?,
                expected_timeline_days: days
                    .map(|_| resources::required_number(fields, "expected_timeline_days"))
                    .transpose()?,
                attachments: Vec::new(),
            };
            let (project, id) =
                (resources::id(fields, "opportunity_id")?, writer.new_id(Collection::ProjectBids));
            let made = project_bids::submit(writer, &vendor, Actor::Team, id, project, &bid)?;
            Ok(Some(resources::path_of::<ProjectBids>(&made.id.to_string())))
        },
        ..Step::DEFAULT
    });

    fn below_fields(_: &Reader, _: Platform, record: &AnyRecord) -> Result<Option<RenderFn>> {
        let events =
            |name: &str| serde_json::from_str::<Vec<BidEvent>>(record.text(name)).map_err(Error::internal);
        let (of_platform, of_vendor) = (events("platform_events")?, events("vendor_events")?);
        let files: Vec<Attachment> =
            serde_json::from_str(record.text("attachments")).map_err(Error::internal)?;
        Ok(Some(Box::new(move |_: &Context| activity(of_platform, of_vendor, &files))))
    }
}

/// A taskset that was delivered, as the record has it.
#[derive(serde::Deserialize)]
struct Delivered {
    id: String,
}

/// Returns the activity of a bid, newest first, and the files that the vendor attached.
fn activity(of_platform: Vec<BidEvent>, of_vendor: Vec<BidEvent>, files: &[Attachment]) -> Markup {
    let mut events: Vec<(BidEvent, &str)> =
        of_platform.into_iter().map(|event| (event, "The buyer or the market")).collect();
    events.extend(of_vendor.into_iter().map(|event| (event, "The vendor")));
    events.sort_by_key(|(event, _)| std::cmp::Reverse(event.at));
    let entries: Vec<Entry> = events
        .into_iter()
        .map(|(event, by)| Entry {
            what: html! { b { bdi { (event.event) } } },
            at: event.at,
            note: Some(html! { (by) }),
        })
        .collect();
    html! {
        (tables::section("activity", "What happened", &timeline::timeline(&entries)))
        @if !files.is_empty() { (tables::section("files", "Attached files", &html! {
            p.note { "Only their names and sizes are stored." }
            ul { @for file in files { li.long { bdi { (file.file_name) } ", " (text::size(file.size_bytes)) } } }
        })) }
    }
}

fn refused(record: &AnyRecord, operation: BidOperation, reason: &'static str) -> Option<&'static str> {
    resources::refused::<BidStatus>(record, "status", operation, reason)
}

/// Decides about a bid in the name of the buyer, who may be closed.
fn as_buyer(
    writer: &mut Writer,
    operator: &ActingOperator,
    record: &AnyRecord,
    operation: fn(&mut Writer, &Buyer, Actor, Uuid) -> Result<Bid>,
) -> Result<Option<String>> {
    let buyer = operator.platform().buyer_even_if_closed(inputs::team_in(writer, record, "buyer_id")?);
    operation(writer, &buyer, Actor::Team, id_of(record)?).map(|_| None)
}

/// What an operator agrees to who decides about a bid.
const STATED: &[&str] = &["opportunity_id", "team_id", "num_tasks", "expected_timeline_days", "delivered"];

const STEPS: &[Step] = &[
    Step {
        name: "accept",
        label: "Accept",
        question: "In the name of the buyer. The vendor is notified, and delivers. Other bids stay as they are. No money moves.",
        states: STATED,
        obstacle: |record| {
            let is_canceled = record.text("opportunity_status") == OpportunityStatus::Cancelled.as_str();
            refused(record, BidOperation::Accept, "Only a bid that waits for a decision can be accepted.")
                .or_else(|| {
                    is_canceled.then_some(
                        "The project is canceled, so its bids cannot be accepted. Decline the bid.",
                    )
                })
        },
        is_final: true,
        operation: "accept_project_bid",
        perform: |writer, operator, record, _| as_buyer(writer, operator, record, project_bids::accept),
        ..Step::DEFAULT
    },
    Step {
        name: "decline",
        label: "Decline",
        question: "In the name of the buyer. The vendor is notified, and can bid again.",
        states: STATED,
        obstacle: |record| {
            refused(record, BidOperation::Decline, "Only a bid that waits for a decision can be declined.")
        },
        is_final: true,
        operation: "decline_project_bid",
        perform: |writer, operator, record, _| as_buyer(writer, operator, record, project_bids::decline),
        ..Step::DEFAULT
    },
    Step {
        name: "withdraw",
        label: "Withdraw",
        question: "In the name of the vendor, who can bid again.",
        states: STATED,
        obstacle: |record| {
            refused(record, BidOperation::Withdraw, "Only a bid that waits for a decision can be withdrawn.")
        },
        is_final: true,
        operation: "withdraw_project_bid",
        perform: |writer, operator, record, _| {
            let vendor = inputs::vendor(writer, operator, record)?;
            project_bids::withdraw(writer, &vendor, Actor::Team, id_of(record)?).map(|_| None)
        },
        ..Step::DEFAULT
    },
    Step {
        name: "deliver",
        label: "Deliver",
        question: "In the name of the vendor. A delivery cannot be changed or taken back.",
        inputs: &[Input::Required(&Input::Lines(
            "delivery_taskset_ids",
            "IDs of the tasksets",
            "One in each line. They belong to the vendor.",
        ))],
        obstacle: |record| {
            refused(record, BidOperation::Deliver, "Only for an accepted bid, something can be delivered.")
        },
        is_final: true,
        operation: "deliver_project_bid",
        perform: |writer, operator, record, fields| {
            let (vendor, ids) =
                (inputs::vendor(writer, operator, record)?, resources::ids(fields, "delivery_taskset_ids")?);
            project_bids::deliver(writer, &vendor, Actor::Team, id_of(record)?, &ids).map(|_| None)
        },
        ..Step::DEFAULT
    },
    Step {
        name: "complete",
        label: "Accept the delivery",
        question: "In the name of the buyer. The bid is complete then. No money moves.",
        states: STATED,
        obstacle: |record| {
            refused(
                record,
                BidOperation::Complete,
                "Only a delivery that waits for a decision can be accepted.",
            )
        },
        is_final: true,
        operation: "complete_project_bid",
        perform: |writer, operator, record, _| as_buyer(writer, operator, record, project_bids::complete),
        ..Step::DEFAULT
    },
];
