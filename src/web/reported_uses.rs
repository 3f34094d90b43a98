//! Reports of a replica to its primary: when keys and sessions were used at the replica. The response contains the position of
//! the primary, which tells the replica whether it is behind.

use poem::{
    Endpoint, IntoResponse, Request, Response,
    http::{HeaderMap, Method, StatusCode, header},
};
use sha2::{Digest, Sha256};

use crate::{
    clock::Entropy,
    domain::commit_position::CommitPosition,
    error::{Error, Result},
    market::{MAX_REPORTED_USES, Market, Uses},
    web::{
        body,
        positions::{self, Positions},
        request_id,
        sealing::{Purpose, Sealer},
    },
};

/// Where a primary receives reports.
pub const PATH: &str = "/replication/uses";

/// The scheme in the header `Authorization` of a report, before the sealed digest of its body.
const SCHEME: &str = "Replica ";

/// Maximum size of a report: two lists of IDs with times.
const MAX_BYTES: u64 = 2 * 64 * MAX_REPORTED_USES as u64;

/// Returns the body of a report, and its header `Authorization`.
pub fn seal(uses: &Uses, sealer: &Sealer, entropy: &Entropy) -> (Vec<u8>, String) {
    let body = serde_json::to_vec(uses).expect("IDs and numbers are JSON");
    let digest = sealer.seal(Purpose::Report, &Sha256::digest(&body), entropy);
    (body, format!("{SCHEME}{digest}"))
}

/// Receives the reports of replicas. To everybody else, it is not there.
pub struct WithReportedUses<E> {
    market: Market,
    sealer: Sealer,
    positions: Positions,
    inner: E,
}

impl<E> WithReportedUses<E> {
    /// Wraps the server of a market that shares this secret with its replicas.
    pub fn new(market: Market, secret: &[u8; 32], inner: E) -> WithReportedUses<E> {
        let positions = Positions::new(secret, market.blob_secret());
        WithReportedUses { market, sealer: Sealer::new(secret), positions, inner }
    }

    /// Returns the digest that a replica has sealed, before the body is received.
    fn sealed_digest(&self, headers: &HeaderMap) -> Option<Vec<u8>> {
        let sealed = headers.get(header::AUTHORIZATION)?.to_str().ok()?.strip_prefix(SCHEME)?;
        self.sealer.open(Purpose::Report, sealed.as_bytes())
    }

    /// Records a report, and returns the position.
    async fn record(&self, request: &mut Request, digest: &[u8]) -> Result<CommitPosition> {
        let body = request.take_body();
        let body = body::receive(request, body, &self.market.settings().server, MAX_BYTES).await?;
        if Sha256::digest(&body)[..] != *digest {
            return Err(Error::Forbidden("The report was changed on its way.".to_owned()));
        }
        let uses: Uses = serde_json::from_slice(&body).map_err(Error::internal)?;
        let record = move |market: &Market| {
            market.record_reported_uses(&uses)?;
            market.read_blocking(|reader| reader.rows.commit_position())
        };
        self.market.spawn_blocking(record).await
    }
}

impl<E: Endpoint<Output = Response>> Endpoint for WithReportedUses<E> {
    type Output = Response;

    async fn call(&self, mut request: Request) -> poem::Result<Response> {
        if request.uri().path() == PATH
            && request.method() == Method::POST
            && let Some(digest) = self.sealed_digest(request.headers())
        {
            return Ok(match self.record(&mut request, &digest).await {
                Ok(position) => {
                    let position = self.positions.seal(position, self.market.entropy());
                    let response = StatusCode::NO_CONTENT.into_response();
                    response.with_header(positions::HEADER, position).into_response()
                }
                Err(error) => request_id::refuse(request, error).await,
            });
        }
        self.inner.call(request).await
    }
}
