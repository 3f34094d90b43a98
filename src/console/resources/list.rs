//! The list of a resource.

use std::{marker::PhantomData, sync::Arc};

use maud::{Markup, html};
use uuid::Uuid;

use super::{Key, RecordTitle, Resource, path_of};
use crate::{
    console::{
        address::Query,
        answer::Content,
        list_filters::ListFilter,
        lists::{Column, List, ListRequest},
        navigation::NavigationItem,
        parts::{
            tables::{self, Head},
            tabs::{self, Tab},
            text,
        },
        visit::Context,
    },
    error::Result,
    market::Reader,
    operations::{access::Operator, records},
    store::records::{
        Filters,
        any_record::{AnyRecord, Names},
        pages::TeamPage,
    },
};

/// The list of a resource.
pub struct RecordList<R>(pub PhantomData<R>);

/// A record of a list, with the names of what it refers to.
pub struct NamedRecord {
    record: AnyRecord,
    names: Arc<Names>,
}

impl<R: Resource> List<Operator> for RecordList<R> {
    const PATH: &'static str = R::LIST;
    const TITLE: &'static str = R::TITLE;
    const FILE_NAME: &'static str = R::FILE_NAME;
    const NAVIGATION: Option<NavigationItem> = R::NAVIGATION;

    type Row = NamedRecord;

    fn columns() -> Vec<Column<NamedRecord>> {
        let listed = R::FIELDS.iter().filter(|field| field.is_listed);
        let column = |(index, field): (usize, &'static super::RecordField)| {
            let show = move |context: &Context, row: &NamedRecord| {
                let value = field.show(context, &row.record, &row.names);
                if index > 0 {
                    return value;
                }
                let path = path_of::<R>(&R::key_of(&row.record));
                let address = context.links.to(&path);
                match (R::RECORD_TITLE, row.record.id(field.name)) {
                    // The head of the column has the kind. The beginning of the ID does not need the width of a title.
                    (RecordTitle::Kind(_), Some(id)) => {
                        html! { a.nowrap.mono href=(address) title=(id) { (text::short_id(&row.record)) } }
                    }
                    _ => html! { a.long href=(address) { bdi { (R::title_of(&row.record)) } } },
                }
            };
            Column::of(field.head(), show, move |row| field.to_text(&row.record, &row.names))
        };
        let is_id_listed = |name: &str| listed.clone().any(|field| field.name == name);
        // Titles can be the same. The table has links to the records.
        let id = match R::KEY {
            Key::Id(name) if !is_id_listed(name) => {
                let written = |row: &NamedRecord| R::key_of(&row.record);
                Some(Column::<NamedRecord>::of(Head::text("ID"), |_, _| html! {}, written).only_in_file())
            }
            Key::Id(_) | Key::Name(_) | Key::Number(_) => None,
        };
        listed.enumerate().map(column).chain(id).collect()
    }

    const FILTERS: &'static [ListFilter] = R::FILTERS;

    fn load(reader: &Reader, operator: &Operator, request: &ListRequest) -> Result<TeamPage<NamedRecord>> {
        let always = |filters: Filters, &(name, value): &(&'static str, bool)| filters.with(name, value);
        let mut filters = R::FIXED.iter().fold(Filters::default(), always);
        for (name, value) in request.filters.pairs() {
            filters = match value {
                "true" => filters.with(name, true),
                "false" => filters.with(name, false),
                _ => {
                    filters.with(name, records::filter_value(reader.rows, operator.platform(), name, value)?)
                }
            };
        }
        let found = records::page_of_any(reader, operator.platform(), R::RECORDS, &filters, request.page)?;
        let listed = || R::FIELDS.iter().filter(|field| field.is_listed);
        let ids: Vec<_> =
            found.rows.iter().flat_map(|record| listed().flat_map(|field| field.named_ids(record))).collect();
        let names = Arc::new(records::names(reader.rows, operator.platform(), &ids)?);
        Ok(found.map(|mut record| {
            R::DERIVED_COLUMNS(&mut record, reader.now);
            NamedRecord { record, names: Arc::clone(&names) }
        }))
    }

    fn note(reader: &Reader, operator: &Operator, filters: &Query) -> Result<Option<String>> {
        for (name, value) in filters.pairs() {
            if records::named(reader.rows, operator.platform(), name, value)?
                .is_some_and(|named| named.is_cut)
            {
                let max = records::MAX_NAMED;
                return Ok(Some(format!(
                    "More than {max} records have a name like “{value}”; only the newest {max} of them are considered."
                )));
            }
        }
        Ok(None)
    }

    fn empty(context: &Context) -> Markup {
        let new = context.links.to(R::NEW_PATH);
        let step = R::NEW.filter(|_| context.may_act());
        tables::empty("Nothing here yet", R::EMPTY, step.map(|step| (step.label, new.as_str())))
    }

    fn finish(context: &Context, mut content: Content) -> Content {
        if !R::TABS.is_empty() {
            content.body =
                html! { (tabs::tabs("Lists that belong together", &tabs_of::<R>(context))) (content.body) };
        }
        if let Some(request) = request::<R>(&context.query) {
            content = content.with_request(request);
        }
        match R::NEW {
            Some(step) if context.may_act() => {
                // The form states the filters of the list, such as a team.
                let stated = step
                    .inputs
                    .iter()
                    .filter_map(|input| Some((input.name(), context.query.get(input.name())?)));
                let query = stated.fold(Query::default(), |query, (name, value)| query.with(name, value));
                let address = query.at(&context.links.to(R::NEW_PATH));
                content.with_actions(html! { a.button.primary href=(address) { (step.label) } })
            }
            _ => content,
        }
    }
}

/// Returns the request of the operator API for the records that a query selects; `None` if it lists only those of a record that the
/// query does not name.
fn request<R: Resource>(chosen: &Query) -> Option<String> {
    let (mut path, mut query) = (R::LIST_API.to_owned(), Query::default());
    for filter in R::FILTERS {
        let Some(value) = chosen.get(filter.name) else { continue };
        let parameter = format!("{{{}}}", filter.name);
        // The API knows neither days nor names.
        if filter.is_day() {
            return None;
        }
        let id = records::is_named(filter.name).then(|| Uuid::try_parse(value));
        let id = id.transpose().ok()?.map(|id| id.to_string());
        let value = id.as_deref().unwrap_or(value);
        if path.contains(&parameter) {
            path = path.replace(&parameter, value);
        } else {
            query = query.with(filter.name, value);
        }
    }
    (!path.contains('{')).then(|| query.at(&path))
}

fn tabs_of<R: Resource>(context: &Context) -> Vec<Tab> {
    let tab = |(label, path): &(&'static str, &'static str)| Tab {
        label,
        address: context.links.to(path),
        is_current: *path == R::LIST,
    };
    R::TABS.iter().map(tab).collect()
}
