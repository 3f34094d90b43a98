//! Renders the fields of a record, each with a label and a format.

use marketplace_text::is_blank;
use maud::{Markup, html};
use uuid::Uuid;

use crate::{
    console::{
        described::{FieldFormat, RecordField},
        parts::{
            badges::{self, Tone},
            markdown,
            tables::Head,
            text,
        },
        visit::Context,
    },
    domain::{money::Cents, time::Timestamp},
    store::records::any_record::{AnyRecord, Names, Value},
};

impl RecordField {
    /// A field that the list has.
    pub const fn listed(name: &'static str, label: &'static str, format: FieldFormat) -> RecordField {
        RecordField { name, label, format, is_listed: true }
    }

    /// A field that only the page of the record has.
    pub const fn detail(name: &'static str, label: &'static str, format: FieldFormat) -> RecordField {
        RecordField { name, label, format, is_listed: false }
    }

    /// Returns the head of its column.
    pub const fn head(&self) -> Head {
        match self.format {
            FieldFormat::Money
            | FieldFormat::Moment
            | FieldFormat::Deadline
            | FieldFormat::Day
            | FieldFormat::Number
            | FieldFormat::Size => Head::number(self.label),
            _ => Head::text(self.label),
        }
    }

    /// Returns the IDs that are shown by a name.
    pub fn named_ids(&self, record: &AnyRecord) -> Vec<Uuid> {
        match self.format {
            FieldFormat::Record(_) | FieldFormat::Subject(_) => record.id(self.name).into_iter().collect(),
            FieldFormat::Records(_) => record.ids(self.name),
            _ => Vec::new(),
        }
    }

    /// Shows the value of a record.
    pub fn show(&self, context: &Context, record: &AnyRecord, names: &Names) -> Markup {
        let value = record.get(self.name);
        if *value == Value::Missing {
            return html! { "–" };
        }
        match self.format {
            FieldFormat::Money => {
                html! { (text::money(Cents(record.integer(self.name).unwrap_or_default()))) }
            }
            FieldFormat::Moment => text::moment(Timestamp(record.integer(self.name).unwrap_or_default())),
            FieldFormat::Deadline => text::deadline(Timestamp(record.integer(self.name).unwrap_or_default())),
            FieldFormat::Day => text::day(Timestamp(record.integer(self.name).unwrap_or_default())),
            FieldFormat::State => {
                let state = record.text(self.name);
                badges::badge(tone(state), &text::words(state))
            }
            FieldFormat::Badge(look) => {
                let (tone, words) = look(record.text(self.name));
                badges::badge(tone, &words)
            }
            FieldFormat::Called(words) => html! { (words(record.text(self.name))) },
            FieldFormat::Flag => html! { (if record.is_true(self.name) { "Yes" } else { "No" }) },
            FieldFormat::Record(path) => match record.id(self.name) {
                Some(id) => link(context, path, id, names),
                None => html! { (self.to_text(record, names)) },
            },
            FieldFormat::Records(path) => {
                let ids = record.ids(self.name);
                html! {
                    @if ids.is_empty() { (text::MISSING) }
                    @else { ul { @for id in ids { li { (link(context, path, id, names)) } } } }
                }
            }
            FieldFormat::Subject(kind) => {
                let key = self.to_text(record, names);
                let name = record.id(self.name).map_or_else(|| html! { (key) }, |id| name_of(id, names));
                html! { @match context.pages.page_of(record.text(kind), &key) {
                    Some(path) => a.long href=(context.links.to(&path)) { (name) },
                    None => span.long { (name) },
                } }
            }
            FieldFormat::Number => html! { (text::grouped(unsigned(record.integer(self.name)))) },
            FieldFormat::Size => html! { (text::size(unsigned(record.integer(self.name)))) },
            FieldFormat::Text => html! { div.prose.long { (markdown::render(record.text(self.name))) } },
            FieldFormat::Id => html! { span.mono.long { (self.to_text(record, names)) } },
            FieldFormat::Words => {
                let words: Vec<_> = record.texts(self.name).iter().map(|name| list_word(name)).collect();
                html! { @if words.is_empty() { (text::MISSING) } @else { (words.join(", ")) } }
            }
            FieldFormat::Plain | FieldFormat::Word | FieldFormat::Many => {
                let text = self.to_text(record, names);
                // Words of the market are short, so their columns need not be as wide as those of texts.
                let is_word = matches!(self.format, FieldFormat::Word);
                html! {
                    @if text.is_empty() { (text::MISSING) } @else if is_word { (text) } @else { span.long { bdi { (text) } } }
                }
            }
        }
    }

    /// Returns the value as a text, for files.
    pub fn to_text(self, record: &AnyRecord, names: &Names) -> String {
        match (self.format, record.get(self.name)) {
            (FieldFormat::Record(_), Value::Id(id)) if names.contains_key(id) => names[id].clone(),
            (_, Value::Missing) => String::new(),
            (FieldFormat::Money, Value::Integer(cents)) => Cents(*cents).to_string(),
            (FieldFormat::Moment | FieldFormat::Deadline | FieldFormat::Day, Value::Integer(time)) => {
                Timestamp(*time).to_string()
            }
            (FieldFormat::Flag, Value::Integer(flag)) => if *flag == 0 { "no" } else { "yes" }.to_owned(),
            (FieldFormat::State | FieldFormat::Word, Value::Text(word)) => text::words(word),
            (FieldFormat::Badge(look), Value::Text(word)) => look(word).1,
            (FieldFormat::Called(words), Value::Text(word)) => words(word),
            (FieldFormat::Records(_), _) => {
                record.ids(self.name).iter().map(Uuid::to_string).collect::<Vec<_>>().join(", ")
            }
            (FieldFormat::Many | FieldFormat::Words, _) => record.texts(self.name).join(", "),
            (_, Value::Integer(number)) => number.to_string(),
            (_, Value::Real(number)) => number.to_string(),
            (_, Value::Text(text)) => text.clone(),
            (_, Value::Id(id)) => id.to_string(),
        }
    }
}

/// Returns a link to the page of a record, by its name or its ID.
fn link(context: &Context, path: &str, id: Uuid, names: &Names) -> Markup {
    html! { a.long href=(context.links.to(&format!("{path}/{id}"))) { (name_of(id, names)) } }
}

/// Returns the name of a record. A record without a name is shown by the beginning of its ID; the whole ID appears on
/// hover.
fn name_of(id: Uuid, names: &Names) -> Markup {
    html! { @match names.get(&id).filter(|name| !is_blank(name)) {
        Some(name) => bdi { (name) },
        None => span.mono title=(id) { (short(id)) },
    } }
}

/// Returns the beginning of an ID.
fn short(id: Uuid) -> String {
    id.to_string().chars().take(8).collect()
}

/// Returns the words of a name of a list, such as `Listing: published` for `listing.published`.
fn list_word(name: &str) -> String {
    text::words(&name.replace('-', " ").replace('.', ": "))
}

fn unsigned(number: Option<i64>) -> u64 {
    number.and_then(|number| u64::try_from(number).ok()).unwrap_or_default()
}

/// Returns how a state is shown, by its word on the wire.
fn tone(state: &str) -> Tone {
    match state {
        "completed" | "live" | "succeeded" | "paid" | "published" | "accepted" | "delivered" | "active"
        | "enabled" | "approved" | "passed" => Tone::Good,
        "pending" | "requested" | "queued" | "running" | "submitted" | "in_review" | "review" | "ready"
        | "open" | "waiting" => Tone::Waiting,
        "failed" | "failing" | "error" | "rejected" | "dead" | "disabled" | "revoked" => Tone::Bad,
        "changes_requested" | "deprecated" | "refunded" | "rotated" => Tone::Warning,
        _ => Tone::Neutral,
    }
}
