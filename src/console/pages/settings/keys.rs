//! The keys of the team.

use super::{
    below_settings,
    key_forms::{NewKey, scope_text},
    tabs,
};
use crate::{
    console::prelude::*,
    domain::keys::KeyStatus,
    operations::{
        access::TeamWithNda,
        team_keys::{self, TeamKey},
    },
};

/// The page.
pub struct Keys;

impl Page<TeamWithNda> for Keys {
    const PATH: &'static str = paths::KEYS;
    const TITLE: &'static str = "Keys";

    async fn show(visit: &Visit<TeamWithNda>) -> Result<Answer> {
        let keys = visit.read(|reader, access| team_keys::list(reader, access.authenticated())).await?;
        let own = visit.access.authenticated().key_id();
        let heads = [
            Head::text("Key"),
            Head::text("For"),
            Head::text("Status"),
            Head::text("Created"),
            Head::text("Expires"),
            Head::text("Last used"),
            Head::text("Change"),
        ];
        let rows: Vec<_> = keys.iter().map(|key| row(&visit.context, key, own == Some(key.key.id))).collect();
        let body = html! {
            (tabs(&visit.context))
            (tables::table(Self::TITLE, &heads, &rows))
            p.note { "The newest keys are first. The market itself stores only digests of keys, so nobody can look up one that is \
                      lost: replace it." }
        };
        let new = html! { a.button.primary href=(visit.links.to(NewKey::PATH)) { "Create a key" } };
        let note = "Whoever has a key of your team acts for your team.";
        let content = Content::new(Self::TITLE, body).with_note(html! { (note) }).with_actions(new);
        Ok(below_settings(&visit.context, content).into())
    }
}

fn row(context: &Context, key: &TeamKey, is_own: bool) -> Vec<Markup> {
    let TeamKey { key, status, last_used_at } = key;
    let link = |verb: &str| context.links.to(&super::key_forms::path(key.id, verb));
    vec![
        html! {
            span.long { bdi { (key.name) } }
            @if is_own { " " (badges::badge(Tone::Good, "You are signed in with it")) }
            br;
            span.note.mono.long { (key.id) }
        },
        html! { (scope_text(key.team_scope)) },
        state(*status),
        text::day(key.created_at),
        expiry(key.expires_at),
        html! { @match last_used_at { Some(at) => (text::moment(*at)), None => "Never" } },
        html! { span.row {
            @if *status == KeyStatus::Active { a.button.little href=(link("replace")) { "Replace…" } }
            @if status.is_valid() {
                a.button.little.danger href=(link("revoke")) { "Revoke…" }
            }
        } },
    ]
}

fn state(status: KeyStatus) -> Markup {
    match status {
        KeyStatus::Active => badges::badge(Tone::Good, "Valid"),
        KeyStatus::Rotated => badges::badge(Tone::Waiting, "Replaced, ends soon"),
        KeyStatus::Expired => badges::badge(Tone::Neutral, "Expired"),
        KeyStatus::Revoked => badges::badge(Tone::Neutral, "Revoked"),
    }
}

fn expiry(at: Option<Timestamp>) -> Markup {
    html! { @match at { Some(at) => (text::moment(at)), None => "Never" } }
}
