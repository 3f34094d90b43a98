//! JSON request bodies: documented by a struct, and validated with all problems reported at once, each with
//! its location.
//!
//! The schema of the struct is the only definition of a body. [`rules`] derives validation rules from it once per
//! struct; a body is validated by these rules before the struct is deserialized. For an invalid body, the struct
//! contains the valid parts, so that the operation can report their problems in the same response.

mod free_form;
mod maybe_invalid;
mod no_body;
mod order;
mod parser;
mod path;
mod receive;
mod rules;
mod sizes;
mod state;

use std::{
    any::TypeId,
    collections::HashMap,
    sync::{Arc, OnceLock, PoisonError, RwLock},
};

use bytes::Bytes;
use poem::{Request, RequestBody, http::header};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaMediaType, MetaRequest, Registry},
    types::{ParseFromJSON, Type},
};
use sha2::{Digest, Sha256};

pub use self::rules::{Fault, Field, Rule};
pub use self::{
    maybe_invalid::{MaybeInvalid, Omittable, checked_texts, into_change},
    no_body::{TakesNoBody, reject_body},
    receive::read_json_bytes,
};
use crate::rest::arguments::request_body::parser::Parsed;
use crate::{
    domain::problems::Problems,
    error::{Error, Problem, Result},
    market::{CheckContext, Market, Permit, Reader},
    request_problems::ProblemsExt,
    web::{
        problem::ApiError,
        served_market::ServedMarket,
        shares::transfer_limits::{self, RequestTransfers},
    },
};

/// Size in bytes from which a body is parsed on a blocking thread, since it would delay other requests of the
/// same thread.
const BLOCKING_BYTES: usize = 64 * 1024;

/// Bytes of the disk that an operation may take for each byte of its body: rows, their copies in the database's log and in the
/// search index, and the stored response.
const STORED_PER_BYTE: u64 = 4;

/// A JSON request body, deserialized into a struct.
///
/// A field that is an `Option` may be omitted or null, with the same meaning. An [`Omittable`] may be omitted
/// but not null. A `MaybeUndefined` distinguishes omitted from null. Required fields and elements of arrays
/// are [`MaybeInvalid`]. Integers are `i64`, because the framework's parser rejects all values of `u64`.
///
/// A body that is not required may be left out, which is the same as `{}`.
pub struct Body<T, const IS_REQUIRED: bool = true> {
    /// The deserialized body. If `source` has problems, it lacks the parts with problems.
    pub value: T,
    /// The body as sent. Whoever uses the value must pass it on, to the function that executes the operation.
    pub source: BodySource,
}

/// A body as sent, and the problems that its schema has with it.
#[derive(Debug)]
pub struct BodySource {
    bytes: Bytes,
    digest: [u8; 32],
    problems: Vec<Problem>,
    transfers: Option<RequestTransfers>,
}

impl BodySource {
    /// Returns the body of an operation that takes none.
    pub fn empty() -> BodySource {
        BodySource {
            bytes: Bytes::new(),
            digest: Sha256::digest(b"").into(),
            problems: Vec::new(),
            transfers: None,
        }
    }

    /// Returns the SHA-256 digest of the body.
    pub const fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// Whether the body satisfies its schema.
    pub const fn is_valid(&self) -> bool {
        self.problems.is_empty()
    }

    /// Checks that the disk has space for what an operation stores of the body, besides its reserve.
    pub fn ensure_space(&self, market: &Market) -> Result<()> {
        market.ensure_space((self.bytes.len() as u64).saturating_mul(STORED_PER_BYTE))
    }

    /// Returns the problems for an operation, which adds those that it finds.
    pub fn problems(&self) -> Problems {
        self.problems.clone().into()
    }

    /// Checks a body that violates its schema: adds what `check` finds to its problems, and fails with all of
    /// them. This takes a connection for reading only, so invalid bodies don't delay writes.
    pub fn reject<C>(
        &self,
        reader: &Reader,
        check: impl FnOnce(&CheckContext, Problems) -> Result<C>,
    ) -> Result<()> {
        check(&reader.check_context(), self.problems())?;
        self.problems().into_result()
    }

    /// Waits until the body may be read again, if it is large.
    async fn heavy_work(&self) -> Result<Option<Permit>> {
        if self.bytes.len() < BLOCKING_BYTES { Ok(None) } else { heavy_work(self.transfers.as_ref()).await }
    }

    /// Sorts the problems of an operation's result by their places in the body, and keeps those that are
    /// reported. Finding the places in a large body is heavy work.
    pub async fn sort_problems<T: Send + 'static>(
        &self,
        served: &ServedMarket,
        result: Result<T>,
    ) -> Result<T> {
        let mut problems = match result {
            Err(Error::Invalid(problems)) => problems,
            other => return other,
        };
        let bytes = self.bytes.clone();
        let sort = move || {
            order::sort_problems(&bytes, &mut problems);
            Err(Error::Invalid(problems))
        };
        if self.bytes.len() < BLOCKING_BYTES {
            return sort();
        }
        let permit = self.heavy_work().await?;
        let sort = move |_: &_| {
            let _permit = permit;
            sort()
        };
        served.market().spawn_blocking(sort).await
    }
}

impl<'a, T: Type + ParseFromJSON + 'static, const IS_REQUIRED: bool> ApiExtractor<'a>
    for Body<T, IS_REQUIRED>
{
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::RequestObject];

    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        T::register(registry);
    }

    fn request_meta() -> Option<MetaRequest> {
        let content = MetaMediaType { content_type: "application/json", schema: T::schema_ref() };
        Some(MetaRequest { description: None, content: vec![content], required: IS_REQUIRED })
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        _: ExtractParamOptions<()>,
    ) -> poem::Result<Self> {
        let body = body.take().map_err(Error::internal).map_err(ApiError)?;
        let extracted = if IS_REQUIRED || is_sent(request, &body) {
            extract_body(request, body).await
        } else {
            extract_blank_body(request, body).await
        };
        let Body { value, source } = extracted.map_err(ApiError)?;
        Ok(Body { value, source })
    }
}

/// Whether a body that is not required was sent.
fn is_sent(request: &Request, body: &poem::Body) -> bool {
    !body.is_empty() && receive::is_json(request.header(header::CONTENT_TYPE).unwrap_or_default())
}

/// Returns the value for a body that was left out.
async fn extract_blank_body<T: Type + ParseFromJSON + 'static>(
    request: &Request,
    body: poem::Body,
) -> Result<Body<T>> {
    no_body::receive_blank(request, body).await.map_err(|error| match error {
        Error::Invalid(_) => receive::no_json(),
        other => other,
    })?;
    let (Body { value, .. }, _) = parse_body(Bytes::from_static(b"{}"), &cached_rule::<T>().rule)?;
    Ok(Body { value, source: BodySource::empty() })
}

async fn extract_body<T: Type + ParseFromJSON + 'static>(
    request: &Request,
    body: poem::Body,
) -> Result<Body<T>> {
    let served = ServedMarket::from_request(request)?;
    let settings = &served.market().settings().server;
    let rule = cached_rule::<T>();
    let max_bytes = rule.max_bytes.min(settings.max_body_bytes);
    let bytes = read_json_bytes(request, body, settings, max_bytes).await?;
    let transfers = transfer_limits::of_request(request);
    let (mut body, free_form_bytes) = if bytes.len() < BLOCKING_BYTES {
        parse_body(bytes, &rule.rule)?
    } else {
        let permit = heavy_work(transfers).await?;
        let parse = move |_: &_| {
            let _permit = permit;
            parse_body(bytes, &rule.rule)
        };
        served.market().spawn_blocking(parse).await?
    };
    // Such values can take more memory than was counted for the bytes of the body.
    if let Some(transfers) = transfers {
        transfers.keep_more(free_form_bytes as u64).await?;
        body.source.transfers = Some(transfers.clone());
    }
    Ok(body)
}

/// Waits until the large body of a request may be parsed.
async fn heavy_work(transfers: Option<&RequestTransfers>) -> Result<Option<Permit>> {
    match transfers {
        Some(transfers) => transfers.heavy_work().await.map(Some),
        None => Ok(None),
    }
}

/// Validates and deserializes a body. Fails if no part of it can be checked any further. Also returns the
/// bytes of memory that values of any shape take.
fn parse_body<T: Type + ParseFromJSON>(bytes: Bytes, rule: &Rule) -> Result<(Body<T>, usize)> {
    let Parsed { value, mut problems, free_form_bytes } = parser::parse(&bytes, rule)?;
    let value = value.map(|value| T::parse_from_json(Some(value)));
    match value {
        Some(Ok(value)) => {
            let digest = Sha256::digest(&bytes).into();
            let source = BodySource { digest, bytes, problems, transfers: None };
            Ok((Body { value, source }, free_form_bytes))
        }
        // A body that satisfies the rules must deserialize. If it does not, a rule is missing, which is a bug
        // of the server.
        Some(Err(error)) if problems.is_empty() => Err(Error::internal(error.into_message())),
        _ => {
            order::sort_problems(&bytes, &mut problems);
            Err(Error::Invalid(problems))
        }
    }
}

/// The rule of a struct, and the maximum number of bytes of a body that satisfies it.
#[derive(Debug)]
pub struct CachedRule {
    /// The rule of the struct.
    pub rule: Rule,
    max_bytes: u64,
}

/// Returns the rule of a struct, which is built once and cached.
pub fn cached_rule<T: Type + 'static>() -> Arc<CachedRule> {
    static RULES: OnceLock<RwLock<HashMap<TypeId, Arc<CachedRule>>>> = OnceLock::new();
    let rules = RULES.get_or_init(RwLock::default);
    if let Some(rule) = rules.read().unwrap_or_else(PoisonError::into_inner).get(&TypeId::of::<T>()) {
        return Arc::clone(rule);
    }
    let mut registry = Registry::new();
    T::register(&mut registry);
    let rule = Rule::from_schema(&T::schema_ref(), &registry);
    let new_rule = Arc::new(CachedRule { max_bytes: sizes::max_body_bytes(&rule), rule });
    rules.write().unwrap_or_else(PoisonError::into_inner).insert(TypeId::of::<T>(), Arc::clone(&new_rule));
    new_rule
}

#[cfg(test)]
mod tests;
