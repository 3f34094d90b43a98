//! Turns the response of an operation into the output of a tool: calls the operation, again with a shorter page if its answer is
//! too long, and the operation that names the basis of a record.

use std::collections::HashMap;

use bytes::Bytes;
use serde_json::{Value, value::RawValue};

use super::{
    arguments::ToolCall,
    error::ToolError,
    evidence::EVIDENCE,
    large_pages::{self, MAX_PARSED_BYTES, reserved_note_bytes},
    markdown,
    page::{AnswerContext, Page, count_fitting},
    tool_output::ToolOutput,
    variants::Paging,
};
use crate::{
    error::Error,
    web::in_process::{Caller, InProcessResponse, InProcessRoutes},
};

/// Calls the operation and returns the tool's output.
pub async fn fetch(
    direct: &InProcessRoutes,
    caller: &Caller,
    call: &ToolCall<'_>,
) -> Result<ToolOutput, ToolError> {
    let failed = |error: serde_json::Error| ToolError::internal(&Error::internal(error), caller.request_id());
    let reduced = |bytes: &Bytes| large_pages::without_unselected_fields(call, bytes.clone());
    let response = get_json(direct, caller, call, &call.path_and_query()).await?;
    let context = AnswerContext {
        is_served: direct.serves_files(),
        now: direct.now(),
        evidence: get_evidence(direct, caller, call).await?,
    };
    let bytes = reduced(&response.bytes).map_err(failed)?;
    // The cursor of a full page points past the items that would be truncated, so a shorter page is requested
    // instead. Additions to the response may make it too long.
    let longest = bytes.len() + markdown::max_added_bytes(&bytes) + reserved_note_bytes(call.max_bytes);
    let is_too_long = call.variant.paging == Paging::Cursor && longest > call.max_bytes;
    let truncation =
        if is_too_long { count_items_to_keep(call, &bytes, &context).map_err(failed)? } else { None };
    let Some((fitting, total)) = truncation else {
        return output_of(call, bytes, None, &context).map_err(failed);
    };
    // Releases the memory of the first response.
    drop((bytes, response));
    let response = get_json(direct, caller, call, &call.path_and_query_with_limit(fitting)).await?;
    let bytes = reduced(&response.bytes).map_err(failed)?;
    output_of(call, bytes, Some((fitting, total)), &context).map_err(failed)
}

/// Turns the body of a response into the output. If its list was already truncated, `truncation` is the
/// number of items left, and the number before.
fn output_of(
    call: &ToolCall,
    bytes: Bytes,
    truncation: Option<(usize, usize)>,
    context: &AnswerContext,
) -> serde_json::Result<ToolOutput> {
    let (bytes, range) = match large_pages::requested_items(call, &bytes)? {
        Some((bytes, range)) => (bytes, Some(range)),
        None => (bytes, None),
    };
    let mut page = Page::from_response(call, bytes, range, context)?;
    let truncation = truncation
        .or(range.filter(|range| range.parsed < range.on_page).map(|range| (range.parsed, range.on_page)));
    if truncation.is_some() || page.size() > call.max_bytes {
        // A page of a cursor was requested as short as it has to be; its cursor would skip items that are cut off now.
        let has_cursor = call.variant.paging == Paging::Cursor && truncation.is_some();
        let fitting = if has_cursor { None } else { page.count_fitting_items(call) };
        let truncation = match (fitting, truncation) {
            (Some((fitting, _)), Some((_, total))) => Some((fitting, total)),
            (fitting, truncation) => fitting.or(truncation),
        };
        if let Some((fitting, total)) = truncation {
            page.truncate(call, fitting, total);
        }
    }
    page.shorten(call);
    Ok(page.into_output(call.variant.call.list))
}

/// Calls the operation that names the basis of the record; `None` if the call needs none.
async fn get_evidence(
    direct: &InProcessRoutes,
    caller: &Caller,
    call: &ToolCall<'_>,
) -> Result<Option<String>, ToolError> {
    let Some(path) = &call.evidence_path else { return Ok(None) };
    let response = get_json(direct, caller, call, path).await?;
    let record: Value = serde_json::from_slice(&response.bytes)
        .map_err(|error| ToolError::internal(&Error::internal(error), caller.request_id()))?;
    Ok(record[EVIDENCE].as_str().map(str::to_owned))
}

/// Sends the GET request and returns a successful response.
async fn get_json(
    direct: &InProcessRoutes,
    caller: &Caller,
    call: &ToolCall<'_>,
    address: &str,
) -> Result<InProcessResponse, ToolError> {
    let response = direct.get(caller, address).await;
    let response = response.map_err(|error| ToolError::internal(&error, caller.request_id()))?;
    if response.status != 200 {
        return Err(call.add_id_hint(ToolError::from_response(&response)));
    }
    Ok(response)
}

/// Returns how many of a page's items fit into an output, and how many there are; `None` if all fit. Without
/// a field selection the page is only scanned for item sizes, which costs a fraction of parsing it.
fn count_items_to_keep(
    call: &ToolCall,
    bytes: &Bytes,
    context: &AnswerContext,
) -> serde_json::Result<Option<(usize, usize)>> {
    if !call.fields.is_empty() && bytes.len() <= MAX_PARSED_BYTES {
        let page = Page::from_response(call, bytes.clone(), None, context)?;
        return Ok(if page.size() > call.max_bytes { page.count_fitting_items(call) } else { None });
    }
    let page: HashMap<&str, &RawValue> = serde_json::from_slice(bytes)?;
    let Some(list) = call.variant.call.list.and_then(|list| page.get(list)) else { return Ok(None) };
    let items: Vec<&RawValue> = serde_json::from_str(list.get())?;
    let added = |json: &str| markdown::max_added_bytes(json.as_bytes());
    let sizes: Vec<usize> = items.iter().map(|item| item.get().len() + added(item.get()) + 1).collect();
    Ok(count_fitting(&sizes, bytes.len() + markdown::max_added_bytes(bytes), call.max_bytes))
}
