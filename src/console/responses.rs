//! Responses: answers of pages in their frame, with the headers that all of them have.

use maud::Markup;
use poem::{
    Response,
    http::{StatusCode, header},
};

use super::{
    address::PREFIX,
    answer::{Answer, Content},
    banners::Banners,
    frame::{self, FrameFacts},
    navigation::NavigationItem,
    visit::Context,
};
use crate::error::Result;

/// What browsers may do with a page: nothing but show it with our script and style, and send its forms to us.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// Returns the response with the answer of a page. Fails if the facts of the frame cannot be read.
pub async fn respond(context: &Context, answer: Answer, current: Option<NavigationItem>) -> Result<Response> {
    Ok(match answer {
        Answer::Content(content) => {
            let facts = FrameFacts::read(context).await?;
            let status = content.status;
            html(frame::page(context, &facts, &content, current), status)
        }
        Answer::Part(markup) => html(markup, StatusCode::OK),
        Answer::Redirect(path) => redirect(&context.links.to(&path)),
        Answer::File(response) => response,
    })
}

/// Returns the content of a page that everybody may see, in a frame without navigation.
pub async fn respond_plain(context: &Context, content: &Content) -> Response {
    // If the banners cannot be read, they are left out: the page itself may be the error that nothing can be read.
    let banners = Banners::read(context).await.unwrap_or_default();
    html(frame::plain_page(context, &banners, content), content.status)
}

/// Like [`respond_plain`], in a frame that reads nothing.
pub fn respond_bare(context: &Context, content: &Content) -> Response {
    html(frame::plain_page(context, &Banners::default(), content), content.status)
}

/// Returns a response that leads to another page.
pub fn redirect(address: &str) -> Response {
    let mut response = Response::builder().status(StatusCode::SEE_OTHER).finish();
    let location =
        header::HeaderValue::try_from(address).unwrap_or_else(|_| header::HeaderValue::from_static(PREFIX));
    response.headers_mut().insert(header::LOCATION, location);
    response
}

/// Returns a response that makes the script of a page leave it for another page, instead of showing that in a part of the page.
pub fn leave(address: &str) -> Response {
    Response::builder().status(StatusCode::NO_CONTENT).header("HX-Redirect", address).finish()
}

/// Returns a response with markup.
pub fn html(markup: Markup, status: StatusCode) -> Response {
    let builder = Response::builder().status(status).content_type("text/html; charset=utf-8");
    builder.header(header::VARY, "HX-Request").body(without_direction_controls(markup.into_string()))
}

/// Returns markup without the characters that reverse the text after them. Nobody needs them in a text of one direction, and with
/// them, the name of a file or a price can look like another one, also where it is isolated from the text around it.
fn without_direction_controls(markup: String) -> String {
    let is_control = |letter: char| matches!(letter, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    if markup.contains(is_control) { markup.replace(is_control, "") } else { markup }
}

/// Returns a response of the web app with the headers that all have: pages, files, redirects, and errors.
pub fn guarded(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        headers.insert(name, header::HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(header::HeaderValue::from_static("no-store"));
    response
}
