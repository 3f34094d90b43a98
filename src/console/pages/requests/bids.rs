//! The vendor's bids on projects: their list, and the page of each.

use super::status_words;
use crate::{
    console::{pages::opportunities::bids as made_bids, prelude::*},
    domain::opportunities::{Bid, BidStatus, Opportunity},
    operations::project_bids,
    store::{notifications::Notification, records::team_lists::project_bids::TeamProjectBid},
};

/// The list.
pub struct ProjectBids;

impl List<Vendor> for ProjectBids {
    const PATH: &'static str = paths::PROJECT_BIDS;
    const TITLE: &'static str = "Your bids on projects";
    const FILE_NAME: &'static str = "project-bids";

    type Row = TeamProjectBid;

    fn columns() -> Vec<Column<TeamProjectBid>> {
        vec![
            Column::link("Project", |row| paths::project_bid(row.id), |row| row.title.clone()),
            Column::badge("Status", |row| status_words(row.status)),
            Column::count("Tasks", |row| row.num_tasks.into()),
            Column::figures("Expected days", days),
            Column::day("Made", |row| row.created_at),
            Column::day("Changed", |row| row.updated_at),
            Column::ids_in_file(|row| row.id),
        ]
    }

    const FILTERS: &'static [ListFilter] = &[
        ListFilter::choice("status", "Status", || text::choices(|status| status_words(status).1)),
        ListFilter::text("text", "Title contains"),
    ];

    fn load(reader: &Reader, vendor: &Vendor, request: &ListRequest) -> Result<TeamPage<TeamProjectBid>> {
        team_records::page(reader, vendor, &request.record_filters(), request.page)
    }

    fn empty(context: &Context) -> Markup {
        tables::empty(
            "You have not bid on a project yet",
            "In a project, a buyer wants tasks that are made for it. Open projects are among the requests for data.",
            Some(("See the requests", &context.links.to(paths::DATA_REQUESTS))),
        )
    }

    fn finish(_: &Context, content: Content) -> Content {
        content
            .with_parent("Requests", paths::DATA_REQUESTS)
            .with_request("/v2/project-opportunities/bids/mine")
    }
}

fn days(row: &TeamProjectBid) -> String {
    row.expected_timeline_days.map(|days| days.to_string()).unwrap_or_default()
}

/// The page of a bid.
pub struct ProjectBidPage;

impl Page<Vendor> for ProjectBidPage {
    const PATH: &'static str = "/requests/bids/{id}";
    const TITLE: &'static str = "Your bid on a project";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let id = visit.id(0)?;
        let read = move |reader: &Reader, vendor: &Vendor| {
            let (bid, project) = project_bids::find_made(reader.rows, vendor, id)?;
            let can_bid = project_bids::why_not_open(reader, vendor, &project).is_none()
                && project_bids::find_in_effect(reader, vendor, &project)?.is_none();
            let notifications = notifications::list_about(reader, vendor, &[id], about::LIMIT)?;
            Ok((bid, project, can_bid, notifications))
        };
        let (bid, project, can_bid, notifications) = visit.read(read).await?;
        let next = next(&visit.context, &bid, &project, can_bid);
        Ok(content(&visit.context, &bid, &project, &next, &notifications).into())
    }
}

fn content(
    context: &Context,
    bid: &Bid,
    project: &Opportunity,
    next: &Markup,
    notifications: &[Notification],
) -> Content {
    let body = html! {
        div.decide {
            div.stack.wide {
                (tables::section("bid", "What you offered", &made_bids::facts(bid)))
                (tables::section("activity", "What happened", &made_bids::activity(bid)))
                (about::section(context, notifications))
            }
            aside.panel.first aria-label="What comes next" { h2 { "What comes next" } (next) }
        }
    };
    let request = context.links.to(&paths::data_request(project.id));
    Content::new(format!("Bid on {}", project.title), body)
        .with_parent("Requests", paths::DATA_REQUESTS)
        .with_parent("Your bids", paths::PROJECT_BIDS)
        .narrow()
        .with_note(
            html! { (badges::of(status_words(bid.status))) " " a href=(request) { "Read the request" } },
        )
        .with_request("/v2/project-opportunities/bids/mine")
}

/// Says what comes next, with the step that the vendor can take. `can_bid` says whether the vendor can make another bid.
fn next(context: &Context, bid: &Bid, project: &Opportunity, can_bid: bool) -> Markup {
    let path = |segment: &str| context.links.to(&format!("{}/{segment}", paths::project_bid(bid.id)));
    html! {
        @match bid.status {
            BidStatus::Submitted => {
                @if project_bids::is_obsolete(bid, project) {
                    p { "The buyer has canceled the project, so your bid cannot be accepted any more." }
                } @else {
                    p { "The buyer decides about your bid, and you are notified. Until then you can withdraw it." }
                }
                a.button.full href=(path("withdraw")) { "Withdraw the bid…" }
            },
            BidStatus::Accepted => {
                p { "Make the tasks, and deliver them as tasksets of your team. An accepted bid cannot be withdrawn: the buyer relies \
                     on it." }
                a.button.primary.full href=(path("deliver")) { "Deliver tasksets" }
            },
            BidStatus::Delivered => p { "The buyer looks at your delivery, and confirms it. You have nothing to do." },
            BidStatus::Completed => p { "The buyer accepted your delivery. The work is complete." },
            BidStatus::Declined | BidStatus::Withdrawn => {
                @if can_bid {
                    p { "This bid has ended. While the project takes bids, you can make another one." }
                    a.button.full href=(context.links.to(&super::bid_form::path(bid.opportunity_id))) { "Make another bid" }
                } @else {
                    p { "This bid has ended, and you cannot make another one: the project takes no bids, or your team has made one." }
                }
            },
        }
        p.note { "The market moves no money for projects." }
    }
}
