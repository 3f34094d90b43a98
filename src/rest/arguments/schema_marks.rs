//! Marks that the types of parameters and bodies put in their schemas, for the validation rules and the
//! OpenAPI documents.

/// The title that marks the schema of a struct of parameters. `openapi` replaces it by one parameter per
/// field. Its `required` lists all parameters in field order, because `properties` loses the order.
pub const PARAMS_MARK: &str = "x-parameters";

/// The title of the parameter of operations that change a record only if it has a certain entity tag. `openapi`
/// replaces it with the header.
pub const IF_MATCH_MARK: &str = "x-if-match";

/// The title of the parameter of operations that continue a stream of events. `openapi` replaces it with the header.
pub const LAST_EVENT_ID_MARK: &str = "x-last-event-id";

/// The title that marks the schema of an `Omittable`. `openapi` removes it and, unlike for other optional
/// fields, does not make the field nullable.
pub const OMITTABLE_MARK: &str = "x-given";

/// The schema format that identifies a filter entry. Request bodies are not checked against the pattern,
/// since the parser reports more precisely what is wrong.
pub const FILTER_FORMAT: &str = "filter";
