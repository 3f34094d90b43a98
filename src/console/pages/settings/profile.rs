//! The profile of a team: what the market knows about it, and who can change what.

use super::tabs;
use crate::{
    console::{frame, prelude::*},
    domain::teams::Team,
    operations::access::TeamWithNda,
};

/// The page.
pub struct Profile;

impl Page<TeamWithNda> for Profile {
    const PATH: &'static str = paths::PROFILE;
    const TITLE: &'static str = "Team settings";
    const NAVIGATION: Option<NavigationItem> = Some(Section::Team.link("Settings"));

    async fn show(visit: &Visit<TeamWithNda>) -> Result<Answer> {
        let team = visit.access.authenticated().team();
        let body = html! {
            (tabs(&visit.context))
            div.row {
                span.face aria-hidden="true" { (text::initials(&team.name)) }
                h2.long { bdi { (team.name) } }
            }
            (facts(&visit.context, team))
            (tables::section("who", "Who can change what", &rules(&visit.context)))
        };
        Ok(Content::new(Self::TITLE, body).narrow().into())
    }
}

fn facts(context: &Context, team: &Team) -> Markup {
    let nda = html! {
        @if let Some(at) = team.nda_accepted_at {
            (badges::badge(Tone::Good, "Accepted")) " " (text::day(at)) " · "
            a href=(context.links.to(paths::NDA)) { "Read it" }
        } @else { (badges::badge(Tone::Waiting, "Not accepted")) }
    };
    let mut facts = vec![
        (
            "Initials",
            html! { (text::initials(&team.name)) span.note { " – other teams see these instead of an image" } },
        ),
        ("Roles", html! { (text::words(frame::roles(team))) }),
    ];
    if team.is_vendor {
        let note = "Tier 1 is the first one. The market moves teams up.";
        facts.push(("Seller tier", html! { (team.tier) span.note { " of 3 – " (note) } }));
        let note = "The market certifies listings one by one, after their checks have passed. There is no certificate of a team.";
        facts.push(("Certification", html! { (note) }));
    }
    facts.extend([
        ("Mutual NDA", nda),
        ("In this market since", text::day(team.created_at)),
        ("Team ID", html! { span.mono.long { (team.id) } }),
    ]);
    tables::facts(&facts)
}

fn rules(context: &Context) -> Markup {
    let contact = &context.market().settings().console.contact;
    let (market, team) = ("Only the market", "Your team: anybody who can sign in");
    let link = |path: &str, label: &str| html! { a href=(context.links.to(path)) { (label) } };
    let rows = [
        (html! { "Name, initials" }, market),
        (html! { "Roles, seller tier" }, market),
        (html! { "Certification of a listing" }, market),
        (html! { "Credits that are bought, refunds, payments of withdrawals" }, market),
        (link(paths::NDA, "Acceptance of the mutual NDA"), team),
        (link(paths::KEYS, "Keys"), team),
        (link(paths::SESSIONS, "Sessions"), team),
        (html! { "Webhooks, upload grants" }, team),
        (html! { "How the market pays a vendor" }, "Your team. It cannot read what it has stated."),
    ];
    let row =
        |(what, who): (Markup, &str)| [Head::text("What").cell(what), Head::text("Who changes it").cell(who)];
    html! {
        (tables::of("Who can change what", rows, row))
        p.note {
            "A key for the web app can do everything that your team can do. Give one only to those who may spend its credits."
        }
        p.note {
            "For what only the market can change, "
            @if contact.is_empty() { "ask those who run it." }
            @else { a href=(contact) rel="noopener" { "contact the market" } "." }
        }
    }
}
