//! The mutual NDA: its text, its acceptance by the team, and when that was.

use data_encoding::HEXLOWER;

use super::{below_settings, tabs};
use crate::{
    console::{parts::markdown, prelude::*},
    domain::teams::Team,
    operations::{
        access::AuthenticatedTeam,
        nda::{self, current_text},
        team_keys,
    },
    store::nda_acceptances::NdaAcceptance,
};

/// Name of the field with the digest of the text that was read.
const TEXT: &str = "text";

/// Name of the checkbox.
const ACCEPT: &str = "accept";

/// The page.
pub struct Nda;

/// What the page shows of the acceptance.
struct Acceptance {
    last: Option<NdaAcceptance>,
    /// Name of the key with which it was accepted.
    key_name: Option<String>,
    is_due: bool,
}

impl Page<AuthenticatedTeam> for Nda {
    const PATH: &'static str = paths::NDA;
    const TITLE: &'static str = "Mutual NDA";

    async fn show(visit: &Visit<AuthenticatedTeam>) -> Result<Answer> {
        let found = visit.read(|reader, access| {
            let last = nda::last_acceptance(reader, access.team())?;
            let key = last.as_ref().and_then(|last| last.accepted_by);
            let key = key.map(|id| team_keys::find(reader.rows, access, id)).transpose();
            let key_name = match key {
                Ok(key) => key.map(|key| key.name),
                Err(Error::NotFound(_)) => None,
                Err(error) => return Err(error),
            };
            Ok(Acceptance { last, key_name, is_due: nda::needs_acceptance(reader, access.team())? })
        });
        let found = found.await?;
        let team = visit.access.team();
        let body = html! {
            (tabs(&visit.context))
            (state(&visit.context, team, &found))
            article.panel { div.prose { (markdown::render_document(current_text(visit.market().settings()).text())) } }
            @if found.is_due { (form(&visit.context)) }
        };
        Ok(below_settings(&visit.context, Content::new(Self::TITLE, body)).narrow().into())
    }
}

impl FormPage<AuthenticatedTeam> for Nda {
    async fn submit(visit: &Visit<AuthenticatedTeam>, fields: &Fields) -> Result<Answer> {
        fields.require(ACCEPT, "Check this box if your team accepts the agreement.")?;
        let digest = fields.get(TEXT).unwrap_or_default().to_owned();
        let change = Change::new("accept_nda", "team", visit.access.team().id);
        changes::perform(visit, fields, change, move |writer, access| nda::accept(writer, access, &digest))
            .await?;
        let team = visit.access.team();
        let is_first = team.nda_accepted_at.is_none() && (team.is_buyer || team.is_vendor);
        Ok(Answer::done(if is_first { visit.home() } else { Self::PATH }, Notice::NdaAccepted))
    }
}

fn state(context: &Context, team: &Team, found: &Acceptance) -> Markup {
    let Some(accepted_at) = team.nda_accepted_at else {
        let note = "Until your team accepts this agreement, only this page and your sessions are open. Anybody who can sign in for \
                    your team can accept it.";
        return badges::pending(note);
    };
    let mut facts = vec![("First accepted", text::moment(accepted_at))];
    if let Some(last) = &found.last {
        let digest = HEXLOWER.encode(&last.digest);
        if last.accepted_at != accepted_at {
            facts.push(("Last accepted", text::moment(last.accepted_at)));
        }
        facts.push((
            "Accepted with",
            html! {
                @match (&found.key_name, last.accepted_by) {
                    (Some(name), _) => { "the key " b.long { bdi { (name) } } }
                    (None, Some(id)) => { "the key " span.mono.long { (id) } }
                    (None, None) => { "no key: the market recorded it" }
                }
            },
        ));
        facts.push(("SHA-256 of the accepted text", html! { span.mono.long { (digest) } }));
    }
    html! {
        @if found.is_due {
            (badges::warning(html! {
                "The text has changed since your team accepted it. Read the new one below, and accept it. Until then, everything \
                 stays open."
            }))
        }
        (tables::facts(&facts))
        @if found.last.is_none() { p.note { "The market recorded the acceptance without a text." } }
        @if !found.is_due && (team.is_buyer || team.is_vendor) {
            div.row { a.button href=(context.links.to(context.home())) { "Go on" } }
        }
    }
}

fn form(context: &Context) -> Markup {
    let text = current_text(context.market().settings());
    let promise = "I have read the agreement, and accept it for my team";
    let content = html! {
        input type="hidden" name=(TEXT) value=(text.hex_digest());
        (fields::tick(&context.inputs, ACCEPT, &html! { (promise) }))
        div.row { button.primary.big { "Accept the agreement" } }
        p.note { "The time, your key, and the digest of this text are recorded." }
    };
    fields::form(context, paths::NDA, &content)
}
