//! The steps of a listing: submitting, withdrawing, publishing, taking it out of the catalog, archiving, and restoring it. Each
//! asks, and says what happens.

use std::sync::Arc;

use super::{in_words, title_of, why_not};
use crate::{
    console::{
        pages::deals,
        parts::{asset_prices, fees, findings},
        prelude::*,
        questions::step_pages,
    },
    domain::{listing_lifecycle::Operation, listings::LifecycleStage},
    operations::{
        listing_lifecycle,
        own_listings::{self, StepFacts},
    },
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
    question: fn(&Context, &StepFacts) -> Markup,
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

fn ask_submit(context: &Context, facts: &StepFacts) -> Markup {
    html! {
        p {
            @if facts.run_price > facts.credits { "The market reads the texts, and looks at the assets. " }
            @else { "The market reads the texts, looks at the assets, and runs its checks. " }
            "Then it approves the listing, asks for changes, or rejects it, and your team is notified."
        }
        p { "Until it has decided, the listing stays as it is: its texts, its price, and which assets it has cannot be changed. The \
             assets cannot be deleted or separated from their data. You can withdraw the listing at any time." }
        @if let Some(price) = facts.listing.price.filter(|price| price.0 > 0) { p { (fees::sentence(context, price)) } }
        (asset_prices::remarks(facts.price_of_all, facts.listing.sample_price, facts.listing.price))
        (run_cost(context, facts))
    }
}

/// Says what the run of the checks costs, or that there is none.
fn run_cost(context: &Context, facts: &StepFacts) -> Markup {
    if facts.run_price > facts.credits {
        return html! { p {
            "A run of the checks costs " (text::money(facts.run_price)) ", and your team has " (text::money(facts.credits))
            " of credits. So the market reviews the listing without a run. "
            a href=(context.links.to(paths::WALLET)) { "Open the wallet" }
        } };
    }
    findings::cost(facts.run_price, facts.credits)
}

fn ask_withdraw(_: &Context, _: &StepFacts) -> Markup {
    html! {
        p { "The listing becomes a draft again, and can be changed. Its run of checks is canceled; you get the cost back unless the run \
             has begun. When you submit the listing again, the review begins anew." }
    }
}

fn ask_publish(context: &Context, facts: &StepFacts) -> Markup {
    html! {
        p { "Buyers find the listing in the catalog from now on, "
            @match (facts.listing.price, facts.listing.accepts_bids) {
                (Some(price), accepts_bids) => { "and can buy it for " (text::money(price)) @if accepts_bids { ", or make bids" } "." },
                (None, true) => "and can make bids, but not buy it, since it has no price.",
                (None, false) => "but cannot buy it, since it has no price.",
            }
        }
        @if let Some(price) = facts.listing.price.filter(|price| price.0 > 0) { p { (fees::sentence(context, price)) } }
        (asset_prices::remarks(facts.price_of_all, facts.listing.sample_price, facts.listing.price))
        p { "While it is in the catalog, its price and its terms can be changed, but not its texts and its assets." }
    }
}

fn ask_unpublish(_: &Context, facts: &StepFacts) -> Markup {
    let waiting_offers = facts.obstacles.waiting_offers;
    html! {
        p { "Buyers no longer find the listing. What was bought stays with its buyers. You can publish it again at any time, as long as \
             its texts and assets stay as they are; other texts or assets need another review." }
        @if waiting_offers > 0 {
            p { (text::counted(waiting_offers, "bid waits", "bids wait")) " for your decision. You cannot accept bids while the \
                 listing is not in the catalog." }
        }
    }
}

fn ask_restore(_: &Context, _: &StepFacts) -> Markup {
    html! {
        p { "The listing leaves the archive with the state of review that it had. It is not published: buyers find it when you publish \
             it again." }
    }
}

fn ask_archive(_: &Context, facts: &StepFacts) -> Markup {
    let offers = facts.obstacles.waiting_offers;
    html! {
        p { @if facts.listing.status.stage() == LifecycleStage::Active { "Buyers no longer find the listing. " }
            "It is put away, and can be restored later. What was bought stays with its buyers." }
        @if offers > 0 {
            p { b { (text::counted(offers, "bid that waits is declined", "bids that wait are declined")) } ", and the bidders are \
                 notified. Restoring the listing does not bring them back." }
        } @else { p { "No bids wait, so none are declined." } }
    }
}

async fn show(visit: &Visit<Vendor>, step: &Step) -> Result<Answer> {
    let id = visit.id(0)?;
    let read =
        visit.read(move |reader, vendor| own_listings::find_for_step(&reader.check_context(), vendor, id));
    let facts = read.await?;
    let (title, path) = (title_of(&facts.listing.title), paths::own_listing(id));
    let body = match why_not(&facts.listing, &facts.obstacles, step.operation) {
        Some(reason) => refused(&visit.context, &facts, step, &reason),
        None => {
            let question = (step.question)(&visit.context, &facts);
            let question = html! { (seen(&facts, &question).asked()) (question) };
            fields::question(&visit.context, &question, (step.look, step.button), &path)
        }
    };
    let content = Content::new(format!("{}: {title}", step.title), body)
        .with_parent("Listings", paths::OWN_LISTINGS)
        .with_parent(title, path)
        .narrow();
    Ok(content.into())
}

/// Says why a step cannot be carried out.
fn refused(context: &Context, facts: &StepFacts, step: &Step, reason: &str) -> Markup {
    let is_incomplete =
        step.operation == Operation::Submit && facts.listing.state().after(step.operation).is_ok();
    let missing = if is_incomplete { facts.obstacles.fields.as_slice() } else { &[] };
    let why = html! {
        b { "This cannot be done now. " }
        (reason)
        @if !missing.is_empty() { ul { @for problem in missing { li.long { (deals::for_team(&problem.msg)) } } } }
        p { a href=(context.links.to(&paths::own_listing(facts.listing.id))) { "Back to the listing" } }
    };
    badges::warning(&why)
}

/// Identifies what the page of a step states.
fn seen(facts: &StepFacts, question: &Markup) -> Seen {
    Seen::of(&(&facts.listing.title, &question.0))
}

async fn submit(visit: &Visit<Vendor>, fields: &Fields, step: &'static Step) -> Result<Answer> {
    let id = visit.id(0)?;
    let change = Change::new(step.audited, "listing", id);
    let (context, sent) = (Arc::clone(&visit.context), fields.clone());
    let work = move |writer: &mut Writer, vendor: &Vendor| {
        let facts = own_listings::find_for_step(&writer.check_context(), vendor, id)?;
        if why_not(&facts.listing, &facts.obstacles, step.operation).is_none() {
            seen(&facts, &(step.question)(&context, &facts)).check(&sent)?;
        }
        (step.make)(writer, vendor, Actor::Team, id)
    };
    changes::perform(visit, fields, change, work).await.map_err(without_fields).map_err(in_words)?;
    Ok(Answer::done(&paths::own_listing(id), step.notice))
}

/// Returns an error about fields as one about the step, whose page has none of them.
fn without_fields(error: Error) -> Error {
    let Error::Invalid(problems) = error else { return error };
    let problems: Vec<String> = problems.iter().map(|problem| deals::for_team(&problem.msg)).collect();
    Error::Conflict(format!("Nothing was changed. {}", problems.join(" ")))
}

step_pages! {
    Vendor:
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
