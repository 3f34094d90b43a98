//! Repositories of worlds, which vendors can link without a network.

use std::path::PathBuf;

use poem::{Request, RequestBody};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaMediaType, MetaRequest, MetaSchema, MetaSchemaRef},
};

use super::access::WorldOperator;
use crate::{
    domain::patterns,
    error::{Problem, Result},
    http_server::chunks::Chunks,
    market::Market,
    operations::{
        access::PrincipalProof as _,
        added_repositories::{self, MAX_BYTES},
        world_repositories,
    },
    private_files,
    rest::prelude::*,
    web::{
        body::{WRITE_BYTES, receive_into},
        part_uploads,
        shares::{
            capacity::Slot,
            transfer_limits::{self, RequestTransfers},
        },
    },
};

/// Content types of the body. Which of the two it is follows from its first bytes.
const CONTENT_TYPES: [&str; 2] = ["application/octet-stream", "application/zip"];

/// A repository of a world.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "WorldRepository")]
pub struct WorldRepositoryOut {
    /// Full name of the repository.
    pub repo_full_name: String,
    /// ID of the newest commit of the default branch.
    pub commit_sha: String,
    /// Number of objects: commits, directories, files, and tags.
    pub objects: u64,
    /// Size in bytes of the repository, compressed.
    pub size_bytes: u64,
}

/// A body of any bytes, which was not received yet.
struct RawBody(poem::Body);

impl<'a> ApiExtractor<'a> for RawBody {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::RequestObject];

    type ParamType = ();
    type ParamRawType = ();

    fn request_meta() -> Option<MetaRequest> {
        let schema = || MetaSchemaRef::Inline(Box::new(MetaSchema::new_with_format("string", "binary")));
        let content = CONTENT_TYPES.map(|content_type| MetaMediaType { content_type, schema: schema() });
        Some(MetaRequest { description: None, content: content.into(), required: true })
    }

    async fn from_request(
        _: &'a Request,
        body: &mut RequestBody,
        _: ExtractParamOptions<()>,
    ) -> poem::Result<Self> {
        Ok(RawBody(body.take().map_err(|cause| ApiError(Error::internal(cause)))?))
    }
}

#[routes(prefix = "/sandbox/v1", tag = Worlds)]
impl RepositoriesApi {
    /// Add a repository to a world
    ///
    /// Adds a repository, which vendors of the world can link as one of GitHub, GitLab, or Bitbucket, in place of one with
    /// the same name. The body, of up to 64 MB, is what `git bundle create FILE --all` writes, or a zip of a bare
    /// repository; which of the two follows from its first bytes, not from its content type.
    #[put(
        "/worlds/{world}/repositories/{owner}/{name}",
        RouteAttributes::change(Contract::new(Target::WorldRepository)).without_deadline(),
    )]
    async fn put_world_repository(
        call: Call<WorldOperator>,
        request: &Request,
        /// Name of the world.
        world: Path<String>,
        /// Owner of the repository.
        owner: Path<String>,
        /// Name of the repository.
        name: Path<String>,
        body: RawBody,
    ) -> JsonResult<WorldRepositoryOut> {
        part_uploads::refuse_range(request)?;
        let world = call.served.require_sandbox()?.worlds().require(&world.0)?;
        for (parameter, value) in [("owner", &owner.0), ("name", &name.0)] {
            if !world_repositories::is_name(value) {
                let message = format!(
                    "`owner/name` in the path {}.",
                    patterns::describe_pattern(patterns::REPOSITORY_PATTERN)
                );
                return Err(ApiError(Error::invalid(Problem::path(parameter, "value_error", message))));
            }
        }
        // A reset of the world deletes its own directories.
        let create = |market: &Market| market.blobs().staging_dir().map_err(Error::internal);
        let directory = call.served.market().spawn_blocking(create).await?;
        let path = directory.path().join("body");
        let transfers = transfer_limits::of_request(request);
        let slot = transfers.map(RequestTransfers::body_slot).transpose()?;
        let received = receive(call.served.market(), body.0, path.clone(), transfers);
        Slot::release_during(request, received).await??;
        drop(slot);
        let turn = world.admit().await?;
        let operator = call.access;
        let work = move |market: &Market| {
            let _turn = turn;
            operator.check_key(market)?;
            let added = added_repositories::add(&world.market(), &owner.0, &name.0, &path)?;
            drop(directory);
            Ok(WorldRepositoryOut {
                repo_full_name: format!("{}/{}", owner.0, name.0),
                commit_sha: added.commit_sha,
                objects: added.objects,
                size_bytes: added.bytes,
            })
        };
        let added = call.served.market().spawn_blocking(work).await?;
        Ok(Json::from_small(&added))
    }
}

/// Receives a body into a new file.
async fn receive(
    market: &Market,
    body: poem::Body,
    path: PathBuf,
    transfers: Option<&RequestTransfers>,
) -> Result<()> {
    let mut memory = transfers.map(RequestTransfers::memory);
    if let Some(memory) = &mut memory {
        memory.grow(WRITE_BYTES).await?;
    }
    let chunks = Chunks::new(body.into(), &market.settings().server.connections(), None);
    if chunks.remaining_bytes() > MAX_BYTES {
        return Err(Error::PayloadTooLarge { max_bytes: MAX_BYTES });
    }
    market.ensure_space(chunks.remaining_bytes())?;
    let file = private_files::create(&path).map_err(Error::internal)?;
    receive_into(market, chunks, file, MAX_BYTES, |market| market.ensure_space(0)).await.map(drop)
}
