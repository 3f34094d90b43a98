//! Pages that ask for a confirmation: they say what is lost, and have a button to continue and a link back. Each is declared by
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
    parts::{
        badges::{self, Tone},
        fields,
    },
    seen::Seen,
    visit::{Context, Visit},
};
use crate::{
    error::Result,
    market::{CheckContext, Writer},
    web::{auth::Policy, limits::Budget},
};

/// A question about the record that the path names.
pub trait Question: Sized + Send + Sync + 'static {
    /// Path below [`PREFIX`](super::address::PREFIX), whose one parameter is the ID of the record.
    const PATH: &'static str;

    /// Title in lists of pages.
    const TITLE: &'static str;

    /// The budget that a visit is charged to.
    const BUDGET: Budget = Budget::Other;

    /// Name of the operation and kind of the record in the audit.
    const CHANGE: (&'static str, &'static str);

    /// What the next page says.
    const NOTICE: Notice;

    /// The proof of access that it needs.
    type Access: Policy + Clone + 'static;

    /// The record, or what the question needs of it.
    type Subject: Send + 'static;

    /// Reads the data for the question: for its page, and again in the transaction that carries out the operation. If the question has
    /// another title, text, or button by then, the page is shown again.
    fn find(context: &CheckContext, access: &Self::Access, id: Uuid) -> Result<Self::Subject>;

    /// Returns the question.
    fn ask(context: &Context, subject: &Self::Subject) -> Confirmation;

    /// Carries out the operation.
    fn perform(writer: &mut Writer, access: &Self::Access, id: Uuid) -> Result<()>;

    /// Returns the path of the next page.
    fn next(id: Uuid) -> String;
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
pub struct QuestionPage<Q>(PhantomData<Q>);

/// Returns the row of the table of pages for a question.
pub fn row<Q: Question>() -> PageRow {
    PageRow::form::<QuestionPage<Q>>()
}

impl<Q: Question> Page for QuestionPage<Q> {
    const PATH: &'static str = Q::PATH;
    const TITLE: &'static str = Q::TITLE;
    const BUDGET: Budget = Q::BUDGET;

    type Access = Q::Access;

    async fn show(visit: &Visit<Q::Access>) -> Result<Answer> {
        let id = visit.id(0)?;
        let subject = visit.read(move |reader, access| Q::find(&reader.check_context(), access, id)).await?;
        let ask = Q::ask(&visit.context, &subject);
        let seen = ask.seen();
        let Confirmation { page, prompt, leave: (label, path) } = ask;
        let body = match prompt {
            Ok((lost, class, button)) => {
                let lost = html! { @if let Some(seen) = seen { (seen.asked()) } (lost) };
                fields::question(&visit.context, &lost, (class, &button), &path)
            }
            Err(reason) => html! {
                (badges::message(Tone::Warning, &reason))
                div.row { a.button href=(visit.links.to(&path)) { (label) } }
            },
        };
        Ok(Content { body, ..page }.narrow().into())
    }
}

impl<Q: Question> FormPage for QuestionPage<Q> {
    async fn submit(visit: &Visit<Q::Access>, fields: &Fields) -> Result<Answer> {
        let id = visit.id(0)?;
        let (operation, subject) = Q::CHANGE;
        let (context, sent) = (Arc::clone(&visit.context), fields.clone());
        let perform =
            changes::perform(visit, fields, Change::new(operation, subject, id), move |writer, access| {
                let subject = Q::find(&writer.check_context(), access, id)?;
                if let Some(seen) = Q::ask(&context, &subject).seen() {
                    seen.check(&sent)?;
                }
                Q::perform(writer, access, id)
            });
        perform.await?;
        Ok(Answer::done(&Q::next(id), Q::NOTICE))
    }
}

/// Declares pages that ask for a confirmation, each for a step of a table. `show` and `submit` of the module do the rest.
macro_rules! step_pages {
    ($access:ty: $($(#[$doc:meta])* $page:ident, $path:literal, $title:literal, $step:ident;)+) => {
        $(
            $(#[$doc])*
            pub struct $page;

            impl Page for $page {
                const PATH: &'static str = $path;
                const TITLE: &'static str = $title;

                type Access = $access;

                async fn show(visit: &Visit<$access>) -> Result<Answer> {
                    show(visit, &$step).await
                }
            }

            impl FormPage for $page {
                async fn submit(visit: &Visit<$access>, fields: &Fields) -> Result<Answer> {
                    submit(visit, fields, &$step).await
                }
            }
        )+
    };
}

pub(super) use step_pages;
