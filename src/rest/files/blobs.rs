//! The built-in blob store: accepts the parts of uploads at signed URLs. The route is not in the OpenAPI
//! documents, because clients use the URLs as issued.

use std::sync::Arc;

use poem::{
    Request, Response, Route,
    http::{Method, StatusCode, header},
};

use crate::{
    blobs::{self, PartReceiver, signatures},
    error::Result,
    market::Market,
    operations::{grant_uploads, maintenance},
    rest::{prelude::*, router},
    web::{
        limits::RequestLimits,
        part_uploads, request_id,
        served_market::ServedMarket,
        shares::{self, capacity::Slot},
    },
};

/// The route of an upload part.
const PART_ROUTE: &str = "/v2/blobs/uploads/:upload/:part";

/// Adds the route of upload parts.
pub fn add_routes(routes: Route) -> Route {
    routes.at(PART_ROUTE, router::answered_by(Method::PUT, put_part))
}

/// The query of a signed URL: part size in bytes, time of expiry in Unix seconds, and signature over both and
/// the path.
#[derive(Deserialize)]
struct SignedQuery {
    size: u64,
    expires: i64,
    signature: String,
}

async fn put_part(mut request: Request) -> Result<Response> {
    let served = ServedMarket::shared(&request)?;
    part_uploads::allow_any_time(&request);
    let (id, number): (Uuid, u32) = request.path_params().map_err(|_| Error::UnknownPath(String::new()))?;
    let size = verify_url(&served, &request, id, number)?;
    let body = request.take_body();
    let requester = RequestLimits::client_requester(&request, served.market().settings());
    let find_sender = move |reader: &Reader| grant_uploads::find_sender(reader, id);
    let (team, sender) = served.market().read(requester.clone(), find_sender).await?;
    request_id::set_caller(&request, Some(Arc::new(team.clone())), None);
    shares::count_for(served.market(), &request, team.row_id.into()).await?;
    Slot::move_to_changes(&request).await?;
    maintenance::admit_change_by(served.market(), requester.clone(), sender).await?;
    let (market, requester) =
        (served.market(), requester.into_principal(served.market().id(), team.row_id.into()));
    let starter = requester.clone();
    let open = move |market: &Market| {
        grant_uploads::start_part(market, starter, id, number, size).map(PartReceiver::from)
    };
    let Some(etag) = part_uploads::receive(market, &request, body, size, open).await? else {
        // If the upload ended meanwhile, that is the reason, and another attempt is useless.
        market.read(requester, find_sender).await?;
        return Err(part_uploads::wrong_size_error(size));
    };
    Ok(Response::builder().status(StatusCode::OK).header(header::ETAG, format!("\"{etag}\"")).finish())
}

/// Verifies the signature of a URL, its expiry, the `Content-Length`, and that there is no `Content-Range`. Returns the part size that the URL
/// allows.
fn verify_url(served: &ServedMarket, request: &Request, id: Uuid, number: u32) -> Result<u64> {
    let not_signed = || {
        Error::Forbidden("The URL was not signed by this server. Request a new URL for the part.".to_owned())
    };
    let signed: SignedQuery = request.params().map_err(|_| not_signed())?;
    let SignedQuery { size, expires, signature } = signed;
    let parts = ["PUT", &blobs::part_path(id, number), &size.to_string(), &expires.to_string()];
    if !signatures::verify(served.market().blob_secret(), &parts, &signature) {
        return Err(not_signed());
    }
    if served.market().clock().now().seconds() >= expires {
        let message = "The URL has expired. Request a new one with `POST .../parts`.";
        return Err(Error::Forbidden(message.to_owned()));
    }
    part_uploads::check_length(request, size)?;
    Ok(size)
}
