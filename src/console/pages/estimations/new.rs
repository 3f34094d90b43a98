//! The form with which an estimation is requested.

use crate::{
    console::{
        pages::adding::repository::{address, address_field},
        prelude::*,
    },
    domain::{
        assets::Kind,
        collections::Collection,
        estimation_requests::{EstimationRequest, MAX_PENDING},
    },
    operations::estimations,
};

/// Field with the address of the repository. Problems of the operation have this name.
pub const REPOSITORY: &str = "repo_full_name";

/// The page.
pub struct NewEstimation;

impl Page<Vendor> for NewEstimation {
    const PATH: &'static str = "/estimations/new";
    const TITLE: &'static str = "Estimate a repository";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let given = visit.query.get(REPOSITORY).unwrap_or_default();
        let form = html! {
            (address_field(&visit.inputs, REPOSITORY, given))
            p.note { "The market counts lines, commits, contributors, and languages, and keeps nothing else. A private repository must be \
                 readable for the market." }
            p.note { "At most " (MAX_PENDING) " repositories are measured at a time for a team." }
            (fields::buttons(&visit.context, "Estimate", ("Back to the estimations", paths::ESTIMATIONS)))
        };
        let body = fields::form(&visit.context, Self::PATH, &form);
        let content = Content::new(Self::TITLE, body)
            .with_parent("Estimations", paths::ESTIMATIONS)
            .with_note(html! { "You get a quote of what it might be worth as a codebase. It costs nothing and binds nobody." });
        Ok(content.narrow().into())
    }
}

impl FormPage<Vendor> for NewEstimation {
    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        let (channel, repo_full_name) = address(fields, REPOSITORY)?;
        let request =
            EstimationRequest { sku: Kind::Codebase, channel, repo_full_name, inventory_asset_id: None };
        let team = visit.access.team().id;
        let change = Change::new("request_estimation", "team", team);
        let requested = changes::perform(visit, fields, change, move |writer, vendor| {
            let ids = (writer.new_id(Collection::Estimations), team);
            estimations::request(writer, vendor, Actor::Team, ids, &request).map(|requested| requested.id)
        });
        Ok(Answer::done(&paths::estimation(requested.await?), Notice::EstimationRequested))
    }
}
