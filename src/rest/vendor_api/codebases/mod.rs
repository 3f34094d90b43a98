//! Routes of a vendor's codebases.

pub(super) mod types;

use self::types::{
    Codebase, CodebaseBatch, CodebaseBatchOut, CodebaseIn, CodebasePatch, Codebases, RepositoryLink,
};
use super::{asset_queries::AssetListQuery, data_assets};
use crate::{
    domain::{assets::Kind, inventory::AssetChange},
    operations::{asset_changes, codebases},
    request_problems::ProblemsExt,
    rest::{
        arguments::filter_entries::{CodebaseFilters, FilterEntry},
        prelude::*,
        route::Link,
        shapes::assets::DataObject,
        vendor_api::{asset_queries::ASSET_LIST_QUERIES, assets::GET_ASSET_TOOL},
    },
};

#[routes(prefix = "/v2", tag = Codebases)]
impl CodebasesApi {
    /// List codebases
    ///
    /// Returns a page of the team's codebases, newest first unless sorted.
    #[get(
        "/codebases",
        RouteAttributes::read(
            Tool::list(
                ToolText::new(
                    Toolset::Assets,
                    "list_codebases",
                    "Codebases",
                    "The team's codebases, with lines, commits, contributors, `missing` and \
                     `locked_fields`.",
                )
                .with_parameters(&[(
                    "filter",
                    "All must hold: `field:is:value`, `is_not`, `name:contains:text`. Fields: `stage` \
                     (incomplete, proposed, complete), `name`, `domain`, `channel` (github, gitlab, bitbucket, zip, \
                     not_linked), `exclusivity` (available, unavailable), `private_data` (true, false).",
                )])
                .with_values(&[(
                    "sort",
                    &[
                        "name",
                        "domain",
                        "stage",
                        "channel",
                        "created_at",
                        "price",
                        "estimate",
                        "exclusivity",
                        "private_data",
                        "lines_of_code",
                        "commits",
                        "contributors",
                        "merged_prs",
                        "history_start",
                        "history_end",
                        "ci_on_prs",
                    ],
                )])
                .with_row(&[
                    "id",
                    "title",
                    "stage",
                    "domain_tags",
                    "lines_of_code",
                    "commits",
                    "contributors",
                    "price_usd",
                    "exclusivity",
                    "missing",
                    "data.commit_sha",
                    "data.analyzed_at",
                ]),
                "items",
            ),
            Contract::new(Target::None)
                .with_queries(ASSET_LIST_QUERIES)
                .with_misspelled("stge=complete", "stage")
                .with_pages("limit=1", "limit=200", 6),
        )
        .with_parameter_examples(&[("filter", r#"["stage:is:complete", "domain:is:logistics"]"#)]),
    )]
    async fn list_codebases(
        call: Call<Vendor>,
        query: Params<AssetListQuery<FilterEntry<CodebaseFilters>>>,
    ) -> JsonResult<Codebases> {
        query.0.read_page(call, |asset, _, _| Codebase::from(asset)).await
    }

    /// Create a codebase
    ///
    /// Creates a codebase. If `data` is set, the repository is linked to it and then copied and analyzed in
    /// the background. The values in the body are locked with the source `api`.
    #[post("/codebases", RouteAttributes::change(Contract::new(Target::None)))]
    async fn create_codebase(
        call: Call<Vendor>,
        idempotent: Idempotent,
        #[example(json!({
                        "title": "Harbour scheduling",
                        "exclusivity": "available",
                        "description": "Berth planning for a container port, in production from 2011 to 2024.",
                        "domain_tags": ["logistics"],
                        "data": {"channel": "github", "repo_full_name": "tideclock/harbour"},
                    }))]
        body: Body<CodebaseIn>,
    ) -> JsonResult<Codebase, 201> {
        let CodebaseIn { row, data } = body.value;
        let link = data.and_then(RepositoryLink::into_request);
        let checked_link = link.clone();
        idempotent
            .write(
                &call.served,
                call.access,
                body.source,
                move |context, vendor, mut problems| {
                    if let Some(link) = &checked_link {
                        link.check(&["data"], &mut problems);
                    }
                    codebases::check_new(context, vendor, row.into(), problems)
                },
                move |writer, vendor, asset| {
                    codebases::create(writer, vendor, &asset, link.as_ref())
                        .map(|asset| Codebase::from(&asset))
                },
            )
            .await
    }

    /// Create several codebases
    ///
    /// Creates up to 500 codebases without linked data. If any of them is invalid, none is created, and every
    /// problem is reported with the index of its item.
    #[post(
        "/codebases/batch",
        RouteAttributes::change(Contract::new(Target::None)).with_links(&[Link::new(
            "/items/0/id",
            "get_codebase",
            "asset_id",
        )]),
    )]
    async fn create_codebases(
        call: Call<Vendor>,
        idempotent: Idempotent,
        #[example(json!({
                        "items": [
                            {"title": "Billing core", "exclusivity": "available", "lines_of_code": 182_000},
                            {"title": "Ticket kiosk", "exclusivity": "unavailable", "price_usd": 12500},
                        ],
                    }))]
        body: Body<CodebaseBatch>,
    ) -> JsonResult<CodebaseBatchOut, 201> {
        let rows = body.value.items.0.unwrap_or_default();
        idempotent
            .write(
                &call.served,
                call.access,
                body.source,
                move |context, vendor, problems| {
                    let changes = rows.into_iter().map(|row| row.0.map(AssetChange::from)).collect();
                    codebases::check_all_new(context, vendor, changes, problems)
                },
                move |writer, _, created| {
                    codebases::create_all(writer, &created)?;
                    Ok(CodebaseBatchOut { items: created.iter().map(Codebase::from).collect() })
                },
            )
            .await
    }

    /// Get a codebase
    ///
    /// Returns one of the team's codebases.
    #[get(
        "/codebases/{asset_id}",
        RouteAttributes::read(
            Tool::Choice { tool: &GET_ASSET_TOOL, value: "codebase", list: None },
            Contract::new(Target::OwnCodebase),
        ),
    )]
    async fn get_codebase(
        call: Call<Vendor>,
        /// ID of the codebase.
        asset_id: Path<Uuid>,
    ) -> JsonResult<Codebase> {
        data_assets::get(call, asset_id.0, Kind::Codebase).await
    }

    /// Update a codebase
    ///
    /// Changes only the fields in the body. Fields that were read from linked data cannot be changed until
    /// the data is detached. The stage is recomputed.
    #[patch("/codebases/{asset_id}", RouteAttributes::change(Contract::new(Target::OwnCodebase)))]
    async fn update_codebase(
        call: Call<Vendor>,
        /// ID of the codebase.
        asset_id: Path<Uuid>,
        #[example(json!({
            "price_usd": 48000,
            "history_start": "2011-04-18",
            "description": null,
        }))]
        body: Body<CodebasePatch>,
    ) -> JsonResult<Codebase> {
        data_assets::update(call, (asset_id.0, Kind::Codebase), body, |writer, changed| {
            asset_changes::update(writer, changed).map(|asset| Codebase::from(&asset))
        })
        .await
    }

    /// Delete a codebase
    ///
    /// Deletes a codebase and removes it from the listings that it is on. Detach its data first. Fails while
    /// the codebase is on a listing that is in review or published.
    #[delete(
        "/codebases/{asset_id}",
        RouteAttributes::change(Contract::new(Target::OwnCodebase))
            .with_conflicts(&[Code::DataAttached, Code::AssetInUse]),
    )]
    async fn delete_codebase(
        call: Call<Vendor>,
        /// ID of the codebase.
        asset_id: Path<Uuid>,
    ) -> Result<NoContent, ApiError> {
        data_assets::delete(call, asset_id.0, Kind::Codebase).await
    }

    /// Link a repository
    ///
    /// Links a repository to a codebase that has no data. It is copied and analyzed in the background; poll
    /// `archive_status` and `analysis_status` for the progress. Listings with the codebase that are approved and not in the
    /// catalog become drafts.
    #[post(
        "/codebases/{asset_id}/data",
        RouteAttributes::change(Contract::new(Target::OwnCodebase))
            .with_conflicts(&[Code::DataAttached]),
    )]
    async fn attach_codebase_data(
        call: Call<Vendor>,
        /// ID of the codebase.
        asset_id: Path<Uuid>,
        idempotent: Idempotent,
        #[example(json!({
            "channel": "github",
            "repo_full_name": "tideclock/harbour",
        }))]
        body: Body<RepositoryLink>,
    ) -> JsonResult<DataObject, 201> {
        let link = body.value.into_request();
        data_assets::attach_data(
            call,
            idempotent,
            body.source,
            move |_, _, mut problems| {
                if let Some(link) = &link {
                    link.check(&[], &mut problems);
                }
                problems.into_result_of(link)
            },
            move |writer, vendor, link| codebases::attach_repository(writer, vendor, asset_id.0, &link),
        )
        .await
    }

    /// Detach the data of a codebase
    ///
    /// Detaches the linked repository or archive. Fields that were read from it are unlocked and get the values back that
    /// they had before, null if there were none. The stage is recomputed: with nothing missing the codebase is
    /// `proposed`, else `incomplete`. Listings with the codebase that are approved become drafts, and pending purchases of
    /// it are canceled.
    #[delete(
        "/codebases/{asset_id}/data",
        RouteAttributes::change(Contract::new(Target::OwnCodebase))
            .with_conflicts(&[Code::DataNotAttached, Code::AssetInUse]),
    )]
    async fn detach_codebase_data(
        call: Call<Vendor>,
        /// ID of the codebase.
        asset_id: Path<Uuid>,
    ) -> Result<NoContent, ApiError> {
        data_assets::detach_data(call, asset_id.0, Kind::Codebase).await
    }
}
