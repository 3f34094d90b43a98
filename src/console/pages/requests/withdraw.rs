//! The page on which a bid on a project is withdrawn. It asks first, since the bid is lost.

use crate::{
    console::prelude::*,
    domain::{listings::Actor, opportunities::BidStatus},
    operations::project_bids,
};

/// The page.
pub struct WithdrawProjectBid;

impl Page for WithdrawProjectBid {
    const PATH: &'static str = "/requests/bids/{id}/withdraw";
    const TITLE: &'static str = "Withdraw a bid on a project";

    type Access = Vendor;

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let id = visit.id(0)?;
        let (bid, project) =
            visit.read(move |reader, vendor| project_bids::find_made(reader, vendor, id)).await?;
        let path = paths::project_bid(id);
        let body = if bid.status == BidStatus::Submitted {
            let lost = html! {
                p { "The buyer can no longer accept this bid. While the project takes bids, you can make another one." }
            };
            fields::question(&visit.context, &lost, ("danger", "Withdraw the bid"), &path)
        } else {
            let reason = "Only a bid that waits for the buyer can be withdrawn.";
            html! {
                (fields::refusal(&visit.context))
                (badges::message(Tone::Warning, &html! { (reason) " " a href=(visit.links.to(&path)) { "Back to the bid" } }))
            }
        };
        let content = Content::new(format!("Withdraw the bid on {}", project.title), body)
            .below("Requests", paths::DATA_REQUESTS)
            .below("Your bids", paths::PROJECT_BIDS)
            .below(&project.title, path);
        Ok(content.narrow().into())
    }
}

impl FormPage for WithdrawProjectBid {
    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        let id = visit.id(0)?;
        let change = Change::new("withdraw_project_bid", "project_bid", id);
        let withdraw = changes::perform(visit, fields, change, move |writer, vendor| {
            project_bids::withdraw(writer, vendor, Actor::Team, id).map(drop)
        });
        withdraw.await?;
        Ok(Answer::done(&paths::project_bid(id), Notice::BidWithdrawn))
    }
}
