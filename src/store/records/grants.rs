//! Upload grants, as operators see them.

use uuid::Uuid;

use super::{
    Reader, Record,
    pages::{PageQuery, PageRequest, RowPage},
};
use crate::{
    domain::{
        grants::{Grant, GrantState},
        time::Timestamp,
    },
    error::Result,
    store::grants,
};

/// An upload grant.
#[derive(Clone, Debug)]
pub struct GrantRecord {
    /// The grant.
    pub grant: Grant,
    /// ID of the team.
    pub team: Uuid,
    /// ID of the group for the codebase; `None` for the default group.
    pub group: Option<Uuid>,
    /// The upload that was begun with the grant, or became a codebase; `None` if none was.
    pub upload: Option<GrantUpload>,
}

/// The upload of a grant.
#[derive(Clone, Debug)]
pub struct GrantUpload {
    /// Name of the file.
    pub file_name: String,
    /// Size of the file in bytes.
    pub size_bytes: u64,
}

/// What the list of grants can be filtered by.
#[derive(Clone, Debug)]
pub struct GrantFilter {
    /// ID of the team.
    pub team: Option<Uuid>,
    /// The state at `now`.
    pub state: Option<GrantState>,
    /// The time that decides which grants have expired.
    pub now: Timestamp,
}

const COLUMNS: &str =
    "g.id, g.uuid, g.team, g.title, g.exclusivity, g.group_id, g.max_bytes, g.created_at, g.expires_at,
    g.revoked_at, g.consumed_at, g.expired_at, g.file_name, g.size_bytes,
    (SELECT t.uuid FROM teams t WHERE t.id = g.team) AS team_uuid,
    (SELECT o.uuid FROM groups o WHERE o.id = g.group_id) AS group_uuid";

fn read(row: &rusqlite::Row) -> rusqlite::Result<GrantRecord> {
    let file_name: Option<String> = row.get("file_name")?;
    let size: Option<u64> = row.get("size_bytes")?;
    Ok(GrantRecord {
        grant: grants::read_fields(row)?,
        team: row.get("team_uuid")?,
        group: row.get("group_uuid")?,
        upload: file_name.zip(size).map(|(file_name, size_bytes)| GrantUpload { file_name, size_bytes }),
    })
}

impl Record for GrantRecord {
    type Id = Uuid;
    type Filter = GrantFilter;

    const NAME: &'static str = "upload grant";

    fn find(reader: &Reader, id: &Uuid) -> Result<Option<GrantRecord>> {
        reader.query_first(&format!("SELECT {COLUMNS} FROM upload_grants g WHERE g.uuid = ?1"), [id], read)
    }

    fn page(reader: &Reader, filter: &GrantFilter, request: PageRequest) -> Result<RowPage<GrantRecord>> {
        // These expressions have indexes. A few grants have expired, but no step has recorded it yet.
        const USE: &str = "CASE WHEN g.consumed_at IS NOT NULL THEN 'consumed'
            WHEN g.revoked_at IS NOT NULL THEN 'revoked' ELSE 'unused' END = ?";
        const IS_OPEN: &str = "(g.consumed_at IS NULL AND g.revoked_at IS NULL AND g.expired_at IS NULL) = 1";
        let GrantFilter { team, state, now } = filter;
        let use_of_state = match state {
            Some(GrantState::Expired) => Some("unused"),
            Some(GrantState::Consumed) => Some("consumed"),
            Some(GrantState::Revoked) => Some("revoked"),
            Some(GrantState::Open) | None => None,
        };
        let in_time = |state_is: GrantState| (*state == Some(state_is)).then_some(now.0);
        PageQuery::new(COLUMNS, "upload_grants g", "g.id")
            .refers_to("g.team", "teams", *team)
            .filter(USE, use_of_state)
            .when(*state == Some(GrantState::Open), IS_OPEN)
            .filter("g.expires_at > ?", in_time(GrantState::Open))
            .filter("(g.expired_at IS NOT NULL OR g.expires_at <= ?)", in_time(GrantState::Expired))
            .fetch(reader, request, read)
    }
}
