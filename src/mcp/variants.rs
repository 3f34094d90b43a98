//! The operations behind a tool, the argument that selects one of them, and how the list in its response is
//! paged.

use std::sync::Arc;

use super::{
    reads::{Read, Reads, Shape},
    table::Call,
};

/// One of the operations behind a tool.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Value of the argument that selects the operation; `None` if there is no choice.
    pub word: Option<&'static str>,
    /// The operation's ID, and the list in its response.
    pub call: Call,
    /// The operation as the OpenAPI document describes it.
    pub read: Arc<Read>,
    /// How the list in its response is paged.
    pub paging: Paging,
}

/// How the list in a response is paged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paging {
    /// The response has no list.
    None,
    /// The operation pages by cursor.
    Cursor,
    /// The operation pages by offset.
    Offset,
    /// The tool pages by offset; the operation takes only a limit, whose maximum this is.
    Newest(usize),
    /// The tool pages by offset; the operation returns the full list.
    Whole,
}

impl Variant {
    /// Creates the variant for an operation. Panics if the operation does not exist.
    pub fn new(word: Option<&'static str>, call: Call, reads: &Reads) -> Variant {
        let read = reads.find(call.operation).expect("the operation of a tool exists");
        Variant { word, paging: Paging::of(&call, &read), call, read }
    }

    /// Returns the shape of a list item, or of the record if the response has no list.
    pub fn subject(&self) -> &Shape {
        let answer = &self.read.answer;
        match self.call.list.and_then(|list| answer.at(list)) {
            Some(Shape::List(item)) => item,
            _ => answer,
        }
    }
}

impl Paging {
    fn of(call: &Call, read: &Read) -> Paging {
        if call.list.is_none() {
            return Paging::None;
        }
        let limit = read.parameter("limit");
        match limit {
            Some(_) if read.parameter("cursor").is_some() => Paging::Cursor,
            Some(_) if read.parameter("offset").is_some() => Paging::Offset,
            Some(limit) => {
                let most = limit.schema.get("maximum").and_then(serde_json::Value::as_u64);
                Paging::Newest(most.expect("the `limit` parameter has a maximum") as usize)
            }
            None => Paging::Whole,
        }
    }
}
