//! The sessions of people who have signed in for the team, or with an operator's key.

use super::{below_settings, tabs};
use crate::{
    console::prelude::*,
    operations::access::{
        Authenticated,
        sessions::{self, Session},
    },
};

/// The page.
pub struct Sessions;

/// The button that ends a session.
pub struct EndSession;

/// The button that ends all other sessions.
pub struct EndOthers;

impl Page<Authenticated> for Sessions {
    const PATH: &'static str = paths::SESSIONS;
    const TITLE: &'static str = "Sessions";

    async fn show(visit: &Visit<Authenticated>) -> Result<Answer> {
        let market = visit.market().clone();
        let found = visit.read(move |reader, access| sessions::list(&market, reader, access)).await?;
        let own = visit.access.session();
        let row = |session: &Session| row(&visit.context, session, own == Some(session.id));
        let console = &visit.market().settings().console;
        let note = format!(
            "A session ends {} after signing in, after {} without use, and when its key ends.",
            text::counted(console.session_hours.into(), "hour", "hours"),
            text::counted(console.session_idle_minutes.into(), "minute", "minutes"),
        );
        let body = html! {
            (tabs(&visit.context))
            (tables::of(Self::TITLE, &found, row))
            p.note { "Ending a session signs out that browser. Its key stays valid: if you do not know who signed in, revoke the key, \
                      too." }
            @if visit.market().is_world() {
                p.note { "These times are those of the server, whose clock nobody moves." }
            }
        };
        let content = Content::new(Self::TITLE, body).with_note(html! { (note) });
        let content = below_settings(&visit.context, content);
        let has_others = found.iter().any(|session| own != Some(session.id));
        let content = if has_others {
            content.with_actions(fields::button(
                &visit.context,
                EndOthers::PATH,
                "End all other sessions",
                "danger",
            ))
        } else {
            content
        };
        Ok(content.into())
    }
}

fn row(context: &Context, session: &Session, is_own: bool) -> [Cell; 5] {
    let path = format!("{}/{}/end", paths::SESSIONS, session.id);
    [
        Head::text("Signed in with").cell(html! {
            span.long { bdi { (session.key_name) } }
            @if is_own { " " (badges::badge(Tone::Good, "This session")) }
        }),
        Head::text("Since").cell(text::moment(session.created_at)),
        Head::text("Last used").cell(text::moment(session.last_used_at)),
        Head::text("Ends unless used").cell(text::moment(session.expires_at)),
        Head::text("End").cell(html! {
            @if is_own { span.note { "Sign out in the menu at the top" } }
            @else {
                @let of = html! { bdi { (session.key_name) } ", " (text::moment(session.created_at)) };
                (fields::row_button(context, &path, "End", of, "danger"))
            }
        }),
    ]
}

// Sessions are no part of the market's records: their changes are neither audited nor kept for a repeated form.
impl Action<Authenticated> for EndSession {
    const PATH: &'static str = "/settings/sessions/{session}/end";
    const TITLE: &'static str = "End a session";

    async fn submit(visit: &Visit<Authenticated>, _: &Fields) -> Result<Answer> {
        let (access, id) = (visit.access.clone(), visit.id(0)?);
        visit.market().spawn_blocking(move |market| sessions::revoke(market, &access, id)).await?;
        Ok(Answer::done(paths::SESSIONS, Notice::SessionEnded))
    }
}

impl Action<Authenticated> for EndOthers {
    const PATH: &'static str = "/settings/sessions/end-others";
    const TITLE: &'static str = "End all other sessions";

    async fn submit(visit: &Visit<Authenticated>, _: &Fields) -> Result<Answer> {
        let access = visit.access.clone();
        visit.market().spawn_blocking(move |market| sessions::revoke_others(market, &access)).await?;
        Ok(Answer::done(paths::SESSIONS, Notice::SessionsEnded))
    }
}
