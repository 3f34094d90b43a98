//! The operations behind a tool, the argument that selects one of them, and how the list in its response is
//! paged.

use std::sync::Arc;

use super::{
    openapi::{GetOperation, GetOperations, Shape},
    table::OperationCall,
};

/// One of the operations behind a tool.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Value of the argument that selects the operation; `None` if there is no choice.
    pub choice: Option<&'static str>,
    /// The operation's ID, and the list in its response.
    pub call: OperationCall,
    /// The operation as the OpenAPI document describes it.
    pub operation: Arc<GetOperation>,
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
    LimitOnly(usize),
    /// The tool pages by offset; the operation returns the full list.
    FullList,
}

impl Variant {
    /// Creates the variant for an operation. Panics if the operation does not exist.
    pub fn new(choice: Option<&'static str>, call: OperationCall, operations: &GetOperations) -> Variant {
        let operation = operations.find(call.operation).expect("the operation of a tool exists");
        Variant { choice, paging: Paging::from_operation(&call, &operation), call, operation }
    }

    /// Whether a page can be selected by the number of items before it.
    pub fn takes_offset(&self) -> bool {
        match self.paging {
            Paging::None => false,
            Paging::Cursor => self.operation.parameter("offset").is_some(),
            Paging::Offset | Paging::LimitOnly(_) | Paging::FullList => true,
        }
    }

    /// Returns the shape of a list item, or of the record if the response has no list.
    pub fn item_shape(&self) -> &Shape {
        let response = &self.operation.response;
        match self.call.list.and_then(|list| response.at_path(list)) {
            Some(Shape::List(item)) => item,
            _ => response,
        }
    }
}

impl Paging {
    fn from_operation(call: &OperationCall, operation: &GetOperation) -> Paging {
        if call.list.is_none() {
            return Paging::None;
        }
        let limit = operation.parameter("limit");
        match limit {
            Some(_) if operation.parameter("cursor").is_some() => Paging::Cursor,
            Some(_) if operation.parameter("offset").is_some() => Paging::Offset,
            Some(limit) => {
                let max = limit.schema.get("maximum").and_then(serde_json::Value::as_u64);
                Paging::LimitOnly(max.expect("the `limit` parameter has a maximum") as usize)
            }
            None => Paging::FullList,
        }
    }
}
