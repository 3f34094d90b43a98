//! The pages on which a listing is written and edited.

use super::{
    form::{self, Taxonomy},
    read,
    subject::Subject,
};
use crate::{
    console::{pages::own_listings, prelude::*},
    domain::{
        listing_lifecycle::{ListingState, Operation},
        listings::LifecycleStage,
    },
    operations::{
        assets,
        listing_edits::{self, EditedListing},
        samples::{self, SampleContent},
    },
    store::listings::ListingFields,
};

/// The page on which a listing is written.
pub struct NewListing;

impl Page<Vendor> for NewListing {
    const PATH: &'static str = paths::NEW_LISTING;
    const TITLE: &'static str = "Write a listing";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        new_content(visit, &visit.inputs).await
    }
}

impl FormPage<Vendor> for NewListing {
    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        if fields.is_checked(form::PREVIEW) {
            return new_content(visit, &Inputs::kept(fields.clone())).await;
        }
        let written = read::fields(fields, None, LifecycleStage::Draft)?;
        let assets: Vec<Uuid> = listed_asset(fields.values()).into_iter().collect();
        let change = Change::new("create_listing", "team", visit.access.team().id);
        let id = changes::perform(visit, fields, change, move |writer, vendor| {
            listing_edits::create(writer, vendor, Actor::Team, &written, &assets)
        });
        Ok(Answer::done(&paths::own_listing(id.await.map_err(own_listings::in_words)?), Notice::DraftSaved))
    }
}

/// Returns the asset for a new listing that the address or the form names.
fn listed_asset(query: &Query) -> Option<Uuid> {
    query.get(paths::LISTED_ASSET).and_then(|id| Uuid::try_parse(id).ok())
}

async fn new_content(visit: &Visit<Vendor>, inputs: &Inputs) -> Result<Answer> {
    let id = listed_asset(inputs.typed().map_or(&visit.query, Fields::values));
    let read = visit.read(move |reader, vendor| {
        let asset = id.map(|id| assets::find(reader.rows, vendor, id, None)).transpose()?;
        Ok((Taxonomy::read(reader, vendor)?, asset))
    });
    let (taxonomy, asset) = read.await?;
    let blank = ListingFields {
        accepts_bids: true,
        title: asset.as_ref().map(|asset| asset.title.clone()).unwrap_or_default(),
        domain_tags: asset.iter().flat_map(|asset| taxonomy.known_domains(&asset.domain_tags)).collect(),
        ..ListingFields::default()
    };
    let subject =
        Subject { edited: None, fields: &blank, locked: None, asset: asset.as_ref(), contents: &[] };
    let body = form::form(&visit.context, inputs, &subject, &taxonomy);
    let note = html! { "It is saved as a draft, which nobody else sees until the market has approved it and you publish it." };
    let content = Content::new(NewListing::TITLE, body).with_note(note);
    Ok(content.with_parent("Listings", paths::OWN_LISTINGS).narrow().into())
}

/// The page on which a listing is edited.
pub struct EditListing;

impl Page<Vendor> for EditListing {
    const PATH: &'static str = "/selling/listings/{id}/edit";
    const TITLE: &'static str = "Edit a listing";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        edit_content(visit, &visit.inputs).await
    }
}

impl FormPage<Vendor> for EditListing {
    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        if fields.is_checked(form::PREVIEW) {
            return edit_content(visit, &Inputs::kept(fields.clone())).await;
        }
        let id = visit.id(0)?;
        let edited = visit.read(move |reader, vendor| listing_edits::find(reader, vendor, id)).await?;
        let written = read::fields(fields, Some(&edited), edited.listing.status.stage())?;
        let sample = written.sample.clone();
        let seen = fields.get(form::REVISION).unwrap_or_default().to_owned();
        let change = Change::new("update_listing", "listing", id);
        let update = changes::perform(visit, fields, change, move |writer, vendor| {
            listing_edits::update(writer, vendor, Actor::Team, (id, &seen), |fields| *fields = written)
        });
        update.await.map_err(|error| read::at_fields(own_listings::in_words(error), &sample))?;
        Ok(Answer::done(&paths::own_listing(id), Notice::Saved))
    }
}

async fn edit_content(visit: &Visit<Vendor>, inputs: &Inputs) -> Result<Answer> {
    let id = visit.id(0)?;
    let typed = inputs.typed().cloned();
    let read = visit.read(move |reader, vendor| {
        let edited = listing_edits::find(reader, vendor, id)?;
        let choices = read::sample_choices(typed.as_ref(), &edited);
        let contents = samples::contents(reader, vendor, &choices)?;
        Ok((edited, Taxonomy::read(reader, vendor)?, contents))
    });
    let (edited, taxonomy, contents) = read.await?;
    let body = edit_body(&visit.context, inputs, (&edited, &contents), &taxonomy);
    let (title, path) = (own_listings::title_of(&edited.listing.title), paths::own_listing(id));
    let actions = html! {
        a.button href=(visit.links.to(&paths::listing_assets(id))) { "Assets" }
        a.button href=(visit.links.to(&paths::preview_listing(id))) { "As buyers see it" }
    };
    let content = Content::new(format!("Edit {title}"), body)
        .with_actions(actions)
        .with_parent("Listings", paths::OWN_LISTINGS)
        .with_parent(title, path);
    Ok(content.narrow().with_request(format!("/v2/listings/{id}")).into())
}

fn edit_body(
    context: &Context,
    inputs: &Inputs,
    (edited, contents): (&EditedListing, &[SampleContent]),
    taxonomy: &Taxonomy,
) -> Markup {
    let (state, path) = (edited.listing.state(), paths::own_listing(edited.listing.id));
    let own = context.links.to(&path);
    if let Some(reason) = locked(state, Operation::UpdateTerms) {
        return html! {
            (badges::warning(html! { b { "It cannot be edited now. " } (reason) }))
            (form::kept_texts(inputs))
            p { a.button href=(own) { "Go to the listing" } }
        };
    }
    let locked = locked(state, Operation::UpdateTexts);
    let subject = Subject { edited: Some(edited), fields: &edited.fields, locked, asset: None, contents };
    html! {
        @if let Some(feedback) = &edited.review_feedback {
            (badges::warning(own_listings::note(Some(feedback))))
        }
        @if state.status.stage() == LifecycleStage::Ready {
            (badges::warning(html! {
                b { "The market has approved this listing. " }
                "Another title, description, domain, or tag ends the approval: you then submit the listing for review again. "
                "Prices, terms, and delivery can change without that."
            }))
        }
        (form::form(context, inputs, &subject, taxonomy))
    }
}

/// Returns why the state of a listing forbids a change, and what to do; `None` if it does not.
fn locked(state: ListingState, operation: Operation) -> Option<&'static str> {
    if state.after(operation).is_ok() {
        return None;
    }
    Some(match state.status.stage() {
        LifecycleStage::Review => {
            "It is in review: the market decides about it as it is. Withdraw it from review first, and submit it again later."
        }
        LifecycleStage::Active => {
            "It is in the catalog, and buyers read what the market has reviewed. Take it out of the catalog first. After another text, \
             the market reviews it again. Prices, terms, and delivery can be changed here now."
        }
        LifecycleStage::Archived => "It is archived. Restore it first.",
        LifecycleStage::Draft | LifecycleStage::Ready => "Its state does not allow it.",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        domain::listings::{CatalogStatus, ListingStatus, ReviewStatus},
        string_enum::StringEnum,
    };

    /// Every state that forbids a change has a reason that is written for it.
    #[test]
    fn reasons_are_those_of_the_state_machine() {
        for review in ReviewStatus::ALL {
            for catalog in CatalogStatus::ALL {
                let status = ListingStatus { review: *review, catalog: *catalog };
                let state = ListingState { status, ..ListingState::NEW };
                for operation in [Operation::UpdateTexts, Operation::UpdateTerms] {
                    let reason = locked(state, operation);
                    assert_eq!(reason.is_none(), state.after(operation).is_ok());
                    assert_ne!(reason, Some("Its state does not allow it."));
                }
            }
        }
    }
}
