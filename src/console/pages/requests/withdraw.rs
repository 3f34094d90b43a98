//! The page on which a bid on a project is withdrawn. It asks first, since the bid is lost.

use crate::{
    console::{
        prelude::*,
        questions::{Confirmation, Question},
    },
    domain::{
        listings::Actor,
        opportunities::{Bid, BidStatus, Opportunity},
    },
    market::{CheckContext, Writer},
    operations::project_bids,
};

/// The page.
pub struct WithdrawProjectBid;

impl Question for WithdrawProjectBid {
    const PATH: &'static str = "/requests/bids/{id}/withdraw";
    const TITLE: &'static str = "Withdraw a bid on a project";
    const CHANGE: (&'static str, &'static str) = ("withdraw_project_bid", "project_bid");
    const NOTICE: Notice = Notice::BidWithdrawn;

    type Access = Vendor;
    type Subject = (Bid, Opportunity);

    fn find(context: &CheckContext, vendor: &Vendor, id: Uuid) -> Result<(Bid, Opportunity)> {
        project_bids::find_made(context.rows, vendor, id)
    }

    fn ask(_: &Context, (bid, project): &(Bid, Opportunity)) -> Confirmation {
        let path = Self::next(bid.id);
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

    fn perform(writer: &mut Writer, vendor: &Vendor, id: Uuid) -> Result<()> {
        project_bids::withdraw(writer, vendor, Actor::Team, id).map(drop)
    }

    fn next(id: Uuid) -> String {
        paths::project_bid(id)
    }
}
