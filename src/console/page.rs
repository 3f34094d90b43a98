//! Pages: what they declare, how a request becomes a visit, and how an answer becomes a response.

use std::{marker::PhantomData, sync::Arc};

use poem::{
    Endpoint, EndpointExt, Request, Response,
    endpoint::BoxEndpoint,
    http::{Method, header},
};

use super::{
    address::{Links, PREFIX, Query},
    answer::Answer,
    forms::{Fields, Inputs, MAX_FORM_BYTES},
    navigation::{NavigationItem, PageRow, PageTable},
    notices::Notice,
    paths, refusals, responses, same_origin,
    session::{self, SignedIn},
    visit::{Context, Proof, Visit},
};
use crate::{
    error::{Error, Result},
    string_enum::StringEnum,
    web::{
        accept, auth::required_access::Audience, body, limits::Budget, path_params, problem,
        request_id::RequestId, served_market::ServedMarket, shares::capacity::Slot,
    },
};

/// A page of the web app: data, and a pure function to markup. `A` is the access that it needs: the proof.
pub trait Page<A: Proof>: Sized + Send + Sync + 'static {
    /// Path below [`PREFIX`], with names of parameters in braces.
    const PATH: &'static str;

    /// Title in lists of pages. The title on the page itself can depend on its content.
    const TITLE: &'static str;

    /// Section and label of its link in the navigation; `None` without a link.
    const NAVIGATION: Option<NavigationItem> = None;

    /// The budget that a visit is charged to: that of the operation.
    const BUDGET: Budget = Budget::Other;

    /// Names of the operations of the operators' APIs that it shows or carries out. The first one is the operation of its form.
    const OPERATIONS: &'static [&'static str] = &[];

    /// Returns the content for a visit, or another answer.
    fn show(visit: &Visit<A>) -> impl Future<Output = Result<Answer>> + Send;
}

/// A page with a form, which is sent to the path of the page. If the form is refused, the page is shown again.
pub trait FormPage<A: Proof>: Page<A> {
    /// Carries out the form.
    fn submit(visit: &Visit<A>, fields: &Fields) -> impl Future<Output = Result<Answer>> + Send;
}

/// A form without a page of its own, such as a button on another page. `A` is the access that it needs: the proof.
pub trait Action<A: Proof>: Sized + Send + Sync + 'static {
    /// Path below [`PREFIX`], with names of parameters in braces.
    const PATH: &'static str;

    /// Title in lists of pages.
    const TITLE: &'static str;

    /// The budget that it is charged to.
    const BUDGET: Budget = Budget::Other;

    /// Names of the operations of the operators' APIs that it carries out.
    const OPERATIONS: &'static [&'static str] = &[];

    /// Carries out the form.
    fn submit(visit: &Visit<A>, fields: &Fields) -> impl Future<Output = Result<Answer>> + Send;
}

impl PageRow {
    /// Returns the row of a page without forms of its own.
    pub fn page<A: Proof, P: Page<A>>(_: P) -> PageRow {
        PageRow::of::<A, P>(false, || PageEndpoint::<A, P>(PhantomData).boxed())
    }

    /// Returns the row of a page with a form.
    pub fn form<A: Proof, P: FormPage<A>>(_: P) -> PageRow {
        PageRow::of::<A, P>(true, || FormEndpoint::<A, P>(PhantomData).boxed())
    }

    fn of<A: Proof, P: Page<A>>(has_form: bool, endpoint: fn() -> BoxEndpoint<'static, Response>) -> PageRow {
        PageRow {
            navigation: P::NAVIGATION,
            access: Some(A::REQUIRED),
            operations: P::OPERATIONS,
            ..PageRow::public(P::PATH, P::TITLE, has_form, endpoint)
        }
    }

    /// Returns the row of a form of another page.
    pub fn action<A: Proof, F: Action<A>>(_: F) -> PageRow {
        let endpoint = || ActionEndpoint::<A, F>(PhantomData).boxed();
        let row = PageRow::receive_only(F::PATH, F::TITLE, A::REQUIRED, true, endpoint);
        PageRow { operations: F::OPERATIONS, ..row }
    }
}

struct PageEndpoint<A, P>(PhantomData<(A, P)>);

impl<A: Proof, P: Page<A>> Endpoint for PageEndpoint<A, P> {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        if is_read(&request) {
            return Ok(show::<A, P>(request).await);
        }
        Ok(refuse_method(&request, &["GET", "HEAD"]))
    }
}

struct FormEndpoint<A, P>(PhantomData<(A, P)>);

impl<A: Proof, P: FormPage<A>> Endpoint for FormEndpoint<A, P> {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        if is_read(&request) {
            return Ok(show::<A, P>(request).await);
        }
        if request.method() != Method::POST {
            return Ok(refuse_method(&request, &["GET", "HEAD", "POST"]));
        }
        let submitted = Submitted::receive::<A>(request, P::BUDGET).await;
        let (mut visit, fields, request) = match submitted {
            Ok(submitted) => submitted,
            Err(response) => return Ok(*response),
        };
        let error = match P::submit(&visit, &fields).await {
            Ok(answer) => return Ok(respond(&visit.context, answer, P::NAVIGATION).await),
            // The session has ended since the form was received.
            Err(Error::Unauthorized(_)) => return Ok(to_sign_in(&visit.context.served, &request)),
            Err(error) => error,
        };
        let status = refusals::status(&error);
        if !refusals::is_about_form(&error) {
            return Ok(refusals::response(&visit.context, &error).await);
        }
        let context = context_with_inputs(&request, &visit.context, Inputs::refused(fields, &error));
        visit.context = Arc::new(context);
        let answer = P::show(&visit).await;
        Ok(match answer {
            Ok(answer) => {
                let mut response = respond(&visit.context, answer, P::NAVIGATION).await;
                response.set_status(status);
                refusals::with_header(response, &error)
            }
            Err(error) => refusals::response(&visit.context, &error).await,
        })
    }
}

struct ActionEndpoint<A, F>(PhantomData<(A, F)>);

impl<A: Proof, F: Action<A>> Endpoint for ActionEndpoint<A, F> {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        if request.method() != Method::POST {
            return Ok(refuse_method(&request, &["POST"]));
        }
        let (visit, fields, request) = match Submitted::receive::<A>(request, F::BUDGET).await {
            Ok(submitted) => submitted,
            Err(response) => return Ok(*response),
        };
        Ok(match F::submit(&visit, &fields).await {
            Ok(answer) => respond(&visit.context, answer, None).await,
            Err(Error::Unauthorized(_)) => to_sign_in(&visit.context.served, &request),
            Err(error) => refusals::response(&visit.context, &error).await,
        })
    }
}

/// The type of the forms that pages have.
const FORM_TYPE: &str = "application/x-www-form-urlencoded";

/// The receipt of a form.
struct Submitted;

impl Submitted {
    /// Receives a form: who sends it is checked first, then where it comes from, then its size.
    async fn receive<A: Proof>(
        mut request: Request,
        budget: Budget,
    ) -> std::result::Result<(Visit<A>, Fields, Request), Box<Response>> {
        let visit = admit_form::<A>(&request, Some(budget)).await?;
        let fields = fields_of(&mut request, &visit.context).await;
        match fields.and_then(|fields| visit.check_opened_by(&fields).map(|()| fields)) {
            Ok(fields) => Ok((visit, fields, request)),
            Err(error) => Err(Box::new(refusals::response(&visit.context, &error).await)),
        }
    }
}

/// Like [`admit`], for requests that can change something: they must not come from a page of another site.
pub async fn admit_form<A: Proof>(
    request: &Request,
    budget: Option<Budget>,
) -> std::result::Result<Visit<A>, Box<Response>> {
    if let Err(error) = same_origin::check(request) {
        return Err(Box::new(refuse(request, &error).await));
    }
    let visit = admit::<A>(request, budget).await?;
    match Slot::move_to_changes(request).await {
        Ok(()) => Ok(visit),
        Err(error) => Err(Box::new(refusals::response(&visit.context, &error).await)),
    }
}

/// Reads the fields of a form.
pub async fn fields_of(request: &mut Request, context: &Context) -> Result<Fields> {
    let body = request.take_body();
    let settings = &context.market().settings().server;
    let content_type =
        request.content_type().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    let is_form = content_type.eq_ignore_ascii_case(FORM_TYPE);
    let bytes = body::receive(request, body, settings, MAX_FORM_BYTES).await?;
    if !bytes.is_empty() && !is_form {
        let message =
            "This is not a form of a page. Open the page of this market, and send the form from there.";
        return Err(Error::Malformed(message.to_owned()));
    }
    Fields::parse(&bytes)
}

async fn show<A: Proof, P: Page<A>>(request: Request) -> Response {
    let visit = match admit::<A>(&request, Some(P::BUDGET)).await {
        Ok(visit) => visit,
        Err(response) => return *response,
    };
    match P::show(&visit).await {
        Ok(answer) => respond(&visit.context, answer, P::NAVIGATION).await,
        Err(error) => refusals::response(&visit.context, &error).await,
    }
}

/// Returns the visit of a page, or the response to somebody without the required access.
async fn admit<A: Proof>(
    request: &Request,
    budget: Option<Budget>,
) -> std::result::Result<Visit<A>, Box<Response>> {
    let served = match ServedMarket::shared(request) {
        Ok(served) => served,
        Err(error) => return Err(Box::new(problem::error_response(&error, ""))),
    };
    let signed_in = match session::identify(&served, request, budget).await {
        Ok(Some(signed_in)) => signed_in,
        Ok(None) => return Err(Box::new(to_sign_in(&served, request))),
        Err(error) => return Err(Box::new(refuse(request, &error).await)),
    };
    if !has_operators(&served) && A::REQUIRED.audience() == Audience::Operators {
        return Err(Box::new(refuse(request, &Error::not_found("page")).await));
    }
    let authenticated = signed_in.authenticated.clone();
    let context = Arc::new(context_of(&served, request, Some(signed_in)));
    match A::admit(&served, authenticated, request).await {
        Ok(access) => Ok(Visit { access, context }),
        Err(error) => Err(Box::new(refusals::response(&context, &error).await)),
    }
}

/// Whether the market has pages for operators.
fn has_operators(served: &ServedMarket) -> bool {
    served.market().settings().operator.enabled
}

/// Returns the context of a request.
pub fn context_of(served: &Arc<ServedMarket>, request: &Request, signed_in: Option<SignedIn>) -> Context {
    let requester = match &signed_in {
        Some(signed_in) => signed_in.authenticated.requester(),
        None => session::client(served, request),
    };
    let path = request.uri().path();
    let pages = request.data::<PageTable>().cloned().unwrap_or_default();
    let pages = if has_operators(served) { pages } else { pages.without_operators() };
    Context {
        links: Links::of_request(served, request),
        base_url: served.link_base().for_request(request),
        path: path.strip_prefix(PREFIX).unwrap_or(path).to_owned(),
        parameters: path_params::values(request),
        query: Query::parse(request.uri().query().unwrap_or_default()),
        sends_form: request.method() == Method::POST,
        signed_in,
        requester,
        request_id: RequestId::from_request(request).as_str().to_owned(),
        inputs: Inputs::default(),
        pages,
        served: Arc::clone(served),
    }
}

/// Whether a request is for a whole page, as browsers send it when a person opens an address or sends a form.
pub fn asks_for_page(request: &Request) -> bool {
    let headers = request.headers();
    let accepts_page = accept::weight(headers, "text/html") > 0.0 && !accept::prefers_json(headers);
    accepts_page && !headers.contains_key("hx-request")
}

/// Returns the context of a form's page that is shown again.
pub fn context_with_inputs(request: &Request, context: &Context, inputs: Inputs) -> Context {
    let inputs = inputs.for_team(context.team().is_some());
    Context { inputs, ..context_of(&context.served, request, context.signed_in.clone()) }
}

/// Returns the redirect of an anonymous visitor to the sign-in page, which leads back afterwards. If a form was sent, the page
/// says that nothing was saved, and leads back to the page of the form.
fn to_sign_in(served: &ServedMarket, request: &Request) -> Response {
    let (next, notice) = if is_read(request) {
        (own_address(request), "")
    } else {
        (page_of_form(served, request), Notice::SessionEndedUnsaved.as_str())
    };
    // The notice about an earlier form is not shown again.
    let (path, page_query) = next.split_once('?').unwrap_or((next, ""));
    let next = Query::parse(page_query).without(Notice::FIELD, None).at(path);
    let next = if next.len() > 1 { next.as_str() } else { "" };
    let query = Query::default().with("next", next).with(Notice::FIELD, notice);
    let address = query.at(&Links::of_request(served, request).to(paths::SIGN_IN));
    if request.headers().contains_key("hx-request") {
        responses::leave(&address)
    } else {
        responses::redirect(&address)
    }
}

/// Returns the path and the query of a request below [`PREFIX`].
fn own_address(request: &Request) -> &str {
    let address = request.uri().path_and_query().map_or("", |path| path.as_str());
    address.strip_prefix(PREFIX).unwrap_or_default()
}

/// Returns the path and the query, below [`PREFIX`], of the page from which a form was sent: as the browser states it, or else
/// the path of the form if it is a page. Empty if neither is known.
fn page_of_form<'r>(served: &ServedMarket, request: &'r Request) -> &'r str {
    let console = format!("{}{PREFIX}", served.link_base().for_request(request));
    let referer = request.headers().get(header::REFERER).and_then(|value| value.to_str().ok());
    let referer = referer.and_then(|address| address.strip_prefix(&console));
    let is_page = |path: &&str| request.data::<PageTable>().is_some_and(|pages| pages.shows(path));
    referer.into_iter().chain([own_address(request)]).find(is_page).unwrap_or_default()
}

/// Returns the response to a request for a page. The visitor is unknown if the request fails early.
async fn refuse(request: &Request, error: &Error) -> Response {
    match ServedMarket::shared(request) {
        Ok(served) => refusals::response(&context_of(&served, request, None), error).await,
        Err(error) => problem::error_response(&error, ""),
    }
}

/// Returns the response to a method that a page does not have.
pub fn refuse_method(request: &Request, allowed: &[&str]) -> Response {
    let error = Error::MethodNotAllowed(allowed.iter().map(|method| (*method).to_owned()).collect());
    // Who sends it was not checked, so the page reads nothing.
    match ServedMarket::shared(request) {
        Ok(served) => refusals::bare_response(&context_of(&served, request, None), &error),
        Err(error) => problem::error_response(&error, ""),
    }
}

/// Whether a request only reads.
pub fn is_read(request: &Request) -> bool {
    [Method::GET, Method::HEAD].contains(request.method())
}

/// Returns the response with the answer of a page.
pub async fn respond(context: &Context, answer: Answer, current: Option<NavigationItem>) -> Response {
    match responses::respond(context, answer, current).await {
        Ok(response) => response,
        Err(error) => refusals::bare_response(context, &error),
    }
}
