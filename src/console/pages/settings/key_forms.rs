//! Forms about keys of the team: creating, replacing, and revoking one.

use crate::{
    console::{
        parts::{fields::Choice, secrets},
        prelude::*,
    },
    domain::{
        keys::{KeyTimes, TeamKeyScope},
        time::MICROS_PER_HOUR,
    },
    operations::{
        access::{TeamWithNda, sessions},
        team_keys::{self, NewTeamKey},
    },
};

/// Returns the path of a question about a key.
pub fn path(key: Uuid, verb: &str) -> String {
    format!("{}/{key}/{verb}", paths::KEYS)
}

/// The page that creates a key.
pub struct NewKey;

/// The page that replaces a key.
pub struct ReplaceKey;

/// The page that revokes a key.
pub struct RevokeKey;

fn below_keys(content: Content) -> Content {
    content.with_parent(super::SETTINGS, paths::PROFILE).with_parent("Keys", paths::KEYS).narrow()
}

impl Page<TeamWithNda> for NewKey {
    const PATH: &'static str = "/settings/keys/new";
    const TITLE: &'static str = "Create a key";

    async fn show(visit: &Visit<TeamWithNda>) -> Result<Answer> {
        let inputs = &visit.inputs;
        let name_hint = html! { "Who or what uses it, so that your team knows later which key to revoke." };
        let expiry_hint = html! { "The key ends when this day begins (UTC). Leave it empty for a key that does not expire." };
        let form = html! {
            (Field::text("name", "Name").hint(name_hint).required().at_most(120).show(inputs))
            h2 { "Who uses it" }
            (fields::choices(inputs, "scope", "Who uses it", &scopes(), ""))
            (Field::day("expires_at", "Expires on").hint(expiry_hint).show(inputs))
            (fields::buttons(&visit.context, "Create the key", ("Leave", paths::KEYS)))
        };
        let body = fields::form(&visit.context, NewKey::PATH, &form);
        Ok(below_keys(Content::new(Self::TITLE, body)).into())
    }
}

fn scopes() -> Vec<Choice> {
    let note = |scope| match scope {
        TeamKeyScope::Api => {
            "Reads the catalog and your team's records, and keeps its inventory. It cannot sign in, buy, or make keys."
        }
        TeamKeyScope::Console => {
            "Signs people in here. They can do everything for your team: spend its credits, too."
        }
        TeamKeyScope::All => {
            "Both. Better make two keys, so that a program never has the one that can spend."
        }
    };
    let choice = |scope: &TeamKeyScope| Choice {
        value: scope.as_str().to_owned(),
        text: scope_text(*scope).to_owned(),
        note: note(*scope).to_owned(),
        amount: None,
    };
    TeamKeyScope::ALL.iter().map(choice).collect()
}

impl FormPage<TeamWithNda> for NewKey {
    async fn submit(visit: &Visit<TeamWithNda>, fields: &Fields) -> Result<Answer> {
        let mut problems = Vec::new();
        let name = fields.get("name").unwrap_or_default().to_owned();
        if name.is_empty() {
            problems.push(problem("name", "Enter a name, for example Build server."));
        }
        let scope = fields.get("scope").and_then(TeamKeyScope::parse);
        if scope.is_none() {
            problems.push(problem("scope", "Choose who uses the key."));
        }
        let expires_at = collect(fields.start_of_day("expires_at", None), &mut problems)?.flatten();
        let (true, Some(scope)) = (problems.is_empty(), scope) else { return Err(Error::Invalid(problems)) };
        let change = Change::new("create_key", "team", visit.access.authenticated().team().id);
        let created = changes::perform_revealing(visit, fields, change, {
            let name = name.clone();
            move |writer, access| team_keys::create(writer, access.authenticated(), &name, scope, expires_at)
        });
        let created = created.await?;
        let facts =
            [("Name", html! { span.long { bdi { (name) } } }), ("For", html! { (scope_text(scope)) })];
        let more = html! { (tables::facts(&facts)) @if scope.permits_api() { (how_to_use(&visit.context)) } };
        Ok(reveal("The key was created", &created, &more, &visit.context).into())
    }
}

fn how_to_use(context: &Context) -> Markup {
    let command = format!(
        "curl -H \"Authorization: Bearer $KEY\" \\\n  '{}/v2/listings/browse?limit=3'",
        context.base_url
    );
    html! {
        p { "Programs send it with each request:" }
        pre { code { (command) } }
    }
}

/// Returns the page that shows a new key once.
fn reveal(title: &str, created: &NewTeamKey, more: &Markup, context: &Context) -> Content {
    let body = html! {
        (secrets::secret("new-key", "The key", &created.secret))
        (more)
        p.note { "Key ID " span.mono.long { (created.id) } ". The ID is not secret: lists and the audit name the key by it." }
        div.row { a.button.primary href=(context.links.to(paths::KEYS)) { "I have copied it" } }
    };
    below_keys(Content::new(title, body))
}

/// Returns the key in the path.
async fn find(visit: &Visit<TeamWithNda>) -> Result<KeyTimes> {
    let id = visit.id(0)?;
    visit.read(move |reader, access| team_keys::find(reader.rows, access.authenticated(), id)).await
}

impl Page<TeamWithNda> for ReplaceKey {
    const PATH: &'static str = "/settings/keys/{key}/replace";
    const TITLE: &'static str = "Replace a key";

    async fn show(visit: &Visit<TeamWithNda>) -> Result<Answer> {
        let key = find(visit).await?;
        let hours = visit.market().settings().keys.rotation_overlap_hours;
        let overlap = i64::from(hours) * MICROS_PER_HOUR;
        let body = html! {
            p { "You get a new key with the same name, for the same purpose. It is valid at once, and lives as long as this one was \
                 made for." }
            p {
                "This key stays valid "
                @if hours == 0 { "no longer: whatever uses it fails until it has the new one." }
                @else {
                    "until " (text::moment(key.expiry_after_rotation(visit.now(), overlap)))
                    ", so that you can exchange it where it is used."
                }
                " People who have signed in with it stay signed in."
            }
            (key_facts(&key))
            (fields::form(&visit.context, &path(key.id, "replace"), &html! {
                (fields::buttons(&visit.context, "Replace the key", ("Keep it as it is", paths::KEYS)))
            }))
        };
        Ok(below_keys(Content::new("Replace this key?", body)).into())
    }
}

impl FormPage<TeamWithNda> for ReplaceKey {
    async fn submit(visit: &Visit<TeamWithNda>, fields: &Fields) -> Result<Answer> {
        let id = visit.id(0)?;
        let work = move |writer: &mut Writer, access: &TeamWithNda| {
            let created = team_keys::rotate(writer, access.authenticated(), id)?;
            let replaced = team_keys::find(writer.rows, access.authenticated(), id)?;
            Ok((created, replaced))
        };
        let (created, replaced) =
            changes::perform_revealing(visit, fields, Change::new("rotate_key", "key", id), work).await?;
        let more = html! {
            p {
                "The replaced key of the name " b.long { bdi { (replaced.name) } }
                @if let Some(at) = replaced.expires_at { " ends " (text::moment(at)) "." } @else { " has ended." }
                " If somebody else knows it, revoke it now."
            }
            div.row { a.button.danger href=(visit.links.to(&path(id, "revoke"))) { "Revoke the replaced key…" } }
        };
        Ok(reveal("The key was replaced", &created, &more, &visit.context).into())
    }
}

impl Page<TeamWithNda> for RevokeKey {
    const PATH: &'static str = "/settings/keys/{key}/revoke";
    const TITLE: &'static str = "Revoke a key";

    async fn show(visit: &Visit<TeamWithNda>) -> Result<Answer> {
        let key = find(visit).await?;
        let authenticated = visit.signed_in.as_ref().map(|signed_in| signed_in.authenticated.clone());
        let (id, market) = (key.id, visit.market().clone());
        let count = visit.read(move |reader, _| {
            let sessions = authenticated
                .map(|authenticated| sessions::list(&market, reader, &authenticated))
                .transpose()?;
            Ok(sessions.unwrap_or_default().iter().filter(|session| session.key == id).count())
        });
        let count = count.await? as u64;
        let is_own = visit.access.authenticated().key_id() == Some(key.id);
        let lost = html! {
            @if is_own { (badges::warning(html! {
                b { "You are signed in with this key. " }
                "Revoking it signs you out at once. Make sure that you have another key for the web app: if it is your team's only \
                 one, only the market can give you a new one."
            })) }
            p {
                "Every request with this key is refused from then on"
                @if count > 0 { ", and " (text::counted(count, "session ends", "sessions end")) }
                ". A revoked key cannot be made valid again. To exchange it without an interruption, "
                a href=(visit.links.to(&path(key.id, "replace"))) { "replace it" } " first."
            }
            (key_facts(&key))
        };
        let body = fields::question(&visit.context, &lost, ("danger primary", "Revoke the key"), paths::KEYS);
        Ok(below_keys(Content::new("Revoke this key?", body)).into())
    }
}

impl FormPage<TeamWithNda> for RevokeKey {
    async fn submit(visit: &Visit<TeamWithNda>, fields: &Fields) -> Result<Answer> {
        let id = visit.id(0)?;
        let work = move |writer: &mut Writer, access: &TeamWithNda| {
            team_keys::revoke(writer, access.authenticated(), id)
        };
        changes::perform(visit, fields, Change::new("revoke_key", "key", id), work).await?;
        // Somebody who revoked the own key gets the page for signing in.
        Ok(Answer::done(paths::KEYS, Notice::KeyRevoked))
    }
}

fn key_facts(key: &KeyTimes) -> Markup {
    tables::facts(&[
        ("Name", html! { span.long { bdi { (key.name) } } }),
        ("For", html! { (scope_text(key.team_scope)) }),
        ("Created", text::moment(key.created_at)),
        ("Key ID", html! { span.mono.long { (key.id) } }),
    ])
}

/// Returns what a key is for.
pub const fn scope_text(scope: TeamKeyScope) -> &'static str {
    match scope {
        TeamKeyScope::Api => "Programs and agents (scope “api”)",
        TeamKeyScope::Console => "People, in this web app (scope “console”)",
        TeamKeyScope::All => "Both (scope “all”)",
    }
}
