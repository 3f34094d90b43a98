//! Changes by forms. Each is one audited operation in one transaction, and is made once even if the form is sent several times.

use serde::{Serialize, de::DeserializeOwned};
use uuid::Uuid;

use super::{
    forms::Fields,
    visit::{Proof, Visit},
    wording,
};
use crate::{
    error::{Error, Result},
    market::Writer,
    operations::{
        access::{ActingOperator, AuthenticatedTeam},
        audit::{self, AuditedChange, FieldChange},
        idempotency, maintenance,
    },
};

/// What a form changes, for the audit.
#[derive(Clone, Debug)]
pub struct Change {
    /// Name of the operation, such as `buy_listing`.
    pub operation: &'static str,
    /// Kind of the record that is changed, such as `listing`.
    pub subject_kind: &'static str,
    /// ID of the record.
    pub subject_id: String,
    /// ID of the team that an operator acts for; `None` if none. Not used for changes by a team.
    pub team: Option<Uuid>,
    /// The fields of the record that were changed; empty if they are not known.
    pub fields: Vec<FieldChange>,
}

impl Change {
    /// Creates a change.
    pub fn new(
        operation: &'static str,
        subject_kind: &'static str,
        subject: impl std::fmt::Display,
    ) -> Change {
        Change { operation, subject_kind, subject_id: subject.to_string(), team: None, fields: Vec::new() }
    }
}

/// Carries out a form. If it was carried out before, returns the earlier result.
pub async fn perform<A: Proof, T: Serialize + DeserializeOwned + Send + 'static>(
    visit: &Visit<A>,
    fields: &Fields,
    change: Change,
    work: impl FnOnce(&mut Writer, &A) -> Result<T> + Send + 'static,
) -> Result<T> {
    perform_on(visit, fields, change, move |writer, access, _| work(writer, access)).await
}

/// Like [`perform`], for work that finds out itself which record it changes.
pub async fn perform_on<A: Proof, T: Serialize + DeserializeOwned + Send + 'static>(
    visit: &Visit<A>,
    fields: &Fields,
    change: Change,
    work: impl FnOnce(&mut Writer, &A, &mut Change) -> Result<T> + Send + 'static,
) -> Result<T> {
    let stored = execute(visit, fields, change, move |writer, access, change| {
        let result = work(writer, access, change)?;
        let bytes = serde_json::to_vec(&result).map_err(Error::internal)?;
        Ok((result, bytes))
    });
    match stored.await? {
        Executed::Now(result) => Ok(result),
        Executed::Before(bytes) => serde_json::from_slice(&bytes).map_err(Error::internal),
    }
}

/// Carries out a form whose result is a secret, which is shown once and stored nowhere. Fails if the form was carried out before.
pub async fn perform_revealing<A: Proof, T: Send + 'static>(
    visit: &Visit<A>,
    fields: &Fields,
    change: Change,
    work: impl FnOnce(&mut Writer, &A) -> Result<T> + Send + 'static,
) -> Result<T> {
    perform_revealing_on(visit, fields, change, move |writer, access, _| work(writer, access)).await
}

/// Like [`perform_revealing`], for work that finds out itself which record it changes.
pub async fn perform_revealing_on<A: Proof, T: Send + 'static>(
    visit: &Visit<A>,
    fields: &Fields,
    change: Change,
    work: impl FnOnce(&mut Writer, &A, &mut Change) -> Result<T> + Send + 'static,
) -> Result<T> {
    let executed = execute(visit, fields, change, move |writer, access, change| {
        Ok((work(writer, access, change)?, b"null".to_vec()))
    });
    match executed.await? {
        Executed::Now(result) => Ok(result),
        Executed::Before(_) => {
            let message = "This form was sent twice, and carried out once. Its secret was shown the first time only. Revoke what \
                           was made, and make another one, if you do not have the secret.";
            Err(Error::Conflict(message.to_owned()))
        }
    }
}

/// The result of a form, or the stored result if it was carried out before.
enum Executed<T> {
    Now(T),
    Before(Vec<u8>),
}

async fn execute<A: Proof, T: Send + 'static>(
    visit: &Visit<A>,
    fields: &Fields,
    mut change: Change,
    work: impl FnOnce(&mut Writer, &A, &mut Change) -> Result<(T, Vec<u8>)> + Send + 'static,
) -> Result<Executed<T>> {
    let signed_in = visit.signed_in.as_ref().ok_or_else(|| Error::internal("a form without a session"))?;
    let (authenticated, access) = (signed_in.authenticated.clone(), visit.access.clone());
    let principal = authenticated.principal();
    let request = fields.key().map(|key| idempotency::Request {
        principal,
        key: key.to_owned(),
        route: format!("console {}", visit.path),
    });
    let _guard = request.as_ref().map(|request| visit.served.in_flight().try_insert(request)).transpose()?;
    let digest = fields.digest();
    let (operation, subject) = (change.operation, change.subject_kind);
    let write = move |writer: &mut Writer| {
        let mut now = None;
        let bytes = idempotency::execute(writer, principal, request.as_ref(), digest, |writer| {
            maintenance::check_change(&writer.check_context(), principal.kind())?;
            let (result, bytes) = work(writer, &access, &mut change)?;
            let Change { operation, subject_kind, subject_id, team, fields } = &change;
            let entry = AuditedChange { operation, subject_kind, subject_id, team: *team, fields };
            match authenticated.team() {
                Some(_) => {
                    audit::record_of_team(writer, &AuthenticatedTeam::authorize(authenticated)?, &entry)?;
                }
                None => audit::record(writer, &ActingOperator::authorize(authenticated)?, &entry)?,
            }
            now = Some(result);
            Ok(bytes)
        })?;
        Ok(now.map_or_else(|| Executed::Before(bytes), Executed::Now))
    };
    let written = visit.market().write(visit.requester.clone(), write).await;
    written.map_err(|error| match error {
        Error::InvalidTransition { from, .. } => {
            Error::Conflict(wording::impossible(operation, subject, from))
        }
        other => other,
    })
}
