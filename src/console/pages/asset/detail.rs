//! The page of an asset, and the form that moves it to a group.

use super::{api_path, below_inventory, data, fields_shown, follow, path, quality};
use crate::{
    console::{
        pages::{listing, own_listings},
        parts::{assets, listing_states, markdown},
        prelude::*,
    },
    domain::{estimations::EstimationStatus, inventory::Asset, stages::Stage},
    operations::{
        asset_details::{self, AssetDetails},
        assets as inventory, codebases,
    },
    store::{asset_details::OwnTaskset, listings::ListingRow},
};

/// Field of the form that moves an asset, with the ID of the group.
const GROUP: &str = "group";

/// The page of an asset.
pub struct AssetPage;

impl Page<Vendor> for AssetPage {
    const PATH: &'static str = "/inventory/{asset_id}";
    const TITLE: &'static str = "Asset";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let (id, market) = (visit.id(0)?, visit.market().clone());
        let details =
            visit.read(move |reader, vendor| asset_details::get(reader, vendor, market.blobs(), id)).await?;
        let asset = &details.asset;
        let content = Content::new(assets::name(asset), body(&visit.context, &details))
            .with_note(html! { (assets::kind(asset.kind)) " · added " (text::day(asset.created_at)) })
            .with_actions(actions(&visit.context, asset))
            .with_request(api_path(asset));
        Ok(below_inventory(content).into())
    }
}

fn actions(context: &Context, asset: &Asset) -> Markup {
    let to = |verb: &str| context.links.to(&path(asset.id, verb));
    html! {
        @if asset.kind.supports_proposals() {
            a.button.quiet href=(to("delete")) { "Delete…" }
            a.button href=(to("check")) { "Check…" }
        }
        @if asset.kind.is_edited_by_vendors() { a.button.primary href=(to("edit")) { "Edit" } }
    }
}

fn body(context: &Context, details: &AssetDetails) -> Markup {
    let asset = &details.asset;
    let is_running = details.is_in_progress || quality::is_running(details);
    html! {
        @if is_running { (follow(context, &paths::asset(asset.id))) }
        div.stack.wide {
            p.row { (assets::stage_badge(asset)) (data::badge(details)) (quality::badge(details)) }
            (messages(context, details))
            (tables::section("fields", "Fields", &html! {
                (fields_shown::fields(details))
                (group_form(context, details))
            }))
            (tables::section("description", "Description", &description(asset)))
            (data::section(context, details))
            (quality::section(context, details))
            (task_section(details))
            (listings_section(context, details))
            (estimation_section(context, details))
            (about::section(context, &details.notifications))
        }
    }
}

/// Says which fields are missing, and explains the retirement of the kind.
fn messages(context: &Context, details: &AssetDetails) -> Markup {
    let asset = &details.asset;
    let missing = assets::missing(asset);
    html! {
        // Missing fields often follow from these problems.
        (data::problems(context, details))
        @if let Some(retirement) = &details.retirement {
            (badges::warning(html! {
                b { "The market will stop trading this kind of asset on " (text::day(retirement.announced.retires_at)) ". " }
                @if !retirement.announced.accepts_new_listings { "It can no longer be put on listings. " }
                (retirement.announced.message)
            }))
        }
        @if !missing.is_empty() {
            (badges::warning(html! {
                b { "It cannot be listed yet. " } "What is missing: " (missing) "."
                @if asset.kind.is_edited_by_vendors() { " " a href=(context.links.to(&path(asset.id, "edit"))) { "Fill it in" } }
            }))
        } @else if asset.stage() == Stage::Proposed && asset.data.is_none() {
            (badges::neutral(html! {
                b { "It has no data yet. " } "It can be put on a listing as a proposal; buyers get the data once you have linked it."
            }))
        }
    }
}

fn description(asset: &Asset) -> Markup {
    let text = asset.description.as_deref().unwrap_or_default();
    html! {
        @if is_blank(text) { p.note { "There is none." } }
        @else { div.prose.long { (markdown::render(text)) } }
        (fields_shown::lock_note(asset, "description"))
    }
}

fn group_form(context: &Context, details: &AssetDetails) -> Markup {
    let (asset, groups) = (&details.asset, &details.groups);
    if groups.len() < 2 {
        return html! { p.note {
            "All your assets are in one group. " a href=(context.links.to(paths::NEW_GROUP)) { "Create another group" } " to sort them."
        } };
    }
    let chosen = asset.group.1.to_string();
    let choices = groups.iter().map(|group| (group.id, group.name.clone()));
    fields::form_with_class(
        context,
        &path(asset.id, "move"),
        "row",
        &html! { (fields::select(&context.inputs, GROUP, "Group", choices, &chosen)) button { "Move" } },
    )
}

fn task_section(details: &AssetDetails) -> Markup {
    let Some(task) = &details.task else { return tasksets(details) };
    let mut facts = vec![
        ("Taskset", html! { bdi.long { (task.taskset_name) } }),
        ("Status", html! { (listing::version_state(task.state)) }),
        ("Review", html! { (listing::version_stage(task.stage)) }),
        ("Version made", text::day(task.created_at)),
    ];
    facts.extend(task.external_id.as_ref().map(|id| ("Your ID", html! { span.mono.long { (id) } })));
    if !task.tags.is_empty() {
        facts.push(("Tags", html! { bdi.long { (task.tags.join(", ")) } }));
    }
    let content = html! {
        (tables::facts(&facts))
        @if let Some(description) = &task.description { div.prose.long { (markdown::render(description)) } }
        @for (name, fields) in [
            ("Content", &task.brief), ("Environment", &task.environment), ("Settings of the agent", &task.agent_config),
        ] {
            (listing::written_values(name, &fields.iter().map(|(name, value)| (text::words(name), value)).collect::<Vec<_>>()))
        }
    };
    tables::section("task", "The task", &content)
}

fn tasksets(details: &AssetDetails) -> Markup {
    let row = |taskset: &OwnTaskset| {
        [
            Head::text("Taskset").cell(html! { bdi.long { (taskset.name) } }),
            Head::number("Tasks").cell(text::grouped(taskset.tasks)),
        ]
    };
    html! { @if !details.tasksets.is_empty() {
        (tables::section("tasksets", "Tasksets", &tables::of("Tasksets", &details.tasksets, row)))
    } }
}

fn listings_section(context: &Context, details: &AssetDetails) -> Markup {
    let row = |listing: &ListingRow| {
        let address = context.links.to(&paths::own_listing(listing.id));
        [
            Head::text("Listing")
                .cell(html! { a href=(address) { bdi { (own_listings::title_of(&listing.title)) } } }),
            Head::text("Status").cell(badges::of(listing_states::state(listing.status))),
            Head::number("Price, USD").cell(text::optional_money(listing.price)),
        ]
    };
    let content = html! {
        @if details.listings.is_empty() {
            p.note { "It is on no listing. " a href=(context.links.to(paths::OWN_LISTINGS)) { "Your listings" } }
        } @else { (tables::of("Listings", &details.listings, row)) }
        @if assets::missing(&details.asset).is_empty() && details.retirement.is_none() {
            @let address = Query::default().with(paths::LISTED_ASSET, &details.asset.id.to_string());
            p { a.button href=(address.at(&context.links.to(paths::NEW_LISTING))) { "Write a listing with it" } }
        }
    };
    tables::section("listings", "Listings with this asset", &content)
}

fn estimation_section(context: &Context, details: &AssetDetails) -> Markup {
    let Some(estimation) = &details.estimation else { return Markup::default() };
    let address = context.links.to(&paths::estimation(estimation.id));
    let result = match (estimation.quote, estimation.status) {
        (Some((low, high)), _) => format!("{} to {}", text::money(low), text::money(high)),
        (None, EstimationStatus::Pending) => "In progress".to_owned(),
        (None, EstimationStatus::Failed) => "The source could not be read".to_owned(),
        (None, _) => "Nothing in the source has a rate".to_owned(),
    };
    let content = tables::facts(&[
        ("Estimated price", html! { a href=(address) { (result) } }),
        ("Requested", text::day(estimation.created_at)),
    ]);
    tables::section("estimation", "Estimation", &content)
}

/// The button that copies a repository again, after that failed.
pub struct RetryCopy;

impl Action<Vendor> for RetryCopy {
    const PATH: &'static str = "/inventory/{asset_id}/retry";
    const TITLE: &'static str = "Copy a repository again";

    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        let id = visit.id(0)?;
        let work = move |writer: &mut crate::market::Writer, vendor: &Vendor| {
            codebases::retry_repository(writer, vendor, id)
        };
        changes::perform(visit, fields, Change::new("attach_codebase_data", "codebase", id), work).await?;
        Ok(Answer::done(&paths::asset(id), Notice::RepositoryLinked))
    }
}

/// The form that moves an asset to another group.
pub struct MoveAsset;

impl Action<Vendor> for MoveAsset {
    const PATH: &'static str = "/inventory/{asset_id}/move";
    const TITLE: &'static str = "Move an asset to a group";

    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        let id = visit.id(0)?;
        let group = fields.get(GROUP).and_then(|group| Uuid::try_parse(group).ok());
        let group = group.ok_or_else(|| Error::not_found("group"))?;
        let work = move |writer: &mut crate::market::Writer, vendor: &Vendor| {
            inventory::move_to_group(writer, vendor, group, id).map(drop)
        };
        changes::perform(visit, fields, Change::new("move_asset", "asset", id), work).await?;
        Ok(Answer::done(&paths::asset(id), Notice::AssetMoved))
    }
}
