//! Upload grants.

use crate::{
    domain::{assets::Exclusivity, grants::GrantState},
    operations::grants::{self, GrantInput},
    rest::{operator_api::prelude::*, shapes::strings::Title},
    store::{self, records::grants::GrantRecord},
};

/// An upload grant, without its token: the right to upload one zip archive for a team, which becomes a codebase.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "Grant")]
pub struct GrantOut {
    /// ID of the grant. It is not its token.
    pub id: Uuid,
    /// ID of the team.
    pub team_id: Uuid,
    /// Title of the codebase to create.
    pub title: String,
    /// Whether the codebase to create can be sold exclusively.
    pub exclusivity: EnumValue<Exclusivity>,
    /// ID of the group for the codebase; null for the team's default group.
    pub group_id: Option<Uuid>,
    /// Maximum size of the upload in bytes.
    pub max_bytes: u64,
    /// Whether the grant can be used, and if not, why.
    pub status: EnumValue<GrantState>,
    /// Name of the uploaded file; null until an upload is begun, and once it is discarded.
    pub file_name: Option<String>,
    /// Size of the uploaded file in bytes; null until an upload is begun, and once it is discarded.
    pub size_bytes: Option<u64>,
    /// Time of creation.
    pub created_at: UtcTime,
    /// Time of expiry, 24 hours after the creation.
    pub expires_at: UtcTime,
    /// Time at which the upload became a codebase; null if it has not.
    pub consumed_at: Option<UtcTime>,
    /// Time at which the grant was revoked; null unless revoked.
    pub revoked_at: Option<UtcTime>,
}

subject!(GrantOut, "upload_grant", id, team_id);

impl Resource for GrantOut {
    type Record = GrantRecord;

    fn new(record: GrantRecord, context: &CheckContext) -> GrantOut {
        let GrantRecord { grant, team, group, file_name, size_bytes } = record;
        GrantOut {
            id: grant.id,
            team_id: team,
            status: EnumValue(grant.state(context.now)),
            title: grant.title,
            exclusivity: EnumValue(grant.exclusivity),
            group_id: group,
            max_bytes: grant.max_bytes,
            file_name,
            size_bytes,
            created_at: grant.created_at.into(),
            expires_at: grant.expires_at.into(),
            consumed_at: grant.consumed_at.map(UtcTime),
            revoked_at: grant.revoked_at.map(UtcTime),
        }
    }
}

page_of! {
    /// A page of upload grants.
    GrantPage, GrantOut
}

/// A new upload grant, with its token.
#[derive(Debug, Object, Serialize)]
pub struct NewGrant {
    /// The token. Whoever has it and a key of the team can upload the archive. It cannot be shown again.
    pub token: String,
    /// The grant without its token.
    pub grant: GrantOut,
}

subject!(NewGrant, GrantOut::KIND, grant.id, grant.team_id);

/// What the list of upload grants can be filtered by.
#[derive(Debug, Object, Serialize)]
pub struct GrantFilters {
    /// ID of the team.
    team_id: Option<Uuid>,
    /// Whether the grant can be used, and if not, why.
    status: Option<EnumValue<GrantState>>,
}

/// An upload grant to create.
#[derive(Debug, Object)]
pub struct GrantIn {
    /// ID of the team that the codebase is for.
    team_id: MaybeInvalid<Uuid>,
    /// Title of the codebase to create.
    title: MaybeInvalid<Title>,
    /// Whether the codebase to create can be sold exclusively; `available` if absent.
    exclusivity: Option<EnumValue<Exclusivity>>,
    /// ID of the group for the codebase; null or absent for the team's default group.
    group_id: Option<Uuid>,
    /// Maximum size of the upload in bytes. The setting `blobs.max_upload_bytes` if null, absent, or greater than
    /// that.
    #[oai(validator(minimum(value = "1"), maximum(value = "1000000000000000")))]
    max_bytes: Option<i64>,
}

#[routes(prefix = "/operator/v1", tag = Keys)]
impl GrantsApi {
    /// List upload grants
    ///
    /// Returns the upload grants of teams, newest first. Their tokens are not stored.
    #[get("/grants", routes::list(&["status=open&limit=2", "team_id=00000000-0000-0000-0000-000000000000"]))]
    async fn list_grants(
        call: Call<Operator>,
        query: Params<ListQuery<GrantFilters>>,
    ) -> JsonResult<GrantPage> {
        pages::list(call, query).await
    }

    /// Create an upload grant
    ///
    /// Creates a grant with which a team can upload one zip archive within 24 hours, which becomes a codebase. Only
    /// this response contains its token, which the team passes to `POST /v2/vendor/uploads/grants/{token}`.
    #[post("/grants", routes::create(Actor::Platform, &[EventType::UploadGrantCreated]))]
    async fn create_grant(
        change: Change,
        #[example(json!({"team_id": DEMO_TEAM, "title": "Tide tables"}))] body: Body<GrantIn>,
    ) -> JsonResult<NewGrant, 201> {
        changes::post_body_with(change, body, create).await
    }

    /// Get an upload grant
    ///
    /// Returns an upload grant, without its token.
    #[get("/grants/{grant_id}", routes::read(Contract::new(Target::Created("upload_grants"))))]
    async fn get_grant(call: Call<Operator>, grant_id: Path<Uuid>) -> JsonResult<GrantOut> {
        resources::get(call, grant_id.0).await
    }

    /// Revoke an upload grant
    ///
    /// Revokes a grant that was not used, and discards what was uploaded with it.
    #[post(
        "/grants/{grant_id}/revoke",
        routes::transition_of(
            Target::Created("upload_grants"),
            Actor::Platform,
            &[EventType::UploadGrantRevoked],
        ),
    )]
    async fn revoke_grant(change: Change, grant_id: Path<Uuid>) -> JsonResult<GrantOut> {
        changes::transition(change, grant_id, |writer, platform, _, id| {
            let found: GrantRecord = records::find(writer.rows, platform, &id)?;
            grants::revoke(writer, found.grant.row_id)
        })
        .await
    }
}

fn create(writer: &mut Writer, platform: Platform, body: GrantIn) -> Result<NewGrant> {
    let team = references::team(writer.rows, "team_id", body.team_id.into_valid()?)?;
    let group = body.group_id.map(|id| references::group(writer.rows, team.row_id, "group_id", id));
    let group = group.transpose()?.map(|group| group.name);
    let input = GrantInput {
        team: &team.id.to_string(),
        title: &body.title.into_valid()?.0,
        exclusivity: body.exclusivity.map_or(Exclusivity::Available, |exclusivity| exclusivity.0),
        group: group.as_deref(),
        max_bytes: body.max_bytes.map(|bytes| bytes as u64),
    };
    let (row_id, token) = grants::create(writer, &input)?;
    let created = store::grants::find_by_row_id(writer.rows, row_id)?
        .ok_or_else(|| Error::internal("the grant was not stored"))?;
    Ok(NewGrant { token, grant: GrantOut::find(&writer.check_context(), platform, &created.id)? })
}
