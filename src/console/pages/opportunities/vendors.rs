//! Excluding a vendor from an opportunity.

use std::collections::HashMap;

use super::{below, find_own, why_not};
use crate::{
    console::prelude::*,
    domain::{opportunities::OpportunityStatus, opportunity_lifecycle::OpportunityOperation},
    operations::{
        opportunities::{self, OwnedOpportunity},
        vendors,
    },
};

/// Field with the name of a vendor. The operation calls it so, too.
const FIELD: &str = "team_ids";

/// Number of the newest bids whose vendors are offered.
const OFFERED_BIDS: usize = 50;

/// The page on which a vendor is excluded.
pub struct ExcludeVendor;

impl Page<Buyer> for ExcludeVendor {
    const PATH: &'static str = "/opportunities/{id}/exclude";
    const TITLE: &'static str = "Exclude a vendor";

    async fn show(visit: &Visit<Buyer>) -> Result<Answer> {
        let own = find_own(visit, OFFERED_BIDS).await?;
        let opportunity = &own.opportunity;
        let path = paths::opportunity(opportunity.id);
        let body = match why_not(opportunity, OpportunityOperation::Exclude, visit.now()) {
            Some(reason) if !visit.inputs.is_refused() => {
                badges::warning(html! { "Vendors cannot be excluded now. " (reason) })
            }
            _ => form(visit, &own, &path),
        };
        let title = format!("Exclude a vendor: {}", opportunity.title);
        Ok(below(opportunity, Content::new(title, body)).into())
    }
}

impl FormPage<Buyer> for ExcludeVendor {
    async fn submit(visit: &Visit<Buyer>, fields: &Fields) -> Result<Answer> {
        let own = find_own(visit, OFFERED_BIDS).await?;
        let typed = fields.require(FIELD, "Enter the name of a vendor.")?.to_owned();
        let teams = resolve(visit, &own, typed).await?;
        let of = (own.opportunity.id, own.opportunity.kind);
        let change = Change::new("exclude_from_opportunity", "opportunity", own.opportunity.id);
        let exclude = changes::perform(visit, fields, change, move |writer, buyer| {
            opportunities::exclude(writer, buyer, Actor::Team, of, &teams).map(drop)
        });
        exclude.await?;
        Ok(Answer::done(&paths::opportunity(own.opportunity.id), Notice::VendorExcluded))
    }
}

/// Returns the vendors with this name: bidders on the opportunity, or else vendors in the catalog.
async fn resolve(visit: &Visit<Buyer>, own: &OwnedOpportunity, typed: String) -> Result<Vec<Uuid>> {
    let bidder = own.vendors.iter().find(|(id, name)| id.to_string() == typed || **name == typed);
    if let Some((id, _)) = bidder {
        return Ok(vec![*id]);
    }
    let found = visit.read(move |reader, buyer| vendors::find_published(reader, buyer, &typed)).await?;
    if found.is_empty() {
        let message = "The catalog has no vendor with this name. Enter it as a listing shows it.";
        return Err(invalid(FIELD, message));
    }
    Ok(found)
}

fn form(visit: &Visit<Buyer>, own: &OwnedOpportunity, path: &str) -> Markup {
    let is_draft = own.opportunity.status == OpportunityStatus::Draft;
    let preset = visit.query.get("vendor").unwrap_or_default();
    let hint = html! { "As the catalog shows it, in any case." };
    let form = html! {
        (Field::text(FIELD, "Name of the vendor").hint(hint).value(preset).required().at_most(120).show(&visit.inputs))
            @if is_draft {
                p { "The vendor will not see the opportunity when you publish it. While it is a draft, you can change your mind." }
            } @else {
                p { "The vendor no longer finds the opportunity, and cannot respond. It can still read it if it was notified or has \
                     bid. This cannot be taken back." }
            }
            p { "The vendor is not told." }
    };
    fields::question(&visit.context, &form, ("danger", "Exclude the vendor"), path)
}

/// Returns the name of a vendor, or the ID of a team that is not a vendor any more.
pub fn name(vendors: &HashMap<Uuid, String>, id: Uuid) -> String {
    vendors.get(&id).cloned().unwrap_or_else(|| format!("Team {id}"))
}
