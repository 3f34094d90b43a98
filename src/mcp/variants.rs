//! What a tool calls: an operation, the argument that chooses it, and how the list in its answer goes on.

use std::sync::Arc;

use super::{
    reads::{Read, Reads, Shape},
    table::Call,
};

/// One of the operations that a tool calls.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The value of the argument that chooses it; nothing where there is no choice.
    pub word: Option<&'static str>,
    /// The call.
    pub call: Call,
    /// The operation.
    pub read: Arc<Read>,
    /// How its list goes on.
    pub paging: Paging,
}

/// How the list in an answer goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paging {
    /// There is no list.
    None,
    /// By a cursor of the operation's own.
    Cursor,
    /// By an offset of the operation's own.
    Offset,
    /// By an offset of the tool's; the operation takes a limit, and this is the most that it takes.
    Newest(usize),
    /// By an offset of the tool's; the operation answers all of it.
    Whole,
}

impl Variant {
    /// A call, with the operation that it is of.
    pub fn new(word: Option<&'static str>, call: Call, reads: &Reads) -> Variant {
        let read = reads.find(call.operation).expect("a tool calls an operation that there is");
        Variant { word, paging: Paging::of(&call, &read), call, read }
    }

    /// The shape of what its answer consists of: of a list an item, or else the record.
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
                Paging::Newest(most.expect("a limit has a bound") as usize)
            }
            None => Paging::Whole,
        }
    }
}
