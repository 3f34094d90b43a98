//! The page on which an estimated repository is added to the inventory.

use crate::{
    console::{parts::assets::channel, prelude::*},
    operations::estimations,
};

/// Returns the path of the page for an estimation.
pub fn path(estimation: Uuid) -> String {
    format!("{}/add", paths::estimation(estimation))
}

/// The page.
pub struct AddToInventory;

impl Page<Vendor> for AddToInventory {
    const PATH: &'static str = "/estimations/{id}/add";
    const TITLE: &'static str = "Add an estimated repository";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let id = visit.id(0)?;
        let estimation = visit.read(move |reader, vendor| estimations::find(reader, vendor, id)).await?;
        let back = paths::estimation(id);
        let body = match estimation.asset {
            Some(asset) => html! {
                (badges::warning(html! {
                    "The repository is in your inventory already. " a href=(visit.links.to(&paths::asset(asset))) { "Open the asset" }
                }))
            },
            None => {
                let question = html! {
                    p { "A codebase with the title “" bdi { (estimation.name) } "” is created in your default group, and the repository "
                        bdi.long { (estimation.repo_full_name) } " at " (channel(estimation.channel)) " is linked to it." }
                    p { "The market copies the repository and reads its lines, languages, and history. You can change the title and the \
                         rest, and delete the codebase again." }
                };
                fields::question(&visit.context, &question, ("primary", "Add to the inventory"), &back)
            }
        };
        let content = Content::new(format!("Add {}", estimation.repo_full_name), body)
            .with_parent("Estimations", paths::ESTIMATIONS)
            .with_parent(&estimation.repo_full_name, back);
        Ok(content.narrow().into())
    }
}

impl FormPage<Vendor> for AddToInventory {
    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        let id = visit.id(0)?;
        let change = Change::new("add_estimated_codebase", "estimation", id);
        let added = changes::perform(visit, fields, change, move |writer, vendor| {
            estimations::add_to_inventory(writer, vendor, id)
        });
        Ok(Answer::done(&paths::asset(added.await?), Notice::EstimatedAdded))
    }
}
