//! Requests of pages whose bodies are files or parts of files instead of text forms.

use std::{marker::PhantomData, sync::Arc};

use poem::{Endpoint, EndpointExt, Request, Response, http::Method};

use super::{
    answer::Answer,
    forms::{Fields, Inputs},
    navigation::PageRow,
    page::{self, Page},
    parts::badges,
    refusals,
    visit::{Context, Proof, Visit},
};
use crate::{
    error::{Error, Result},
    operations::maintenance,
    web::limits::Budget,
};

/// A request of a page whose body is not a text form, such as the bytes of a file. `A` is the access that it needs: the proof.
pub trait Receiver<A: Proof>: Sized + Send + Sync + 'static {
    /// Path below [`PREFIX`](super::address::PREFIX), with names of parameters in braces.
    const PATH: &'static str;

    /// Title in lists of pages.
    const TITLE: &'static str;

    /// The method: POST for forms with a file, PUT for bytes.
    const METHOD: Method = Method::POST;

    /// The budget that it is charged to; `None` if it is one of many related requests, which are limited by their size and by
    /// the fair shares of resources.
    const BUDGET: Option<Budget> = Some(Budget::Uploads);

    /// Receives the body, and does what it is for. Who sends it and where it comes from was checked.
    fn receive(visit: &Visit<A>, request: &mut Request) -> impl Future<Output = Result<Answer>> + Send;
}

impl PageRow {
    /// Returns the row of what receives bytes.
    pub fn receiver<A: Proof, R: Receiver<A>>(_: R) -> PageRow {
        PageRow::receive_only(R::PATH, R::TITLE, A::REQUIRED, R::METHOD == Method::POST, || {
            ReceiverEndpoint::<A, R>(PhantomData).boxed()
        })
    }
}

struct ReceiverEndpoint<A, R>(PhantomData<(A, R)>);

impl<A: Proof, R: Receiver<A>> Endpoint for ReceiverEndpoint<A, R> {
    type Output = Response;

    async fn call(&self, mut request: Request) -> poem::Result<Response> {
        if request.method() != R::METHOD {
            return Ok(page::refuse_method(&request, &[R::METHOD.as_str()]));
        }
        let visit = match page::admit_form::<A>(&request, R::BUDGET).await {
            Ok(visit) => visit,
            Err(response) => return Ok(*response),
        };
        if let Some(signed_in) = &visit.signed_in
            && let Err(error) = maintenance::admit_change(visit.market(), &signed_in.authenticated).await
        {
            return Ok(refusals::response(&visit.context, &error).await);
        }
        Ok(match R::receive(&visit, &mut request).await {
            Ok(answer) => page::respond(&visit.context, answer, None).await,
            Err(error) => refusals::response(&visit.context, &error).await,
        })
    }
}

/// Returns the page at a path with what was typed into its form, which [`Receiver::receive`] has refused.
pub async fn show_refused<P: Page<A>, A: Proof>(
    visit: &Visit<A>,
    request: &Request,
    path: &str,
    (typed, error): (Fields, &Error),
) -> Result<Answer> {
    let inputs = Inputs::refused(typed, error);
    let context =
        Context { path: path.to_owned(), ..page::context_with_inputs(request, &visit.context, inputs) };
    let visit = Visit { access: visit.access.clone(), context: Arc::new(context) };
    let mut answer = P::show(&visit).await?;
    if let Answer::Content(content) = &mut answer {
        content.status = refusals::status(error);
        content.refusal = Some(badges::refusal(&visit.inputs));
    }
    Ok(answer)
}
