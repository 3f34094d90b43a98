//! What a resource is, and what can be done to its records.

use maud::Markup;
use uuid::Uuid;

use super::{inputs::Input, shown::Shown};
use crate::{
    console::{forms::Fields, lists::ListFilter, navigation::NavigationItem, visit::Context},
    domain::time::Timestamp,
    error::{Error, Result},
    market::{Reader, Writer},
    operations::access::{ActingOperator, Platform},
    store::records::{
        Records,
        any_record::{AnyRecord, RecordKey},
    },
};

/// A resource that operators look at and change.
pub trait Resource: Sized + Send + Sync + 'static {
    /// Path of its list, below [`PREFIX`](crate::console::address::PREFIX).
    const LIST: &'static str;

    /// Path of a record: that of the list, and `/{id}`.
    const RECORD: &'static str;

    /// Path of the form for a new record: that of the list, and `/new`.
    const NEW_PATH: &'static str;

    /// Path of a change of a record: that of the record, and `/{step}`.
    const STEP: &'static str;

    /// Title of the list.
    const TITLE: &'static str;

    /// Name of the file with the list, without its extension.
    const FILE_NAME: &'static str;

    /// Where its records are.
    const RECORDS: &'static Records;

    /// Path of the operator API below which the same records are.
    const API: &'static str;

    /// Path of the operator API that lists the same records; `None` if it lists only those of one record.
    const LIST_API: Option<&'static str> = Some(Self::API);

    /// Whether the operator API has each of these records, too.
    const HAS_API: bool = true;

    /// Kind of the records in the audit.
    const SUBJECT: &'static str = Self::RECORDS.name;

    /// The lists that belong together with this one: labels and paths.
    const TABS: &'static [(&'static str, &'static str)] = &[];

    /// Its link in the navigation; `None` without one.
    const NAVIGATION: Option<NavigationItem> = None;

    /// What is shown of a record, in this order. The first one names it.
    const SHOWN: &'static [Shown];

    /// Returns the filters of the list: names of filters of [`Resource::RECORDS`].
    fn filters() -> Vec<ListFilter> {
        Vec::new()
    }

    /// Says what the list would have, where it is empty.
    const EMPTY: &'static str;

    /// Returns the identity of a record in an address; fails if it identifies none.
    fn identify(text: &str) -> Result<RecordKey> {
        Uuid::try_parse(text).map(RecordKey::Id).map_err(|_| Error::not_found("page"))
    }

    /// Returns the identity of a record for addresses.
    fn key_of(record: &AnyRecord) -> String {
        record.id("id").map(|id| id.to_string()).unwrap_or_default()
    }

    /// Returns the title of the page of a record.
    fn title_of(record: &AnyRecord) -> String;

    /// Adds what follows from the columns of a record at this time, such as its state.
    fn complete(_: &mut AnyRecord, _: Timestamp) {}

    /// Returns the ID of the team that a record belongs to, for the audit; `None` if it belongs to none.
    fn team_of(record: &AnyRecord) -> Option<Uuid> {
        record.id("team_id")
    }

    /// Returns the lists about a record: labels and paths.
    fn links(_: &AnyRecord) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// What can be done to a record, in this order.
    const STEPS: &'static [Step] = &[];

    /// How a record is made, if operators make them.
    const NEW: Option<&'static Step> = None;

    /// Reads what the page of a record shows below its fields.
    fn below(_: &Reader, _: Platform, _: &AnyRecord) -> Result<Option<Below>> {
        Ok(None)
    }
}

/// Shows what the page of a record has below its fields.
pub type Below = Box<dyn FnOnce(&Context) -> Markup + Send>;

/// Reads what a page shows before a record is changed.
pub type Preview = fn(&Reader, Platform, &AnyRecord) -> Result<Markup>;

/// Something that an operator does to a record, or with which one is made.
pub struct Step {
    /// Last segment of its path.
    pub name: &'static str,
    /// Label of its button, and title of its page.
    pub label: &'static str,
    /// What happens, and what is lost.
    pub question: &'static str,
    /// What it takes besides the record.
    pub inputs: &'static [Input],
    /// Why the state of a record does not allow it; `None` if it does.
    pub obstacle: fn(&AnyRecord) -> Option<&'static str>,
    /// Reads what the page shows before it is done, such as what will be posted.
    pub preview: Option<Preview>,
    /// Whether it cannot be undone.
    pub is_final: bool,
    /// Name of the operation, for the audit.
    pub operation: &'static str,
    /// Does it. A new record is returned as the path to go to; otherwise the page of the record is shown.
    pub perform: Perform<Option<String>>,
    /// Does it instead, if the result is a secret, which is shown once.
    pub reveals: Option<Perform<Revealed>>,
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
    pub const PLAIN: Step = Step {
        name: "",
        label: "",
        question: "",
        inputs: &[],
        obstacle: |_| None,
        preview: None,
        is_final: false,
        operation: "",
        perform: |_, _, _, _| Ok(None),
        reveals: None,
    };
}

/// Returns the path of a record of a resource, by its identity.
pub fn path_of<R: Resource>(key: &str) -> String {
    format!("{}/{key}", R::LIST)
}

/// Returns the values of a filter or a choice that is so or not.
pub fn yes_or_no() -> Vec<(&'static str, String)> {
    vec![("true", "Yes".to_owned()), ("false", "No".to_owned())]
}
