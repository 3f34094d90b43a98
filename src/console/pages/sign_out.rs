//! The form that ends the session.

use poem::{
    EndpointExt, Request, Response,
    endpoint::{BoxEndpoint, make},
    http::{Method, header},
};

use crate::{
    console::{navigation::PageRow, page, prelude::*, refusals, responses, same_origin, session},
    operations::access::sessions,
    web::{problem::ApiError, served_market::ServedMarket, shares::capacity::Slot},
};

/// The row of the form. It needs no session, so it also ends one whose key has ended.
pub const ROW: PageRow = PageRow::public("/sign-out", "Sign out", true, endpoint).without_page();

fn endpoint() -> BoxEndpoint<'static, Response> {
    make(respond).boxed()
}

async fn respond(request: Request) -> poem::Result<Response> {
    let served = ServedMarket::shared(&request).map_err(ApiError)?;
    let context = page::context_of(&served, &request, None);
    if request.method() != Method::POST {
        return Ok(page::refuse_method(&request, &["POST"]));
    }
    if let Err(error) = same_origin::check(&request) {
        return Ok(refusals::response(&context, &error).await);
    }
    if let Err(error) = Slot::move_to_changes(&request).await {
        return Ok(refusals::response(&context, &error).await);
    }
    if let Some(token) = session::token(&served, &request).map(str::to_owned) {
        let end = served.market().spawn_blocking(move |market| sessions::end(market, &token));
        if let Err(error) = end.await {
            return Ok(refusals::response(&context, &error).await);
        }
    }
    let query = Query::default().with(Notice::FIELD, Notice::SignedOut.as_str());
    let mut response = responses::redirect(&query.at(&context.links.to(paths::SIGN_IN)));
    response.headers_mut().append(header::SET_COOKIE, session::cookie(&served, &request, None));
    Ok(response)
}
