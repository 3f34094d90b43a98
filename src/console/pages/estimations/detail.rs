//! The page of an estimation.

use super::{distribution, new, quote, status_words};
use crate::{
    console::{parts::assets::channel, prelude::*},
    domain::{
        assets::{Channel, Kind},
        estimations::{Bin, Estimation, EstimationStatus},
    },
    operations::estimations,
    store::notifications::Notification,
};

/// The page.
pub struct EstimationPage;

impl Page<Vendor> for EstimationPage {
    const PATH: &'static str = "/estimations/{id}";
    const TITLE: &'static str = "Estimation";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let id = visit.id(0)?;
        let read = move |reader: &Reader, vendor: &Vendor| {
            let found = estimations::find(reader, vendor, id)?;
            let bins = estimations::summary(reader, vendor, &[])?.bins;
            Ok((found, bins, notifications::list_about(reader, vendor, &[id], about::LIMIT)?))
        };
        let (estimation, bins, notifications) = visit.read(read).await?;
        Ok(content(&visit.context, &estimation, &bins, &notifications).into())
    }
}

fn content(
    context: &Context,
    estimation: &Estimation,
    bins: &[Bin],
    notifications: &[Notification],
) -> Content {
    let body = html! {
        div.decide {
            div.stack.wide {
                (tables::section("quote", "The quote", &result(context, estimation)))
                @if estimation.quote.is_some() && bins.len() > 1 {
                    (tables::section("all", "Among all your quotes", &html! {
                        @if let Some(bin) = bin_of(estimation, bins) {
                            p { "This quote begins between " (text::short_money(bin.low)) " and " (text::short_money(bin.high)) ", as "
                                @match bin.count { 0 | 1 => "no other does", 2 => "another one does", count => { (text::grouped(count - 1)) " others do" } } "." }
                        }
                        (distribution(bins))
                    }))
                }
                (about::section(context, notifications))
            }
            aside.panel.first aria-label="What comes next" { h2 { "What comes next" } (next(context, estimation)) }
        }
    };
    Content::new(&estimation.repo_full_name, body)
        .with_parent("Estimations", paths::ESTIMATIONS)
        .narrow()
        .with_note(html! { "Estimation of a repository at " (channel(estimation.channel)) " " (badges::of(status_words(estimation.status))) })
        .with_request(format!("/v2/estimations/{}", estimation.id))
}

fn bin_of<'b>(estimation: &Estimation, bins: &'b [Bin]) -> Option<&'b Bin> {
    let (low, _) = estimation.quote?;
    bins.iter().find(|bin| bin.low <= low && low < bin.high)
}

fn result(context: &Context, estimation: &Estimation) -> Markup {
    let here = context.links.to(&context.path);
    let mut facts = vec![("Requested", text::moment(estimation.created_at))];
    facts.extend(estimation.completed_at.map(|at| ("Measured", text::moment(at))));
    html! {
        @match estimation.status {
            EstimationStatus::Pending => {
                // With scripts, the page updates itself during the measurement.
                div hx-get=(here) hx-trigger="every 3s" hx-target="#main" hx-select="#main" hx-swap="outerMorph" {}
                p { "The repository is being measured. " a href=(here) { "See how far it is" } }
            },
            EstimationStatus::Estimated => {
                p.price { (quote(estimation)) }
                p.note { "Computed from lines, commits, contributors, and languages. The quote binds nobody: what a listing costs is your \
                     decision." }
            },
            EstimationStatus::Unpriced => p { "Nothing was measured in the repository that has a rate, so there is no quote." },
            EstimationStatus::Failed => {
                @let reason = estimation.failure_message.as_deref().unwrap_or("The repository could not be read.");
                (badges::failure(html! { span.long { (reason) } }))
            },
        }
        (tables::facts(&facts))
    }
}

fn next(context: &Context, estimation: &Estimation) -> Markup {
    let address = address(estimation).unwrap_or_default();
    let again =
        Query::default().with(new::REPOSITORY, &address).at(&context.links.to(new::NewEstimation::PATH));
    html! {
        @match estimation.asset {
            Some(asset) => {
                p { "The repository is in your inventory." }
                a.button.primary.full href=(context.links.to(&paths::asset(asset))) { "Open the asset" }
            },
            None if estimation.status == EstimationStatus::Failed => {
                p { "Correct what is wrong, and estimate it again." }
                a.button.primary.full href=(again) { "Estimate it again" }
            },
            None if estimation.kind != Kind::Codebase => {
                p { "Only a repository that was estimated as a codebase can be added to the inventory." }
            },
            None => {
                p { "Add the repository to your inventory to sell it. The market copies and analyzes it." }
                a.button.primary.full href=(context.links.to(&super::add::path(estimation.id))) { "Add to the inventory…" }
                @if estimation.status != EstimationStatus::Pending { a.button.full href=(again) { "Estimate it again" } }
            },
        }
    }
}

/// Returns the address of the repository.
fn address(estimation: &Estimation) -> Option<String> {
    let host = match estimation.channel {
        Channel::Github => "github.com",
        Channel::Gitlab => "gitlab.com",
        Channel::Bitbucket => "bitbucket.org",
        Channel::Zip => return None,
    };
    Some(format!("https://{host}/{}", estimation.repo_full_name))
}
