//! Webhooks of teams and of operators.

use super::{paths::DELIVERIES, prelude::*};
use crate::{
    console::resources::{Revealed, yes_or_no},
    domain::webhooks::WebhookStatus,
    operations::webhooks::{self, WebhookChange},
    store::records::webhooks::WEBHOOKS as WEBHOOK_RECORDS,
};

/// The resource.
pub struct Webhooks;

fn is_disabled(record: &AnyRecord) -> Option<&'static str> {
    record.time("disabled_at").is_some().then_some("It is disabled.")
}

fn is_enabled(record: &AnyRecord) -> Option<&'static str> {
    record.time("disabled_at").is_none().then_some("It is enabled.")
}

fn switch<const ENABLED: bool>(
    writer: &mut Writer,
    operator: &ActingOperator,
    record: &AnyRecord,
    _: &Fields,
) -> Result<Option<String>> {
    let status = if ENABLED { WebhookStatus::Enabled } else { WebhookStatus::Disabled };
    let change = WebhookChange { status: Some(status), ..WebhookChange::default() };
    webhooks::update(writer, operator.platform(), id_of(record)?, &change).map(|_| None)
}

impl Resource for Webhooks {
    const LIST: &'static str = WEBHOOKS;
    const TITLE: &'static str = "Webhooks";
    const RECORDS: &'static Records = &WEBHOOK_RECORDS;
    const TABS: &'static [(&'static str, &'static str)] = WEBHOOK_TABS;
    const NAVIGATION: Option<NavigationItem> = Some(Section::System.link("Webhooks"));
    const EMPTY: &'static str = "Addresses to which events are sent appear here.";

    const FIELDS: &'static [RecordField] = &[
        RecordField::listed("url", "Address", Plain),
        RecordField::listed("team_id", "Team", Record(TEAMS)),
        RecordField::listed("status", "Status", State),
        RecordField::listed("disabled_reason", "Why it is disabled", Word),
        RecordField::listed("last_success_at", "Last success", Moment),
        RecordField::listed("created_at", "Created", Moment),
        RecordField::detail("description", "Description", Plain),
        RecordField::detail("event_types", "Events; all if none are listed", Words),
        RecordField::detail("disabled_at", "Disabled since", Moment),
        RecordField::detail("previous_secret_ends_at", "Replaced secret signs until", Moment),
        RecordField::detail("updated_at", "Changed", Moment),
        RecordField::detail("id", "ID", Id),
    ];

    const FILTERS: &'static [ListFilter] = &[
        ListFilter::choice("status", "Status", text::word_choices::<WebhookStatus>),
        ListFilter::choice("failing", "Failing", yes_or_no),
        ListFilter::text("team_id", "Team, by name or ID"),
    ];

    const DERIVED_COLUMNS: DeriveColumns = |record, _| {
        if record.is_true("failing") && record.time("disabled_at").is_none() {
            record.set("status", Value::Text("failing".to_owned()));
        }
    };

    const LINKS: Links = |record| {
        let id = Self::key_of(record);
        vec![
            ("All deliveries", format!("{DELIVERIES}?webhook_id={id}")),
            ("Failing deliveries", format!("{DELIVERIES}?webhook_id={id}&failing=true")),
        ]
    };

    // The form has a page of its own, since the host of the address is looked up before the change.
    const NEW: Option<&'static Step> = Some(&Step {
        label: "Add a webhook",
        inputs: &[inputs::TEAM],
        operation: "create_webhook",
        ..Step::DEFAULT
    });

    const STEPS: &'static [Step] = &[
        Step {
            name: "test",
            label: "Send a test message",
            question: "The event that the webhook was tested is sent to it. Its deliveries show what came of it.",
            obstacle: is_disabled,
            operation: "test_webhook",
            perform: |writer, operator, record, _| {
                webhooks::test(writer, operator.platform(), id_of(record)?).map(|()| None)
            },
            ..Step::DEFAULT
        },
        // It has a page of its own, like the form for a new one.
        Step { name: "change", label: "Change", operation: "update_webhook", ..Step::DEFAULT },
        Step {
            name: "enable",
            label: "Enable",
            question: "Events are sent from now on, and so is what was pending when it was disabled.",
            obstacle: is_enabled,
            operation: "update_webhook",
            perform: switch::<true>,
            ..Step::DEFAULT
        },
        Step {
            name: "disable",
            label: "Disable",
            question: "Nothing is sent any more. What happens while it is disabled is not sent later.",
            obstacle: is_disabled,
            operation: "update_webhook",
            perform: switch::<false>,
            ..Step::DEFAULT
        },
        Step {
            name: "rotate",
            label: "Replace the secret",
            question: "A new secret signs from now on. For a time, messages are signed with the replaced one, too.",
            operation: "rotate_webhook",
            perform_revealing: Some(|writer, operator, record, _| {
                let (webhook, secret) = webhooks::rotate(writer, operator.platform(), id_of(record)?)?;
                Ok(Revealed {
                    title: "The secret was replaced",
                    label: "Signing secret",
                    secret: secret.reveal(),
                    note: "The receiver of the messages needs it to verify them.".to_owned(),
                    path: format!("{WEBHOOKS}/{}", webhook.id),
                })
            }),
            ..Step::DEFAULT
        },
        Step {
            name: "delete",
            label: "Delete",
            question: "Nothing is sent to it any more. What is pending is not sent, and the list of its deliveries is lost.",
            is_final: true,
            operation: "delete_webhook",
            perform: |writer, operator, record, _| {
                webhooks::delete(writer, operator.platform(), id_of(record)?)
                    .map(|_| Some(WEBHOOKS.to_owned()))
            },
            ..Step::DEFAULT
        },
    ];
}
