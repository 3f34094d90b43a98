//! The page of an opportunity for its buyer, with all steps. Vendors that may read it are led to the page of the request.

use super::{api_path, bids, facts, kind_word, status_badge, vendors, why_not, words_of_buyer};
use crate::{
    console::{
        csv::{self, Part},
        prelude::*,
    },
    domain::{
        opportunities::{Opportunity, OpportunityKind, OpportunityStatus},
        opportunity_lifecycle::OpportunityOperation,
    },
    operations::opportunities::{self, OwnedOpportunity},
    store::notifications::Notification,
};

/// Number of bids on the page.
const BIDS_PER_PAGE: usize = 50;

/// Number of bids that are read at once for a file.
const BIDS_PER_PART: usize = 500;

/// Field of the query with the number of newer bids that the page leaves out.
const SKIPPED: &str = "skip";

/// The page.
pub struct OpportunityPage;

/// What the visitor may see of an opportunity.
enum Found {
    Own(OwnedOpportunity, Vec<Notification>),
    OfBuyer(Opportunity),
}

impl Page<Member> for OpportunityPage {
    const PATH: &'static str = "/opportunities/{id}";
    const TITLE: &'static str = "Opportunity";

    // Notifications of both sides lead here.

    async fn show(visit: &Visit<Member>) -> Result<Answer> {
        let id = visit.id(0)?;
        let skipped = visit.query.get(SKIPPED).and_then(|text| text.parse().ok()).unwrap_or(0).min(1_000_000);
        if csv::is_asked(&visit.query) {
            return file(visit, id).await;
        }
        let found =
            visit.read(move |reader, member| find(reader, member, id, BIDS_PER_PAGE, skipped)).await?;
        Ok(match found {
            Found::Own(own, notifications) => content(&visit.context, &own, &notifications, skipped).into(),
            Found::OfBuyer(opportunity) => Answer::Redirect(paths::data_request(opportunity.id)),
        })
    }
}

/// The address that notifications give of a project. It leads to the page of the opportunity, or of the request.
pub struct ProjectOpportunity;

impl Page<Member> for ProjectOpportunity {
    const PATH: &'static str = "/project-opportunities/{id}";
    const TITLE: &'static str = "Project";

    async fn show(visit: &Visit<Member>) -> Result<Answer> {
        let id = visit.id(0)?;
        let found = visit.read(move |reader, member| find(reader, member, id, 0, 0)).await?;
        Ok(Answer::Redirect(match found {
            Found::Own(..) => paths::opportunity(id),
            Found::OfBuyer(_) => paths::data_request(id),
        }))
    }
}

/// Returns the opportunity if it belongs to the team as a buyer, or if the team may read it as a vendor.
fn find(reader: &Reader, member: &Member, id: Uuid, limit: usize, skipped: u64) -> Result<Found> {
    let missing = || Error::not_found("opportunity");
    let authenticated = member.authenticated().cloned().ok_or_else(missing)?;
    if let Ok(buyer) = Buyer::authorize(authenticated.clone()) {
        match opportunities::find_owned_with_bids(reader, &buyer, id, limit, skipped) {
            Err(Error::NotFound(_)) => {}
            own => {
                let notifications = notifications::list_about(reader, &buyer, &[id], about::LIMIT)?;
                return Ok(Found::Own(own?, notifications));
            }
        }
    }
    let vendor = Vendor::authorize(authenticated).map_err(|_| missing())?;
    opportunities::find_of_any_kind(reader, &vendor, id).map(Found::OfBuyer)
}

/// Answers with a file of all bids. Only the buyer has one.
async fn file(visit: &Visit<Member>, id: Uuid) -> Result<Answer> {
    csv::in_parts(visit, "bids", bids::heads(), 0, move |reader, member, skipped: u64| {
        let Found::Own(own, _) = find(reader, member, id, BIDS_PER_PART, skipped)? else {
            return Err(Error::not_found("opportunity"));
        };
        let next = skipped + own.bids.len() as u64;
        Ok(Part {
            rows: own.bids.iter().map(|bid| bids::cells(bid, &own.vendors)).collect(),
            next: (!own.bids.is_empty() && next < own.bid_count).then_some(next),
        })
    })
    .await
}

fn content(
    context: &Context,
    own: &OwnedOpportunity,
    notifications: &[Notification],
    skipped: u64,
) -> Content {
    let opportunity = &own.opportunity;
    let body = html! {
        div.decide {
            div.stack.wide {
                (tables::section("wanted", "What you ask for", &words_of_buyer(opportunity)))
                (tables::section("facts", "Facts", &facts(opportunity)))
                @if opportunity.kind == OpportunityKind::Project {
                    (tables::section("bids", "Bids", &bid_list(context, own, skipped)))
                } @else {
                    (tables::section("answers", "Answers", &answers(context, opportunity)))
                }
                (tables::section("readers", "Who can read it", &readers(own)))
                (about::section(context, notifications))
            }
            aside.panel.first aria-label="What you can do" { h2 { "What you can do" } (steps(context, opportunity)) }
        }
    };
    let badge = status_badge(opportunity.status, opportunity.deadline, context.now());
    Content::new(&opportunity.title, body)
        .with_parent("Opportunities", paths::OPPORTUNITIES)
        .with_note(html! { (kind_word(opportunity.kind)) " " (badge) })
        .narrow()
        .with_request(format!("/v2/buyer/{}", api_path(opportunity)))
}

/// A step: its operation, last segment of its path, its label, and whether it is what comes next in a state.
type StepLink = (OpportunityOperation, &'static str, &'static str, Option<OpportunityStatus>);

const STEPS: [StepLink; 6] = [
    (OpportunityOperation::Publish, "publish", "Publish…", Some(OpportunityStatus::Draft)),
    (OpportunityOperation::Update, "edit", "Edit", None),
    (OpportunityOperation::ExtendDeadline, "extend", "Move the deadline…", None),
    (OpportunityOperation::Exclude, "exclude", "Exclude a vendor…", None),
    (OpportunityOperation::Close, "close", "Close…", None),
    (OpportunityOperation::Cancel, "cancel", "Cancel…", None),
];

/// Shows all steps: those that the state forbids with the reason.
fn steps(context: &Context, opportunity: &Opportunity) -> Markup {
    let path = paths::opportunity(opportunity.id);
    html! {
        ul.stack.tight { @for (operation, segment, label, next_in) in STEPS { li {
            @match why_not(opportunity, operation, context.now()) {
                None => a.button.full.primary[next_in == Some(opportunity.status)]
                    href=(context.links.to(&format!("{path}/{segment}"))) { (label) },
                Some(reason) => {
                    button.full type="button" aria-disabled="true" aria-describedby={ (segment) "-reason" } { (label) }
                    p.note id={ (segment) "-reason" } { (reason) }
                }
            }
        } } }
    }
}

fn bid_list(context: &Context, own: &OwnedOpportunity, skipped: u64) -> Markup {
    let OwnedOpportunity { opportunity, bids, bid_count, vendors } = own;
    let shown = bids.len() as u64;
    let is_draft = opportunity.status == OpportunityStatus::Draft;
    let at = |skipped: u64| context.here(&Query::default().with(SKIPPED, &skipped.to_string()));
    let next = (skipped + shown < *bid_count).then(|| at(skipped + shown));
    let first = (skipped > 0).then(|| context.here(&Query::default()));
    html! {
        @if *bid_count == 0 && is_draft { p.note { "Vendors can bid once you publish it." } }
        @else if *bid_count == 0 { p.note { "No vendor has bid yet." } }
        @else if shown == 0 { p.note { "There are no more bids." } }
        ul.stack { @for bid in bids { (bids::bid(context, opportunity, bid, vendors)) } }
        @if *bid_count > 0 {
            @let file = context.here(&csv::query(&Query::default()));
            @let note = html! {
                @if first.is_none() && next.is_none() { (text::counted(*bid_count, "bid", "bids")) }
                @else { (skipped + 1) " to " (skipped + shown) " of " (text::grouped(*bid_count)) }
                " · " (csv::link(&file))
            };
            (tables::pager(&note, first.as_deref(), next.as_deref()))
        }
    }
}

/// Says how vendors answer to a request for listings: the market stores no answers.
fn answers(context: &Context, opportunity: &Opportunity) -> Markup {
    let words = opportunity.metadata.tags.first().unwrap_or(&opportunity.title);
    let search = Query::default().with("query", words).at(&context.links.to(paths::CATALOG));
    html! {
        p { "Vendors answer by publishing listings that fit. They appear in the catalog, where you can bid or buy." }
        p { a href=(search) { "Search the catalog for “" bdi { (words) } "”" } }
    }
}

fn readers(own: &OwnedOpportunity) -> Markup {
    let excluded = &own.opportunity.excluded;
    html! {
        @if own.opportunity.status == OpportunityStatus::Draft { p { "Only your team: it is a draft." } }
        @else if own.opportunity.status == OpportunityStatus::Closed { p { "Your team, and the vendors that it concerned." } }
        @else if excluded.is_empty() { p { "Your team, and all vendors." } }
        @else { p { "Your team, and all vendors except the excluded ones." } }
        @if !excluded.is_empty() {
            h3 { "Excluded vendors" }
            ul { @for id in excluded { li.long { bdi { (vendors::name(&own.vendors, *id)) } } } }
        }
    }
}
