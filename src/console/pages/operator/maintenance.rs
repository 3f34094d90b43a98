//! Maintenance: whether it lasts, and the forms that switch it on and off.

use super::prelude::*;
use crate::operations::maintenance::{self, Maintenance};

/// The page that switches maintenance on, or changes its text.
pub struct StartMaintenance;

/// The button that switches maintenance off.
pub struct EndMaintenance;

/// Returns whether maintenance is on, and the actions.
pub(super) fn state(context: &Context, maintenance: Option<&Maintenance>) -> Markup {
    let by_setting = context.market().settings().maintenance.enabled;
    let label = if maintenance.is_some() { "Change its text" } else { "Switch it on…" };
    html! {
        @match maintenance {
            None => p { "It is off: teams can change things as usual." }
            Some(maintenance) => {
                p { (badges::badge(Tone::Warning, "On")) " Teams can read everything, but change nothing. You can." }
                @if let Some(at) = maintenance.started_at { (tables::facts(&[("Since", text::moment(at))])) }
            }
        }
        @if by_setting {
            p { "The settings of the server have switched it on. To switch it off, change them, and reload them (SIGHUP)." }
        }
        @if context.may_act() { div.row {
            a.button href=(context.links.to(StartMaintenance::PATH)) { (label) }
            @if maintenance.is_some() && !by_setting {
                (fields::button(context, EndMaintenance::PATH, "Switch it off", "primary"))
            }
        } }
    }
}

impl Page<ActingOperator> for StartMaintenance {
    const PATH: &'static str = "/operator/announcements/maintenance";
    const TITLE: &'static str = "Switch maintenance on";
    const OPERATIONS: &'static [&'static str] = &["start_maintenance"];

    async fn show(visit: &Visit<ActingOperator>) -> Result<Answer> {
        let current = visit.read(|reader, _| maintenance::current(&reader.check_context())).await?;
        let seen = Seen::of(&current);
        let settings = &visit.market().settings().maintenance;
        let is_on = current.is_some();
        let written = current.map_or_else(|| settings.text.clone(), |current| current.text);
        let (title, button) =
            if is_on { ("Change its text", "Save") } else { (Self::TITLE, "Switch maintenance on") };
        let form = html! {
            (seen.edited(&visit.inputs))
            (Field::lines("text", "Message to teams")
                .hint(html! { "It is shown above each page, and when a change is refused. At most 1,000 characters." })
                .value(written).required().show(&visit.inputs))
            (fields::buttons(&visit.context, button, ("Leave it as it is", ANNOUNCEMENTS)))
        };
        let body = html! {
            @if !is_on { div.prose {
                p { "Until you switch it off again:" }
                ul {
                    li { "Teams and their programs can read everything, but change nothing. Uploads that have begun are refused, too. "
                         "Signing in and out works." }
                    li { "You can do everything as usual. Due steps, background jobs, and messages to webhooks continue." }
                }
            } }
            (fields::form(&visit.context, Self::PATH, &form))
        };
        let content = Content::new(title, body).narrow().with_parent("Announcements", ANNOUNCEMENTS);
        Ok(content.with_request("/operator/v1/maintenance").into())
    }
}

impl FormPage<ActingOperator> for StartMaintenance {
    async fn submit(visit: &Visit<ActingOperator>, fields: &Fields) -> Result<Answer> {
        let text = fields.require("text", "Enter the message to teams.")?.to_owned();
        let sent = fields.clone();
        let change = Change::new("start_maintenance", "maintenance", "maintenance");
        changes::perform(visit, fields, change, move |writer, operator| {
            Seen::of(&maintenance::current(&writer.check_context())?).check(&sent)?;
            maintenance::start(writer, operator.platform(), Some(&text))
        })
        .await?;
        Ok(Answer::done(ANNOUNCEMENTS, Notice::Saved))
    }
}

impl Action<ActingOperator> for EndMaintenance {
    const PATH: &'static str = "/operator/announcements/end-maintenance";
    const TITLE: &'static str = "Switch maintenance off";
    const OPERATIONS: &'static [&'static str] = &["end_maintenance"];

    async fn submit(visit: &Visit<ActingOperator>, fields: &Fields) -> Result<Answer> {
        let change = Change::new("end_maintenance", "maintenance", "maintenance");
        changes::perform(visit, fields, change, |writer, operator| {
            maintenance::end(writer, operator.platform())
        })
        .await?;
        Ok(Answer::done(ANNOUNCEMENTS, Notice::Done))
    }
}
