//! Pages that ask for a confirmation: they say what is lost, and have a button to continue and a link back. Each is a
//! [`Question`].

use std::{marker::PhantomData, sync::Arc};

use maud::{Markup, html};
use uuid::Uuid;

use super::{
    answer::{Answer, Content},
    changes::{self, Change},
    forms::Fields,
    navigation::PageRow,
    notices::Notice,
    page::{FormPage, Page},
    parts::{badges, fields},
    seen::Seen,
    visit::{Context, Proof, Visit},
};
use crate::{
    error::Result,
    market::{CheckContext, Reader, Writer},
    web::limits::Budget,
};

/// A question about the record in the path. `A` is the required proof of access, and `S` is the record, or the part of it that the
/// question needs.
pub struct Question<A, S> {
    /// Path below [`PREFIX`](super::address::PREFIX), whose one parameter is the ID of the record.
    pub path: &'static str,
    /// Title in lists of pages.
    pub title: &'static str,
    /// Name of the operation, and kind of the record, in the audit.
    pub change: (&'static str, &'static str),
    /// The notice on the next page.
    pub notice: Notice,
    /// Reads the data for the question: once for its page, and again in the transaction that carries out the operation. If the
    /// title, the text, or the button has changed by then, the page is shown again.
    pub find: fn(&CheckContext, &A, Uuid) -> Result<S>,
    /// Returns the question.
    pub ask: fn(&Context, &S) -> Confirmation,
    /// Carries out the operation.
    pub perform: fn(&mut Writer, &A, Uuid) -> Result<()>,
    /// Returns the path of the next page.
    pub next: fn(Uuid) -> String,
}

/// A page that asks a question. `A` is the proof of access that it needs, and `S` is what it is about.
pub trait ConfirmationPage<A: Proof, S: Send + 'static>: Send + Sync + 'static {
    /// The budget that a visit is charged to.
    const BUDGET: Budget = Budget::Other;

    /// The question.
    const QUESTION: Question<A, S>;
}

/// What a page asks.
pub struct Confirmation {
    /// Title and the pages above, without a body.
    pub page: Content,
    /// What is lost, the class of the button, and its label; or why the operation is not possible now.
    pub prompt: std::result::Result<(Markup, &'static str, String), Markup>,
    /// The page to return to: a label for the case that the operation is not possible, and the path.
    pub leave: (&'static str, String),
}

impl Confirmation {
    /// Identifies what the page states; `None` if it asks nothing.
    fn seen(&self) -> Option<Seen> {
        let (lost, _, button) = self.prompt.as_ref().ok()?;
        Some(Seen::of(&(&self.page.title, &lost.0, button)))
    }
}

/// The page of a question.
pub struct QuestionPage<A, S, Q>(PhantomData<Makes<(A, S, Q)>>);

/// Marks a type of which nothing is kept.
type Makes<T> = fn() -> T;

/// Returns the row of the table of pages for a question.
pub fn row<A: Proof, S: Send + 'static, Q: ConfirmationPage<A, S>>(_: Q) -> PageRow {
    PageRow::form(QuestionPage::<A, S, Q>(PhantomData))
}

impl<A: Proof, S: Send + 'static, Q: ConfirmationPage<A, S>> Page<A> for QuestionPage<A, S, Q> {
    const PATH: &'static str = Q::QUESTION.path;
    const TITLE: &'static str = Q::QUESTION.title;
    const BUDGET: Budget = Q::BUDGET;

    async fn show(visit: &Visit<A>) -> Result<Answer> {
        let id = visit.id(0)?;
        let find = move |reader: &Reader, access: &A| (Q::QUESTION.find)(&reader.check_context(), access, id);
        let subject = visit.read(find).await?;
        let ask = (Q::QUESTION.ask)(&visit.context, &subject);
        let seen = ask.seen();
        let Confirmation { page, prompt, leave: (label, path) } = ask;
        let body = match prompt {
            Ok((lost, class, button)) => {
                let lost = html! { @if let Some(seen) = seen { (seen.asked()) } (lost) };
                fields::question(&visit.context, &lost, (class, &button), &path)
            }
            Err(reason) => html! {
                (badges::warning(&reason))
                div.row { a.button href=(visit.links.to(&path)) { (label) } }
            },
        };
        Ok(Content { body, ..page }.narrow().into())
    }
}

impl<A: Proof, S: Send + 'static, Q: ConfirmationPage<A, S>> FormPage<A> for QuestionPage<A, S, Q> {
    async fn submit(visit: &Visit<A>, fields: &Fields) -> Result<Answer> {
        let id = visit.id(0)?;
        let Question { change: (operation, subject), notice, find, ask, perform, next, .. } = Q::QUESTION;
        let (context, sent) = (Arc::clone(&visit.context), fields.clone());
        let work = move |writer: &mut Writer, access: &A| {
            if let Some(seen) = ask(&context, &find(&writer.check_context(), access, id)?).seen() {
                seen.check(&sent)?;
            }
            perform(writer, access, id)
        };
        changes::perform(visit, fields, Change::new(operation, subject, id), work).await?;
        Ok(Answer::done(&next(id), notice))
    }
}

/// Declares pages that ask for a confirmation, each for a step of a table. `show` and `submit` of the module do the rest.
macro_rules! step_pages {
    ($access:ty: $($(#[$doc:meta])* $page:ident, $path:literal, $title:literal, $step:ident;)+) => {
        $(
            $(#[$doc])*
            pub struct $page;

            impl Page<$access> for $page {
                const PATH: &'static str = $path;
                const TITLE: &'static str = $title;

                async fn show(visit: &Visit<$access>) -> Result<Answer> {
                    show(visit, &$step).await
                }
            }

            impl FormPage<$access> for $page {
                async fn submit(visit: &Visit<$access>, fields: &Fields) -> Result<Answer> {
                    submit(visit, fields, &$step).await
                }
            }
        )+
    };
}

pub(super) use step_pages;
