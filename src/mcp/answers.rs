//! Turns the response of an operation into the output of a tool: sanitized, paged, reduced to the requested
//! fields, and truncated if it is too long, with directions for getting the rest.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write as _,
};

use bytes::Bytes;
use serde_json::{Map, Value, json, value::RawValue};

use super::{
    arguments::Asked,
    cleaning,
    cutting::{self, Cut, size},
    failures::Fault,
    fields::{self, Origin, Way},
    schemas::{CUT, LIMIT, NEXT_OFFSET, NOTICE, OFFSET},
    variants::Paging,
};
use crate::{
    error::Error,
    rest::{Caller, Direct},
};

/// Maximum size of a tool's output, in bytes of JSON.
pub const MOST_BYTES: usize = 60_000;

/// Bytes of the maximum size that are reserved for the truncation notes.
const FOR_WORDS: usize = 2_500;

/// Maximum number of truncated parts that are described in one output.
const MOST_CUTS: usize = 8;

/// Notice for an empty list if a filter may be the reason.
const NOTHING: &str = "Nothing matches all of these arguments. Slugs and statuses match exactly, and unknown \
                       ones match nothing: take them from list_taxonomy or `facets`, and drop arguments one \
                       at a time.";

/// Page fields that are always returned, whatever `fields` selects, because an agent needs them to continue.
const SIGNPOSTS: [&str; 5] = ["total", LIMIT, OFFSET, "next_cursor", "locked"];

/// The output of a tool, as a value and as text.
#[derive(Debug)]
pub struct Answer {
    /// The output; always an object.
    pub value: Value,
    /// The same output as JSON text.
    pub text: String,
}

impl Answer {
    /// Creates the output from a value.
    pub fn of(value: Value) -> Answer {
        // Faster than `Value::to_string`, which goes through a formatter.
        Answer { text: serde_json::to_string(&value).expect("a value serializes to JSON"), value }
    }
}

/// Calls the operation and returns the tool's output.
pub async fn fetch(direct: &Direct, caller: &Caller, asked: &Asked<'_>) -> Result<Answer, Fault> {
    let failed = |error: serde_json::Error| Fault::internal(&Error::internal(error), caller.request_id());
    let bytes = get(direct, caller, asked, &asked.address()).await?;
    // The cursor of a full page points past the items that would be truncated, so a shorter page is requested
    // instead.
    let shorter = if asked.variant.paging == Paging::Cursor && bytes.len() > MOST_BYTES {
        too_long(asked, &bytes).map_err(failed)?
    } else {
        None
    };
    let mut page = match shorter {
        Some((fitting, of)) => {
            let bytes = get(direct, caller, asked, &asked.shorter(fitting)).await?;
            let mut page = Page::of(asked, bytes).map_err(failed)?;
            page.truncate(asked, fitting, of);
            page
        }
        None => Page::of(asked, bytes).map_err(failed)?,
    };
    if page.size() > MOST_BYTES {
        if let Some((fitting, of)) = page.fitting(asked) {
            page.truncate(asked, fitting, of);
        }
        page.shorten(asked);
    }
    Ok(page.answer())
}

/// Sends the GET request and returns the JSON body of a successful response.
async fn get(direct: &Direct, caller: &Caller, asked: &Asked<'_>, address: &str) -> Result<Bytes, Fault> {
    let answer = direct.get(caller, address).await;
    let answer = answer.map_err(|error| Fault::internal(&error, caller.request_id()))?;
    if answer.status != 200 {
        return Err(asked.advise(Fault::of(&answer)));
    }
    Ok(answer.bytes)
}

/// Returns how many of a page's items fit into an output, and how many there are; `None` if all fit. Without
/// a field selection the page is only scanned for item sizes, which costs a fraction of parsing it.
fn too_long(asked: &Asked, bytes: &Bytes) -> serde_json::Result<Option<(usize, usize)>> {
    if !asked.fields.is_empty() {
        let page = Page::of(asked, bytes.clone())?;
        return Ok(if page.size() > MOST_BYTES { page.fitting(asked) } else { None });
    }
    let page: HashMap<&str, &RawValue> = serde_json::from_slice(bytes)?;
    let Some(list) = asked.variant.call.list.and_then(|list| page.get(list)) else { return Ok(None) };
    let items: Vec<&RawValue> = serde_json::from_str(list.get())?;
    let sizes: Vec<usize> = items.iter().map(|item| item.get().len() + 1).collect();
    Ok(fitting(&sizes, bytes.len()))
}

/// Returns how many items of the given sizes fit into an output of `whole` bytes (at least one), and how many
/// there are; `None` if all fit.
fn fitting(sizes: &[usize], whole: usize) -> Option<(usize, usize)> {
    let around = whole.saturating_sub(sizes.iter().sum());
    let room = (MOST_BYTES - FOR_WORDS).saturating_sub(around);
    let mut used = 0;
    let fit = |size: &&usize| {
        used += **size;
        used <= room
    };
    let fitting = sizes.iter().take_while(fit).count().max(1);
    (fitting < sizes.len()).then_some((fitting, sizes.len()))
}

/// A page of a list, or a record.
struct Page {
    value: Value,
    /// Fields that the tool adds to the response.
    said: Map<String, Value>,
    /// The operation's response body, if the value is unchanged from it.
    unchanged: Option<Bytes>,
    /// Positions of the value's parts in the operation's response.
    origin: Origin,
}

impl Page {
    /// Creates the requested page from an operation's response body.
    fn of(asked: &Asked, bytes: Bytes) -> serde_json::Result<Page> {
        let mut value: Value = serde_json::from_slice(&bytes)?;
        let mut is_unchanged = cleaning::is_plain_json(&bytes);
        if !is_unchanged {
            cleaning::clean(&mut value);
        }
        let list = asked.variant.call.list.unwrap_or_default();
        let total = value["total"].as_u64().or_else(|| value["counts"]["all"].as_u64());
        let paging = asked.variant.paging;
        let (mut shown, mut next) = (0, None);
        if let Some(Value::Array(items)) = value.get_mut(list) {
            let before = items.len();
            if matches!(paging, Paging::Whole | Paging::Newest(_)) {
                next = (before > asked.offset + asked.limit).then(|| asked.offset + asked.limit);
                *items = items.drain(..).skip(asked.offset).take(asked.limit).collect();
                is_unchanged &= items.len() == before;
            } else if paging == Paging::Offset {
                let end = asked.offset + before;
                next = (before > 0 && total.is_some_and(|total| total > end as u64)).then_some(end);
            }
            shown = items.len();
        }
        let mut origin = Origin::Same;
        if !asked.fields.is_empty() {
            (value, origin) = narrowed(value, asked);
            is_unchanged = false;
        }
        let unchanged = is_unchanged.then_some(bytes);
        let mut page = Page { said: Map::new(), unchanged, origin, value };
        if !matches!(paging, Paging::None | Paging::Cursor) {
            page.say(NEXT_OFFSET, json!(next));
        }
        let is_empty = shown == 0 && asked.variant.call.list.is_some();
        let notice = match cleaning::notice(&page.value) {
            _ if is_empty && asked.is_filtered && asked.offset == 0 => Some(NOTHING.to_owned()),
            notice => notice.filter(|_| asked.row.is_written_by_teams),
        };
        if let Some(notice) = notice {
            page.say(NOTICE, json!(notice));
        }
        Ok(page)
    }

    fn say(&mut self, name: &str, value: Value) {
        self.said.insert(name.to_owned(), value);
    }

    /// Returns the size of the output in bytes.
    fn size(&self) -> usize {
        let value = self.unchanged.as_ref().map_or_else(|| size(&self.value), Bytes::len);
        value + size(&self.said)
    }

    /// Returns the output. If the value is unchanged, the text is the operation's JSON, with its order of
    /// fields.
    fn answer(self) -> Answer {
        let Page { mut value, said, unchanged, .. } = self;
        let whole = unchanged.as_ref().and_then(|bytes| std::str::from_utf8(bytes).ok()?.strip_suffix('}'));
        let text = whole.map(|whole| {
            let mut text = String::with_capacity(whole.len() + FOR_WORDS);
            text.push_str(whole);
            for (name, value) in &said {
                let _ = write!(text, ",{}:{value}", json!(name));
            }
            text.push('}');
            text
        });
        if let Value::Object(fields) = &mut value {
            fields.extend(said);
        }
        match text {
            Some(text) => Answer { value, text },
            None => Answer::of(value),
        }
    }

    /// Returns how many of the list's items fit, and how many there are; `None` if there is no list or all
    /// items fit.
    fn fitting(&self, asked: &Asked) -> Option<(usize, usize)> {
        let items = self.value[asked.variant.call.list?].as_array()?;
        let sizes: Vec<usize> = items.iter().map(|item| size(item) + 1).collect();
        fitting(&sizes, self.size())
    }

    /// Keeps the first `count` items of the list, and adds a note on how to get the rest.
    fn truncate(&mut self, asked: &Asked, count: usize, of: usize) {
        let list = asked.variant.call.list.unwrap_or_default();
        let Some(Value::Array(items)) = self.value.get_mut(list) else { return };
        if items.len() > count {
            items.truncate(count);
            self.unchanged = None;
        }
        let count = items.len();
        let next = if asked.variant.paging == Paging::Cursor {
            // A page behind the browse gate has no next page.
            let leads_on = self.value["next_cursor"].is_string();
            leads_on.then(|| "Continue with `cursor` set to `next_cursor`. ".to_owned())
        } else {
            self.say(NEXT_OFFSET, json!(asked.offset + count));
            Some(format!("Continue with `{OFFSET}` {}. ", asked.offset + count))
        };
        self.say_cut(&format!(
            "{count} of {of} items are shown, because a response has at most {MOST_BYTES} bytes. {}Select \
             fewer `fields` to fit more.",
            next.unwrap_or_default()
        ));
    }

    /// Truncates the longest parts until the output fits, and adds notes on how to get the rest.
    fn shorten(&mut self, asked: &Asked) {
        if self.size() <= MOST_BYTES {
            return;
        }
        self.unchanged = None;
        let around = size(&self.said) + FOR_WORDS;
        let variant = asked.variant;
        // If a page's only remaining item is still too long, the item itself is truncated, and paths start
        // from the item.
        let list = variant
            .call
            .list
            .filter(|list| self.value[*list].as_array().is_some_and(|items| items.len() == 1));
        let cuts = match list.map(|list| (list, size(&self.value[list]))) {
            Some((list, length)) if length * 2 > size(&self.value) => {
                let room = MOST_BYTES.saturating_sub(around + size(&self.value) - length);
                let origin = self.origin.within(Some(list), 0).within(None, 0);
                cutting::shorten(&mut self.value[list][0], variant.subject(), origin, room)
            }
            _ => cutting::shorten(
                &mut self.value,
                &variant.read.answer,
                &self.origin,
                MOST_BYTES.saturating_sub(around),
            ),
        };
        let most = cuts.len().min(MOST_CUTS);
        for Cut { way, shown, of, rest } in &cuts[..most] {
            self.say_cut(&format!(
                "`{way}` shows {shown} of {of}; for the rest, set `fields` to [\"{rest}\"]."
            ));
        }
        if cuts.len() > most {
            self.say_cut("More fields were truncated; request them by name.");
        }
    }

    fn say_cut(&mut self, words: &str) {
        let before =
            self.said.get(CUT).and_then(Value::as_str).map(|before| format!("{before} ")).unwrap_or_default();
        self.say(CUT, json!(format!("{before}{words}")));
    }
}

/// Reduces a value to the selected fields (at least one), and returns it with the original positions of its
/// parts. On a page, paths apply to each item, or to the page itself if they start with one of its other
/// fields.
fn narrowed(value: Value, asked: &Asked) -> (Value, Origin) {
    let (list, mut fields) = match (asked.variant.call.list, value) {
        (Some(list), Value::Object(fields)) => (list, fields),
        (_, value) => return fields::keep(value, &asked.fields),
    };
    let subject = asked.variant.subject();
    let is_of_item = |way: &Way| way.first().is_some_and(|name| subject.at(name).is_some());
    let (of_items, of_page): (Vec<Way>, Vec<Way>) = asked.fields.iter().cloned().partition(is_of_item);
    let items = fields.remove(list).unwrap_or_default();
    let signposts: Map<String, Value> =
        SIGNPOSTS.iter().filter_map(|name| fields.remove_entry(*name)).collect();
    let (page, origin) = fields::keep(Value::Object(fields), &of_page);
    let (mut page, mut origins) = match (page, origin) {
        (Value::Object(page), Origin::Fields(origins)) => (page, origins),
        (Value::Object(page), _) => (page, BTreeMap::new()),
        _ => (Map::new(), BTreeMap::new()),
    };
    page.extend(signposts);
    if !of_items.is_empty() {
        let (items, origin) = fields::keep(items, &of_items);
        page.insert(list.to_owned(), items);
        origins.insert(list.to_owned(), origin);
    }
    (Value::Object(page), Origin::Fields(origins))
}
