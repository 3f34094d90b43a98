//! Parameters of the path.

use poem::{Request, RequestBody};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions, param,
    registry::{MetaParamIn, MetaSchemaRef, Registry},
    types::ParseFromParameter,
};

use super::call::RoutedRequest;
use crate::web::path_params;

/// A parameter of the path. After the last one, the query is checked to be empty if the route has no query
/// parameters.
pub struct Path<T>(pub T);

impl<'a, T: ParseFromParameter> ApiExtractor<'a> for Path<T> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::Parameter];
    const PARAM_IS_REQUIRED: bool = T::IS_REQUIRED;

    type ParamType = T;
    type ParamRawType = T::RawValueType;

    fn register(registry: &mut Registry) {
        T::register(registry);
    }

    fn param_in() -> Option<MetaParamIn> {
        Some(MetaParamIn::Path)
    }

    fn param_schema_ref() -> Option<MetaSchemaRef> {
        Some(T::schema_ref())
    }

    fn param_raw_type(&self) -> Option<&Self::ParamRawType> {
        self.0.as_raw_value()
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        options: ExtractParamOptions<T>,
    ) -> poem::Result<Self> {
        let number = path_params::number(options.name);
        let param::Path(value) = param::Path::from_request(request, body, options).await?;
        if let Some(number) = number {
            RoutedRequest::reject_query_after(request, body, number).await?;
        }
        Ok(Path(value))
    }
}
