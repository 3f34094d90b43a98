//! What an operation answered, made fit for an agent: cleaned, in pages, narrowed to the fields that were asked for, and cut
//! where it is too long, with how to go on.

use std::{fmt::Write as _, io};

use bytes::Bytes;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{
    arguments::Asked,
    cleaning,
    failures::Fault,
    fields::{self, Way},
    schemas::{CUT, LIMIT, NEXT_OFFSET, NOTICE, OFFSET},
    tools::Paging,
};
use crate::{
    error::Error,
    rest::{Caller, Direct},
};

/// Bytes of JSON that an answer has at most.
pub const MOST_BYTES: usize = 60_000;

/// Bytes of them that are kept for saying what was cut.
const FOR_WORDS: usize = 1_000;

/// How many times an answer is looked at for what else can go: each time the longest part of it goes.
const ROUNDS: usize = 32;

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
    let mut page = Page::fetch(direct, caller, asked, &asked.address()).await?;
    if page.size() > MOST_BYTES {
        if let Some(fitting) = page.fitting(asked) {
            if asked.variant.paging == Paging::Cursor {
                // The cursor of a whole page leads past what is cut, so a shorter page is asked for.
                let shorter = Page::fetch(direct, caller, asked, &asked.shorter(fitting)).await?;
                page = Page { asked_for: page.asked_for, ..shorter };
            }
            page.truncate(asked, fitting);
        }
        page.shorten(asked);
    }
    Ok(page.answer())
}

/// A page of a list, or a record.
struct Page {
    value: Value,
    /// What the tool says besides.
    said: Map<String, Value>,
    /// The operation's own JSON of the value, where nothing of it was changed.
    unchanged: Option<Bytes>,
    /// Items that a page of this size would have.
    asked_for: usize,
}

impl Page {
    async fn fetch(
        direct: &Direct,
        caller: &Caller,
        asked: &Asked<'_>,
        address: &str,
    ) -> Result<Page, Fault> {
        let failed = |error: &Error| Fault::internal(error, caller.request_id());
        let answer = direct.get(caller, address).await.map_err(|error| failed(&error))?;
        if answer.status != 200 {
            return Err(Fault::of(&answer).advised(asked));
        }
        Page::of(asked, answer.bytes).map_err(|error| failed(&Error::internal(error)))
    }

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
        if !asked.fields.is_empty() {
            value = narrowed(value, asked);
            is_unchanged = false;
        }
        let unchanged = is_unchanged.then_some(bytes);
        let mut page = Page { said: Map::new(), unchanged, asked_for: shown, value };
        if !matches!(paging, Paging::None | Paging::Cursor) {
            page.say(NEXT_OFFSET, json!(next));
        }
        let is_empty = shown == 0 && asked.variant.call.list.is_some();
        let notice = match cleaning::notice(&page.value) {
            _ if is_empty && asked.is_filtered && asked.offset == 0 => Some(NOTHING.to_owned()),
            notice => notice.filter(|_| asked.is_written_by_teams),
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

    /// How many of the list's items fit, at least one; nothing where there is no list, or all of it fits.
    fn fitting(&self, asked: &Asked) -> Option<usize> {
        let items = self.value[asked.variant.call.list?].as_array()?;
        let sizes: Vec<usize> = items.iter().map(|item| size(item) + 1).collect();
        let around = self.size().saturating_sub(sizes.iter().sum());
        let room = (MOST_BYTES - FOR_WORDS).saturating_sub(around);
        let mut used = 0;
        let fitting = sizes
            .iter()
            .take_while(|size| {
                used += **size;
                used <= room
            })
            .count();
        let fitting = fitting.max(1);
        (fitting < items.len()).then_some(fitting)
    }

    /// Leaves the first items of the list, and says how to go on.
    fn truncate(&mut self, asked: &Asked, count: usize) {
        let list = asked.variant.call.list.unwrap_or_default();
        let Some(Value::Array(items)) = self.value.get_mut(list) else { return };
        items.truncate(count);
        let count = items.len();
        self.unchanged = None;
        let next = if asked.variant.paging == Paging::Cursor {
            // In front of the browse gate a page leads nowhere.
            let leads_on = self.value["next_cursor"].is_string();
            leads_on.then(|| "Go on with `cursor`: the `next_cursor` of this answer. ".to_owned())
        } else {
            self.say(NEXT_OFFSET, json!(asked.offset + count));
            Some(format!("Go on with `{OFFSET}` {}. ", asked.offset + count))
        };
        self.say_cut(&format!(
            "{count} of {} items are shown, since an answer has at most {MOST_BYTES} bytes. {}`fields` makes room for more.",
            self.asked_for,
            next.unwrap_or_default()
        ));
    }

    /// Shortens the longest parts until the answer fits, and says how to see the rest.
    fn shorten(&mut self, asked: &Asked) {
        for _ in 0..ROUNDS {
            let Some(excess) = self.size().checked_sub(MOST_BYTES + 1) else { return };
            self.unchanged = None;
            let mut place = Place::default();
            let Some((shown, of)) = place.shorten_longest(&mut self.value, excess + FOR_WORDS) else {
                return;
            };
            let list = asked.variant.call.list.unwrap_or_default();
            let behind = place.behind(list, &asked.fields, shown);
            self.say_cut(&format!(
                "`{}` shows {shown} of {of}; the rest: `fields` [\"{behind}\"].",
                place.path(list)
            ));
        }
    }

    fn say_cut(&mut self, words: &str) {
        let before =
            self.said.get(CUT).and_then(Value::as_str).map(|before| format!("{before} ")).unwrap_or_default();
        self.say(CUT, json!(format!("{before}{words}")));
    }
}

/// The parts of an answer that were asked for, some. Of a page the ways go for each item, or for the page where they begin with
/// the name of a part of it.
fn narrowed(value: Value, asked: &Asked) -> Value {
    let (list, mut fields) = match (asked.variant.call.list, value) {
        (Some(list), Value::Object(fields)) => (list, fields),
        (_, value) => return fields::keep(value, &asked.fields),
    };
    let subject = asked.variant.subject();
    let is_of_item = |way: &&Way| way.first().is_some_and(|name| subject.at(name).is_some());
    let (of_items, of_page): (Vec<&Way>, Vec<&Way>) = asked.fields.iter().partition(is_of_item);
    let items = fields.remove(list).unwrap_or_default();
    let signposts: Map<String, Value> =
        SIGNPOSTS.iter().filter_map(|name| fields.remove_entry(*name)).collect();
    let of_page: Vec<Way> = of_page.into_iter().cloned().collect();
    let mut page = match fields::keep(Value::Object(fields), &of_page) {
        Value::Object(page) => page,
        _ => Map::new(),
    };
    page.extend(signposts);
    let of_items: Vec<Way> = of_items.into_iter().cloned().collect();
    if !of_items.is_empty() {
        page.insert(list.to_owned(), fields::keep(items, &of_items));
    }
    Value::Object(page)
}

/// Where in an answer something lies.
#[derive(Debug, Default)]
struct Place(Vec<Turn>);

#[derive(Debug)]
enum Turn {
    Name(String),
    Item(usize),
}

impl Place {
    /// Shortens the longest list, map or text by at least so many bytes, if it has as many. Answers how many of its parts
    /// are left, and how many there were.
    fn shorten_longest(&mut self, value: &mut Value, excess: usize) -> Option<(usize, usize)> {
        let whole = size(value);
        let is_root = self.0.is_empty();
        match value {
            Value::Object(fields) => {
                let (name, largest) = largest(fields.iter().map(|(name, value)| (name.clone(), value)))?;
                if is_root || largest * 2 > whole {
                    let inner = fields.get_mut(&name)?;
                    self.0.push(Turn::Name(name));
                    return self.shorten_longest(inner, excess);
                }
                let of = fields.len();
                let kept =
                    within(fields.iter().map(|(name, value)| name.len() + 4 + size(value)), whole, excess);
                *fields = std::mem::take(fields).into_iter().take(kept).collect();
                Some((kept, of))
            }
            Value::Array(items) => {
                let (place, largest) = largest(items.iter().enumerate())?;
                if largest * 2 > whole {
                    self.0.push(Turn::Item(place));
                    return self.shorten_longest(&mut items[place], excess);
                }
                let of = items.len();
                let kept = within(items.iter().map(|item| size(item) + 1), whole, excess);
                items.truncate(kept);
                Some((kept, of))
            }
            Value::String(text) => {
                let of = text.chars().count();
                let kept = within(text.chars().map(|letter| size(&letter) - 2), whole, excess);
                *text = text.chars().take(kept).collect();
                Some((kept, of))
            }
            _ => None,
        }
    }

    /// The turns as an agent writes them: of a page, those within an item.
    fn turns(&self, list: &str) -> &[Turn] {
        match self.0.as_slice() {
            [Turn::Name(name), Turn::Item(_), rest @ ..] if name == list && !rest.is_empty() => rest,
            all => all,
        }
    }

    fn path(&self, list: &str) -> String {
        let mut path = String::new();
        for turn in self.turns(list) {
            match turn {
                Turn::Name(name) if path.is_empty() => path.push_str(name),
                Turn::Name(name) => path = format!("{path}.{name}"),
                Turn::Item(place) => path = format!("{path}[{place}]"),
            }
        }
        path
    }

    /// The way to what was left out here.
    fn behind(&self, list: &str, fields: &[Way], shown: usize) -> String {
        let names: Vec<String> = self
            .turns(list)
            .iter()
            .filter_map(|turn| match turn {
                Turn::Name(name) => Some(name.clone()),
                Turn::Item(_) => None,
            })
            .collect();
        let further = fields.iter().find_map(|way| way.going_on(&names, shown));
        further.unwrap_or_else(|| format!("{}[{shown}:]", self.path(list)))
    }
}

/// The longest of these values, and its length.
fn largest<'v, K>(values: impl Iterator<Item = (K, &'v Value)>) -> Option<(K, usize)> {
    values.map(|(key, value)| (key, size(value))).max_by_key(|(_, size)| *size)
}

/// How many of these sizes can stay where so many bytes of the whole must go.
fn within(sizes: impl Iterator<Item = usize>, whole: usize, excess: usize) -> usize {
    let room = whole.saturating_sub(excess);
    let mut used = 2;
    sizes
        .take_while(|size| {
            used += size;
            used <= room
        })
        .count()
}

/// Bytes of a value's JSON.
fn size(value: &impl Serialize) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    serde_json::to_writer(&mut count, value).map(|()| count.0).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of a value of which so many bytes must go: where it was shortened, and to what.
    fn shortened(mut value: Value, excess: usize) -> (String, usize, usize, Value) {
        let before = size(&value);
        let mut place = Place::default();
        let (shown, of) = place.shorten_longest(&mut value, excess).unwrap();
        assert!(size(&value) + excess <= before, "{value}");
        (place.path("items"), shown, of, value)
    }

    #[test]
    fn the_longest_part_is_shortened_where_it_lies() {
        let long = "x".repeat(300);
        let (path, shown, of, value) = shortened(json!({"a": [1, 2, 3], "text": long}), 100);
        assert_eq!((path.as_str(), shown, of), ("text", 200, 300));
        assert_eq!(value["a"], json!([1, 2, 3]));
        let folder = |name: &str, count: usize| json!({"name": name, "children": vec!["file"; count]});
        let roots = json!({"roots": [folder("small", 2), folder("large", 90)], "max_depth": 2});
        let (path, shown, of, value) = shortened(roots, 350);
        assert_eq!((path.as_str(), of), ("roots[1].children", 90));
        assert_eq!(value["roots"][1]["children"].as_array().unwrap().len(), shown);
        assert_eq!(value["roots"][0], folder("small", 2));
        let page = json!({"items": [{"id": 1, "notes": {"a": "y".repeat(500)}}], "total": 1});
        let (path, ..) = shortened(page, 300);
        assert_eq!(path, "notes.a");
        let files: Map<String, Value> =
            (0..100).map(|place| (format!("f{place:02}"), json!(place))).collect();
        let (path, shown, of, _) = shortened(json!({"bundle_manifest": files}), 600);
        assert_eq!((path.as_str(), of), ("bundle_manifest", 100));
        assert!((20..50).contains(&shown), "{shown}");
    }

    #[test]
    fn letters_count_as_they_are_written() {
        for letter in ['\n', '"', '\u{e9}', '\u{1f469}'] {
            let text: String = std::iter::repeat_n(letter, 400).collect();
            let (_, shown, of, _) = shortened(json!({"text": text}), 200);
            assert_eq!(of, 400);
            assert!(shown > 250, "{letter:?} {shown}");
        }
    }

    #[test]
    fn sizes_are_bytes_of_json() {
        for value in [json!({"a": [1, "é\n", null]}), json!("x"), json!([])] {
            assert_eq!(size(&value), value.to_string().len());
        }
    }
}
