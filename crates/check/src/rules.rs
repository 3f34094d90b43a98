//! The rules of the interface that are checked.

/// A rule of the interface.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name, which stays the same.
    pub id: &'static str,
    /// The section of the interface that it is from, or `Conventions` for what holds for every route.
    pub section: &'static str,
    /// What it says.
    pub text: &'static str,
}

macro_rules! rules {
    ($($name:ident = $id:literal, $section:literal, $text:literal;)*) => {
        $(#[doc = $text] pub static $name: Rule = Rule { id: $id, section: $section, text: $text };)*

        /// All rules, in the order of reports.
        pub static ALL: &[&Rule] = &[$(&$name),*];
    };
}

rules! {
    RESPONSE = "response.complete", "Endpoints",
        "Each request has a complete response.";
    SERVER_ERROR = "response.no_server_error", "Errors",
        "No request leads to an internal error.";
    SUCCESS = "response.success", "Endpoints",
        "A valid request of a key with access succeeds.";
    STATUS = "response.status", "Endpoints",
        "The operation's document lists the status.";
    CONTENT_TYPE = "response.content_type", "What the service does",
        "A body has the documented media type.";
    JSON = "response.json", "What the service does",
        "A body is JSON, and responses without one have none.";
    MISSING_FIELD = "schema.required", "Resources and their fields",
        "All required fields are present.";
    UNKNOWN_FIELD = "schema.unknown_field", "Resources and their fields",
        "There are no undocumented fields.";
    TYPE = "schema.type", "Resources and their fields",
        "Values have the documented type: counts are integers, and amounts that are strings stay strings.";
    VALUE = "schema.enum", "States and transitions",
        "Values are among the documented ones.";
    FORM = "schema.format", "Resources and their fields",
        "Texts have the documented form: UUIDs, UTC times with three decimals, amounts with two.";
    BOUNDS = "schema.bounds", "Limits",
        "Numbers, lengths, and counts are within the documented bounds.";
    ERROR_CODE = "error.code", "Errors",
        "The code of an error belongs to its status.";
    ERROR_ID = "error.request_id", "Errors",
        "An error contains the request ID of its response.";
    VALIDATION_PLACE = "error.validation", "Errors",
        "Each problem of a 422 begins with `path`, `query`, `header`, or `body`.";
    REQUEST_ID = "request_id.echo", "Conventions",
        "A response has the request ID that was sent.";
    NEW_REQUEST_ID = "request_id.new", "Conventions",
        "A missing or invalid request ID is replaced by a new UUID.";
    RATE_LIMIT = "headers.rate_limit", "Conventions",
        "`RateLimit` and `RateLimit-Policy` have the syntax of their draft, and name the same budgets.";
    RETRY_AFTER = "headers.retry_after", "Errors",
        "A 429 or 503 says in `Retry-After` how many seconds to wait.";
    ENTITY_TAG = "headers.etag", "Conventions",
        "A request with the ETag of a response is answered with 304, the same ETag, and no body.";
    HEAD = "headers.head", "Conventions",
        "HEAD has the status and headers of GET, and no body.";
    UNAUTHORIZED = "access.unauthorized", "Authentication",
        "Without a valid key, an operation responds 401 with `WWW-Authenticate: Bearer`.";
    FORBIDDEN = "access.role", "Authentication",
        "A key without the role responds 403 with the code for it.";
    KEY_HEADERS = "access.key_headers", "Authentication",
        "Keys are accepted in all three headers; the first one counts.";
    GATE = "access.browse_gate", "Browse filters",
        "While the catalog is locked, only the plain first page is served, with `locked` true.";
    NOT_FOUND = "path.not_found", "Errors",
        "An unknown ID or path responds 404.";
    PATH_VALUE = "path.invalid", "Errors",
        "A malformed ID in a path responds 422.";
    METHOD = "path.method", "Conventions",
        "A method that a path does not have responds 405 with `Allow`.";
    READABLE = "ids.readable", "Conventions",
        "A caller can read every record that a response to it names.";
    SAME_ID = "ids.same", "Endpoints",
        "A record has the ID that it was requested by.";
    UNKNOWN_PARAMETER = "query.unknown", "Conventions",
        "An unknown query parameter responds 422.";
    REPEATED = "query.repeated", "Conventions",
        "A repeated parameter that is no list responds 422.";
    QUERY_VALUE = "query.invalid", "Limits",
        "A value that a parameter does not allow responds 422.";
    QUERY_VALID = "query.valid", "Endpoints",
        "Each documented value of a parameter is accepted.";
    FILTER = "query.filter", "Endpoints",
        "A filter returns exactly the rows that match.";
    SORT = "query.sort", "Inventory collections",
        "Rows are in the requested order.";
    CURSOR = "pages.cursor", "Browse filters",
        "A cursor that the server did not make responds 400 `invalid_cursor`.";
    PAGE_SIZE = "pages.limit", "Limits",
        "A page has at most as many rows as requested, and reports its limit and offset.";
    ONCE = "pages.once", "Browse filters",
        "The pages of a list have each row once.";
    STABLE = "pages.stable", "Conventions",
        "The same page has the same rows when it is requested again, or with another limit.";
    END = "pages.end", "Browse filters",
        "Following the pages of a list ends.";
    TOTAL = "pages.total", "Endpoints",
        "The number of rows that a list reports is the number of rows on its pages, on all of them.";
    FIRST_PAGE = "pages.first", "Browse filters",
        "Counts and facets are on the first page of the catalog, and null on later ones.";
    BY_IDS = "catalog.by_ids", "Endpoints",
        "Listings by ID are returned as on the pages of the catalog, without those that do not exist.";
    DOCUMENT = "documents.served", "What the service does",
        "Each API serves its document and its docs page without a key.";
    DOCUMENT_OPERATION = "documents.operations", "What the service does",
        "The served document has the same operations.";
    DOCUMENT_CONTENT = "documents.content", "What the service does",
        "The operations and schemas of the served document are the same, apart from texts.";
    IDEMPOTENCY = "writes.idempotency", "Conventions",
        "A POST that is repeated with its `Idempotency-Key` has the same response, and another body responds 422.";
    WRITE = "writes.effect", "Endpoints",
        "Changes have the documented response, and reads show them.";
    REFUSAL = "writes.refused", "Errors",
        "Invalid changes are refused with the documented status and code.";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn rules_have_different_names() {
        let names: BTreeSet<&str> = ALL.iter().map(|rule| rule.id).collect();
        assert_eq!(names.len(), ALL.len());
        assert!(ALL.iter().all(|rule| rule.text.ends_with('.')));
    }
}
