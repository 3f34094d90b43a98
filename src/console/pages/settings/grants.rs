//! The upload grants of a vendor: creating one, and revoking it.

use super::{below_settings, tabs};
use crate::{
    console::{
        pages::adding::{chosen_exclusivity, chosen_group, exclusivity_field, group_field},
        parts::secrets,
        prelude::*,
    },
    domain::{
        grants::{GRANT_HOURS, Grant, GrantState},
        typed_numbers::parse_whole_number,
    },
    operations::{
        groups,
        team_grants::{self, TeamGrantInput},
    },
};

/// Number of grants that the list shows: the newest ones.
const SHOWN: u32 = 200;

/// Bytes of a megabyte.
const MEGABYTE: u64 = 1_000_000;

/// The list.
pub struct Grants;

/// The page that creates a grant.
pub struct NewGrant;

/// The page that revokes a grant.
pub struct RevokeGrant;

impl Page<Vendor> for Grants {
    const PATH: &'static str = paths::GRANTS;
    const TITLE: &'static str = "Upload grants";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let grants = visit.read(|reader, vendor| team_grants::list(reader, vendor, SHOWN)).await?;
        let new = visit.links.to(NewGrant::PATH);
        let body = html! {
            (tabs(&visit.context))
            @if grants.is_empty() {
                (tables::empty(
                    "Your team has no upload grants",
                    "A grant is a token with which a program uploads one codebase as a zip file, without a way to change anything else.",
                    Some(("Create a grant", &new)),
                ))
            } @else {
                (list(&visit.context, &grants))
            }
        };
        let note = format!("Each is for one codebase, and ends after {GRANT_HOURS} hours.");
        let content = Content::new(Self::TITLE, body).with_note(html! { (note) });
        let content = if grants.is_empty() {
            content
        } else {
            content.with_actions(html! { a.button.primary href=(new) { "Create a grant" } })
        };
        Ok(below_settings(&visit.context, content).into())
    }
}

fn list(context: &Context, grants: &[Grant]) -> Markup {
    let now = context.now();
    let row = |grant: &Grant| {
        let state = grant.state(now);
        [
            Head::text("Codebase")
                .cell(html! { span.long { bdi { (grant.title) } } br; span.note.mono.long { (grant.id) } }),
            Head::text("Status").cell(badge(state)),
            Head::text("Created").cell(text::moment(grant.created_at)),
            Head::text("Ends").cell(text::moment(grant.expires_at)),
            Head::number("Largest upload").cell(text::size(grant.max_bytes)),
            Head::text("Change").cell(html! { @if state == GrantState::Open {
                a.button.little.danger href=(context.links.to(&format!("{}/{}/revoke", paths::GRANTS, grant.id))) { "Revoke…" }
            } }),
        ]
    };
    html! {
        (tables::of("Upload grants", grants, row))
        @if grants.len() == SHOWN as usize { p.note { "Only the newest " (SHOWN) " are shown." } }
    }
}

fn badge(state: GrantState) -> Markup {
    badges::of(match state {
        GrantState::Open => (Tone::Waiting, "Can be used"),
        GrantState::Consumed => (Tone::Good, "Used"),
        GrantState::Expired => (Tone::Neutral, "Expired"),
        GrantState::Revoked => (Tone::Neutral, "Revoked"),
    })
}

fn below_grants(content: Content) -> Content {
    content.with_parent(super::SETTINGS, paths::PROFILE).with_parent("Upload grants", paths::GRANTS).narrow()
}

impl Page<Vendor> for NewGrant {
    const PATH: &'static str = "/settings/grants/new";
    const TITLE: &'static str = "Create an upload grant";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let groups = visit.read(groups::list).await?;
        let (inputs, limit) = (&visit.inputs, visit.market().settings().blobs.max_upload_bytes);
        let size_hint = html! { "Up to " (text::size(limit)) ", which also holds if this is empty." };
        let form = html! {
            (Field::text("title", "Title of the codebase").required().at_most(200).show(inputs))
            (exclusivity_field(inputs, "Exclusive sale"))
            (group_field(inputs, &groups))
            (Field::integer("max_megabytes", "Largest upload, MB").hint(size_hint).show(inputs))
            (fields::buttons(&visit.context, "Create the grant", ("Leave", paths::GRANTS)))
        };
        let body = fields::form(&visit.context, NewGrant::PATH, &form);
        Ok(below_grants(Content::new(Self::TITLE, body)).into())
    }
}

impl FormPage<Vendor> for NewGrant {
    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        let mut problems = Vec::new();
        let title = fields.get("title").unwrap_or_default().to_owned();
        if title.is_empty() {
            problems.push(problem("title", "Enter a title, for example Harbour ledger."));
        }
        let limit = (visit.market().settings().blobs.max_upload_bytes / MEGABYTE).max(1);
        let size_problem = format!("Enter a whole number from 1 to {}.", text::grouped(limit));
        let size = fields.parsed("max_megabytes", &size_problem, |text| {
            parse_whole_number(text)?
                .try_into()
                .ok()
                .filter(|megabytes: &u64| (1..=limit).contains(megabytes))
        });
        let exclusivity = collect(chosen_exclusivity(fields), &mut problems)?;
        let group = collect(chosen_group(fields), &mut problems)?.flatten();
        let size = collect(size, &mut problems)?.flatten();
        let (true, Some(exclusivity)) = (problems.is_empty(), exclusivity) else {
            return Err(Error::Invalid(problems));
        };
        let max_bytes = size.map(|megabytes| megabytes.saturating_mul(MEGABYTE));
        let change = Change::new("create_upload_grant", "team", visit.access.team().id);
        let work = move |writer: &mut Writer, vendor: &Vendor| {
            team_grants::create(
                writer,
                vendor,
                &TeamGrantInput { title: &title, exclusivity, group, max_bytes },
            )
        };
        let (grant, token) = changes::perform_revealing(visit, fields, change, work).await?;
        Ok(reveal(&visit.context, &grant, &token).into())
    }
}

fn reveal(context: &Context, grant: &Grant, token: &str) -> Content {
    let facts = [
        ("Codebase", html! { span.long { bdi { (grant.title) } } }),
        ("Ends", text::moment(grant.expires_at)),
        ("Largest upload", html! { (text::size(grant.max_bytes)) }),
    ];
    let body = html! {
        (secrets::secret("token", "The token", token))
        (tables::facts(&facts))
        p {
            "A program that has this token and a key of your team uploads one zip file with it. The "
            a href=(context.links.outside("/vendor/docs")) { "reference for vendors" }
            " has the three requests, under uploads."
        }
        div.row { a.button.primary href=(context.links.to(paths::GRANTS)) { "I have copied it" } }
    };
    below_grants(Content::new("The grant was created", body))
}

impl ConfirmationPage<Vendor, Grant> for RevokeGrant {
    const QUESTION: Question<Vendor, Grant> = Question {
        path: "/settings/grants/{grant}/revoke",
        title: "Revoke an upload grant",
        change: ("revoke_upload_grant", "upload_grant"),
        notice: Notice::GrantRevoked,
        find: |context, vendor, id| team_grants::find(context.rows, vendor, id),
        ask: |_, grant| {
            let lost = html! {
                p { "The token for " b.long { bdi { (grant.title) } } " stops working. What was uploaded with it so far is deleted." }
            };
            Confirmation {
                page: below_grants(Content::new("Revoke this upload grant?", Markup::default())),
                prompt: Ok((lost, "danger primary", "Revoke the grant".to_owned())),
                leave: ("Back to the grants", paths::GRANTS.to_owned()),
            }
        },
        perform: team_grants::revoke,
        next: |_| paths::GRANTS.to_owned(),
    };
}
