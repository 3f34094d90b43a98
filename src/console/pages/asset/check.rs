//! The confirmation before an asset is checked, with the cost and the list of checks.

use super::{below_asset, path, quality};
use crate::{
    console::{parts::findings, prelude::*},
    domain::{assets::Kind, quality_runs::RunTrigger},
    operations::{
        asset_details::{self, RunOffer, RunRefusal},
        assets as inventory, quality_runs,
    },
};

/// What is checked in data of any kind.
const IN_ALL_DATA: [&str; 6] = [
    "whether every file can be read, and none needs a password",
    "whether the paths are safe to unpack",
    "whether there is a readme and a license",
    "whether there are passwords or keys that may still work",
    "whether there are hints of personal data",
    "how much is copied within the data, or is in your other assets, too",
];

/// What is checked in codebases besides.
const IN_CODEBASES: [&str; 4] = [
    "whether it can be built, and has tests",
    "whether continuous integration is set up",
    "whether the history was read in full",
    "how much is generated, from other projects, or binary",
];

/// What is checked in raw data besides.
const IN_RAW_DATA: [&str; 2] =
    ["whether its tables can be read", "whether the files of each table have the same columns"];

/// The page that starts a quality run of an asset.
pub struct CheckAsset;

impl Page<Vendor> for CheckAsset {
    const PATH: &'static str = "/inventory/{asset_id}/check";
    const TITLE: &'static str = "Check an asset";
    const BUDGET: Budget = Budget::QualityChecks;

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let (id, market) = (visit.id(0)?, visit.market().clone());
        let offer = visit
            .read(move |reader, vendor| asset_details::run_offer(reader, vendor, market.blobs(), id))
            .await?;
        if !offer.asset.kind.supports_proposals() {
            return Err(Error::not_found("page"));
        }
        let content = Content::new("Check this asset?", body(&visit.context, &offer));
        Ok(below_asset(content, &offer.asset).into())
    }
}

fn body(context: &Context, offer: &RunOffer) -> Markup {
    let RunOffer { asset, price, credits, refusal } = offer;
    let question = html! {
        (seen(*price).asked())
        p { "A program reads all of the data. It looks at:" }
        (checked(asset.kind))
        p { "The checks begin once the data is analyzed. Buyers see the verdicts on your listings, and never what was found." }
        (findings::cost(*price, *credits))
    };
    let button = if *price == Cents(0) {
        "Start the checks".to_owned()
    } else {
        format!("Check for {}", text::money(*price))
    };
    html! {
        @match refusal {
            None => (fields::question(context, &question, ("primary", &button), &paths::asset(asset.id))),
            Some(refusal) => {
                (why_not(context, asset.id, refusal))
                div.prose { (question) }
                div.row { a.button href=(context.links.to(&paths::asset(asset.id))) { "Back to the asset" } }
            }
        }
    }
}

/// Identifies what the page states: what a run costs.
fn seen(price: Cents) -> Seen {
    Seen::of(&price)
}

fn checked(kind: Kind) -> Markup {
    let more: &[&str] = match kind {
        Kind::Codebase => &IN_CODEBASES,
        Kind::RawData => &IN_RAW_DATA,
        _ => &[],
    };
    html! { ul { @for check in IN_ALL_DATA.iter().chain(more) { li { (check) } } } }
}

fn why_not(context: &Context, asset: Uuid, refusal: &RunRefusal) -> Markup {
    let to = |path: &str| context.links.to(path);
    let reason = html! {
        b { "It cannot be checked now. " }
        @match refusal {
            RunRefusal::NoData => { "It has no data. " a href=(to(&paths::asset(asset))) { "Link data first" } "." },
            RunRefusal::NotReadable(reason) => (reason),
            RunRefusal::InProgress(run) => { "A run is in progress. " a href=(to(&quality::run_path(asset, *run))) { "See how far it is" } "." },
            RunRefusal::Credits => { "Your credits do not suffice. " a href=(to(paths::WALLET)) { "Open the wallet" } "." },
        }
    };
    badges::warning(&reason)
}

impl FormPage<Vendor> for CheckAsset {
    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        let (id, sent) = (visit.id(0)?, fields.clone());
        let start = move |writer: &mut Writer, vendor: &Vendor| {
            let asset = inventory::find(writer.rows, vendor, id, None)?;
            if !asset.kind.supports_proposals() {
                return Err(Error::not_found("page"));
            }
            seen(quality_runs::price(writer.settings)).check(&sent)?;
            quality_runs::start_asset_run(writer, &asset, RunTrigger::Team).map(|started| started.run_id)
        };
        let run: Uuid =
            changes::perform(visit, fields, Change::new("start_quality_run", "asset", id), start).await?;
        Ok(Answer::done(&path(id, &format!("runs/{run}")), Notice::RunStarted))
    }
}
