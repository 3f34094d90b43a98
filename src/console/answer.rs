//! What a page answers: its content, the address of another page, or a file.

use maud::Markup;
use poem::{Response, http::StatusCode};
use uuid::Uuid;

use super::notices::Notice;
use crate::string_enum::StringEnum;

/// ID of the form with the filters of search results. The frame's search field belongs to it on pages with a search text.
pub const FILTERS_FORM: &str = "filters";

/// The answer of a page.
pub enum Answer {
    /// Content, which is shown in the frame.
    Content(Box<Content>),
    /// A part of the page, for the script that asked for it.
    Part(Markup),
    /// Another page, by its path below [`PREFIX`](super::address::PREFIX).
    Redirect(String),
    /// A file.
    File(Response),
}

/// The content of a page.
pub struct Content {
    /// Title and first heading.
    pub title: String,
    /// What stands below the heading.
    pub note: Option<Markup>,
    /// At most three actions beside the heading, the most important one last.
    pub actions: Option<Markup>,
    /// The pages above this one: names, and paths below [`PREFIX`](super::address::PREFIX).
    pub crumbs: Vec<(String, String)>,
    /// The rest of the page.
    pub body: Markup,
    /// Whether the page is as wide as a decision needs, and not as wide as a table.
    pub is_narrow: bool,
    /// The search text that the frame's search field shows.
    pub search: Option<String>,
    /// The request that does the same through the API: method, path with its query, and body.
    pub request: Option<(&'static str, String, Option<String>)>,
    /// Name of the script that only this page needs.
    pub script: Option<&'static str>,
    /// Why the form of the page was refused, if the visit does not know that.
    pub refusal: Option<Markup>,
    /// Status of the response.
    pub status: StatusCode,
}

impl Content {
    /// Creates the content of a page.
    pub fn new(title: impl Into<String>, body: Markup) -> Content {
        Content {
            title: title.into(),
            note: None,
            actions: None,
            crumbs: Vec::new(),
            body,
            is_narrow: false,
            search: None,
            request: None,
            script: None,
            refusal: None,
            status: StatusCode::OK,
        }
    }

    /// Sets what stands below the heading.
    #[must_use]
    pub fn with_note(mut self, note: Markup) -> Content {
        self.note = Some(note);
        self
    }

    /// Sets the actions beside the heading.
    #[must_use]
    pub fn with_actions(mut self, actions: Markup) -> Content {
        self.actions = Some(actions);
        self
    }

    /// Appends a page to the breadcrumbs above this page.
    #[must_use]
    pub fn with_parent(mut self, name: impl Into<String>, path: impl Into<String>) -> Content {
        self.crumbs.push((name.into(), path.into()));
        self
    }

    /// Makes the page as wide as a decision needs.
    #[must_use]
    pub fn narrow(mut self) -> Content {
        self.is_narrow = true;
        self
    }

    /// Sets the GET request that does the same through the API.
    #[must_use]
    pub fn with_request(mut self, path: impl Into<String>) -> Content {
        self.request = Some(("GET", path.into(), None));
        self
    }

    /// Sets the script that only this page needs.
    #[must_use]
    pub const fn with_script(mut self, name: &'static str) -> Content {
        self.script = Some(name);
        self
    }

    /// Sets the status of the response.
    #[must_use]
    pub fn with_status(mut self, status: StatusCode) -> Content {
        self.status = status;
        self
    }
}

impl From<Content> for Answer {
    fn from(content: Content) -> Answer {
        Answer::Content(Box::new(content))
    }
}

impl Answer {
    /// Answers with another page, which says what was done.
    pub fn done(path: &str, notice: Notice) -> Answer {
        let separator = if path.contains('?') { '&' } else { '?' };
        Answer::Redirect(format!("{path}{separator}{}={}", Notice::FIELD, notice.as_str()))
    }

    /// Like [`Answer::done`], for operators: the notice names the listing with this ID.
    pub fn done_about(path: &str, notice: Notice, listing: Uuid) -> Answer {
        let separator = if path.contains('?') { '&' } else { '?' };
        Answer::done(&format!("{path}{separator}{}={listing}", Notice::ABOUT), notice)
    }
}
