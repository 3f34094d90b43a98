//! The attribute by which handlers declare their routes. It reads one statement of each fact, and writes what the web framework
//! and the table of routes need.

mod argument;
mod block;
mod handler;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Declares the routes of an API by their handlers, and the type that has them.
///
/// ```ignore
/// #[routes(prefix = "/v2", tag = Account)]
/// impl EarningsApi {
///     /// List earnings entries
///     ///
///     /// Returns a page of the ledger entries that changed the team's earnings, newest first.
///     #[get("/wallet/earnings", RouteAttributes::read(…))]
///     async fn list_earnings(call: Call<Vendor>, query: Params<LimitOffset>) -> JsonResult<EarningsPage> { … }
/// }
/// ```
///
/// - `tag` is a variant of `rest::tags::Tag`, the section of the document.
/// - `get`, `post`, `put`, `patch`, or `delete` has the path below the prefix, and an expression of type `RouteAttributes`.
/// - The name of the function is the operation ID. Its doc comment is the documentation: the first line is the summary.
/// - The first argument is the `Call`, with the proof of access that the caller needs. `Path` arguments have the names and the
///   order of the parameters in the path. One without a doc comment is described by its name: `listing_id` is the "ID of the
///   listing."
/// - A POST operation takes `Idempotent`, or the `Change` that contains one.
/// - The `Body` has an attribute with an example: `#[example(json!({"place": 90}))]`.
///
/// The order of the handlers is the order in which agents see their tools.
#[proc_macro_attribute]
pub fn routes(arguments: TokenStream, block: TokenStream) -> TokenStream {
    block::expand(arguments.into(), block.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
