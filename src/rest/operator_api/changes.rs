//! Changes: each runs in one transaction with its entry in the audit, and responds with what was changed.

use super::resources::{Resource, Subject};
use crate::{
    domain::problems::Problems,
    error::Result,
    market::{CheckContext, Market, Writer},
    operations::{
        access::{ActingOperator, Platform},
        audit::{self, AuditedChange},
    },
    request_problems::ProblemsExt,
    rest::{
        idempotent::Idempotent,
        if_match::IfMatch,
        json::{Json, JsonResult, NoContent},
        problem::ApiError,
        request_body::Body,
        route::{Call, Route},
    },
    store::records::Record,
};

/// The ID of the record of a resource.
type IdOf<T> = <<T as Resource>::Record as Record>::Id;

/// Records a change of the subject of a response.
fn audit<T: Subject>(
    writer: &Writer,
    operator: &ActingOperator,
    operation: &'static str,
    subject: &T,
) -> Result<()> {
    let id = subject.id();
    let change = AuditedChange { operation, subject_kind: T::KIND, subject_id: &id, team: subject.team() };
    audit::record(writer, operator, &change)
}

/// Performs an operation without a body, once per idempotency key. `work` returns the ID of the record to respond with.
pub async fn post<R, T, const STATUS: u16>(
    call: Call<R>,
    idempotent: Idempotent,
    work: impl FnOnce(&mut Writer, Platform) -> Result<IdOf<T>> + Send + 'static,
) -> JsonResult<T, STATUS>
where
    R: Route<Access = ActingOperator>,
    T: Resource,
{
    post_with(call, idempotent, move |writer, platform| {
        let id = work(writer, platform)?;
        T::find(&writer.check_context(), platform, &id)
    })
    .await
}

/// Like [`post`], for a response that cannot be requested again. `work` returns the response.
pub async fn post_with<R, T, const STATUS: u16>(
    call: Call<R>,
    idempotent: Idempotent,
    work: impl FnOnce(&mut Writer, Platform) -> Result<T> + Send + 'static,
) -> JsonResult<T, STATUS>
where
    R: Route<Access = ActingOperator>,
    T: Subject,
{
    let work = move |writer: &mut Writer, operator: &ActingOperator| {
        let changed = work(writer, operator.platform())?;
        audit(writer, operator, R::ATTRIBUTES.operation, &changed)?;
        Ok(changed)
    };
    idempotent.write_without_body(&call.served, call.access, work).await
}

/// Like [`post`], with a body.
pub async fn post_body<R, T, B, const STATUS: u16>(
    call: Call<R>,
    idempotent: Idempotent,
    body: Body<B>,
    work: impl FnOnce(&mut Writer, Platform, B) -> Result<IdOf<T>> + Send + 'static,
) -> JsonResult<T, STATUS>
where
    R: Route<Access = ActingOperator>,
    T: Resource,
    B: Send + 'static,
{
    post_body_with(call, idempotent, body, move |writer, platform, body| {
        let id = work(writer, platform, body)?;
        T::find(&writer.check_context(), platform, &id)
    })
    .await
}

/// Like [`post_body`], for a response that cannot be requested again. `work` returns the response.
pub async fn post_body_with<R, T, B, const STATUS: u16>(
    call: Call<R>,
    idempotent: Idempotent,
    body: Body<B>,
    work: impl FnOnce(&mut Writer, Platform, B) -> Result<T> + Send + 'static,
) -> JsonResult<T, STATUS>
where
    R: Route<Access = ActingOperator>,
    T: Subject,
    B: Send + 'static,
{
    let Body { value, source } = body;
    let work = move |writer: &mut Writer, operator: &ActingOperator, body: B| {
        let response = work(writer, operator.platform(), body)?;
        audit(writer, operator, R::ATTRIBUTES.operation, &response)?;
        Ok(response)
    };
    let check = move |_: &CheckContext, _: &ActingOperator, problems: Problems| {
        problems.into_result().map(|()| value)
    };
    idempotent.write(&call.served, call.access, source, check, work).await
}

/// Like [`post_body_with`], with a first step before the transaction, and a last one after it, whether it was committed
/// or not.
pub async fn post_prepared<R, T, B, P, const STATUS: u16>(
    call: Call<R>,
    idempotent: Idempotent,
    body: Body<B>,
    prepare: impl FnOnce(&Market, Platform, B) -> Result<P> + Send + 'static,
    work: impl FnOnce(&mut Writer, Platform, &P) -> Result<T> + Send + 'static,
    finish: impl FnOnce(&Market, P) + Send + 'static,
) -> JsonResult<T, STATUS>
where
    R: Route<Access = ActingOperator>,
    T: Subject,
    B: Send + 'static,
    P: 'static,
{
    let Body { value, source } = body;
    let prepare = move |market: &Market, operator: &ActingOperator, problems: Problems| {
        problems.into_result()?;
        prepare(market, operator.platform(), value)
    };
    let work = move |writer: &mut Writer, operator: &ActingOperator, prepared: &P| {
        let response = work(writer, operator.platform(), prepared)?;
        audit(writer, operator, R::ATTRIBUTES.operation, &response)?;
        Ok(response)
    };
    idempotent.prepare_and_write(&call.served, call.access, source, prepare, work, finish).await
}

/// Changes the record with this ID, if it is still as the caller read it.
pub async fn patch<R, T, B>(
    call: Call<R>,
    if_match: IfMatch,
    id: IdOf<T>,
    body: Body<B>,
    work: impl FnOnce(&mut Writer, Platform, &IdOf<T>, B) -> Result<()> + Send + 'static,
) -> JsonResult<T>
where
    R: Route<Access = ActingOperator>,
    T: Resource,
    B: Send + 'static,
{
    let Body { value, source } = body;
    let (operator, requester) = (call.access.clone(), call.access.requester());
    let change = move |writer: &mut Writer, body: B| {
        let platform = operator.platform();
        let before = T::find(&writer.check_context(), platform, &id)?;
        let before = Json::<T>::render(&before)?;
        if_match.check(&before)?;
        work(writer, platform, &id, body)?;
        let changed = T::find(&writer.check_context(), platform, &id)?;
        if Json::<T>::render(&changed)? != before {
            audit(writer, &operator, R::ATTRIBUTES.operation, &changed)?;
        }
        Ok(changed)
    };
    let check = move |_: &CheckContext, problems: Problems| problems.into_result().map(|()| value);
    Json::write_body(&call.served, requester, source, check, change).await
}

/// Deletes a record. `work` returns the record as it was.
pub async fn delete<R, T>(
    call: Call<R>,
    work: impl FnOnce(&mut Writer, Platform) -> Result<T> + Send + 'static,
) -> std::result::Result<NoContent, ApiError>
where
    R: Route<Access = ActingOperator>,
    T: Subject,
{
    let (operator, requester) = (call.access.clone(), call.access.requester());
    let delete = move |writer: &mut Writer| {
        let deleted = work(writer, operator.platform())?;
        audit(writer, &operator, R::ATTRIBUTES.operation, &deleted)
    };
    call.served.market().write_freeing(requester, delete).await?;
    Ok(NoContent)
}
