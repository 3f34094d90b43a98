//! What waits for a vendor, as one list, the most urgent first.

use crate::{
    console::{pages::inventory::state::STAGE, prelude::*},
    domain::{listings::ReviewStatus, quality_runs::RunStatus, stages::Stage},
    operations::vendor_attention::{Attention, Business, First},
    store::vendor_attention::{
        DueDelivery, FailedCopy, FailedRun, RetiringKind, ReviewedListing, StalledUpload, WaitingOffer,
    },
};

/// Maximum number of characters of a reviewer's note in the list.
const MAX_NOTE: usize = 200;

/// Something that waits for the vendor.
#[derive(Debug)]
pub struct Need {
    tone: Tone,
    /// What it is about, which links to `path`.
    subject: Markup,
    path: String,
    note: Markup,
    at: Option<Timestamp>,
}

/// Returns the waiting tasks, and since when the oldest one has waited.
pub fn of(context: &Context, attention: &Attention, business: &Business) -> (Vec<Need>, Option<Timestamp>) {
    let mut needs = Vec::new();
    let now = context.now();
    add(&mut needs, &attention.deliveries, |row| delivery(row, now), paths::PROJECT_BIDS, "deliveries");
    add(&mut needs, &attention.offers, offer, paths::OFFERS, "bids");
    add(&mut needs, &attention.listings, listing, paths::OWN_LISTINGS, "reviewed listings");
    add(&mut needs, &attention.failed_copies, failed_copy, paths::INVENTORY, "assets without data");
    add(&mut needs, &attention.failed_runs, failed_run, paths::QUALITY, "runs that did not pass");
    add(&mut needs, &attention.uploads, upload, paths::ADD_ASSETS, "uploads");
    needs.extend(attention.kinds.iter().map(kind));
    if business.lacks_payout_setup() {
        needs.push(Need {
            tone: Tone::Waiting,
            subject: html! { "State how the market pays your team" },
            path: paths::PAYOUT_SETUP.to_owned(),
            note: html! { "Until then, earnings cannot be withdrawn" },
            at: None,
        });
    }
    needs.extend(unlisted(business));
    if business.figures.incomplete > 0 {
        needs.push(incomplete(business.figures.incomplete));
    }
    // Bids, and everything late or broken, come first. The rest is ordered by urgency: first buyers, then listings that are one
    // step from the catalog, then corrections.
    needs.sort_by_key(|need| need.tone != Tone::Bad && !need.path.starts_with(paths::OFFERS));
    let oldest = needs.iter().filter_map(|need| need.at).min();
    (needs, oldest)
}

fn add<T>(needs: &mut Vec<Need>, found: &First<T>, need: impl Fn(&T) -> Need, list: &str, many: &str) {
    needs.extend(found.rows.iter().map(need));
    if !found.has_more {
        return;
    }
    needs.push(Need {
        tone: Tone::Waiting,
        subject: html! { "More " (many) },
        path: list.to_owned(),
        note: html! { "See all of them in the list" },
        at: None,
    });
}

fn delivery(row: &DueDelivery, now: Timestamp) -> Need {
    let due = row.days.map(|days| row.accepted_at.plus_days(i64::from(days)));
    let tasks = text::counted(row.num_tasks, "task", "tasks");
    let note = html! {
        "Your bid was accepted. Deliver " (tasks)
        @if let Some(due) = due { " by " (text::day(due)) }
    };
    Need {
        tone: if due.is_some_and(|due| due < now) { Tone::Bad } else { Tone::Waiting },
        subject: html! { "Deliver for " bdi { (row.title) } },
        path: paths::project_bid(row.bid),
        note,
        at: Some(row.accepted_at),
    }
}

fn offer(row: &WaitingOffer) -> Need {
    let note = html! {
        @match row.expires_at {
            Some(until) => { "Answer by " (text::day(until)) }
            None => { "It waits for your answer" }
        }
    };
    Need {
        tone: Tone::Waiting,
        subject: html! { "Bid of " (text::short_money(row.amount)) " for " bdi { (row.title) } },
        path: super::bids::path(row.id),
        note,
        at: Some(row.created_at),
    }
}

fn listing(row: &ReviewedListing) -> Need {
    let (tone, subject, note) = if row.status == ReviewStatus::Approved {
        (Tone::Good, html! { bdi { (row.title) } " is approved" }, "Publish it when you are ready".to_owned())
    } else {
        let note = row.feedback.as_deref().map_or_else(|| "The reviewer left no note".to_owned(), shortened);
        (Tone::Warning, html! { bdi { (row.title) } ": changes requested" }, note)
    };
    Need { tone, subject, path: paths::own_listing(row.id), note: html! { (note) }, at: Some(row.at) }
}

fn failed_copy(row: &FailedCopy) -> Need {
    let (step, reason) = match (&row.archive_error, &row.analysis_error) {
        (Some(reason), _) => ("Copying failed", Some(reason)),
        (None, reason) => ("Reading the data failed", reason.as_ref()),
    };
    let title = if is_blank(&row.title) { "Untitled asset" } else { &row.title };
    Need {
        tone: Tone::Bad,
        subject: html! { bdi { (title) } ": no data" },
        path: paths::asset(row.asset),
        note: html! { (step) @if let Some(reason) = reason { ": " (shortened(reason)) } },
        at: Some(row.attached_at),
    }
}

fn failed_run(row: &FailedRun) -> Need {
    let note = match (&row.check, row.failed) {
        _ if row.status == RunStatus::Error => "The run ended by an error, so there is no result".to_owned(),
        (Some(check), 1) => format!("A required check did not pass: {check}"),
        (Some(check), failed) => format!("{failed} required checks did not pass, first: {check}"),
        (None, _) => "A required check did not pass".to_owned(),
    };
    let path = if row.is_listing { paths::own_listing(row.subject) } else { paths::asset(row.subject) };
    let subject = html! { bdi { (row.title) } ": checks" };
    Need { tone: Tone::Warning, subject, path, note: html! { (note) }, at: row.at }
}

fn upload(row: &StalledUpload) -> Need {
    Need {
        tone: Tone::Warning,
        subject: html! { "Upload of " bdi { (row.file_name) } },
        path: paths::upload(row.id),
        note: html! { "It is not complete. Its parts are deleted on " (text::day(row.expires_at)) },
        at: Some(row.created_at),
    }
}

fn kind(row: &RetiringKind) -> Need {
    let assets = kinds::counted(row.kind, row.assets);
    let advice = row.message.as_deref().map(shortened).unwrap_or_default();
    Need {
        tone: Tone::Warning,
        subject: html! { (text::words(kinds::words(row.kind).1)) " retire on " (text::day(row.at)) },
        path: Query::default().with("kind", row.kind.as_str()).at(paths::INVENTORY),
        note: html! { "You have " (assets) ". " (advice) },
        at: None,
    }
}

/// Returns the need for a listing, if there are complete assets on no listing.
fn unlisted(business: &Business) -> Option<Need> {
    let (count, first) = (business.figures.unlisted, business.figures.newest_unlisted.as_ref()?);
    let is_one = count == 1;
    Some(Need {
        tone: Tone::Neutral,
        subject: html! {
            @if is_one { bdi { (first.title) } " is on no listing" }
            @else { (text::grouped(count)) " complete assets are on no listing" }
        },
        path: if is_one { paths::asset(first.asset) } else { paths::INVENTORY.to_owned() },
        note: html! {
            "Buyers find assets on listings only. Write a listing with "
            @if is_one { "it" } @else { "them, or several" }
        },
        at: None,
    })
}

fn incomplete(count: u64) -> Need {
    Need {
        tone: Tone::Neutral,
        subject: html! { (text::counted(count, "asset is", "assets are")) " incomplete" },
        path: Query::default().with(STAGE, Stage::Incomplete.as_str()).at(paths::INVENTORY),
        note: html! { @if count == 1 { "It lacks" } @else { "They lack" } " what a listing needs" },
        at: None,
    }
}

/// Returns the beginning of a note of the market.
fn shortened(note: &str) -> String {
    let note = note.split_whitespace().collect::<Vec<_>>().join(" ");
    if note.chars().count() <= MAX_NOTE {
        return note;
    }
    let start: String = note.chars().take(MAX_NOTE).collect();
    let words = start.rsplit_once(' ').map_or(start.as_str(), |(words, _)| words);
    format!("{words}…")
}

/// Shows what waits.
pub fn list(context: &Context, needs: &[Need]) -> Markup {
    html! {
        ul.todo { @for need in needs { li {
            @let (icon, color) = need.tone.icon_and_class();
            (icons::colored(icon, color))
            span { a.long href=(context.links.to(&need.path)) { (need.subject) } span.note.long { bdi { (need.note) } } }
            span.note { @if let Some(at) = need.at { (text::day(at)) } }
        } } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_has_what_is_not_shown() {
        for (has_more, expected) in [(false, None), (true, Some("More bids"))] {
            let mut needs = Vec::new();
            let found = First { rows: vec![()], has_more };
            add(&mut needs, &found, |(): &()| incomplete(1), paths::OFFERS, "bids");
            assert_eq!(needs.get(1).map(|need| need.subject.0.as_str()), expected);
        }
    }

    #[test]
    fn long_notes_end_after_a_word() {
        assert_eq!(shortened(" Replace\n the names. "), "Replace the names.");
        let short = shortened(&"word ".repeat(100));
        assert!(short.ends_with("word…") && short.chars().count() <= MAX_NOTE + 1, "{short}");
    }
}
