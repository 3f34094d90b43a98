//! The tools: which GET operations an agent can call under which name, and what it is told of each.
//!
//! A row says nothing of parameters, shapes or rules: those are the operations' own. Words say what the documents do not:
//! when to choose the tool, and what to call next.

mod buyers;
mod shared;
mod vendors;

/// Who sees a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Every team, even without a marketplace role.
    Anybody,
    /// Every team with a marketplace role.
    Everyone,
    /// Teams that sell.
    Vendors,
    /// Teams that buy.
    Buyers,
}

/// A tool.
#[derive(Debug)]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Who sees it.
    pub audience: Audience,
    /// When to call it, and what next.
    pub words: &'static str,
    /// What it calls.
    pub calls: Calls,
    /// Words for parameters that the document's own do not fit, or that agents get wrong.
    pub parameters: &'static [(&'static str, &'static str)],
    /// Where the ids that it takes are found; empty where it takes none.
    pub ids: &'static str,
    /// Whether teams wrote some of what it answers, rather than the platform.
    pub is_written_by_teams: bool,
}

/// What a tool calls.
#[derive(Debug)]
pub enum Calls {
    /// Nothing: it tells what is known of the key.
    Nothing,
    /// An operation.
    One(Call),
    /// One of several, by an argument.
    Choice {
        /// The argument.
        argument: &'static str,
        /// What it means.
        words: &'static str,
        /// Its value where it is left out; where there is none, it must be there.
        usual: Option<&'static str>,
        /// Its values, who may use each, and what it calls.
        of: &'static [(&'static str, Audience, Call)],
    },
}

/// A GET operation, and the list in its answer that is shown in pages.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// The operation's id.
    pub operation: &'static str,
    /// The field of the answer that holds the list; nothing where the answer is one record.
    pub list: Option<&'static str>,
}

const fn whole(operation: &'static str) -> Call {
    Call { operation, list: None }
}

const fn listed(operation: &'static str, field: &'static str) -> Call {
    Call { operation, list: Some(field) }
}

/// One operation that answers a record.
const fn record(operation: &'static str) -> Calls {
    Calls::One(whole(operation))
}

/// One operation that answers a list, in this field.
const fn list(operation: &'static str, field: &'static str) -> Calls {
    Calls::One(listed(operation, field))
}

/// A row without words for parameters.
const fn row(
    name: &'static str,
    title: &'static str,
    audience: Audience,
    words: &'static str,
    calls: Calls,
) -> Row {
    Row { name, title, audience, words, calls, parameters: &[], ids: "", is_written_by_teams: true }
}

impl Row {
    const fn explaining(mut self, parameters: &'static [(&'static str, &'static str)]) -> Row {
        self.parameters = parameters;
        self
    }

    const fn with_ids(mut self, place: &'static str) -> Row {
        self.ids = place;
        self
    }

    const fn of_the_platform(mut self) -> Row {
        self.is_written_by_teams = false;
        self
    }

    /// When to call it, what next, and where its ids are found.
    pub fn description(&self) -> String {
        if self.ids.is_empty() {
            return self.words.to_owned();
        }
        format!("{} Ids: {}.", self.words, self.ids)
    }

    /// The argument that chooses what it calls; nothing where there is no choice.
    pub const fn choice(&self) -> Option<&'static str> {
        match &self.calls {
            Calls::Choice { argument, .. } => Some(argument),
            _ => None,
        }
    }

    /// Everything that it calls, with who may.
    pub fn all(&self) -> Vec<(Audience, Call)> {
        match &self.calls {
            Calls::Nothing => Vec::new(),
            Calls::One(call) => vec![(self.audience, *call)],
            Calls::Choice { of, .. } => of.iter().map(|(_, audience, call)| (*audience, *call)).collect(),
        }
    }
}

/// GET operations that no tool calls, and why.
pub const LEFT_OUT: [(&str, &str); 4] = [
    ("get_asset_group", "list_asset_groups answers every group whole"),
    (
        "get_asset_window",
        "a screen of folded groups; list_asset_groups, and list_assets with group_id, say the same",
    ),
    ("get_estimation", "list_estimations answers every estimation whole"),
    (
        "get_task_qc_refresh",
        "the state of a writing that no tool can start; each task says when it was last read",
    ),
];

/// Every tool, in the order in which agents see them.
pub fn tools() -> impl Iterator<Item = &'static Row> {
    shared::TOOLS.iter().chain(&vendors::TOOLS).chain(&buyers::TOOLS)
}
