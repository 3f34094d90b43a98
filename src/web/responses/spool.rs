//! Large responses. Until a client has read them, they are in temporary files instead of memory, and hold no
//! reader and no transaction.

use std::{
    fs::File,
    io::{self, Read, Write},
    os::unix::fs::FileExt,
    sync::Arc,
};

use poem::{
    Endpoint, Request, Response,
    http::{HeaderValue, header},
};
use xxhash_rust::xxh3::Xxh3;

use crate::{
    blobs::Reservation,
    error::{Error, Result},
    http_server::response_body,
    market::Market,
    web::{
        problem,
        request_id::RequestId,
        responses::parts,
        shares::{
            holders::FairPermit,
            transfer_limits::{self, RequestTransfers},
        },
    },
};

/// Size in bytes from which a response is stored in a temporary file.
const MIN_SPOOLED_BYTES: usize = 4 << 20;

/// Number of bytes that are read from a temporary file at a time.
const CHUNK_BYTES: u64 = 64 * 1024;

/// A response body in a temporary file, which has no name and is deleted with the last handle.
#[derive(Clone, Debug)]
pub struct Spool(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    file: File,
    length: u64,
    hash: u128,
    context: Option<SpoolContext>,
    _permit: FairPermit,
}

/// Settings for temporary files.
#[derive(Clone, Debug)]
struct SpoolContext {
    market: Market,
    transfers: RequestTransfers,
}

impl SpoolContext {
    /// Stores the output of `write`, at most `max_bytes`. Fails if that would use the reserve of the disk, which
    /// is kept for operations that free space.
    async fn create(
        self,
        max_bytes: u64,
        write: impl FnOnce(&mut SpoolWriter) -> io::Result<()> + Send + 'static,
    ) -> Result<Spool> {
        let mut permit = self.transfers.spool(max_bytes)?;
        let market = self.market.clone();
        let create = move |market: &Market| -> Result<Spool> {
            let reservation = market.reserve_space(max_bytes)?;
            let file = market.blobs().temporary_file().map_err(Error::internal)?;
            let mut writer = SpoolWriter { file, reservation, length: 0, hash: Xxh3::new() };
            write(&mut writer).map_err(Error::internal)?;
            // Measurements of the free space include what was written.
            let SpoolWriter { file, length, hash, .. } = writer;
            permit.shrink(max_bytes.saturating_sub(length));
            let context = Some(self);
            Ok(Spool(Arc::new(Inner { file, length, hash: hash.digest128(), context, _permit: permit })))
        };
        market.spawn_blocking(create).await
    }
}

impl Spool {
    /// Stores the output of `convert` for these bytes, which must not be longer, in another temporary file.
    pub async fn convert(
        &self,
        convert: impl FnOnce(&mut dyn Read, &mut SpoolWriter) -> io::Result<()> + Send + 'static,
    ) -> Result<Spool> {
        let context = self.0.context.clone().ok_or_else(|| Error::internal("no context"))?;
        let permit = context.transfers.heavy_work().await?;
        let mut reader = SpoolReader { spool: self.clone(), offset: 0 };
        let write = move |writer: &mut SpoolWriter| {
            let _permit = permit;
            convert(&mut reader, writer)
        };
        context.create(self.length(), write).await
    }

    /// Returns the XXH3 hash of the bytes.
    pub fn hash(&self) -> u128 {
        self.0.hash
    }

    /// Returns the number of bytes.
    pub fn length(&self) -> u64 {
        self.0.length
    }

    /// Makes this the body of a response.
    pub fn send(self, response: &mut Response) {
        response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(self.length()));
        response.set_data(self.clone());
        let length = self.length();
        response.set_body(parts::file_body(self, length, CHUNK_BYTES, ()));
    }
}

impl AsRef<File> for Spool {
    fn as_ref(&self) -> &File {
        &self.0.file
    }
}

/// Writes a temporary file, and hashes what it writes.
pub struct SpoolWriter {
    file: File,
    /// Space of the disk for what is not yet written.
    reservation: Reservation,
    length: u64,
    hash: Xxh3,
}

impl Write for SpoolWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.hash.update(&bytes[..count]);
        self.length += count as u64;
        self.reservation.use_bytes(count as u64);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Reads a temporary file, independently of other readers.
struct SpoolReader {
    spool: Spool,
    offset: u64,
}

impl Read for SpoolReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.spool.0.file.read_at(buffer, self.offset)?;
        self.offset += count as u64;
        Ok(count)
    }
}

/// Middleware that counts the memory of a response from when it is complete, and stores a large one in a
/// temporary file. It is inside all layers that change a response.
pub async fn layer<E: Endpoint<Output = Response>>(
    market: Market,
    inner: Arc<E>,
    request: Request,
) -> poem::Result<Response> {
    let transfers = transfer_limits::of_request(&request).cloned();
    let id = RequestId::from_request(&request);
    let mut response = inner.as_ref().call(request).await?;
    let Some(transfers) = transfers.filter(|transfers| transfers.must_count(&mut response)) else {
        return Ok(response);
    };
    // Boxed: otherwise, it would enlarge the future of every request.
    match Box::pin(limit_memory(&market, &transfers, &mut response)).await {
        Ok(()) => Ok(response),
        Err(error) => Ok(problem::error_response(&error, id.as_str())),
    }
}

async fn limit_memory(market: &Market, transfers: &RequestTransfers, response: &mut Response) -> Result<()> {
    transfers.count_response(response).await?;
    let length = response_body::in_memory_length(response).unwrap_or(0);
    if length < MIN_SPOOLED_BYTES {
        return Ok(());
    }
    let Some(bytes) = response_body::take_in_memory(response).await else { return Ok(()) };
    let context = SpoolContext { market: market.clone(), transfers: transfers.clone() };
    let spooled_bytes = bytes.clone();
    match context.create(length as u64, move |writer| writer.write_all(&spooled_bytes)).await {
        Ok(spool) => spool.send(response),
        Err(error) => {
            // Its memory is counted, so it can stay there.
            tracing::debug!(%error, "large response not stored in a temporary file");
            response.set_body(bytes);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use poem::{EndpointExt, IntoResponse, endpoint::make_sync, http::StatusCode};

    use super::*;
    use crate::{
        clock::{Clock, Entropy},
        config::Settings,
        domain::time::Timestamp,
        http_server::fair_limit::FairLimit,
        market::{OpenMode, OpenOptions, this_program},
        store::Durability,
        web::shares::transfer_limits::TransferLimits,
    };

    /// Opens an empty market in a temporary directory.
    fn open_market(change: impl FnOnce(&mut Settings)) -> (tempfile::TempDir, Market) {
        let directory = tempfile::tempdir().unwrap();
        let mut settings = Settings::default();
        change(&mut settings);
        let options = OpenOptions {
            data_dir: directory.path().to_owned(),
            settings,
            clock: Clock::stopped(Timestamp(0)).into(),
            entropy: Entropy::seeded(1),
            durability: Durability::None,
            mode: OpenMode::Command,
            renderer: |_, _, _| unreachable!("the market has no listings"),
            run_step: crate::operations::due_steps::run_step,
            program: this_program(),
        };
        (directory, Market::open(options).unwrap())
    }

    /// A response for which the disk has no room, or its client no share of the temporary files, is sent from
    /// memory.
    #[tokio::test]
    async fn response_stays_in_memory_without_space_for_a_file() {
        // The first file of a client is possible in any case; the second one needs a share.
        for (reserve_mb, spool_mb, spooled) in
            [(0, 0, [true, true]), (0, 8, [true, false]), (1_000_000_000, 0, [false, false])]
        {
            let (_directory, market) = open_market(|settings| {
                settings.data.reserve_mb = reserve_mb;
                settings.limits.spool_mb = spool_mb;
                settings.limits.memory_mb = 0;
            });
            let transfers = Arc::new(TransferLimits::new(market.settings(), market.stopwatch()));
            let app = make_sync(|_| vec![b'x'; MIN_SPOOLED_BYTES].into_response())
                .around(move |inner, request| layer(market.clone(), inner, request))
                .around(move |inner, request| Arc::clone(&transfers).layer(inner, request));
            let mut responses = Vec::new();
            for _ in 0..2 {
                responses.push(app.get_response(Request::default()).await);
            }
            let found: Vec<_> = responses.iter().map(|response| response.data::<Spool>().is_some()).collect();
            assert_eq!(found, spooled);
            for response in responses {
                assert_eq!(response.status(), StatusCode::OK);
                assert_eq!(response.into_body().into_vec().await.unwrap().len(), MIN_SPOOLED_BYTES);
            }
        }
    }

    #[tokio::test]
    async fn file_is_sent_and_read_unchanged() {
        let limit = FairLimit::new(10, 10, 10);
        let permit = limit.try_acquire([None, None], 10).unwrap();
        let bytes: Vec<u8> = (0..CHUNK_BYTES * 2 + 7).map(|index| (index % 251) as u8).collect();
        let inner = Inner {
            file: tempfile::tempfile().unwrap(),
            length: bytes.len() as u64,
            hash: 0,
            context: None,
            _permit: permit,
        };
        inner.file.write_all_at(&bytes, 0).unwrap();
        let spool = Spool(Arc::new(inner));
        let mut read = Vec::new();
        SpoolReader { spool: spool.clone(), offset: 0 }.read_to_end(&mut read).unwrap();
        assert_eq!(read, bytes);
        let mut response = Response::default();
        spool.send(&mut response);
        assert_eq!(response.header("content-length"), Some(bytes.len().to_string().as_str()));
        assert!(response_body::take_in_memory(&mut response).await.is_none());
        assert!(limit.try_acquire([None, None], 1).is_none(), "the file is in use");
        let body = response.take_body();
        drop(response);
        assert_eq!(body.into_vec().await.unwrap(), bytes);
        assert!(limit.try_acquire([None, None], 10).is_some());
    }
}
