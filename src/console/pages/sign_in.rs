//! The page on which people sign in with a key.

use marketplace_text::without_invisible_ends;
use poem::{
    EndpointExt, Request, Response,
    endpoint::{BoxEndpoint, make},
    http::{Method, StatusCode, header},
};
use std::sync::Arc;

use crate::{
    console::{
        address::next_page, navigation::PageRow, page, prelude::*, refusals, responses, same_origin, session,
    },
    fixtures::{DEMO_KEYS, DEMO_OPERATOR_KEY},
    operations::access::sessions,
    web::{served_market::ServedMarket, shares::capacity::Slot},
};

/// The row of the page.
pub const ROW: PageRow = PageRow::public(paths::SIGN_IN, "Sign in", true, endpoint);

/// Whether the page offers the teams of the demo market, in the data of a request.
#[derive(Clone, Copy, Debug)]
pub struct DemoKeysShown(pub bool);

fn endpoint() -> BoxEndpoint<'static, Response> {
    make(|request: Request| async move { respond(request).await }).boxed()
}

async fn respond(mut request: Request) -> poem::Result<Response> {
    let served = ServedMarket::shared(&request).map_err(crate::web::problem::ApiError)?;
    let mut context = page::context_of(&served, &request, None);
    let has_demo = request.data::<DemoKeysShown>().is_some_and(|shown| shown.0);
    if request.method() != Method::POST && !page::is_read(&request) {
        return Ok(page::refuse_method(&request, &["GET", "HEAD", "POST"]));
    }
    if page::is_read(&request) {
        return Ok(responses::respond_plain(&context, &content(&context, has_demo)).await);
    }
    if let Err(error) = same_origin::check(&request) {
        return Ok(refusals::response(&context, &error).await);
    }
    if let Err(error) = Slot::move_to_changes(&request).await {
        return Ok(refusals::response(&context, &error).await);
    }
    let fields = match page::fields_of(&mut request, &context).await {
        Ok(fields) => fields,
        Err(error) => return Ok(refusals::response(&context, &error).await),
    };
    match start(&served, &request, &fields).await {
        Ok(token) => {
            let next = fields.get("next").and_then(next_page).unwrap_or_default();
            let mut response = responses::redirect(&context.links.to(next));
            let cookie = session::cookie(&served, &request, Some(&token));
            response.headers_mut().append(header::SET_COOKIE, cookie);
            Ok(response)
        }
        Err(error) => {
            let (status, error) = as_problem(error);
            context.inputs = Inputs::refused(fields, &error);
            Ok(responses::respond_plain(&context, &content(&context, has_demo).with_status(status)).await)
        }
    }
}

/// Starts a session, and returns its token. Ends a session that the browser already has, so nobody can choose the token of
/// somebody else.
async fn start(served: &Arc<ServedMarket>, request: &Request, fields: &Fields) -> Result<String> {
    // The field shows no characters, so nobody could find one that cannot be seen.
    let key = without_invisible_ends(fields.require("key", "Enter a key.")?).to_owned();
    let network = session::client(served, request);
    let attempts = served.sign_ins();
    attempts.begin(&network, &key)?;
    let (requester, earlier) = (network.clone(), session::token(served, request).map(str::to_owned));
    let entered = key.clone();
    let started = served.market().spawn_blocking(move |market| {
        let started = sessions::start(market, requester, &entered)?;
        if let Some(earlier) = earlier {
            sessions::end(market, &earlier)?;
        }
        Ok(started)
    });
    match started.await {
        Err(error @ Error::Unauthorized(_)) => Err(error),
        started => {
            attempts.forget(&network, &key);
            started.map(|(token, _)| token.as_str().to_owned())
        }
    }
}

/// Returns the status of a refused key, and the problem with the field.
fn as_problem(error: Error) -> (StatusCode, Error) {
    let status = crate::web::problem::error_status(&error);
    let message = match &error {
        Error::Unauthorized(_) => {
            "This key is not valid here. Check that you copied all of it. A key that was revoked or has expired opens nothing."
        }
        Error::ConsoleScopeRequired => {
            "This key is for programs, and does not open the web app. Use a key with the scope “console”: your team's first one \
             comes from the market, and whoever has it can create others under Settings, Keys."
        }
        Error::Forbidden(_) => {
            "This key is for a program that reports payments, and does not open the web app. Use a key of an operator with the scope \
             “all” or “read”."
        }
        _ => return (status, error),
    };
    (StatusCode::UNPROCESSABLE_ENTITY, invalid("key", message))
}

fn content(context: &Context, has_demo: bool) -> Content {
    let next = context.query.get("next").filter(|next| next_page(next).is_some());
    let next = context.inputs.value("next", next.unwrap_or_default());
    // A script then keeps what was typed until the page of the form is shown again.
    let is_unsaved = context.query.get(Notice::FIELD) == Some(Notice::SessionEndedUnsaved.as_str());
    let contact = &context.market().settings().console.contact;
    let form = |content: &Markup| {
        html! {
            form.stack method="post" action=(context.links.to(paths::SIGN_IN)) data-sign-in data-unsaved[is_unsaved] {
                @if !next.is_empty() { input type="hidden" name="next" value=(next); }
                (content)
            }
        }
    };
    let hint = html! { "It starts with " code { "mkt_" } " and has the scope “console”." };
    let body = html! {
        (form(&html! {
            (Field::secret("key", "Console key").required().hint(hint).show(&context.inputs))
            button.primary.big.full { "Sign in" }
            details {
                summary { "I have no key, or lost it" }
                p.note {
                    "Your team's first key comes from the market. If it is lost, the market replaces it"
                    @if contact.is_empty() { ": ask those who run the market." }
                    @else { ": " a href=(contact) { "contact the market" } "." }
                    " A replaced key goes on working for a while, so ask for the lost one to be revoked, too."
                }
            }
        }))
        @if has_demo { section.section aria-labelledby="demo" {
            h2 #demo { "Look around as a demo team" }
            ul.stack.tight { @for (key, description) in DEMO_KEYS.iter().chain([&DEMO_OPERATOR_KEY]) { li {
                (form(&html! {
                    input type="hidden" name="key" value=(key);
                    button.full { (text::words(description)) }
                }))
            } } }
        } }
    };
    Content::new("Sign in", body).with_note(
        html! { "Codebases, data, and tasks for training and evaluation, with evidence of their quality." },
    )
}
