//! Pages that say why something cannot be done, and what to do.

use maud::{Markup, html};
use poem::{
    Response,
    http::{HeaderName, HeaderValue, StatusCode, header},
};
use serde_json::Value;

use super::{
    answer::{Answer, Content},
    forms::OUTDATED,
    parts::text,
    paths, responses,
    visit::Context,
    wording,
};
use crate::{
    error::{Code, Error, ErrorChain},
    string_enum::StringEnum,
    web::problem,
};

/// Whether an error says why a form was refused, so that the form is shown again with it.
pub const fn is_about_form(error: &Error) -> bool {
    matches!(
        error,
        Error::Invalid(_)
            | Error::Conflict(_)
            | Error::InvalidState(..)
            | Error::InvalidTransition { .. }
            | Error::PreconditionFailed
            | Error::QuotaExceeded(_)
            | Error::Forbidden(_)
            | Error::Malformed(_)
            | Error::PayloadTooLarge { .. }
            | Error::StorageFull { .. }
            | Error::StorageUnavailable { .. }
            | Error::DatabaseLocked { .. }
            | Error::AtCapacity { .. }
            | Error::Maintenance { .. }
    )
}

/// Returns the status of the page for an error. If the record was changed after the form was opened, the status is that of a
/// conflict: browsers send no condition in a header.
pub fn status(error: &Error) -> StatusCode {
    match error {
        Error::PreconditionFailed => StatusCode::CONFLICT,
        other => problem::error_status(other),
    }
}

/// Returns the page for an error.
pub async fn response(context: &Context, error: &Error) -> Response {
    log(context, error);
    let content = content(context, error);
    if context.signed_in.is_none() {
        return with_header(responses::respond_plain(context, &content).await, error);
    }
    match responses::respond(context, Answer::from(content), None).await {
        Ok(response) => with_header(response, error),
        Err(error) => bare_response(context, &error),
    }
}

/// Returns the page for an error in a frame that reads nothing.
pub fn bare_response(context: &Context, error: &Error) -> Response {
    log(context, error);
    with_header(responses::respond_bare(context, &content(context, error)), error)
}

/// Returns the response of the layers around the pages, as a page if it is an error, which these layers write for programs.
/// `context` was made before the request had an ID, and `address` is what the browser shows.
pub async fn of_layer(mut context: Context, address: &str, mut response: Response) -> Response {
    let status = response.status();
    let is_error = status.is_client_error() || status.is_server_error();
    let is_readable = response.content_type() == Some("application/json")
        && !response.headers().contains_key(header::CONTENT_ENCODING);
    if !is_error || !is_readable {
        return response;
    }
    let bytes = response.take_body().into_bytes().await.unwrap_or_default();
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let error = &body["error"];
    let Some(message) = error["message"].as_str() else {
        response.set_body(bytes);
        return response;
    };
    error["request_id"].as_str().unwrap_or_default().clone_into(&mut context.request_id);
    let advice = match (status, error["code"].as_str().and_then(Code::parse)) {
        (StatusCode::INTERNAL_SERVER_ERROR, _) => fault(),
        (_, Some(Code::WorldNotFound)) => Advice {
            title: "This world is not here",
            reason: html! { "A world is a copy of a market for tests. The one at this address has ended, or the address is wrong. \
            Ask the person who gave you the address for a new one." },
            links: start(),
        },
        (StatusCode::NOT_FOUND, _) => no_page(&context),
        _ => Advice {
            title: "This was refused",
            reason: html! { (reason(&context, message)) },
            links: start(),
        },
    };
    // These layers refuse requests to read nothing, so the page reads nothing either.
    let page = responses::respond_bare(&context, &content_with(&context, address, &advice, status));
    let headers = response.headers_mut();
    headers.remove(header::CONTENT_LENGTH);
    headers.remove(header::CACHE_CONTROL);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    response.set_body(page.into_body());
    responses::guarded(response)
}

/// Adds when to try again, or which methods there are.
pub fn with_header(mut response: Response, error: &Error) -> Response {
    let is_of_pages = |name: &HeaderName| [header::RETRY_AFTER, header::ALLOW].contains(name);
    if let Some((name, value)) = problem::error_header(error).filter(|(name, _)| is_of_pages(name)) {
        response.headers_mut().insert(name, value);
    }
    response
}

fn log(context: &Context, error: &Error) {
    if let Error::Internal(source) = error {
        let cause = ErrorChain(source.as_ref());
        tracing::error!(request_id = context.request_id, %cause, "a page failed with an internal error");
    }
}

fn content(context: &Context, error: &Error) -> Content {
    let mut advice = advice(context, error);
    if context.sends_form && is_about_page(error) {
        advice.reason = html! { (advice.reason) " Nothing was changed." };
    }
    content_with(context, &context.links.to(&context.path), &advice, status(error))
}

/// Whether the page for an error says why a page cannot be opened, and nothing about a form that was sent to it.
const fn is_about_page(error: &Error) -> bool {
    matches!(
        error,
        Error::NotFound(_)
            | Error::UnknownPath(_)
            | Error::RoleRequired(_)
            | Error::NdaRequired
            | Error::BrowseLocked { .. }
    )
}

fn content_with(context: &Context, address: &str, advice: &Advice, status: StatusCode) -> Content {
    let body = html! {
        div.empty {
            div.prose { p { (advice.reason) } }
            div.row { @for (index, (label, path)) in advice.links.iter().enumerate() {
                a.button.primary[index == 0] href=(context.links.to(path)) { (label) }
            } }
            dl.facts {
                dt { "Address" } dd.mono.long { (address) }
                dt { "Request ID" } dd.mono.long { (context.request_id) }
                dt { "Time" } dd { (text::moment(context.now())) }
            }
            p.note { "Status " (status.as_u16()) @if !status.is_server_error() { ". If this looks wrong, send the request ID to the market." } }
        }
    };
    Content::new(advice.title, body).with_status(status)
}

/// What to do after an error.
struct Advice {
    title: &'static str,
    reason: Markup,
    /// Labels, and paths of pages.
    links: Vec<(&'static str, String)>,
}

fn advice(context: &Context, error: &Error) -> Advice {
    let say = |reason: &str| html! { (reason) };
    match error {
        Error::NotFound(what) | Error::UnknownPath(what) if what == "page" || what.is_empty() => {
            no_page(context)
        }
        Error::NotFound(sentences) if crate::error::is_sentence(sentences) => {
            Advice { title: "This is not here", reason: html! { (sentences) }, links: start() }
        }
        Error::NotFound(what) => Advice {
            title: "This is not here",
            reason: html! { "There is no " (what) " with this address" @if context.team().is_some() { " that your team may see" }
            ". It may have been taken down, or the address is wrong." },
            links: [("Search the catalog", paths::CATALOG.to_owned())]
                .into_iter()
                .filter(|(_, path)| context.has_page(path))
                .chain(start())
                .collect(),
        },
        Error::RoleRequired(role) => Advice {
            title: "This page is for other teams",
            reason: html! { "It needs the role " b { (role) } ", which your team does not have. Only the market can give a \
            team a role: ask it, if your team should have this one." },
            links: start(),
        },
        Error::NdaRequired => Advice {
            title: "Accept the NDA first",
            reason: say(
                "What the market shows is confidential, so your team has to accept the mutual non-disclosure agreement \
                             before it sees the catalog. Reading it takes some minutes; anybody with a console key of your team \
                             can accept it.",
            ),
            links: vec![("Read the NDA", paths::NDA.to_owned())],
        },
        Error::BrowseLocked { published, required } => Advice {
            title: "The catalog is still locked for your team",
            reason: html! {
                "Vendors see the whole catalog once they have published " (text::counted(*required, "listing", "listings"))
                ". Your team has published " (published) " of " (required) ". Until then, you see its first page."
            },
            links: vec![
                ("Publish your listings", paths::OWN_LISTINGS.to_owned()),
                ("Open the first page", paths::CATALOG.to_owned()),
            ],
        },
        Error::TeamKeyRequired => Advice {
            title: "This page is for teams",
            reason: say(
                "You have signed in as an operator, who runs the market. Sign out, and sign in with a key of a team.",
            ),
            links: start(),
        },
        Error::OperatorRequired => Advice {
            title: "This page is for operators",
            reason: say("It is for those who run the market, not for teams."),
            links: start(),
        },
        Error::Maintenance { text, .. } => {
            Advice { title: "Nothing can be changed now", reason: html! { (text) }, links: here(context) }
        }
        Error::Internal(_) => fault(),
        Error::MethodNotAllowed(_) => Advice {
            title: "This is not a page",
            reason: say(
                "This address only receives what a page of the market sends. Open that page, and use its button.",
            ),
            links: here(context),
        },
        Error::PreconditionFailed => {
            Advice { title: "This was changed meanwhile", reason: say(OUTDATED), links: here(context) }
        }
        other => Advice {
            title: "This was refused",
            reason: html! { (reason(context, &other.message())) },
            links: here(context),
        },
    }
}

/// Returns what to do after a fault of the market.
fn fault() -> Advice {
    let reason = "The market could not show this page because of a fault of its own. Nothing was changed. Try again later; if it \
                  stays, send the request ID to the market.";
    Advice { title: "Something went wrong", reason: html! { (reason) }, links: start() }
}

fn no_page(context: &Context) -> Advice {
    Advice {
        title: "There is no such page",
        reason: html! { "The address is wrong" @if context.team().is_some() { ", or the page is for another team" } "." },
        links: start(),
    }
}

fn start() -> Vec<(&'static str, String)> {
    vec![("Go to the start", String::new())]
}

/// Returns a message as the visitor reads it.
fn reason(context: &Context, message: &str) -> String {
    let text = wording::humanize(message);
    if context.team().is_some() { wording::for_own_team(&text) } else { text }
}

fn here(context: &Context) -> Vec<(&'static str, String)> {
    let is_known = context.signed_in.is_some();
    vec![("Go to the start", if is_known { String::new() } else { paths::SIGN_IN.to_owned() })]
}
