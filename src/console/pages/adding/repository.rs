//! Adds a codebase by its repository, or a repository to a codebase without data.

use super::{
    asset_of, below_adding, below_asset, chosen_exclusivity, chosen_group, collect, exclusivity_field,
    group_field, groups_of, name_of,
};
use crate::{
    console::{prelude::*, wording},
    domain::{
        assets::{Kind, RepositoryChannel},
        changes::Change as FieldChange,
        codebase_fields::CodebaseChange,
        inventory::{Asset, AssetChange, ChangeOrigin},
        repository_addresses::parse_repository_address,
    },
    operations::{
        codebases::{self, LinkRequest},
        own_uploads,
    },
};

/// The page for a new codebase.
pub struct AddRepository;

/// The page for a codebase that has no data.
pub struct LinkRepository;

/// Says what an address is.
const ADDRESS_PROBLEM: &str = "Enter the address of a repository at GitHub, GitLab, or Bitbucket, for example https://github.com/tideclock/harbour.";

/// Name of the field with the address.
const REPOSITORY: &str = "repository";

/// Returns a field for the address of a repository. `given` is its value in a new form.
pub fn address_field(inputs: &Inputs, name: &str, given: &str) -> Markup {
    let hint = html! { "At GitHub, GitLab, or Bitbucket, for example https://github.com/tideclock/harbour." };
    Field::text(name, "Address of the repository")
        .hint(hint)
        .value(given)
        .at_most(500)
        .required()
        .show(inputs)
}

/// Returns the host and the full name of the repository whose address is in a field.
pub fn address(fields: &Fields, name: &'static str) -> Result<(RepositoryChannel, String)> {
    let parsed = fields.parsed(name, ADDRESS_PROBLEM, parse_repository_address)?;
    parsed.ok_or_else(|| invalid(name, ADDRESS_PROBLEM))
}

fn repository(fields: &Fields) -> Result<LinkRequest> {
    let (channel, repo_full_name) = address(fields, REPOSITORY)?;
    Ok(LinkRequest { channel, repo_full_name })
}

impl Page<Vendor> for AddRepository {
    const PATH: &'static str = "/inventory/add/repository";
    const TITLE: &'static str = "Add a codebase by its repository";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let groups = groups_of(visit).await?;
        let inputs = &visit.inputs;
        let title_hint = html! { "If this is empty, the name of the repository." };
        let form = html! {
            (address_field(inputs, REPOSITORY, ""))
            (Field::text("title", "Title").at_most(200).hint(title_hint).show(inputs))
            (exclusivity_field(inputs, "Exclusive sale"))
            (group_field(inputs, &groups))
            (fields::buttons(&visit.context, "Add the codebase", ("Leave", paths::ADD_ASSETS)))
        };
        let body = html! {
            p { "The market copies the repository, and reads lines, languages, history, and contributors from the copy." }
            (fields::form(&visit.context, Self::PATH, &form))
        };
        Ok(below_adding(Content::new(Self::TITLE, body)).into())
    }
}

impl FormPage<Vendor> for AddRepository {
    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        let mut problems = Vec::new();
        let link = collect(repository(fields), &mut problems)?;
        let group = collect(chosen_group(fields), &mut problems)?.flatten();
        let exclusivity = collect(chosen_exclusivity(fields), &mut problems)?;
        let (Some(link), Some(exclusivity), true) = (link, exclusivity, problems.is_empty()) else {
            return Err(Error::Invalid(problems));
        };
        let name = link.repo_full_name.rsplit('/').next().unwrap_or_default();
        let change = AssetChange {
            origin: ChangeOrigin::Inventory,
            title: Some(fields.get("title").unwrap_or(name).to_owned()),
            group_id: group.map_or(FieldChange::Unchanged, FieldChange::Set),
            codebase: CodebaseChange {
                exclusivity: FieldChange::Set(exclusivity),
                ..CodebaseChange::default()
            },
            ..AssetChange::default()
        };
        let work = move |writer: &mut Writer, vendor: &Vendor| {
            codebases::check_and_create(writer, vendor, change, Some(&link)).map(|asset| asset.id)
        };
        let team = visit.access.team().id;
        let created: Uuid =
            changes::perform(visit, fields, Change::new("create_codebase", "team", team), work).await?;
        Ok(Answer::done(&paths::asset(created), Notice::RepositoryLinked))
    }
}

/// Fails if an asset cannot get a repository: it is not a codebase, or already has data.
fn check_can_link(asset: &Asset) -> Result<()> {
    if asset.kind != Kind::Codebase {
        return Err(Error::Conflict("Only codebases have repositories.".to_owned()));
    }
    own_uploads::check_without_data(asset)
}

impl Page<Vendor> for LinkRepository {
    const PATH: &'static str = "/inventory/{asset}/repository";
    const TITLE: &'static str = "Link a repository";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let asset = asset_of(visit).await?;
        let path = paths::asset(asset.id);
        let refusal = check_can_link(&asset).err();
        let form = html! {
            (address_field(&visit.inputs, REPOSITORY, ""))
            (fields::buttons(&visit.context, "Link the repository", ("Back to the asset", &path)))
        };
        let body = html! {
            @match refusal {
                Some(error) => {
                    (badges::warning(html! { (wording::humanize(&error.message())) }))
                    div.row { a.button href=(visit.links.to(&path)) { "Back to the asset" } }
                },
                None => {
                    p {
                        "The market copies the repository into " b.long { bdi { (name_of(&asset)) } }
                        ", and reads lines, languages, history, and contributors from the copy. What it reads replaces what you typed."
                    }
                    (fields::form(&visit.context, &visit.path, &form))
                },
            }
        };
        Ok(below_asset(Content::new(Self::TITLE, body), &asset).into())
    }
}

impl FormPage<Vendor> for LinkRepository {
    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        let id = visit.id(0)?;
        check_can_link(&asset_of(visit).await?)?;
        let link = repository(fields)?;
        let work = move |writer: &mut Writer, vendor: &Vendor| {
            codebases::attach_repository(writer, vendor, id, &link).map(|_| ())
        };
        changes::perform(visit, fields, Change::new("attach_codebase_data", "codebase", id), work).await?;
        Ok(Answer::done(&paths::asset(id), Notice::RepositoryLinked))
    }
}
