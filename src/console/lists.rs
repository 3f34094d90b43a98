//! Lists: a table of records with filters, pages in both directions, and the same rows as a CSV file.
//!
//! A list declares its columns once, for the table and for the file; some columns are only in one of both. The address holds the
//! filters and the cursor, so a list can be bookmarked and sent.

use std::marker::PhantomData;

use maud::{Markup, html};
use uuid::Uuid;

use super::{
    address::Query,
    answer::{Answer, Content},
    const_text,
    csv::{self, Part},
    forms::{Fields, Inputs},
    list_filters::ListFilter,
    navigation::{NavigationItem, PageRow},
    notices::Notice,
    page::Page,
    parts::{
        badges::{self, Tone},
        tables::{self, Head},
        text,
    },
    refusals,
    visit::{Context, Proof, Visit},
};
use crate::{
    domain::{money::Cents, time::Timestamp},
    error::{Error, Problem, Result},
    market::Reader,
    store::records::{
        Filters,
        pages::{Start, TeamPage, TeamPageRequest},
    },
    web::limits::Budget,
};

/// Number of rows on a page.
const ROWS_PER_PAGE: u32 = 50;

/// Number of rows that are read at once for a file.
const ROWS_PER_CHUNK: u32 = 500;

/// Name of the field of the query with the cursor.
const CURSOR: &str = "from";

/// Shows a value in a row of a table.
type Show<R> = Box<dyn Fn(&Context, &R) -> Markup + Send + Sync>;

/// Returns a value for a row of a file.
type Text<R> = Box<dyn Fn(&R) -> String + Send + Sync>;

/// Shows the actions beside the heading of a list.
pub type ShowActions = Box<dyn FnOnce(&Context) -> Markup + Send>;

/// A column of a list.
pub struct Column<R> {
    head: Head,
    /// `None` if only the file has the column.
    show: Option<Show<R>>,
    /// `None` if only the table has the column.
    text: Option<Text<R>>,
}

impl<R: 'static> Column<R> {
    /// Creates a column from its head, what a row of the table shows, and the value in a row of the file.
    pub fn new(head: Head, show: fn(&Context, &R) -> Markup, text: fn(&R) -> String) -> Column<R> {
        Column { head, show: Some(Box::new(show)), text: Some(Box::new(text)) }
    }

    /// Creates a column from its head and functions that get more than the record.
    pub fn of(
        head: Head,
        show: impl Fn(&Context, &R) -> Markup + Send + Sync + 'static,
        text: impl Fn(&R) -> String + Send + Sync + 'static,
    ) -> Column<R> {
        Column { head, show: Some(Box::new(show)), text: Some(Box::new(text)) }
    }

    /// Creates a column of words, which table and file have alike. The file has nothing for a missing value.
    pub fn words(name: &'static str, words: fn(&R) -> String) -> Column<R> {
        let text = move |row: &R| Some(words(row)).filter(|text| text != text::MISSING).unwrap_or_default();
        Column::of(Head::text(name), move |_, row| html! { (words(row)) }, text)
    }

    /// Creates a column of words that are aligned as numbers, which table and file have alike.
    pub fn figures(name: &'static str, figures: fn(&R) -> String) -> Column<R> {
        Column { head: Head::number(name), ..Column::words(name, figures) }
    }

    /// Creates a column of badges: how they look, and their words, which the file has.
    pub fn badge(name: &'static str, look: fn(&R) -> (Tone, &'static str)) -> Column<R> {
        Column::of(Head::text(name), move |_, row| badges::of(look(row)), move |row| look(row).1.to_owned())
    }

    /// Creates a column of links to the pages of the records: their paths and their names.
    pub fn link(name: &'static str, path: fn(&R) -> String, named: fn(&R) -> String) -> Column<R> {
        let show = move |context: &Context, row: &R| {
            html! { a.long href=(context.links.to(&path(row))) { bdi { (named(row)) } } }
        };
        Column::of(Head::text(name), show, named)
    }

    /// Creates a column of IDs.
    pub fn id(name: &'static str, id: fn(&R) -> Uuid) -> Column<R> {
        Column::of(
            Head::text(name),
            move |_, row| html! { span.mono.long { (id(row)) } },
            move |row| id(row).to_string(),
        )
    }

    /// Creates a column of numbers of things.
    pub fn count(name: &'static str, count: fn(&R) -> u64) -> Column<R> {
        Column::of(
            Head::number(name),
            move |_, row| html! { (text::grouped(count(row))) },
            move |row| count(row).to_string(),
        )
    }

    /// Creates a column of amounts.
    pub fn money(name: &'static str, amount: fn(&R) -> Cents) -> Column<R> {
        Column::of(
            Head::number(name),
            move |_, row| html! { (text::money(amount(row))) },
            move |row| amount(row).to_string(),
        )
    }

    /// Creates a column of amounts that some records do not have.
    pub fn optional_money(name: &'static str, amount: fn(&R) -> Option<Cents>) -> Column<R> {
        Column::of(
            Head::number(name),
            move |_, row| html! { (text::optional_money(amount(row))) },
            move |row| text::plain_amount(amount(row)),
        )
    }

    /// Creates a column of times.
    pub fn moment(head: Head, time: fn(&R) -> Timestamp) -> Column<R> {
        Column::of(head, move |_, row| text::moment(time(row)), move |row| time(row).to_string())
    }

    /// Creates a column of days that some records do not have. The file has the whole times.
    pub fn optional_day(name: &'static str, time: fn(&R) -> Option<Timestamp>) -> Column<R> {
        Column::optional_time(name, time, text::optional_day)
    }

    /// Creates a column of times that some records do not have, and that are shown so. The file has the whole times.
    pub fn optional_time(
        name: &'static str,
        time: fn(&R) -> Option<Timestamp>,
        show: fn(Option<Timestamp>) -> Markup,
    ) -> Column<R> {
        let text = move |row: &R| time(row).map(|time| time.to_string()).unwrap_or_default();
        Column::of(Head::number(name), move |_, row| show(time(row)), text)
    }

    /// Creates a column of days. The file has the whole times.
    pub fn day(name: &'static str, time: fn(&R) -> Timestamp) -> Column<R> {
        Column::of(Head::number(name), move |_, row| text::day(time(row)), move |row| time(row).to_string())
    }

    /// Creates a column of words that only the file has. There is nothing for a missing value.
    pub fn words_in_file(name: &'static str, words: fn(&R) -> String) -> Column<R> {
        Column::words(name, words).only_in_file()
    }

    /// Creates a column of amounts that only the file has, and that some records do not have.
    pub fn amounts_in_file(name: &'static str, amount: fn(&R) -> Option<Cents>) -> Column<R> {
        Column::optional_money(name, amount).only_in_file()
    }

    /// Creates the column of the IDs of the records, which only the file has: the table links to their pages.
    pub fn ids_in_file(id: fn(&R) -> Uuid) -> Column<R> {
        Column::id("ID", id).only_in_file()
    }

    /// Leaves the column out of the table.
    pub fn only_in_file(self) -> Column<R> {
        Column { show: None, ..self }
    }

    /// Leaves the column out of the file, which has the parts of its values in columns of their own.
    pub fn only_in_table(self) -> Column<R> {
        Column { text: None, ..self }
    }
}

/// Returns the heads of a table with these columns, and what its rows show of the records.
pub fn heads_and_rows<R>(
    context: &Context,
    columns: &[Column<R>],
    records: &[R],
) -> (Vec<Head>, Vec<Vec<Markup>>) {
    let in_table = || columns.iter().filter_map(|column| Some((column.head, column.show.as_ref()?)));
    let row = |record: &R| in_table().map(|(_, show)| show(context, record)).collect();
    (in_table().map(|(head, _)| head).collect(), records.iter().map(row).collect())
}

/// A list. `A` is the access that it needs: the proof.
pub trait List<A: Proof>: Sized + Send + Sync + 'static {
    /// Path below [`PREFIX`](super::address::PREFIX), with names of parameters in braces.
    const PATH: &'static str;

    /// Title of the page.
    const TITLE: &'static str;

    /// Name of the file, without its extension.
    const FILE_NAME: &'static str = const_text::last_segment(Self::PATH);

    /// Section and label of its link in the navigation; `None` without a link.
    const NAVIGATION: Option<NavigationItem> = None;

    /// The budget that a visit is charged to.
    const BUDGET: Budget = Budget::Other;

    /// A record.
    type Row: Send + 'static;

    /// Returns the columns. The first one names the record.
    fn columns() -> Vec<Column<Self::Row>>;

    /// The filters.
    const FILTERS: &'static [ListFilter] = &[];

    /// Returns a page of the records that the query selects.
    fn load(reader: &Reader, access: &A, request: &ListRequest) -> Result<TeamPage<Self::Row>>;

    /// Returns a note about the records that the filters select; nothing if the filters select all records.
    fn note(_: &Reader, _: &A, _: &Query) -> Result<Option<String>> {
        Ok(None)
    }

    /// Reads what the actions beside the heading are about, as of the rows. Returns how to show them; `None` without actions.
    fn actions(_: &Reader, _: &A) -> Result<Option<ShowActions>> {
        Ok(None)
    }

    /// Returns what is shown where the list has no records at all.
    fn empty(context: &Context) -> Markup;

    /// Adds special content of the page: actions, and content above the table.
    fn finish(_: &Context, content: Content) -> Content {
        content
    }
}

/// What a list is asked for.
#[derive(Clone, Debug)]
pub struct ListRequest {
    /// Which page.
    pub page: TeamPageRequest,
    /// The values of the filters.
    pub filters: Query,
    /// The values of the parameters of the path.
    pub parameters: Vec<String>,
}

impl ListRequest {
    /// Returns the filters with their values, by which the records are selected.
    pub fn record_filters(&self) -> Filters {
        self.filters.pairs().fold(Filters::default(), |filters, (name, value)| filters.with(name, value))
    }

    /// Returns these filters with their values. The list translates the values of others.
    pub fn record_filters_of(&self, names: &[&str]) -> Filters {
        let chosen = self.filters.pairs().filter(|(name, _)| names.contains(name));
        chosen.fold(Filters::default(), |filters, (name, value)| filters.with(name, value))
    }
}

impl PageRow {
    /// Returns the row of the page of a list.
    pub fn list<A: Proof, L: List<A>>(_: L) -> PageRow {
        PageRow::page(ListPage::<A, L>(PhantomData))
    }
}

/// The page of a list.
struct ListPage<A, L>(PhantomData<(A, L)>);

impl<A: Proof, L: List<A>> Page<A> for ListPage<A, L> {
    const PATH: &'static str = L::PATH;
    const TITLE: &'static str = L::TITLE;
    const NAVIGATION: Option<NavigationItem> = L::NAVIGATION;
    const BUDGET: Budget = L::BUDGET;

    async fn show(visit: &Visit<A>) -> Result<Answer> {
        let filters = selected(L::FILTERS, &visit.query);
        let problem = |filter: &ListFilter| filter.problem(filters.get(filter.name)?);
        let problems: Vec<Problem> = L::FILTERS.iter().filter_map(problem).collect();
        if !problems.is_empty() {
            return Ok(refused::<A, L>(&visit.context, &filters, &Error::Invalid(problems)).into());
        }
        let parameters = visit.parameters.clone();
        if csv::is_asked(&visit.query) {
            let in_file = L::columns().into_iter().filter(|column| column.text.is_some());
            let heads = in_file.map(|column| column.head.name.to_owned()).collect();
            let first = ListRequest { page: chunk(Start::Newest), filters, parameters };
            return csv::in_parts(visit, L::FILE_NAME, heads, first, part::<A, L>).await;
        }
        // A position that cannot be read leads to the first page.
        let start = visit.query.get(CURSOR).and_then(|cursor| decode(visit, cursor)).unwrap_or_default();
        let page = TeamPageRequest { start, limit: ROWS_PER_PAGE, counts: start == Start::Newest };
        let request = ListRequest { page, filters: filters.clone(), parameters };
        let read = visit.read(move |reader, access| {
            let found = L::load(reader, access, &request)?;
            Ok((found, L::note(reader, access, &request.filters)?, L::actions(reader, access)?))
        });
        let (found, note, actions) = read.await?;
        if found.rows.is_empty() && start != Start::Newest {
            // The records of this page are no longer in the list, such as notifications that were read.
            let notice = visit.query.get(Notice::FIELD).unwrap_or_default();
            return Ok(Answer::Redirect(filters.with(Notice::FIELD, notice).at(&visit.context.path)));
        }
        let mut content = content::<A, L>(&visit.context, (&filters, note.as_deref()), &found);
        content.actions = actions.map(|show| show(&visit.context));
        Ok(L::finish(&visit.context, content).into())
    }
}

/// Returns the part of a query that says what a list shows: its filters, and the position.
pub fn shown_part<A: Proof, L: List<A>>(query: &Query) -> Query {
    selected(L::FILTERS, query).with(CURSOR, query.get(CURSOR).unwrap_or_default())
}

/// Returns the content of a list whose filters were refused: the form with the typed values and their problems.
fn refused<A: Proof, L: List<A>>(context: &Context, filters: &Query, error: &Error) -> Content {
    let inputs = Inputs::refused(Fields::of_query(filters), error);
    let mut content = Content::new(L::TITLE, filter_form::<A, L>(context, filters, &inputs));
    content.refusal = Some(badges::refusal(&inputs));
    L::finish(context, content.with_status(refusals::status(error)))
}

/// Returns the part of a query that filters a list.
fn selected(filters: &[ListFilter], query: &Query) -> Query {
    let chosen = |name: &str| filters.iter().any(|filter| filter.name == name);
    query
        .pairs()
        .filter(|(name, _)| chosen(name))
        .fold(Query::default(), |kept, (name, value)| kept.with(name, value))
}

fn content<A: Proof, L: List<A>>(
    context: &Context,
    (filters, note): (&Query, Option<&str>),
    found: &TeamPage<L::Row>,
) -> Content {
    let (heads, rows) = heads_and_rows(context, &L::columns(), &found.rows);
    let is_filtered = filters.pairs().next().is_some();
    let without_filters = context.here(&Query::default());
    let body = html! {
        (filter_form::<A, L>(context, filters, &Inputs::default()))
        @if let Some(note) = note { p.note { (note) } }
        @if rows.is_empty() && is_filtered {
            (tables::empty("Nothing matches", "No record has all of these values.", Some(("Show all", &without_filters))))
        } @else if rows.is_empty() {
            (L::empty(context))
        } @else {
            (tables::table(L::TITLE, &heads, &rows))
            (pager(context, filters, found))
        }
    };
    Content::new(L::TITLE, body)
}

fn filter_form<A: Proof, L: List<A>>(context: &Context, chosen: &Query, inputs: &Inputs) -> Markup {
    let count = chosen.pairs().count();
    html! { @if !L::FILTERS.is_empty() {
        // A script collapses them on narrow screens only.
        details.fold open {
            summary { "Filters" @if count > 0 { span.note { (count) " set" } } }
            form.row.filters action=(context.links.to(&context.path)) aria-label="Filters" {
                @for filter in L::FILTERS { (filter.show(context, inputs, chosen.get(filter.name).unwrap_or_default())) }
                button { "Filter" }
            }
        }
    } }
}

fn pager<R>(context: &Context, filters: &Query, found: &TeamPage<R>) -> Markup {
    let at = |start: Start| context.here(&filters.with(CURSOR, &encode(context, start)));
    let note = match found.total {
        Some(total) => text::counted(total, "record", "records"),
        None => format!("{} on this page", text::grouped(found.rows.len() as u64)),
    };
    html! {
        nav.row.apart aria-label="Pages of the list" {
            span.note { (note) " · " (csv::link(&context.here(&csv::query(filters)))) }
            span.row {
                @if let Some(previous) = found.previous { a.button href=(at(previous)) rel="prev" { "Back" } }
                @if let Some(next) = found.next { a.button href=(at(next)) rel="next" { "Next" } }
            }
        }
    }
}

/// Returns the request for the rows of a file from a position on.
const fn chunk(start: Start) -> TeamPageRequest {
    TeamPageRequest { start, limit: ROWS_PER_CHUNK, counts: false }
}

/// Reads a part of the file with all rows that the filters allow.
fn part<A: Proof, L: List<A>>(
    reader: &Reader,
    access: &A,
    request: ListRequest,
) -> Result<Part<ListRequest>> {
    let found = L::load(reader, access, &request)?;
    let columns = L::columns();
    let cells = |row: &L::Row| columns.iter().filter_map(|column| Some(column.text.as_ref()?(row))).collect();
    let rows = found.rows.iter().map(cells).collect();
    Ok(Part { rows, next: found.next.map(|start| ListRequest { page: chunk(start), ..request }) })
}

/// Returns a cursor for an address. Row IDs count the records of all teams, so they are enciphered.
fn encode(context: &Context, start: Start) -> String {
    match start {
        Start::Newest => String::new(),
        Start::Below(id) => format!("o{:016x}", encipher(context, id as u64, [0, 1, 2, 3])),
        Start::Above(id) => format!("n{:016x}", encipher(context, id as u64, [0, 1, 2, 3])),
    }
}

/// Returns the position in a cursor; `None` if it has none.
fn decode(context: &Context, cursor: &str) -> Option<Start> {
    let (side, digits) = cursor.split_at_checked(1)?;
    let enciphered = u64::from_str_radix(digits, 16).ok()?;
    // The halves are exchanged before and after, so that the same rounds in reverse order undo the cipher.
    let id = encipher(context, enciphered.rotate_left(32), [3, 2, 1, 0]).rotate_left(32) as i64;
    match side {
        "o" => Some(Start::Below(id)),
        "n" => Some(Start::Above(id)),
        _ => None,
    }
}

/// Enciphers a number: a Feistel cipher of four rounds, with the market's key for cursors, the path, and the visitor.
fn encipher(context: &Context, number: u64, rounds: [u8; 4]) -> u64 {
    let principal = context.signed_in.as_ref().map(|signed_in| signed_in.authenticated.principal());
    let (mut left, mut right) = ((number >> 32) as u32, number as u32);
    for round in rounds {
        let input = format!("console {round} {right} {principal:?} {}", context.path);
        let mac = context.market().sign_cursor(input.as_bytes());
        let key = u32::from_be_bytes([mac[0], mac[1], mac[2], mac[3]]);
        (left, right) = (right, left ^ key);
    }
    (u64::from(left) << 32) | u64::from(right)
}
