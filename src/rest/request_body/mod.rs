//! JSON request bodies: documented by a struct, and validated with all problems reported at once, each with
//! its location.
//!
//! The schema of the struct is the only definition of a body. [`rules`] derives validation rules from it once
//! per struct; a body is validated by these rules before the struct is deserialized.

mod omittable;
mod rules;

use std::{
    any::TypeId,
    collections::HashMap,
    sync::{Arc, OnceLock, PoisonError, RwLock},
    time::Duration,
};

use bytes::Bytes;
use poem::{Request, RequestBody, error::ReadBodyError, http::header};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaMediaType, MetaRequest, Registry},
    types::{ParseFromJSON, Type},
};
use serde_json::Value;
use sha2::{Digest, Sha256};

pub use self::omittable::{Omittable, into_change};
use self::rules::Rule;
use super::{app::App, capacity::Slot, problem::ApiError};
use crate::{
    config::ServerSettings,
    error::{Error, LocSegment, Result},
};

/// A JSON request body, deserialized into a struct.
///
/// A field that is an `Option` may be omitted or null, with the same meaning. An [`Omittable`] may be omitted
/// but not null. A `MaybeUndefined` distinguishes omitted from null. Integers are `i64`, because the
/// framework's parser rejects all values of `u64`.
pub struct Body<T> {
    /// The deserialized body.
    pub value: T,
    /// SHA-256 of the body as sent.
    pub digest: [u8; 32],
}

impl<'a, T: Type + ParseFromJSON + 'static> ApiExtractor<'a> for Body<T> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::RequestObject];

    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        T::register(registry);
    }

    fn request_meta() -> Option<MetaRequest> {
        let content = MetaMediaType { content_type: "application/json", schema: T::schema_ref() };
        Some(MetaRequest { description: None, content: vec![content], required: true })
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        _: ExtractParamOptions<()>,
    ) -> poem::Result<Self> {
        Ok(extract_body(request, body).await.map_err(ApiError)?)
    }
}

async fn extract_body<T: Type + ParseFromJSON + 'static>(
    request: &Request,
    body: &mut RequestBody,
) -> Result<Body<T>> {
    let app = App::from_request(request)?;
    let body = body.take().map_err(Error::internal)?;
    let bytes = read_json_bytes(request, body, &app.market().settings().server).await?;
    let value = parse_body(&bytes)?;
    Ok(Body { value, digest: Sha256::digest(&bytes).into() })
}

/// Reads a JSON body, within the size and time limits of the settings.
pub async fn read_json_bytes(
    request: &Request,
    body: poem::Body,
    settings: &ServerSettings,
) -> Result<Bytes> {
    let kind = request.header(header::CONTENT_TYPE).unwrap_or_default();
    if !is_json(kind) {
        let message = "Send the body as JSON, with `Content-Type: application/json`.";
        return Err(Error::Malformed(message.to_owned()));
    }
    let ServerSettings { max_body_bytes: max_bytes, body_seconds: seconds, .. } = *settings;
    let body = body.into_bytes_limit(max_bytes as usize);
    let received = tokio::time::timeout(Duration::from_secs(seconds.into()), body);
    let received = Slot::receive_body(request, received).await?;
    let timed_out =
        |_| Error::Malformed(format!("The body was not complete after {seconds} seconds. Send it faster."));
    received.map_err(timed_out)?.map_err(|error| match error {
        ReadBodyError::PayloadTooLarge => Error::PayloadTooLarge { max_bytes },
        _ => Error::Malformed("The body ended early. Send it again.".to_owned()),
    })
}

fn is_json(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
}

/// Validates and deserializes a body.
fn parse_body<T: Type + ParseFromJSON + 'static>(bytes: &[u8]) -> Result<T> {
    let mut value: Value = serde_json::from_slice(bytes).map_err(|error| {
        Error::Malformed(format!("The body is not valid JSON: {error}. Fix it and send it again."))
    })?;
    let mut problems = Vec::new();
    cached_rule::<T>().check(&mut value, &mut vec![LocSegment::Name("body".to_owned())], &mut problems);
    if !problems.is_empty() {
        return Err(Error::Invalid(problems));
    }
    // A body that satisfies the rules must deserialize. If it does not, a rule is missing, which is a bug of
    // the server.
    T::parse_from_json(Some(value)).map_err(|error| Error::internal(error.into_message()))
}

/// Returns the rule of a struct, which is built once and cached.
fn cached_rule<T: Type + 'static>() -> Arc<Rule> {
    static RULES: OnceLock<RwLock<HashMap<TypeId, Arc<Rule>>>> = OnceLock::new();
    let rules = RULES.get_or_init(RwLock::default);
    if let Some(rule) = rules.read().unwrap_or_else(PoisonError::into_inner).get(&TypeId::of::<T>()) {
        return Arc::clone(rule);
    }
    let mut registry = Registry::new();
    T::register(&mut registry);
    let new_rule = Arc::new(Rule::from_schema(&T::schema_ref(), &registry));
    rules.write().unwrap_or_else(PoisonError::into_inner).insert(TypeId::of::<T>(), Arc::clone(&new_rule));
    new_rule
}

#[cfg(test)]
mod tests;
