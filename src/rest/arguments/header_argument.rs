//! Arguments of handlers that are read from the headers of a request.

use poem::Request;

use crate::error::Result;

/// An argument that is read from the headers of a request.
pub trait HeaderArgument: Sized {
    /// Reads the argument. Fails if a header is not valid.
    fn read(request: &Request) -> Result<Self>;
}

/// Lets a handler take a [`HeaderArgument`]. The documents replace the mark by the headers.
macro_rules! header_argument {
    ($name:ident, $mark:expr) => {
        impl<'a> poem_openapi::ApiExtractor<'a> for $name {
            const TYPES: &'static [poem_openapi::ApiExtractorType] =
                &[poem_openapi::ApiExtractorType::Parameter];

            type ParamType = ();
            type ParamRawType = ();

            fn param_in() -> Option<poem_openapi::registry::MetaParamIn> {
                Some(poem_openapi::registry::MetaParamIn::Header)
            }

            fn param_schema_ref() -> Option<poem_openapi::registry::MetaSchemaRef> {
                use poem_openapi::registry::{MetaSchema, MetaSchemaRef};
                let mark = MetaSchema { title: Some($mark.to_owned()), ..MetaSchema::ANY };
                Some(MetaSchemaRef::Inline(Box::new(mark)))
            }

            async fn from_request(
                request: &'a poem::Request,
                _: &mut poem::RequestBody,
                _: poem_openapi::ExtractParamOptions<()>,
            ) -> poem::Result<Self> {
                <$name as $crate::rest::arguments::header_argument::HeaderArgument>::read(request)
                    .map_err(|error| $crate::web::problem::ApiError(error).into())
            }
        }
    };
}

pub(crate) use header_argument;
