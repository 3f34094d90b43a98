//! Rounds of a listing's review with their notes, and the changes since the last approval.

use super::title_of;
use crate::{
    console::{
        parts::{
            differences, listing_states,
            timeline::{self, Entry},
        },
        prelude::*,
    },
    domain::reviews::ReviewDecision,
    operations::{listings, reviews},
    store::{listings::ListingRow, reviews::Review},
};

/// What has changed since the last approval.
pub struct Changes;

impl Page<Vendor> for Changes {
    const PATH: &'static str = "/selling/listings/{id}/changes";
    const TITLE: &'static str = "What changed since the last approval";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let id = visit.id(0)?;
        let read = visit.read(move |reader, vendor| {
            let listing = listings::find_own(reader.rows, vendor, id)?;
            Ok((listing, reviews::changes_since_approval(reader, vendor, id)?))
        });
        let (listing, difference) = read.await?;
        let body = match &difference {
            Some(difference) => {
                let approved_at =
                    difference.since.decision.map_or(difference.since.submitted_at, |(_, at)| at);
                html! {
                    p.note { "Compared with what the market approved on " (text::moment(approved_at)) ", round "
                        (difference.since.number) " of the review." }
                    (differences::of_listing(difference, &format!("Approved {}", text::day_text(approved_at))))
                }
            }
            None => tables::empty(
                "There is no approval to compare with",
                "The market has not approved this listing yet, or it did so before the reviewed texts and assets were stored.",
                Some(("Back to the listing", &visit.links.to(&paths::own_listing(id)))),
            ),
        };
        Ok(content(&listing, Self::TITLE, body).into())
    }
}

/// The rounds of a listing's review.
pub struct Rounds;

impl Page<Vendor> for Rounds {
    const PATH: &'static str = "/selling/listings/{id}/reviews";
    const TITLE: &'static str = "Rounds of the review";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let id = visit.id(0)?;
        let read = visit.read(move |reader, vendor| {
            let listing = listings::find_own(reader.rows, vendor, id)?;
            Ok((listing, reviews::list(reader, vendor, id)?))
        });
        let (listing, rounds) = read.await?;
        let is_approval = |round: &Review| matches!(round.decision, Some((ReviewDecision::Approved, _)));
        let changes = visit.links.to(&format!("{}/changes", paths::own_listing(id)));
        let body = html! {
            @if rounds.is_empty() {
                (tables::empty(
                    "No round of its review is stored",
                    "A round begins when you submit the listing. Those of earlier versions of the market are in the history only.",
                    Some(("Back to the listing", &visit.links.to(&paths::own_listing(id)))),
                ))
            } @else {
                @if rounds.iter().any(is_approval) { p { a href=(changes) { "See what changed since the last approval" } } }
                (timeline::timeline(&entries(&rounds)))
            }
        };
        Ok(content(&listing, Self::TITLE, body).into())
    }
}

fn content(listing: &ListingRow, title: &str, body: Markup) -> Content {
    let name = title_of(&listing.title);
    Content::new(title, body)
        .with_note(html! { bdi.long { (name) } " " (badges::of(listing_states::state(listing.status))) })
        .with_parent("Listings", paths::OWN_LISTINGS)
        .with_parent(name, paths::own_listing(listing.id))
        .narrow()
}

/// Returns the history of the rounds, newest first: for each round, the decision with its note, and the submission.
pub(super) fn entries(rounds: &[Review]) -> Vec<Entry> {
    entries_by(rounds, decision_word, |_| None)
}

/// Like [`entries`], with the words for decisions, and with the name of who decided on a round.
pub fn entries_by(
    rounds: &[Review],
    words: fn(ReviewDecision) -> &'static str,
    who: impl Fn(&Review) -> Option<String>,
) -> Vec<Entry> {
    let mut entries = Vec::new();
    for round in rounds {
        if let Some((decision, at)) = round.decision {
            let note = round.note.as_ref().map(|note| html! { "The reviewer writes: " bdi.long { (note) } });
            let what = html! {
                b { (words(decision)) }
                @if let Some(who) = who(round) { " by " bdi { (who) } }
            };
            entries.push(Entry { what, at, note });
        }
        let submitted = html! { "Round " (round.number) ": submitted with " (text::counted(round.asset_count, "asset", "assets")) };
        let waits = round.decision.is_none().then(|| html! { "The market has not decided yet." });
        entries.push(Entry { what: submitted, at: round.submitted_at, note: waits });
    }
    entries
}

/// Returns the words for a decision.
pub const fn decision_word(decision: ReviewDecision) -> &'static str {
    match decision {
        ReviewDecision::Approved => "Approved",
        ReviewDecision::ChangesRequested => "Changes requested",
        ReviewDecision::Rejected => "Rejected",
        ReviewDecision::Withdrawn => "Withdrawn by your team",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{row_ids::ReviewRowId, time::Timestamp};

    #[test]
    fn rounds_are_told_newest_first_with_their_notes() {
        let round = |number, decision, note: Option<&str>| Review {
            row_id: ReviewRowId(i64::from(number)),
            number,
            submitted_at: Timestamp(10),
            asset_count: 2,
            sha256: String::new(),
            decision,
            note: note.map(str::to_owned),
        };
        let rounds = [
            round(2, None, None),
            round(1, Some((ReviewDecision::ChangesRequested, Timestamp(20))), Some("Say <b>more</b>.")),
        ];
        let shown = timeline::timeline(&entries(&rounds)).into_string();
        let position = |text: &str| shown.find(text).unwrap_or_else(|| panic!("{text} is missing: {shown}"));
        assert!(position("Round 2: submitted with 2 assets") < position("Changes requested"));
        assert!(position("Say &lt;b&gt;more") < position("Round 1: submitted"));
    }
}
