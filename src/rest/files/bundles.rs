//! Downloads of bundles at signed URLs. The route is not in the OpenAPI documents, because clients use the URLs as
//! issued.
//!
//! A bundle is streamed in chunks from the files that it consists of. Between chunks, a download holds no connection of
//! the database, no transaction, and no thread. A client that reads too slowly is disconnected; see `connections`.

use std::{io, ops::Range, sync::Arc};

use bytes::Bytes;
use poem::{
    Body, Request, Response, Route,
    http::{HeaderValue, Method, StatusCode, header},
};
use uuid::Uuid;

use crate::{
    domain::{bundles::archive_name, zip_layout::Part},
    error::{Error, ErrorChain, Result},
    http_server::byte_ranges::{self, Selected},
    market::{Market, Reader, Requester, Writer},
    operations::bundles::{self, Delivery, LinkHolder, Linked},
    rest::{arguments::if_match, router},
    store::bundle_entries::Location,
    web::{
        bundle_urls,
        limits::RequestLimits,
        path_params, request_id,
        responses::{etag, parts},
        served_market::ServedMarket,
        shares,
        shares::{
            holders::FairPermit,
            transfer_limits::{self, MemoryUse, RequestTransfers},
        },
    },
};

/// The route of a bundle.
const ROUTE: &str = "/v2/blobs/bundles/{listing_id}";

/// Maximum number of bytes that are read at a time, and thus in memory for each download.
const CHUNK_BYTES: u64 = 256 * 1024;

/// Memory in bytes that the layout of a bundle takes for each of its entries.
const BYTES_PER_ENTRY: u64 = 600;

/// Adds the route of bundles.
pub fn add_routes(routes: Route) -> Route {
    routes.at(path_params::framework_path(ROUTE), router::answered_by(Method::GET, send))
}

/// A request with a signed link whose bundle is prepared.
pub(super) struct LinkedRequest<T> {
    /// ID of the listing.
    pub listing: Uuid,
    /// Who pays for the work.
    pub requester: Requester,
    /// What was found.
    pub found: T,
}

/// Finds what a signed link is for. If the bundle is not prepared, lets it be prepared, and fails.
pub(super) async fn find<T: Send + 'static>(
    served: &ServedMarket,
    request: &Request,
    find: impl FnOnce(&Reader, Uuid, LinkHolder) -> Result<Linked<T>> + Send + 'static,
) -> Result<LinkedRequest<T>> {
    let market = served.market();
    let listing = path_params::first(request).and_then(|id| Uuid::try_parse(&id).ok());
    let listing = listing.ok_or_else(|| Error::UnknownPath(String::new()))?;
    let holder = bundle_urls::verify(market, request, listing)?;
    let requester = RequestLimits::client_requester(request, market.settings());
    let read = move |reader: &Reader| find(reader, listing, holder);
    let Linked { team, prepared } = market.read(requester.clone(), read).await?;
    let principal = team.row_id.into();
    request_id::set_caller(request, Some(Arc::new(team)), None);
    shares::count_for(market, request, principal).await?;
    let requester = requester.into_principal(market.id(), principal);
    let Some(found) = prepared else {
        let enqueue = move |writer: &mut Writer| bundles::request_preparation(writer, listing, holder);
        market.write(requester, enqueue).await?;
        return Err(bundles::not_prepared());
    };
    Ok(LinkedRequest { listing, requester, found })
}

async fn send(request: Request) -> Result<Response> {
    let served = ServedMarket::shared(&request)?;
    let market = served.market();
    let LinkedRequest { listing, requester, found: prepared } =
        find(&served, &request, bundles::find_linked).await?;
    let transfers = transfer_limits::of_request(&request);
    let slot = transfers.map(RequestTransfers::download_slot).transpose()?;
    let mut memory = transfers.map(RequestTransfers::memory);
    if let Some(memory) = &mut memory {
        memory.grow(CHUNK_BYTES + prepared.document_bytes() + prepared.entries * BYTES_PER_ENTRY).await?;
    }
    let delivery = market.read(requester.clone(), |reader| bundles::deliver(reader, prepared)).await?;
    let tag = HeaderValue::from_str(&format!("\"{}\"", delivery.entity_tag)).map_err(Error::internal)?;
    if_match::check_headers(request.headers(), &tag)?;
    Ok(respond(
        &request,
        listing,
        &tag,
        Download {
            range: 0..delivery.layout.size_bytes(),
            source: Source { market: market.clone(), requester, delivery: Arc::new(delivery) },
            held: (slot, memory),
        },
    ))
}

/// Responds with a bundle, or with the part of it that the request asks for.
fn respond(request: &Request, listing: Uuid, tag: &HeaderValue, mut download: Download) -> Response {
    let size = download.range.end;
    let builder = Response::builder()
        .header(header::ETAG, tag)
        .header(header::ACCEPT_RANGES, "bytes")
        .header(header::CACHE_CONTROL, "private, no-cache");
    let mut known = request.headers().get_all(header::IF_NONE_MATCH).iter();
    if known.any(|list| etag::matches_tag(list, tag)) {
        return builder.status(StatusCode::NOT_MODIFIED).finish();
    }
    let mut builder = match byte_ranges::select(request.headers(), tag, size) {
        Selected::Whole => builder.status(StatusCode::OK),
        Selected::Part(range) => {
            let content_range = format!("bytes {}-{}/{size}", range.start, range.end - 1);
            download.range = range;
            builder.status(StatusCode::PARTIAL_CONTENT).header(header::CONTENT_RANGE, content_range)
        }
        Selected::Unsatisfiable => {
            let content_range = format!("bytes */{size}");
            return builder
                .status(StatusCode::RANGE_NOT_SATISFIABLE)
                .header(header::CONTENT_RANGE, content_range)
                .finish();
        }
    };
    let name = format!("attachment; filename=\"{}\"", archive_name(listing));
    builder = builder
        .header(header::CONTENT_DISPOSITION, name)
        .header(header::CONTENT_LENGTH, download.range.end - download.range.start)
        .content_type("application/zip");
    builder.body(download.into_body())
}

/// Where the bytes of a download come from.
#[derive(Clone)]
struct Source {
    market: Market,
    requester: Requester,
    delivery: Arc<Delivery>,
}

impl Source {
    /// Reads the next bytes of a range that is not empty: at most [`CHUNK_BYTES`], and of one part of the archive.
    async fn read(self, range: Range<u64>) -> io::Result<Bytes> {
        let delivery = Arc::clone(&self.delivery);
        let max_bytes = CHUNK_BYTES.min(range.end - range.start);
        let part = delivery.layout.part_at(range.start).ok_or(io::ErrorKind::UnexpectedEof)?;
        let (index, offset, length) = match part {
            Part::Bytes(bytes) => return Ok(cut(&bytes, 0, max_bytes)),
            Part::File { index, offset, length } => (index, offset, length.min(max_bytes)),
        };
        if length == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if let Some(document) = delivery.documents.get(index) {
            return Ok(cut(&document.bytes, offset, length));
        }
        let file = delivery.files.get(index - delivery.documents.len());
        let (asset, location) = file.ok_or(io::ErrorKind::UnexpectedEof)?;
        match location.clone() {
            Location::Description => {
                let (bundle, asset) = (delivery.bundle, *asset);
                let read = move |reader: &Reader| bundles::read_description(reader, bundle, asset);
                let bytes = self.market.read(self.requester, read).await.map_err(io::Error::other)?;
                Ok(cut(&bytes, offset, length))
            }
            stored => {
                let read = move |market: &Market| {
                    let blobs = market.blobs();
                    let bytes = match stored {
                        Location::Upload(id) => blobs.read_upload_range(id, offset, length as usize),
                        Location::File(sha256) => {
                            blobs.read_bundle_file_range(&sha256, offset, length as usize)
                        }
                        Location::Description => Err(io::ErrorKind::InvalidInput.into()),
                    };
                    bytes.map(Bytes::from).map_err(Error::internal)
                };
                self.market.spawn_blocking(read).await.map_err(io::Error::other)
            }
        }
    }
}

/// Returns a part of bytes in memory. Bytes that are missing end the download, since its length is known.
fn cut(bytes: &[u8], offset: u64, length: u64) -> Bytes {
    let rest = usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..)).unwrap_or_default();
    Bytes::copy_from_slice(&rest[..rest.len().min(length as usize)])
}

/// A range of a bundle to send.
struct Download {
    source: Source,
    range: Range<u64>,
    /// The slot of the download, and its memory.
    held: (Option<FairPermit>, Option<MemoryUse>),
}

impl Download {
    fn into_body(self) -> Body {
        let source = self.source;
        parts::body(self.range, self.held, move |range| {
            let source = source.clone();
            tokio::spawn(async move {
                let read = source.read(range).await.and_then(|bytes| {
                    if bytes.is_empty() { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(bytes) }
                });
                read.inspect_err(|cause| {
                    tracing::warn!(cause = %ErrorChain(cause), "the download of a bundle was ended");
                })
            })
        })
    }
}
