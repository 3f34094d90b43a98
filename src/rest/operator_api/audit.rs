//! The audit: who changed what through this API, the console, or a command.

use serde::Deserializer;

use crate::{
    domain::{principals::AuditActorKind, row_ids::AuditRowId},
    rest::operator_api::prelude::*,
    store::records::audit::AUDIT,
};

/// A change that an operator made, or a team in the console.
#[derive(Debug, Object, Serialize, Deserialize)]
pub struct AuditEntry {
    /// Number of the entry; increases with the commits.
    pub number: i64,
    /// Time of the change.
    pub occurred_at: UtcTime,
    /// Who made the change.
    pub actor_kind: EnumValue<AuditActorKind>,
    /// ID of the key of the operator or of the team; null for a command on the data directory.
    pub key_id: Option<Uuid>,
    /// ID of the console session in which the change was made; null if it was made without one.
    pub session_id: Option<Uuid>,
    /// ID of the operator key; null if a team or a command on the data directory made the change.
    pub operator_key_id: Option<Uuid>,
    /// The key's ID, or `cli` for a command on the data directory.
    #[serde(deserialize_with = "read_operator")]
    pub operator: String,
    /// ID of the operation in this document, or of the console's.
    pub operation: String,
    /// The record that was changed.
    pub subject: AuditSubject,
    /// ID of the team that made the change, or that the operator acted for; null if none.
    pub team_id: Option<Uuid>,
    /// ID of the request.
    pub request_id: Option<String>,
}

/// The record that a change was about.
#[derive(Debug, Object, Serialize, Deserialize)]
pub struct AuditSubject {
    /// Kind of the record, such as `listing`.
    pub kind: String,
    /// ID or slug of the record.
    pub id: String,
}

/// Reads the ID of a key.
fn read_operator<'de, D: Deserializer<'de>>(column: D) -> std::result::Result<String, D::Error> {
    Ok(Option::<Uuid>::deserialize(column)?.map_or_else(|| "cli".to_owned(), |key| key.to_string()))
}

resource!(AuditEntry: AuditRowId, AUDIT, "audit_entry", number, team_id);

page_of! {
    /// A page of the audit.
    AuditPage, AuditEntry
}

/// What the audit can be filtered by.
#[derive(Debug, Object, Serialize)]
pub struct AuditFilters {
    /// ID of the key of an operator, or of a team.
    operator_key_id: Option<Uuid>,
    /// ID of an operation.
    operation: Option<String>,
    /// ID or slug of the record that was changed.
    subject_id: Option<String>,
    /// ID of the team that made the change, or that the operator acted for.
    team_id: Option<Uuid>,
}

#[routes(prefix = "/operator/v1", tag = Events)]
impl AuditApi {
    /// List the audit
    ///
    /// Returns what operators have changed, newest first, through this API, in the console, or by commands, and what teams have
    /// changed in the console. Refused requests are in the log only.
    #[get("/audit", routes::list(&["operation=publish_listing", "subject_id=nothing"]))]
    async fn list_audit(
        call: Call<Operator>,
        query: Params<ListQuery<AuditFilters>>,
    ) -> JsonResult<AuditPage> {
        pages::list(call, query).await
    }
}
