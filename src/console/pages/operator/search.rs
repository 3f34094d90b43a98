//! The search of operators, which is at the top of each of their pages. If only one record is found, or only one
//! has exactly this name, its page opens at once.

use super::{events::EVENT, paths::SEARCHED, prelude::*, worlds::WORLD};
use crate::{
    console::pages::settings::webhook_forms::event_text,
    domain::events::{EventId, EventRowId, EventType},
    operations::operator_search::{self, Found, Query as Wanted, Unsearchable},
};

/// Name of the field that limits the search to one kind.
const KIND: &str = "kind";

/// Number of records of each kind that are shown.
const PER_KIND: u32 = 10;

/// Number of records that are shown if the search is limited to one kind.
const OF_ONE_KIND: u32 = 200;

/// The page.
pub struct SearchPage;

impl Page<Operator> for SearchPage {
    const PATH: &'static str = paths::OPERATOR_SEARCH;
    const TITLE: &'static str = "Search";

    async fn show(visit: &Visit<Operator>) -> Result<Answer> {
        let context = &visit.context;
        let wanted = match Wanted::parse(visit.query.get(SEARCHED).unwrap_or_default()) {
            Ok(wanted) => wanted,
            Err(reason) => return Ok(Content::new(Self::TITLE, advice(reason)).into()),
        };
        let asked = visit.query.get(KIND);
        let kind = context.pages.lists().map(|(kind, _)| kind).find(|kind| asked == Some(*kind));
        let limit = if kind.is_some() { OF_ONE_KIND } else { PER_KIND };
        let query = wanted.clone();
        let read = visit.read(move |reader, operator| {
            // One more than is shown, to know whether there are more.
            operator_search::find(reader, operator.platform(), &query, limit + 1)
        });
        let mut found = read.await?;
        found.extend(worlds(context, wanted.text(), limit + 1).await?);
        if let Some(kind) = kind {
            found.retain(|found| found.kind == kind);
        } else if let Some(path) =
            operator_search::meant(&wanted, &found).and_then(|found| path_of(context, found))
        {
            return Ok(Answer::Redirect(path));
        }
        let mut content = Content::new(Self::TITLE, results(context, wanted.text(), &found, limit));
        content.search = Some(wanted.text().to_owned());
        Ok(content.into())
    }
}

/// Returns the worlds whose names begin with a text.
async fn worlds(context: &Context, text: &str, limit: u32) -> Result<Vec<Found>> {
    let Some(sandbox) = context.served.sandbox().cloned() else { return Ok(Vec::new()) };
    let start = text.to_lowercase();
    let list = move |_: &crate::market::Market| {
        let worlds = sandbox.worlds().list().into_iter();
        let names = worlds.map(|world| world.name().to_owned());
        let found = names.filter(|name| name.to_lowercase().starts_with(&start)).take(limit as usize);
        Ok(found.map(|name| Found { kind: WORLD.to_owned(), key: name.clone(), name, team: None }).collect())
    };
    context.market().spawn_blocking(list).await
}

/// Returns the path of the page of a found record.
fn path_of(context: &Context, found: &Found) -> Option<String> {
    let is_event = found.kind == EVENT;
    let event =
        is_event.then(|| found.key.parse().ok().map(|id| EventId(EventRowId(id)).to_string())).flatten();
    context.pages.page_of(&found.kind, event.as_deref().unwrap_or(&found.key))
}

/// Returns the name of a found record.
fn name_of(found: &Found) -> String {
    match found.kind.as_str() {
        EVENT => EventType::parse(&found.name).map_or_else(|| found.name.clone(), event_text),
        "job" | "audit_entry" => text::words(&found.name),
        _ if is_blank(&found.name) => "Without a name".to_owned(),
        _ => found.name.clone(),
    }
}

fn results(context: &Context, wanted: &str, found: &[Found], limit: u32) -> Markup {
    let is_email = wanted.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.'));
    let note = html! { @if is_email { p.note { "The market stores no email addresses." } } };
    if found.is_empty() {
        return html! { (note) (tables::empty("Nothing found", WHAT_IS_FOUND, None)) };
    }
    let of = |kind: &str| found.iter().filter(|found| found.kind == kind).collect::<Vec<_>>();
    let mut kinds: Vec<_> = context.pages.lists().map(|(kind, page)| (kind, page.title, of(kind))).collect();
    // Kinds with an exact match come first.
    let is_exact = |found: &&Found| operator_search::is_exact(wanted, found);
    kinds.sort_by_key(|(_, _, found)| !found.iter().any(is_exact));
    html! {
        (note)
        @for (kind, title, of_kind) in kinds.iter().filter(|(_, _, found)| !found.is_empty()) {
            (group(context, wanted, (kind, title), of_kind, limit))
        }
    }
}

fn group(
    context: &Context,
    wanted: &str,
    (kind, title): (&str, &str),
    found: &[&Found],
    limit: u32,
) -> Markup {
    let has_team = found.iter().any(|found| found.team.is_some());
    let row = |found: &&Found| {
        let name = html! { bdi { (name_of(found)) } };
        let name = html! { @match path_of(context, found) {
            Some(path) => a.long href=(context.links.to(&path)) { (name) },
            None => (name),
        } };
        let team = has_team.then(|| html! { bdi { (found.team.as_deref().unwrap_or(text::MISSING)) } });
        let id = html! { @match Uuid::try_parse(&found.key) {
            Ok(_) => span.mono title=(found.key) { (found.key.chars().take(8).collect::<String>()) },
            Err(_) => span.mono.long { (found.key) },
        } };
        let team = team.map(|team| Head::text("Team").cell(team));
        [Some(Head::text("Name").cell(name)), team, Some(Head::text("ID").cell(id))].into_iter().flatten()
    };
    let has_more = found.len() > limit as usize;
    let more = Query::default().with(SEARCHED, wanted).with(KIND, kind);
    let content = html! {
        (tables::of(title, found.iter().take(limit as usize), row))
        @if has_more && limit < OF_ONE_KIND { p { a href=(context.here(&more)) { "Show more" } } }
        @else if has_more { p.note { "There are more. Type more of the name or the ID." } }
    };
    tables::section(&format!("found-{kind}"), title, &content)
}

/// Says what can be found.
const WHAT_IS_FOUND: &str = "Search for an ID or its first eight characters, for the beginning of a name, a title, or an address, for \
     words within these, for words of a listing in the catalog, for the number of a job or of an entry of the audit, or for the ID of a \
     request. Words within names are searched among the newest 10,000 of each of teams, keys, listings, assets, tasksets, \
     opportunities, upload grants, and webhooks; other records are found by the beginning of their names. Deleted records are not found.";

/// Says why nothing is searched for.
fn advice(reason: Unsearchable) -> Markup {
    match reason {
        Unsearchable::Blank => tables::empty("What are you looking for?", WHAT_IS_FOUND, None),
        Unsearchable::TooLong => {
            let advice = format!("Search for at most {} characters.", operator_search::MAX_LENGTH);
            tables::empty("This is too long", &advice, None)
        }
        Unsearchable::Key => tables::empty(
            "This is a key",
            "Keys are secret, and the market does not store them, so it cannot find one. Search for its name or its ID. If others \
             can read the history of this browser, replace the key.",
            None,
        ),
    }
}
