//! The page for the announcement and for maintenance.

use super::{maintenance, prelude::*};
use crate::{
    console::{banners, resources::choice},
    domain::announcements::{Announcement, AnnouncementLevel},
    operations::{
        announcements::{self, StoredAnnouncement},
        maintenance::current as current_maintenance,
    },
};

/// The page.
pub struct Announcements;

/// The page with the form for an announcement.
pub struct Announce;

/// The button that deletes the announcement.
pub struct DeleteAnnouncement;

impl Page<Operator> for Announcements {
    const PATH: &'static str = ANNOUNCEMENTS;
    const TITLE: &'static str = "Announcements";
    const OPERATIONS: &'static [&'static str] = &["get_announcement", "get_maintenance"];
    const NAVIGATION: Option<NavigationItem> = Some(Section::System.link("Announcements"));

    async fn show(visit: &Visit<Operator>) -> Result<Answer> {
        let read = visit.read(|reader, operator| {
            let context = reader.check_context();
            let stored = announcements::stored(&context, operator.platform())?;
            Ok((stored, announcements::current(&context)?, current_maintenance(&context)?))
        });
        let (stored, shown, maintenance) = read.await?;
        let context = &visit.context;
        let body = html! {
            (tables::section("announcement", "Above each page", &announced(context, stored.as_ref(), shown.as_ref())))
            (tables::section("maintenance", "Maintenance", &maintenance::state(context, maintenance.as_ref())))
        };
        let note = html! { "Everybody who uses the web app sees the announcement, also before signing in." };
        Ok(Content::new(Self::TITLE, body).with_note(note).with_request("/operator/v1/announcement").into())
    }
}

/// Returns the announcement above each page, and the one that operators have written.
fn announced(context: &Context, stored: Option<&StoredAnnouncement>, shown: Option<&Announcement>) -> Markup {
    let form = context.links.to(Announce::PATH);
    html! {
        @match stored {
            Some(stored) => {
                @if !stored.is_shown { (banners::announcement(&stored.announcement)) }
                (tables::facts(&facts(stored)))
            }
            None if shown.is_some() => p { "The announcement comes from the settings of the server. An announcement that you write here is shown instead." }
            None => p { "Nothing is announced now." }
        }
        @if context.may_act() { div.row {
            a.button href=(form) { @if stored.is_some() { "Change the announcement" } @else { "Announce something" } }
            @if stored.is_some() { (fields::button(context, DeleteAnnouncement::PATH, "Delete the announcement", "danger")) }
        } }
    }
}

fn facts(stored: &StoredAnnouncement) -> Vec<(&'static str, Markup)> {
    let Announcement { level, starts_at, ends_at, .. } = stored.announcement;
    let moment = |at: Option<Timestamp>, otherwise: &str| {
        html! { @match at { Some(at) => (text::moment(at)), None => (otherwise) } }
    };
    let state = if stored.is_shown {
        badges::badge(Tone::Good, "Shown now")
    } else {
        badges::badge(Tone::Neutral, "Not shown now")
    };
    vec![
        ("Status", state),
        ("Kind", html! { (text::words(level.as_str())) }),
        ("From", moment(starts_at, "At once")),
        ("Until", moment(ends_at, "An operator deletes it")),
        ("Written", text::moment(stored.changed_at)),
    ]
}

impl Page<ActingOperator> for Announce {
    const PATH: &'static str = "/operator/announcements/change";
    const TITLE: &'static str = "Announce something";
    const OPERATIONS: &'static [&'static str] = &["set_announcement"];

    async fn show(visit: &Visit<ActingOperator>) -> Result<Answer> {
        let read = visit
            .read(|reader, operator| announcements::stored(&reader.check_context(), operator.platform()));
        let stored = read.await?.map(|stored| stored.announcement);
        let (inputs, seen) = (&visit.inputs, Seen::of(&stored));
        let level = stored.as_ref().map_or(AnnouncementLevel::Information, |stored| stored.level);
        let (starts_at, ends_at) =
            stored.as_ref().map_or((None, None), |stored| (stored.starts_at, stored.ends_at));
        let written = stored.map(|stored| stored.text).unwrap_or_default();
        let form = html! {
            (seen.edited(inputs))
            (Field::lines("text", "Text")
                .hint(html! { "At most 1,000 characters. [label](https://address) becomes a link." })
                .value(written).required().show(inputs))
            (fields::select(inputs, "level", "Kind", text::word_choices::<AnnouncementLevel>(), level.as_str()))
            (time_field("starts_at", "From").value(typed(starts_at)).show(inputs))
            (time_field("ends_at", "Until").value(typed(ends_at)).show(inputs))
            (fields::buttons(&visit.context, "Announce it", ("Cancel", ANNOUNCEMENTS)))
        };
        let body = fields::form(&visit.context, Self::PATH, &form);
        Ok(Content::new(Self::TITLE, body).narrow().with_parent(Announcements::TITLE, ANNOUNCEMENTS).into())
    }
}

fn time_field(name: &'static str, label: &'static str) -> Field<'static> {
    let hint = html! { "In UTC, for example 2026-04-01 09:00. May be left empty." };
    Field::moment(name, label).hint(hint)
}

/// Returns a time as one types it.
fn typed(time: Option<Timestamp>) -> String {
    time.map(|time| time.to_string().replacen('T', " ", 1).chars().take(16).collect()).unwrap_or_default()
}

/// Returns the time that was sent; or the stored time if the field still has the text of the page, which has no seconds.
fn unless_kept(
    fields: &Fields,
    name: &str,
    sent: Option<Timestamp>,
    stored: Option<Timestamp>,
) -> Option<Timestamp> {
    let text = fields.get(name).unwrap_or_default().replacen('T', " ", 1);
    if text == typed(stored) { stored } else { sent }
}

impl FormPage<ActingOperator> for Announce {
    async fn submit(visit: &Visit<ActingOperator>, fields: &Fields) -> Result<Answer> {
        let mut announcement = Announcement {
            text: fields.require("text", "Enter the text of the announcement.")?.to_owned(),
            level: choice(fields, "level")?,
            starts_at: fields.moment("starts_at")?,
            ends_at: fields.moment("ends_at")?,
        };
        let sent = fields.clone();
        let change = Change::new("set_announcement", "announcement", "announcement");
        changes::perform(visit, fields, change, move |writer, operator| {
            let stored = announcements::stored(&writer.check_context(), operator.platform())?;
            let before = stored.map(|stored| stored.announcement);
            Seen::of(&before).check(&sent)?;
            if let Some(before) = before {
                announcement.starts_at =
                    unless_kept(&sent, "starts_at", announcement.starts_at, before.starts_at);
                announcement.ends_at = unless_kept(&sent, "ends_at", announcement.ends_at, before.ends_at);
            }
            announcements::set(writer, operator.platform(), announcement)
        })
        .await?;
        Ok(Answer::done(ANNOUNCEMENTS, Notice::Saved))
    }
}

impl Action<ActingOperator> for DeleteAnnouncement {
    const PATH: &'static str = "/operator/announcements/delete";
    const TITLE: &'static str = "Delete the announcement";
    const OPERATIONS: &'static [&'static str] = &["delete_announcement"];

    async fn submit(visit: &Visit<ActingOperator>, fields: &Fields) -> Result<Answer> {
        let change = Change::new("delete_announcement", "announcement", "announcement");
        changes::perform(visit, fields, change, |writer, operator| {
            announcements::delete(writer, operator.platform())
        })
        .await?;
        Ok(Answer::done(ANNOUNCEMENTS, Notice::Done))
    }
}
