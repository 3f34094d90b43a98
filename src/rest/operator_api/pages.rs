//! Lists: newest first, in pages that continue at a cursor.
//!
//! A cursor is the row ID at which the page begins, signed together with the operation and its filters, so that it is
//! rejected for any other list.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use poem_openapi::{
    Object,
    types::{ParseFromJSON, ToJSON, Type},
};
use serde::Serialize;
use uuid::Uuid;

use super::resources::Resource;
use crate::{
    error::{Error, Result},
    market::Reader,
    operations::{access::ReadingProof, records},
    rest::{
        arguments::params::Params,
        json::{Json, JsonResult},
        route::Call,
    },
    store::records::{
        Filters,
        pages::{PageRequest, RowPage},
    },
};

/// Number of bytes of the signature in a cursor.
const MAC_BYTES: usize = 10;

/// Number of bytes of the row ID in a cursor.
const ID_BYTES: usize = 8;

/// Which page of a list to return.
#[derive(Debug, Object)]
pub struct PageParams {
    /// Maximum number of items on the page.
    #[oai(default = "default_limit", validator(minimum(value = "1"), maximum(value = "100")))]
    limit: u32,
    /// The `next_cursor` of the page before. The filters must be the same; the limit may differ.
    cursor: Option<String>,
}

const fn default_limit() -> u32 {
    24
}

/// The query of a list: which page to return, and what the list is filtered by.
#[derive(Debug, Object)]
pub struct ListQuery<F: Type + ParseFromJSON + ToJSON> {
    /// The page.
    #[oai(flatten)]
    pub page: PageParams,
    /// The filters.
    #[oai(flatten)]
    pub filters: F,
}

/// What lists can be filtered by that have no other filter.
#[derive(Debug, Object, Serialize)]
pub struct TeamFilter {
    /// ID of the team.
    team_id: Option<Uuid>,
}

/// The JSON of a page.
pub trait Page: Serialize + Sized + Send + 'static {
    /// The JSON of an item.
    type Item: Resource;

    /// Creates a page of these items, newest first, with the cursor of the next page, and the number of items on all pages.
    fn new(items: Vec<Self::Item>, next_cursor: Option<String>, total: Option<u64>) -> Self;
}

/// Declares the JSON type of a page.
macro_rules! page_of {
    ($(#[$meta:meta])* $name:ident, $item:ty) => {
        $(#[$meta])*
        #[derive(Debug, poem_openapi::Object, serde::Serialize)]
        pub struct $name {
            /// The items, newest first.
            pub items: Vec<$item>,
            /// Cursor of the next page; null on the last page.
            pub next_cursor: Option<String>,
            /// Number of items on all pages; null if there are more than 10,000, and on all pages but the first.
            pub total: Option<u64>,
        }

        impl $crate::rest::operator_api::pages::Page for $name {
            type Item = $item;

            fn new(items: Vec<$item>, next_cursor: Option<String>, total: Option<u64>) -> $name {
                $name { items, next_cursor, total }
            }
        }
    };
}

/// The record that the items of a list belong to: the name of the filter, and the ID.
pub type Owner = (&'static str, Uuid);

pub(super) use page_of;

/// Responds with a page of a list.
pub async fn list<P, F>(call: Call<impl ReadingProof>, query: Params<ListQuery<F>>) -> JsonResult<P>
where
    P: Page,
    F: Type + ParseFromJSON + ToJSON + Serialize,
{
    let ListQuery { page, filters } = query.0;
    list_rows(call, page, &filters, filters_of(&filters)).await
}

/// Responds with a page of a list without filters.
pub async fn list_all<P>(call: Call<impl ReadingProof>, page: Params<PageParams>) -> JsonResult<P>
where
    P: Page,
{
    list_rows(call, page.0, &(), Filters::default()).await
}

/// Like [`list`], for what belongs to the record with an ID.
pub async fn list_of<P, F>(
    call: Call<impl ReadingProof>,
    owner: Owner,
    query: Params<ListQuery<F>>,
) -> JsonResult<P>
where
    P: Page,
    F: Type + ParseFromJSON + ToJSON + Serialize,
{
    let ListQuery { page, filters } = query.0;
    let values = filters_of(&filters).with(owner.0, owner.1.to_string());
    list_rows(call, page, &(owner.1, &filters), values).await
}

/// Like [`list_all`], for what belongs to the record with an ID.
pub async fn list_all_of<P>(
    call: Call<impl ReadingProof>,
    owner: Owner,
    page: Params<PageParams>,
) -> JsonResult<P>
where
    P: Page,
{
    let filters = Filters::default().with(owner.0, owner.1.to_string());
    list_rows(call, page.0, &owner.1, filters).await
}

/// Returns the filters of a query, by their names on the wire.
pub fn filters_of(filters: &impl ToJSON) -> Filters {
    Filters::new(filters.to_json().unwrap_or_default())
}

/// Responds with a page of the rows that the filters allow. A cursor belongs to the JSON of `scope`, which has the parameters
/// of the request.
pub async fn list_rows<P>(
    call: Call<impl ReadingProof>,
    page: PageParams,
    scope: &impl Serialize,
    filters: Filters,
) -> JsonResult<P>
where
    P: Page,
{
    let platform = call.access.platform();
    let list = CursorScope::new(call.route.operation, scope)?;
    Json::read(&call.served, call.access.requester(), move |reader| {
        let request = list.request(reader, &page)?;
        let RowPage { rows, next, total } =
            records::page(reader.rows, platform, reader.now, &filters, request)?;
        let context = reader.check_context();
        let items = rows.into_iter().map(|row| P::Item::new(row, &context)).collect();
        Ok(P::new(items, next.map(|row_id| list.cursor(reader, row_id)), total))
    })
    .await
}

/// The list that a cursor belongs to.
pub struct CursorScope(Vec<u8>);

impl CursorScope {
    /// Creates the scope of an operation with these filters.
    pub fn new(operation: &str, filters: &impl Serialize) -> Result<CursorScope> {
        let mut bytes = operation.as_bytes().to_vec();
        bytes.push(0);
        serde_json::to_writer(&mut bytes, filters).map_err(Error::internal)?;
        Ok(CursorScope(bytes))
    }

    /// Returns the request for a page. Fails if the cursor is not one of this list.
    pub fn request(&self, reader: &Reader, page: &PageParams) -> Result<PageRequest> {
        let before = page.cursor.as_deref().map(|cursor| self.row_id(reader, cursor)).transpose()?;
        Ok(PageRequest { before, limit: page.limit })
    }

    /// Returns the cursor of the page that begins below a row: 24 characters of base64url.
    pub fn cursor(&self, reader: &Reader, row_id: i64) -> String {
        let mac = &reader.cursor_key.sign(&self.signed_bytes(row_id))[..MAC_BYTES];
        URL_SAFE_NO_PAD.encode([mac, &masked(row_id.to_be_bytes(), mac)].concat())
    }

    fn row_id(&self, reader: &Reader, cursor: &str) -> Result<i64> {
        let decoded = if cursor.len() == (ID_BYTES + MAC_BYTES) * 4 / 3 {
            URL_SAFE_NO_PAD.decode(cursor).ok()
        } else {
            None
        };
        let bytes = decoded.ok_or(Error::InvalidCursor)?;
        let (mac, row_id) = bytes.split_last_chunk::<ID_BYTES>().ok_or(Error::InvalidCursor)?;
        let row_id = i64::from_be_bytes(masked(*row_id, mac));
        let is_valid = reader.cursor_key.verify(&self.signed_bytes(row_id), mac);
        if is_valid { Ok(row_id) } else { Err(Error::InvalidCursor) }
    }

    fn signed_bytes(&self, row_id: i64) -> Vec<u8> {
        [&row_id.to_be_bytes()[..], &self.0].concat()
    }
}

/// Combines the bytes of a row ID with those of the MAC, so that a cursor has no long run of one character, which models
/// and people miscopy. Applied twice, it returns the row ID.
fn masked(mut row_id: [u8; ID_BYTES], mac: &[u8]) -> [u8; ID_BYTES] {
    row_id.iter_mut().zip(mac).for_each(|(byte, mask)| *byte ^= mask);
    row_id
}
