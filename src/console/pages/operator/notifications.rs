//! Notifications of all teams.

use super::prelude::*;
use crate::{domain::notifications::NotificationType, store::records::notifications::NOTIFICATIONS};

/// The resource.
pub struct Notifications;

impl Resource for Notifications {
    const LIST: &'static str = "/operator/notifications";
    const TITLE: &'static str = "Notifications";
    const RECORDS: &'static Records = &NOTIFICATIONS;
    const NAVIGATION: Option<NavigationItem> = Some(Section::System.link("Notifications"));
    const EMPTY: &'static str = "What the market has told teams appears here.";

    const FIELDS: &'static [RecordField] = &[
        RecordField::listed("title", "Title", Plain),
        RecordField::listed("team_id", "Team", Record(TEAMS)),
        RecordField::listed("type", "Kind", Word),
        RecordField::listed("read", "Read", Flag),
        RecordField::listed("created_at", "Sent", Moment),
        RecordField::detail("message", "Message", Plain),
        RecordField::detail("link", "Page that it is about", Plain),
        RecordField::detail("opportunity_id", "Opportunity", Record(OPPORTUNITIES)),
        RecordField::detail("project_opportunity_id", "Project", Record(PROJECTS)),
        RecordField::detail("project_bid_id", "Bid on the project", Record(PROJECT_BIDS)),
        RecordField::detail("task_id", "Task", Id),
        RecordField::detail("id", "ID", Id),
    ];

    const FILTERS: &'static [ListFilter] = &[
        ListFilter::choice("type", "Kind", text::word_choices::<NotificationType>),
        ListFilter::choice("unread", "Unread", resources::yes_or_no),
        ListFilter::text("team_id", "Team, by name or ID"),
    ];

    const STEPS: &'static [Step] = &[Step {
        name: "read",
        label: "Mark as read",
        question: "You mark it as read in the name of the team. It does not become unread again.",
        obstacle: |record| record.is_true("read").then_some("It was read."),
        operation: "mark_notification_read",
        perform: |writer, operator, record, _| {
            notifications::mark_read(writer, operator.platform(), Actor::Team, id_of(record)?).map(|()| None)
        },
        ..Step::DEFAULT
    }];
}
