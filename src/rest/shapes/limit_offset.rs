//! Query parameters of lists that are paged by limit and offset.

use poem_openapi::Object;

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

/// A page of a list, from which handlers build their response types.
#[derive(Debug)]
pub struct Page<T> {
    /// The items, in the requested order.
    pub items: Vec<T>,
    /// Number of items that match, on all pages.
    pub total: u64,
    /// Maximum number of items on the page, as requested.
    pub limit: u32,
    /// Number of items skipped, as requested.
    pub offset: i64,
}
