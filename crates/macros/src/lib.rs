//! The attribute by which handlers declare their routes, and the derive macro by which structs are read from rows. Each reads one
//! statement of each fact, and writes what the web framework, the table of routes, and rusqlite need.

mod argument;
mod block;
mod handler;
mod row;
#[cfg(test)]
mod tests;
mod text;

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
/// - In a macro that declares several APIs, the path and the doc comments can be `concat!` of string literals.
///
/// The order of the handlers is the order in which agents see their tools.
#[proc_macro_attribute]
pub fn routes(arguments: TokenStream, block: TokenStream) -> TokenStream {
    block::expand(arguments.into(), block.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Implements `FromRow`: each field is read from the column of its name.
///
/// ```ignore
/// #[derive(FromRow)]
/// pub struct Notification {
///     pub id: Uuid,
///     #[row(name = "type")]
///     pub kind: NotificationType,
///     #[row(json)]
///     pub params: Params,
/// }
/// ```
///
/// - `name` is the name of the column if it is another.
/// - `json` reads a text as JSON, where NULL is `null`.
/// - `default` reads NULL as the default value.
/// - `pair("a", "b")` reads an optional pair, which is absent if one of both columns is NULL.
/// - `flatten` reads the field from the row, and not from a column, and `with = read_state` by this function.
/// - `#[row(by_position)]` on the struct reads the columns in the order of the fields, which costs less than by their names. A
///   pair then has no names, and a struct in a flattened field is read by position, too.
#[proc_macro_derive(FromRow, attributes(row))]
pub fn from_row(item: TokenStream) -> TokenStream {
    row::expand(item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
