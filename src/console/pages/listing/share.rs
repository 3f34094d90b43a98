//! Links that lead elsewhere from a listing: to the comparison, to its description in Croissant, and to the same page for a
//! colleague who decides.

use super::{ListingPageData, croissant};
use crate::console::{
    address::PREFIX,
    parts::{cards, listing_view::ListingView},
    prelude::*,
};

/// Field of the query with the note for a colleague.
const NOTE: &str = "note";

/// Field of the query that requests the link itself, and not its target.
const MAKE: &str = "link";

/// Maximum number of characters of a note.
const MAX_NOTE: usize = 500;

/// Shows the note that a colleague wrote for the recipient of the page.
pub(super) fn note_of_colleague(context: &Context) -> Option<Markup> {
    if context.query.get(MAKE).is_some() {
        return None;
    }
    let note = note(context)?;
    Some(badges::neutral(html! {
        b { "A note came with this link" }
        p.long { bdi { (note) } }
        p.note { "Whoever sent you this link wrote it, and anybody can. It is not from the market, which does not check it." }
    }))
}

/// Returns the note in the query: at most the permitted number of characters, without control characters.
fn note(context: &Context) -> Option<String> {
    let is_shown = |letter: &char| !letter.is_control() || *letter == '\n';
    let note: String = context.query.get(NOTE)?.chars().filter(is_shown).take(MAX_NOTE).collect();
    Some(note.trim().to_owned()).filter(|note| !note.is_empty())
}

/// Shows the links to the comparison and for approval.
pub(super) fn links(context: &Context, shown: &ListingPageData) -> Markup {
    let listing = &shown.listing;
    let id = listing.summary.id;
    let compare = Query::default().with(cards::COMPARE_FIELD, &id.to_string());
    let is_made = context.query.get(MAKE).is_some();
    let note = note(context).unwrap_or_default();
    html! {
        p.row {
            @if shown.may_compare {
                a.button.quiet.little href=(compare.at(&context.links.to(paths::COMPARE))) { (icons::icon("plus")) "Compare" }
            }
            a.button.quiet.little href=(context.links.to(&croissant::path(id))) download { (icons::icon("down")) (croissant::Croissant::TITLE) }
        }
        details open[is_made] {
            summary { "Copy link for approval" }
            div.stack {
                @if is_made {
                    @if context.query.get(NOTE).is_some_and(|typed| typed.chars().count() > MAX_NOTE) {
                        (badges::warning(html! { "The note was too long. The link has its first " (MAX_NOTE) " characters." }))
                    }
                    (made(context, listing, &note))
                }
                form.stack method="get" action=(context.links.to(&paths::listing(id))) {
                    input type="hidden" name=(MAKE) value="yes";
                    (Field::lines(NOTE, "Note for your colleague")
                        .hint(html! { "Everybody in your team who can sign in here can open the link. The note is a part of the link, and is stored nowhere: write nothing secret." })
                        .value(note.as_str())
                        .show(&context.inputs))
                    button { "Make the link" }
                }
            }
        }
    }
}

fn made(context: &Context, listing: &ListingView, note: &str) -> Markup {
    let path = format!("{}{PREFIX}{}", context.base_url, paths::listing(listing.summary.id));
    let link = Query::default().with(NOTE, note).at(&path);
    html! {
        div.field {
            label for="made" { "Link to send" }
            input #made readonly value=(link);
        }
        button type="button" data-copy=(link) hidden { "Copy link" }
    }
}
