//! The page on which a bid on a project is withdrawn. It asks first, since the bid is lost.

use crate::{
    console::prelude::*,
    domain::opportunities::{Bid, BidStatus, Opportunity},
    operations::project_bids,
};

/// The page.
pub struct WithdrawProjectBid;

impl ConfirmationPage<Vendor, (Bid, Opportunity)> for WithdrawProjectBid {
    const QUESTION: Question<Vendor, (Bid, Opportunity)> = Question {
        path: "/requests/bids/{id}/withdraw",
        title: "Withdraw a bid on a project",
        change: ("withdraw_project_bid", "project_bid"),
        notice: Notice::BidWithdrawn,
        find: |context, vendor, id| project_bids::find_made(context.rows, vendor, id),
        ask: |_, (bid, project)| ask(bid, project),
        perform: |writer, vendor, id| project_bids::withdraw(writer, vendor, Actor::Team, id).map(drop),
        next: paths::project_bid,
    };
}

fn ask(bid: &Bid, project: &Opportunity) -> Confirmation {
    let path = paths::project_bid(bid.id);
    let lost = html! {
        p { "The buyer can no longer accept this bid. While the project takes bids, you can make another one." }
    };
    let page = Content::new(format!("Withdraw the bid on {}", project.title), Markup::default());
    Confirmation {
        page: page
            .with_parent("Requests", paths::DATA_REQUESTS)
            .with_parent("Your bids", paths::PROJECT_BIDS)
            .with_parent(&project.title, &path),
        prompt: match bid.status {
            BidStatus::Submitted => Ok((lost, "danger", "Withdraw the bid".to_owned())),
            _ => Err(html! { "Only a bid that waits for the buyer can be withdrawn." }),
        },
        leave: ("Back to the bid", path),
    }
}
