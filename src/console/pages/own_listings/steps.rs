//! The steps of a listing: submitting, withdrawing, publishing, taking it out of the catalog, archiving, and restoring it. Each
//! asks, and says what happens.

use maud::{Markup, html};
use uuid::Uuid;

use super::{plain, title_of, why_not};
use crate::{
    console::{
        answer::{Answer, Content},
        changes::{self, Change},
        forms::Fields,
        notices::Notice,
        page::{FormPage, Page},
        parts::{
            badges::{self, Tone},
            fields, text,
        },
        paths,
        visit::Visit,
    },
    domain::{
        listing_lifecycle::Operation,
        listings::{Actor, LifecycleStage},
    },
    error::{Error, Result},
    market::Writer,
    operations::{
        access::Vendor,
        listing_lifecycle::{self, Obstacles},
        own_listings,
    },
    store::listings::ListingRow,
};

/// A step that a vendor confirms.
pub struct Step {
    /// The operation.
    pub operation: Operation,
    /// Last segment of its path.
    pub segment: &'static str,
    /// What it does, as its link.
    pub title: &'static str,
    /// The stage in which it is what comes next.
    pub next_in: Option<LifecycleStage>,
    /// Name of the operation in the audit.
    audited: &'static str,
    button: &'static str,
    /// Class of the button.
    look: &'static str,
    /// What happens.
    question: fn(&ListingRow, &Obstacles) -> Markup,
    notice: Notice,
    make: fn(&mut Writer, &Vendor, Actor, Uuid) -> Result<()>,
}

/// All steps, in the order in which pages show them.
pub const ALL: [&Step; 6] = [&SUBMIT, &WITHDRAW, &PUBLISH, &UNPUBLISH, &RESTORE, &ARCHIVE];

const SUBMIT: Step = Step {
    operation: Operation::Submit,
    segment: "submit",
    title: "Submit for review",
    next_in: Some(LifecycleStage::Draft),
    audited: "submit_listing",
    button: "Submit for review",
    look: "primary",
    question: ask_submit,
    notice: Notice::ListingSubmitted,
    make: |writer, vendor, actor, id| listing_lifecycle::submit(writer, vendor, actor, id).map(drop),
};

const WITHDRAW: Step = Step {
    operation: Operation::Withdraw,
    segment: "withdraw",
    title: "Withdraw from review",
    next_in: None,
    audited: "withdraw_listing",
    button: "Withdraw from review",
    look: "danger",
    question: ask_withdraw,
    notice: Notice::ListingWithdrawn,
    make: |writer, vendor, actor, id| listing_lifecycle::withdraw(writer, vendor, actor, id).map(drop),
};

const PUBLISH: Step = Step {
    operation: Operation::Publish,
    segment: "publish",
    title: "Publish",
    next_in: Some(LifecycleStage::Ready),
    audited: "publish_listing",
    button: "Publish in the catalog",
    look: "primary",
    question: ask_publish,
    notice: Notice::ListingPublished,
    make: |writer, vendor, actor, id| listing_lifecycle::publish(writer, vendor, actor, id).map(drop),
};

const UNPUBLISH: Step = Step {
    operation: Operation::Unpublish,
    segment: "unpublish",
    title: "Take out of the catalog",
    next_in: None,
    audited: "unpublish_listing",
    button: "Take it out of the catalog",
    look: "danger",
    question: ask_unpublish,
    notice: Notice::ListingUnpublished,
    make: |writer, vendor, actor, id| listing_lifecycle::unpublish(writer, vendor, actor, id).map(drop),
};

const RESTORE: Step = Step {
    operation: Operation::Restore,
    segment: "restore",
    title: "Restore",
    next_in: Some(LifecycleStage::Archived),
    audited: "restore_listing",
    button: "Restore the listing",
    look: "primary",
    question: ask_restore,
    notice: Notice::ListingRestored,
    make: |writer, vendor, actor, id| listing_lifecycle::restore(writer, vendor, actor, id).map(drop),
};

const ARCHIVE: Step = Step {
    operation: Operation::Archive,
    segment: "archive",
    title: "Archive",
    next_in: None,
    audited: "archive_listing",
    button: "Archive the listing",
    look: "danger",
    question: ask_archive,
    notice: Notice::ListingArchived,
    make: |writer, vendor, actor, id| listing_lifecycle::archive(writer, vendor, actor, id).map(drop),
};

fn ask_submit(_: &ListingRow, _: &Obstacles) -> Markup {
    html! {
        p { "The market reads the texts, looks at the assets, and runs its checks. Then it approves the listing, asks for changes, or \
             rejects it, and your team is notified." }
        p { "Until it has decided, neither the listing nor its assets can be changed. You can withdraw it at any time." }
        p { "The run of the checks costs credits. If your team has too few, the listing is reviewed without one." }
    }
}

fn ask_withdraw(_: &ListingRow, _: &Obstacles) -> Markup {
    html! {
        p { "The listing becomes a draft again, and can be changed. Its run of checks is canceled. When you submit it again, the \
             review begins anew." }
    }
}

fn ask_publish(listing: &ListingRow, _: &Obstacles) -> Markup {
    html! {
        p { "Buyers find the listing in the catalog from now on, "
            @match listing.price {
                Some(price) => { "and can buy it for " (text::money(price)) },
                None => { "but cannot buy it, since it has no price" },
            }
            @if listing.accepts_bids { ", or make bids" } "."
        }
        p { "While it is in the catalog, its price and its terms can be changed, but not its texts and its assets." }
    }
}

fn ask_unpublish(_: &ListingRow, obstacles: &Obstacles) -> Markup {
    html! {
        p { "Buyers no longer find the listing. What was bought stays with its buyers. You can publish it again at any time, as long as \
             its texts and assets stay as they are; other texts or assets need another review." }
        @if obstacles.waiting_offers > 0 {
            p { (text::counted(obstacles.waiting_offers, "bid waits", "bids wait")) " for your decision. You cannot accept bids while the \
                 listing is not in the catalog." }
        }
    }
}

fn ask_restore(_: &ListingRow, _: &Obstacles) -> Markup {
    html! {
        p { "The listing leaves the archive with the state of review that it had. It is not published: buyers find it when you publish \
             it again." }
    }
}

fn ask_archive(listing: &ListingRow, obstacles: &Obstacles) -> Markup {
    let offers = obstacles.waiting_offers;
    html! {
        p { @if listing.status.stage() == LifecycleStage::Active { "Buyers no longer find the listing. " }
            "It is put away, and can be restored later. What was bought stays with its buyers." }
        @if offers > 0 {
            p { b { (text::counted(offers, "bid that waits is declined", "bids that wait are declined")) } ", and the bidders are \
                 notified. Restoring the listing does not bring them back." }
        } @else { p { "No bids wait, so none are declined." } }
    }
}

async fn find(visit: &Visit<Vendor>) -> Result<(ListingRow, Obstacles)> {
    let id = visit.id(0)?;
    visit.read(move |reader, vendor| own_listings::get_with_obstacles(reader, vendor, id)).await
}

async fn show(visit: &Visit<Vendor>, step: &Step) -> Result<Answer> {
    let (listing, obstacles) = find(visit).await?;
    let (title, path) = (title_of(&listing.title), paths::own_listing(listing.id));
    let body = match why_not(&listing, &obstacles, step.operation) {
        Some(reason) => {
            let back = html! { a href=(visit.links.to(&path)) { "Back to the listing" } };
            let why = html! { "This cannot be done now. " (reason) " " (back) };
            html! { (fields::refusal(&visit.context)) (badges::message(Tone::Warning, &why)) }
        }
        None => {
            let question = (step.question)(&listing, &obstacles);
            fields::question(&visit.context, &question, (step.look, step.button), &path)
        }
    };
    let content = Content::new(format!("{}: {title}", step.title), body)
        .below("Listings", paths::OWN_LISTINGS)
        .below(title, path)
        .narrow();
    Ok(content.into())
}

async fn submit(visit: &Visit<Vendor>, fields: &Fields, step: &'static Step) -> Result<Answer> {
    let id = visit.id(0)?;
    let change = Change::new(step.audited, "listing", id);
    let work = move |writer: &mut Writer, vendor: &Vendor| (step.make)(writer, vendor, Actor::Team, id);
    changes::perform(visit, fields, change, work).await.map_err(without_fields)?;
    Ok(Answer::done(&paths::own_listing(id), step.notice))
}

/// Returns an error about fields as one about the step, whose page has none of them.
fn without_fields(error: Error) -> Error {
    let Error::Invalid(problems) = error else { return error };
    let problems: Vec<String> = problems.iter().map(|problem| plain(&problem.msg)).collect();
    Error::Conflict(format!("Nothing was changed. {}", problems.join(" ")))
}

step_pages! {
    /// The page on which a listing is submitted for review.
    Submit, "/selling/listings/{id}/submit", "Submit a listing", SUBMIT;
    /// The page on which a listing is withdrawn from review.
    Withdraw, "/selling/listings/{id}/withdraw", "Withdraw a listing", WITHDRAW;
    /// The page on which a listing is published.
    Publish, "/selling/listings/{id}/publish", "Publish a listing", PUBLISH;
    /// The page on which a listing is taken out of the catalog.
    Unpublish, "/selling/listings/{id}/unpublish", "Take a listing out of the catalog", UNPUBLISH;
    /// The page on which a listing is restored.
    Restore, "/selling/listings/{id}/restore", "Restore a listing", RESTORE;
    /// The page on which a listing is archived.
    Archive, "/selling/listings/{id}/archive", "Archive a listing", ARCHIVE;
}
