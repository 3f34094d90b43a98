//! Bodies of answers that lie in memory as a whole, told from those that are streamed.

use bytes::Bytes;
use http_body::Body as _;
use http_body_util::{BodyExt, combinators::BoxBody};
use poem::{Body, Response};

/// Takes the body out of an answer, if it is in memory; a stream stays where it is.
pub async fn take_whole(response: &mut Response) -> Option<Bytes> {
    let body: BoxBody<Bytes, std::io::Error> = response.take_body().into();
    if body.size_hint().exact().is_none() {
        response.set_body(Body::from(body));
        return None;
    }
    // Its size is known because its bytes are there, so this does not wait; and it fails only if they are not.
    body.collect().await.ok().map(http_body_util::Collected::to_bytes)
}
