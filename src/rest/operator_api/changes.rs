//! Changes: each runs in one transaction with its entry in the audit, and responds with the changed record.

use poem::{FromRequest, Request, RequestBody};
use poem_openapi::{ApiExtractor, ApiExtractorType, ExtractParamOptions, registry::Registry};

use super::resources::{Resource, Subject};
use crate::{
    domain::{listings::Actor, problems::Problems},
    error::{Error, Result},
    market::{CheckContext, Market, Writer},
    operations::{
        access::{ActingOperator, ActingProof, Platform},
        audit::{self, AuditedChange, FieldChange},
        records,
    },
    request_problems::ProblemsExt,
    rest::{
        arguments::{if_match::IfMatch, request_body::Body},
        idempotent::Idempotent,
        json::{Json, JsonResult, NoContent},
        route::{Call, Path, ProvesAccess, RequiredAccess},
    },
    store::records::Record,
    web::{auth::Policy, problem::ApiError},
};

/// The ID of the record of a resource.
type IdOf<T> = <<T as Resource>::Record as Record>::Id;

/// Records a change of the subject of a response.
pub(super) fn audit<T: Subject>(
    writer: &Writer,
    operator: &impl ActingProof,
    operation: &'static str,
    subject: &T,
) -> Result<()> {
    audit_fields(writer, operator, operation, subject, &[])
}

/// Like [`audit`], with the fields of the subject that were changed.
fn audit_fields<T: Subject>(
    writer: &Writer,
    operator: &impl ActingProof,
    operation: &'static str,
    subject: &T,
    fields: &[FieldChange],
) -> Result<()> {
    let (id, team) = (subject.id(), subject.team());
    let change = AuditedChange { operation, subject_kind: T::KIND, subject_id: &id, team, fields };
    audit::record(writer, operator, &change)
}

/// The first argument of a POST operation: the call, and the idempotency key of the request if it has one.
pub struct Change<A = ActingOperator> {
    /// The call.
    pub call: Call<A>,
    /// The idempotency key.
    pub idempotent: Idempotent,
}

impl<A: Policy> ProvesAccess for Change<A> {
    const REQUIRED: RequiredAccess = Call::<A>::REQUIRED;
}

impl<'a, A: Policy> ApiExtractor<'a> for Change<A> {
    const TYPES: &'static [ApiExtractorType] = Call::<A>::TYPES;

    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        Call::<A>::register(registry);
    }

    fn security_schemes() -> Vec<&'static str> {
        Call::<A>::security_schemes()
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        options: ExtractParamOptions<()>,
    ) -> poem::Result<Change<A>> {
        let call = Call::from_request(request, body, options).await?;
        Ok(Change { call, idempotent: <Idempotent as FromRequest>::from_request(request, body).await? })
    }
}

/// Performs an operation that takes nothing but the ID of a record, once per idempotency key, and responds with the record. The
/// actor is that of the effect that the route states.
pub async fn transition<T: Resource, O>(
    change: Change,
    id: Path<IdOf<T>>,
    operation: impl FnOnce(&mut Writer, Platform, Actor, IdOf<T>) -> Result<O> + Send + 'static,
) -> JsonResult<T> {
    let (id, effect) = (id.0, change.call.route.effect);
    post(change, move |writer, platform| {
        let effect = effect.ok_or_else(|| Error::internal("a transition states its effect"))?;
        operation(writer, platform, effect.actor, id.clone()).map(|_| id)
    })
    .await
}

/// Performs an operation without a body, once per idempotency key. `work` returns the ID of the record to respond with.
pub async fn post<T: Resource, const STATUS: u16>(
    change: Change,
    work: impl FnOnce(&mut Writer, Platform) -> Result<IdOf<T>> + Send + 'static,
) -> JsonResult<T, STATUS> {
    post_with(change, move |writer, platform| {
        let id = work(writer, platform)?;
        T::find(&writer.check_context(), platform, &id)
    })
    .await
}

/// Like [`post`], for a response that cannot be requested again. `work` returns the response.
pub async fn post_with<T: Subject, const STATUS: u16>(
    change: Change,
    work: impl FnOnce(&mut Writer, Platform) -> Result<T> + Send + 'static,
) -> JsonResult<T, STATUS> {
    let Change { call, idempotent } = change;
    let work = move |writer: &mut Writer, operator: &ActingOperator| {
        let changed = work(writer, operator.platform())?;
        audit(writer, operator, call.route.operation, &changed)?;
        Ok(changed)
    };
    idempotent.write_without_body(&call.served, call.access, work).await
}

/// Like [`post`], with a body.
pub async fn post_body<T: Resource, B: Send + 'static, const STATUS: u16>(
    change: Change,
    body: Body<B>,
    work: impl FnOnce(&mut Writer, Platform, B) -> Result<IdOf<T>> + Send + 'static,
) -> JsonResult<T, STATUS> {
    post_body_with(change, body, move |writer, platform, body| {
        let id = work(writer, platform, body)?;
        T::find(&writer.check_context(), platform, &id)
    })
    .await
}

/// Like [`post_body`], for a response that cannot be requested again. `work` returns the response.
pub async fn post_body_with<T: Subject, B: Send + 'static, const STATUS: u16>(
    change: Change,
    body: Body<B>,
    work: impl FnOnce(&mut Writer, Platform, B) -> Result<T> + Send + 'static,
) -> JsonResult<T, STATUS> {
    let (Change { call, idempotent }, Body { value, source }) = (change, body);
    let work = move |writer: &mut Writer, operator: &ActingOperator, body: B| {
        let response = work(writer, operator.platform(), body)?;
        audit(writer, operator, call.route.operation, &response)?;
        Ok(response)
    };
    let check = move |_: &CheckContext, _: &ActingOperator, problems: Problems| {
        problems.into_result().map(|()| value)
    };
    idempotent.write(&call.served, call.access, source, check, work).await
}

/// Like [`post_body_with`], with a first step before the transaction, and a last one after it, whether it was committed
/// or not.
pub async fn post_prepared<T: Subject, B: Send + 'static, P: 'static, const STATUS: u16>(
    change: Change,
    body: Body<B>,
    prepare: impl FnOnce(&Market, Platform, B) -> Result<P> + Send + 'static,
    work: impl FnOnce(&mut Writer, Platform, &P) -> Result<T> + Send + 'static,
    finish: impl FnOnce(&Market, P) + Send + 'static,
) -> JsonResult<T, STATUS> {
    let (Change { call, idempotent }, Body { value, source }) = (change, body);
    let prepare = move |market: &Market, operator: &ActingOperator, problems: Problems| {
        problems.into_result()?;
        prepare(market, operator.platform(), value)
    };
    let work = move |writer: &mut Writer, operator: &ActingOperator, prepared: &P| {
        let response = work(writer, operator.platform(), prepared)?;
        audit(writer, operator, call.route.operation, &response)?;
        Ok(response)
    };
    idempotent.prepare_and_write(&call.served, call.access, source, prepare, work, finish).await
}

/// Changes the record with this ID, if it is still as the caller read it.
pub async fn patch<T: Resource, B: Send + 'static>(
    call: Call<ActingOperator>,
    if_match: IfMatch,
    id: IdOf<T>,
    body: Body<B>,
    work: impl FnOnce(&mut Writer, Platform, &IdOf<T>, B) -> Result<()> + Send + 'static,
) -> JsonResult<T> {
    let Body { value, source } = body;
    let (operation, operator, requester) =
        (call.route.operation, call.access.clone(), call.access.requester());
    let change = move |writer: &mut Writer, body: B| {
        let platform = operator.platform();
        let before = T::find(&writer.check_context(), platform, &id)?;
        let before = Json::<T>::render(&before)?;
        if_match.check(&before)?;
        let find = |writer: &Writer| records::find_any(writer.rows, platform, T::Record::RECORDS, &id);
        let stored = find(writer)?;
        work(writer, platform, &id, body)?;
        let changed = T::find(&writer.check_context(), platform, &id)?;
        if Json::<T>::render(&changed)? != before {
            let fields = audit::differences(&stored, &find(writer)?);
            audit_fields(writer, &operator, operation, &changed, &fields)?;
        }
        Ok(changed)
    };
    let check = move |_: &CheckContext, problems: Problems| problems.into_result().map(|()| value);
    Json::write_body(&call.served, requester, source, check, change).await
}

/// Replaces a record of which there is only one. `work` returns the response.
pub async fn put<T: Subject, B: Send + 'static>(
    call: Call<ActingOperator>,
    body: Body<B>,
    work: impl FnOnce(&mut Writer, Platform, B) -> Result<T> + Send + 'static,
) -> JsonResult<T> {
    let Body { value, source } = body;
    let (operation, operator, requester) =
        (call.route.operation, call.access.clone(), call.access.requester());
    let change = move |writer: &mut Writer, body: B| {
        let response = work(writer, operator.platform(), body)?;
        audit(writer, &operator, operation, &response)?;
        Ok(response)
    };
    let check = move |_: &CheckContext, problems: Problems| problems.into_result().map(|()| value);
    Json::write_body(&call.served, requester, source, check, change).await
}

/// Deletes a record. `work` returns the record as it was.
pub async fn delete<T: Subject>(
    call: Call<ActingOperator>,
    work: impl FnOnce(&mut Writer, Platform) -> Result<T> + Send + 'static,
) -> std::result::Result<NoContent, ApiError> {
    let (operation, operator, requester) =
        (call.route.operation, call.access.clone(), call.access.requester());
    let delete = move |writer: &mut Writer| {
        let deleted = work(writer, operator.platform())?;
        audit(writer, &operator, operation, &deleted)
    };
    call.served.market().write_freeing(requester, delete).await?;
    Ok(NoContent)
}
