//! Which records of a list are asked for, where a list is read by offset.

use poem_openapi::Object;

/// A slice of a list of small records.
#[derive(Debug, Object)]
pub struct Slice {
    /// Records at most.
    #[oai(default = "usual_limit", validator(minimum(value = "1"), maximum(value = "200")))]
    pub limit: u32,
    /// Records to pass over.
    #[oai(default, validator(minimum(value = "0"), maximum(value = "2147483647")))]
    pub offset: i64,
}

/// A slice of a list of large records.
#[derive(Debug, Object)]
pub struct ShortSlice {
    /// Records at most.
    #[oai(default = "usual_limit", validator(minimum(value = "1"), maximum(value = "100")))]
    pub limit: u32,
    /// Records to pass over.
    #[oai(default, validator(minimum(value = "0"), maximum(value = "2147483647")))]
    pub offset: i64,
}

fn usual_limit() -> u32 {
    50
}
