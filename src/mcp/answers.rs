//! What an operation answered, made fit for an agent: cleaned, in pages, narrowed to the fields that were asked for, and cut
//! where it is too long, with how to go on.

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

/// Bytes of JSON that an answer has at most.
pub const MOST_BYTES: usize = 60_000;

/// Bytes of them that are kept for saying what was cut.
const FOR_WORDS: usize = 2_500;

/// Parts that an answer says were shortened, at most.
const MOST_CUTS: usize = 8;

/// What is said where a filter may be the reason that nothing was found.
const NOTHING: &str = "Nothing matches all of this. Slugs and statuses match exactly, and one that nothing has matches nothing: \
                       take them from list_taxonomy or `facets`, and leave out one argument after the other.";

/// A field of a page that always says where it goes on.
const SIGNPOSTS: [&str; 5] = ["total", LIMIT, OFFSET, "next_cursor", "locked"];

/// An answer, and the same as text.
#[derive(Debug)]
pub struct Answer {
    /// The answer: an object.
    pub value: Value,
    /// Its JSON.
    pub text: String,
}

impl Answer {
    /// The JSON of a value.
    pub fn of(value: Value) -> Answer {
        // Faster than `to_string`, which goes through a formatter.
        Answer { text: serde_json::to_string(&value).expect("a value is JSON"), value }
    }
}

/// What an operation answers to what was asked.
pub async fn fetch(direct: &Direct, caller: &Caller, asked: &Asked<'_>) -> Result<Answer, Fault> {
    let failed = |error: serde_json::Error| Fault::internal(&Error::internal(error), caller.request_id());
    let bytes = get(direct, caller, asked, &asked.address()).await?;
    // The cursor of a whole page leads past what would be cut, so a shorter page is asked for.
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

/// The JSON of a GET.
async fn get(direct: &Direct, caller: &Caller, asked: &Asked<'_>, address: &str) -> Result<Bytes, Fault> {
    let answer = direct.get(caller, address).await;
    let answer = answer.map_err(|error| Fault::internal(&error, caller.request_id()))?;
    if answer.status != 200 {
        return Err(asked.advise(Fault::of(&answer)));
    }
    Ok(answer.bytes)
}

/// How many of a page's items fit into an answer, and how many there are; nothing where all of them do. Without fields to
/// choose the page is only looked over, which costs a fraction of reading it.
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

/// How many items of these sizes fit into an answer that has so many bytes in all, at least one, and how many there are;
/// nothing where all of them do.
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
    /// What the tool says besides.
    said: Map<String, Value>,
    /// The operation's own JSON of the value, where nothing of it was changed.
    unchanged: Option<Bytes>,
    /// Where the parts of the value lay in the operation's answer.
    origin: Origin,
}

impl Page {
    /// The page that was asked for, made of what the operation answered.
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

    /// Bytes of the answer.
    fn size(&self) -> usize {
        let value = self.unchanged.as_ref().map_or_else(|| size(&self.value), Bytes::len);
        value + size(&self.said)
    }

    /// What is answered. Where nothing of the operation's JSON was changed it is the text, in its own order.
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

    /// How many of the list's items fit, and how many there are; nothing where there is no list, or all of it fits.
    fn fitting(&self, asked: &Asked) -> Option<(usize, usize)> {
        let items = self.value[asked.variant.call.list?].as_array()?;
        let sizes: Vec<usize> = items.iter().map(|item| size(item) + 1).collect();
        fitting(&sizes, self.size())
    }

    /// Leaves the first items of the list, and says how to go on.
    fn truncate(&mut self, asked: &Asked, count: usize, of: usize) {
        let list = asked.variant.call.list.unwrap_or_default();
        let Some(Value::Array(items)) = self.value.get_mut(list) else { return };
        if items.len() > count {
            items.truncate(count);
            self.unchanged = None;
        }
        let count = items.len();
        let next = if asked.variant.paging == Paging::Cursor {
            // In front of the browse gate a page leads nowhere.
            let leads_on = self.value["next_cursor"].is_string();
            leads_on.then(|| "Go on with `cursor`: the `next_cursor` of this answer. ".to_owned())
        } else {
            self.say(NEXT_OFFSET, json!(asked.offset + count));
            Some(format!("Go on with `{OFFSET}` {}. ", asked.offset + count))
        };
        self.say_cut(&format!(
            "{count} of {of} items are shown, since an answer has at most {MOST_BYTES} bytes. {}`fields` makes room for more.",
            next.unwrap_or_default()
        ));
    }

    /// Shortens the longest parts until the answer fits, and says how to see the rest.
    fn shorten(&mut self, asked: &Asked) {
        if self.size() <= MOST_BYTES {
            return;
        }
        self.unchanged = None;
        let around = size(&self.said) + FOR_WORDS;
        let variant = asked.variant;
        // Of a page only its first item is left if that is too long by itself; ways then lead from the item.
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
            self.say_cut(&format!("`{way}` shows {shown} of {of}; the rest: `fields` [\"{rest}\"]."));
        }
        if cuts.len() > most {
            self.say_cut("So are others; ask for them by their names.");
        }
    }

    fn say_cut(&mut self, words: &str) {
        let before =
            self.said.get(CUT).and_then(Value::as_str).map(|before| format!("{before} ")).unwrap_or_default();
        self.say(CUT, json!(format!("{before}{words}")));
    }
}

/// The parts of an answer that were asked for, some, and where they lay. Of a page the ways go for each item, or for the page
/// where they begin with the name of a part of it.
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
