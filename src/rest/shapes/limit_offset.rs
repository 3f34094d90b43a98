//! Query parameters of lists that are paged by limit and offset.

use poem_openapi::Object;
use serde::Serialize;

/// A page of a list of small records.
#[derive(Debug, Object)]
pub struct LimitOffset {
    /// Maximum number of items to return.
    #[oai(default = "default_limit", validator(minimum(value = "1"), maximum(value = "200")))]
    pub limit: u32,
    /// Number of items to skip.
    #[oai(default, validator(minimum(value = "0"), maximum(value = "2147483647")))]
    pub offset: i64,
}

/// A page of a list of large records.
#[derive(Debug, Object)]
pub struct SmallLimitOffset {
    /// Maximum number of items to return.
    #[oai(default = "default_limit", validator(minimum(value = "1"), maximum(value = "100")))]
    pub limit: u32,
    /// Number of items to skip.
    #[oai(default, validator(minimum(value = "0"), maximum(value = "2147483647")))]
    pub offset: i64,
}

/// Default number of records on a page.
pub const fn default_limit() -> u32 {
    50
}

/// A page of a list as JSON.
pub trait OffsetPage: Serialize + 'static {
    /// The items.
    type Item;

    /// Creates a page from its items, the number of items on all pages, and the requested limit and offset.
    fn new(items: Vec<Self::Item>, total: u64, limit: u32, offset: i64) -> Self;
}

/// Declares the JSON type of a page, with the descriptions of its items and of their total.
macro_rules! offset_page {
    ($(#[$meta:meta])* $name:ident of $item:ident: $items:tt, $total:tt) => {
        $(#[$meta])*
        #[derive(Debug, poem_openapi::Object, serde::Serialize)]
        pub struct $name {
            #[doc = $items]
            pub items: Vec<$item>,
            #[doc = $total]
            pub total: u64,
            /// Maximum number of items on the page, as requested.
            pub limit: u32,
            /// Number of items skipped, as requested.
            pub offset: i64,
        }

        impl $crate::rest::shapes::limit_offset::OffsetPage for $name {
            type Item = $item;

            fn new(items: Vec<$item>, total: u64, limit: u32, offset: i64) -> $name {
                $name { items, total, limit, offset }
            }
        }
    };
}

pub(crate) use offset_page;
