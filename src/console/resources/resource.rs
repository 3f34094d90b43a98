//! Declares a resource and the operations on its records.

use marketplace_text::is_blank;
use maud::Markup;
use uuid::Uuid;

use crate::{
    console::{
        const_text::{self, ConstText},
        described::{FieldFormat, Input, RecordField},
        forms::Fields,
        list_filters::ListFilter,
        navigation::NavigationItem,
        parts::text,
        visit::Context,
    },
    domain::{state_machine::StateMachine, time::Timestamp},
    error::{Error, Result},
    market::{Reader, Writer},
    operations::access::{ActingOperator, Platform},
    store::records::{
        Records,
        any_record::{AnyRecord, RecordKey},
    },
    string_enum::StringEnum,
};

/// A resource that operators look at and change.
pub trait Resource: Sized + Send + Sync + 'static {
    /// Path of its list, below [`PREFIX`](crate::console::address::PREFIX).
    const LIST: &'static str;

    /// Path of a record.
    const RECORD: &'static str = const { &ConstText::new(Self::LIST, "/{id}") }.as_str();

    /// Path of the form for a new record.
    const NEW_PATH: &'static str = const { &ConstText::new(Self::LIST, "/new") }.as_str();

    /// Path of a change of a record.
    const STEP: &'static str = const { &ConstText::new(Self::LIST, "/{id}/{step}") }.as_str();

    /// Title of the list.
    const TITLE: &'static str;

    /// Name of the file with the list, without its extension.
    const FILE_NAME: &'static str = const_text::last_segment(Self::LIST);

    /// Where its records are.
    const RECORDS: &'static Records;

    /// Path of the operator API below which the same records are.
    const API: &'static str =
        const { &ConstText::new("/operator/v1", const_text::below(Self::LIST, "/operator")) }.as_str();

    /// Path of the operator API that lists the same records. A required filter is a parameter of the path.
    const LIST_API: &'static str = Self::API;

    /// Whether the operator API has each of these records, too.
    const HAS_API: bool = true;

    /// Names of the operations of the operator API whose answers the page of a record shows below its fields.
    const RELATED_OPERATIONS: &'static [&'static str] = &[];

    /// Kind of the records in the audit.
    const SUBJECT: &'static str = const { &ConstText::word(Self::RECORDS.name) }.as_str();

    /// The lists that belong together with this one: labels and paths.
    const TABS: &'static [(&'static str, &'static str)] = &[];

    /// Its link in the navigation; `None` without one.
    const NAVIGATION: Option<NavigationItem> = None;

    /// The fields that are shown of a record, in this order. The first one names it.
    const FIELDS: &'static [RecordField];

    /// The filters of the list: names of filters of [`Resource::RECORDS`].
    const FILTERS: &'static [ListFilter] = &[];

    /// Filters that the list always has.
    const FIXED: &'static [(&'static str, bool)] = &[];

    /// Says what the list would have, where it is empty.
    const EMPTY: &'static str;

    /// What identifies a record.
    const KEY: Key = Key::Id("id");

    /// How the title of the page of a record is made: by default, by the field that names it.
    const RECORD_TITLE: RecordTitle = RecordTitle::by(&Self::FIELDS[0]);

    /// Returns the identity of a record in an address; fails if it identifies none.
    fn identify(text: &str) -> Result<RecordKey> {
        let not_found = || Error::not_found("page");
        match Self::KEY {
            Key::Id(_) => Uuid::try_parse(text).map(RecordKey::Id).map_err(|_| not_found()),
            Key::Name(_) => Ok(RecordKey::Name(text.to_owned())),
            Key::Number(_) => text.parse().map(RecordKey::Number).map_err(|_| not_found()),
        }
    }

    /// Returns the identity of a record for addresses.
    fn key_of(record: &AnyRecord) -> String {
        match Self::KEY {
            Key::Id(name) => record.id(name).map(|id| id.to_string()).unwrap_or_default(),
            Key::Name(name) | Key::Number(name) => match record.integer(name) {
                Some(number) => number.to_string(),
                None => record.text(name).to_owned(),
            },
        }
    }

    /// Returns the title of the page of a record.
    fn title_of(record: &AnyRecord) -> String {
        match Self::RECORD_TITLE {
            RecordTitle::Column(column) => match record.text(column).trim() {
                name if is_blank(name) => "Without a name".to_owned(),
                name => name.to_owned(),
            },
            RecordTitle::Kind(kind) => format!("{kind} {}", text::short_id(record)),
            RecordTitle::Number(kind, column) => {
                format!("{kind} {} ({})", record.integer(column).unwrap_or_default(), text::short_id(record))
            }
            RecordTitle::Words(column) => text::words(record.text(column)),
        }
    }

    /// Adds columns that are derived from the others at this time, such as the state.
    const DERIVED_COLUMNS: DeriveColumns = |_, _| ();

    /// Returns the ID of the team that a record belongs to, for the audit; `None` if it belongs to none.
    fn team_of(record: &AnyRecord) -> Option<Uuid> {
        record.id("team_id").or_else(|| record.id("team_uuid"))
    }

    /// Returns the lists about a record: labels and paths.
    const LINKS: Links = |_| Vec::new();

    /// What can be done to a record, in this order.
    const STEPS: &'static [Step] = &[];

    /// How a record is made, if operators make them.
    const NEW: Option<&'static Step> = None;

    /// Reads the content above the fields on the page of a record.
    fn above_fields(_: &Reader, _: Platform, _: &AnyRecord) -> Result<Option<RenderFn>> {
        Ok(None)
    }

    /// Reads what the page of a record shows below its fields.
    fn below_fields(_: &Reader, _: Platform, _: &AnyRecord) -> Result<Option<RenderFn>> {
        Ok(None)
    }
}

/// Adds columns that are derived from others.
pub type DeriveColumns = fn(&mut AnyRecord, Timestamp);

/// Returns links about a record: labels and paths.
pub type Links = fn(&AnyRecord) -> Vec<(&'static str, String)>;

/// What identifies a record.
#[derive(Clone, Copy, Debug)]
pub enum Key {
    /// An ID, in this column.
    Id(&'static str),
    /// A name, in this column.
    Name(&'static str),
    /// A number, in this column.
    Number(&'static str),
}

/// How the title of the page of a record is made.
#[derive(Clone, Copy, Debug)]
pub enum RecordTitle {
    /// From the text of a column.
    Column(&'static str),
    /// From the kind of the records, and the beginning of its ID.
    Kind(&'static str),
    /// From the kind of the records, the number in a column, and the beginning of its ID.
    Number(&'static str, &'static str),
    /// From a word in a column that is stored with underscores.
    Words(&'static str),
}

impl RecordTitle {
    /// Returns how titles are made by the field that names the records.
    const fn by(field: &RecordField) -> RecordTitle {
        match field.format {
            FieldFormat::Id => RecordTitle::Kind(field.label),
            FieldFormat::Word => RecordTitle::Words(field.name),
            _ => RecordTitle::Column(field.name),
        }
    }
}

/// Renders the content above or below the fields on the page of a record.
pub type RenderFn = Box<dyn FnOnce(&Context) -> Markup + Send>;

/// Reads what a page shows before a record is changed.
pub type Preview = fn(&Reader, Platform, &AnyRecord) -> Result<Previewed>;

/// A preview that a page shows before a record is changed.
pub struct Previewed {
    /// The content.
    pub show: RenderFn,
    /// Whether the step can be taken now. Otherwise, the page has no button, and the content says why.
    pub is_possible: bool,
}

impl Previewed {
    /// Returns the content above the form of a step that can be taken.
    pub fn new(show: impl FnOnce(&Context) -> Markup + Send + 'static) -> Previewed {
        Previewed { show: Box::new(show), is_possible: true }
    }

    /// Returns the content that replaces the form of a step that cannot be taken now.
    pub fn refused(show: impl FnOnce(&Context) -> Markup + Send + 'static) -> Previewed {
        Previewed { show: Box::new(show), is_possible: false }
    }
}

/// Reads the effect of a step with the typed values. The step is taken when the page that shows the effect is
/// confirmed. The form that confirms it contains the shown content, so that hidden fields in the content are sent, too.
pub type Confirm = fn(&Reader, Platform, &AnyRecord, &Fields) -> Result<Markup>;

/// Something that an operator does to a record, or with which one is made.
pub struct Step {
    /// Last segment of its path.
    pub name: &'static str,
    /// Label of its button, and title of its page.
    pub label: &'static str,
    /// The label of its button for a record for which the step means something else; `None` for its usual label.
    pub label_override: fn(&AnyRecord) -> Option<&'static str>,
    /// What happens, and what is lost.
    pub question: &'static str,
    /// What it takes besides the record.
    pub inputs: &'static [Input],
    /// Columns of [`Resource::FIELDS`] whose values the page states, since the operator agrees to them.
    pub states: &'static [&'static str],
    /// Why the state of a record does not allow it; `None` if it does.
    pub obstacle: fn(&AnyRecord) -> Option<&'static str>,
    /// What a record lacks before the step can be taken, although the record's state allows it; `None` if nothing.
    pub missing: fn(&AnyRecord) -> Option<String>,
    /// Reads what the page shows before it is done, such as what will be posted.
    pub preview: Option<Preview>,
    /// Reads the effect of the step with the typed values, for a second page that asks for a confirmation.
    pub confirms: Option<Confirm>,
    /// Column with the text that has to be typed again to confirm the step; empty if none.
    pub retyped_column: &'static str,
    /// Whether it harms, or cannot be undone.
    pub is_final: bool,
    /// Name of the operation, for the audit.
    pub operation: &'static str,
    /// Kind, as in the audit, of the record of another resource that it creates and whose path it returns; empty if it creates none.
    pub creates: &'static str,
    /// Does it. A new record is returned as the path to go to; otherwise the page of the record is shown.
    pub perform: Perform<Option<String>>,
    /// Does it instead, if the result is a secret, which is shown once.
    pub perform_revealing: Option<Perform<Revealed>>,
}

/// Does something to a record with what was typed.
pub type Perform<T> = fn(&mut Writer, &ActingOperator, &AnyRecord, &Fields) -> Result<T>;

/// A secret that a step has made, which is shown once.
#[derive(Clone, Debug)]
pub struct Revealed {
    /// What was done, as a title.
    pub title: &'static str,
    /// What the secret is.
    pub label: &'static str,
    /// The secret.
    pub secret: String,
    /// What to do with it.
    pub note: String,
    /// Path of the record that was made.
    pub path: String,
}

impl Step {
    /// A step that is always allowed, takes nothing, and can be undone. Declarations state what differs.
    pub const DEFAULT: Step = Step {
        name: "",
        label: "",
        label_override: |_| None,
        question: "",
        inputs: &[],
        states: &[],
        obstacle: |_| None,
        missing: |_| None,
        preview: None,
        confirms: None,
        retyped_column: "",
        is_final: false,
        operation: "",
        creates: "",
        perform: |_, _, _, _| Ok(None),
        perform_revealing: None,
    };

    /// Returns the label of its button for a record.
    pub fn label_for(&self, record: &AnyRecord) -> &'static str {
        (self.label_override)(record).unwrap_or(self.label)
    }

    /// Returns why it cannot be done to a record; `None` if it can.
    pub fn why_not(&self, record: &AnyRecord) -> Option<String> {
        (self.obstacle)(record).map(str::to_owned).or_else(|| (self.missing)(record))
    }
}

/// Returns why the state in a column of a record refuses an operation; `None` if the state allows it.
pub fn refused<S: StateMachine + StringEnum>(
    record: &AnyRecord,
    column: &str,
    operation: S::Operation,
    reason: &'static str,
) -> Option<&'static str> {
    let state = S::parse(record.text(column));
    (!state.is_some_and(|state| state.allows(operation))).then_some(reason)
}

/// Returns the path of a record of a resource, by its identity.
pub fn path_of<R: Resource>(key: &str) -> String {
    format!("{}/{key}", R::LIST)
}

/// Returns the values of a filter or a choice that is so or not.
pub fn yes_or_no() -> Vec<(&'static str, String)> {
    vec![("true", "Yes".to_owned()), ("false", "No".to_owned())]
}
