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

use super::resources::Resource;
use crate::{
    error::{Error, Result},
    market::Reader,
    operations::{
        access::{Operator, Platform},
        records,
    },
    rest::{
        json::{Json, JsonResult},
        route::Call,
    },
    store::records::{
        Record,
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

/// The items of a page, before they become the JSON of a list.
#[derive(Debug)]
pub struct PageOf<T> {
    /// The items, newest first.
    pub items: Vec<T>,
    /// Cursor of the next page; none on the last page.
    pub next_cursor: Option<String>,
    /// Number of items on all pages; none if there are very many, or if this is not the first page.
    pub total: Option<u64>,
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

        impl From<$crate::rest::operator_api::pages::PageOf<$item>> for $name {
            fn from(page: $crate::rest::operator_api::pages::PageOf<$item>) -> $name {
                let $crate::rest::operator_api::pages::PageOf { items, next_cursor, total } = page;
                $name { items, next_cursor, total }
            }
        }
    };
}

pub(super) use page_of;

/// Responds with a page of a list. `filters` are the query parameters apart from those of the page; a cursor belongs to
/// their JSON.
pub async fn list<T, P>(
    call: Call<Operator>,
    page: PageParams,
    filters: &impl Serialize,
    filter: <T::Record as Record>::Filter,
) -> JsonResult<P>
where
    T: Resource,
    P: From<PageOf<T>> + Serialize,
{
    list_checked::<T, P>(call, page, filters, filter, |_, _| Ok(())).await
}

/// Like [`list`], for what belongs to a record. Fails if there is no record with this ID.
pub async fn list_of<O, T, P>(
    call: Call<Operator>,
    owner: O::Id,
    page: PageParams,
    filters: &impl Serialize,
    filter: <T::Record as Record>::Filter,
) -> JsonResult<P>
where
    O: Record,
    T: Resource,
    P: From<PageOf<T>> + Serialize,
{
    let check = move |reader: &Reader, platform| records::find::<O>(reader.rows, platform, &owner).map(drop);
    list_checked::<T, P>(call, page, filters, filter, check).await
}

async fn list_checked<T, P>(
    call: Call<Operator>,
    page: PageParams,
    filters: &impl Serialize,
    filter: <T::Record as Record>::Filter,
    check: impl FnOnce(&Reader, Platform) -> Result<()> + Send + 'static,
) -> JsonResult<P>
where
    T: Resource,
    P: From<PageOf<T>> + Serialize,
{
    let platform = call.access.platform();
    let list = CursorScope::new(call.route.operation, filters)?;
    Json::read(&call.served, call.access.requester(), move |reader| {
        check(reader, platform)?;
        let rows = records::page::<T::Record>(reader.rows, platform, &filter, list.request(reader, &page)?)?;
        let RowPage { rows, next, total } = rows;
        let context = reader.check_context();
        let items = rows.into_iter().map(|row| T::new(row, &context)).collect();
        let next_cursor = next.map(|row_id| list.cursor(reader, row_id));
        Ok(P::from(PageOf { items, next_cursor, total }))
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
