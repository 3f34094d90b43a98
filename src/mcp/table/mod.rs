//! The tool table: which GET operations an agent can call, under which name, and how each tool is described.
//!
//! An entry says nothing about parameters, response shapes or rules: those come from the operation. Its texts
//! say what the OpenAPI documents do not: when to choose the tool, and what to call next.

mod buyers;
mod shared;
mod vendors;

/// Which teams see a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Every team, including those without a marketplace role.
    Anybody,
    /// Every team with at least one marketplace role.
    Everyone,
    /// Teams with the vendor role.
    Vendors,
    /// Teams with the buyer role.
    Buyers,
}

/// An entry of the tool table.
#[derive(Debug)]
pub struct Row {
    /// Name by which agents call the tool.
    pub name: &'static str,
    /// Display name for people.
    pub title: &'static str,
    /// Teams that see the tool.
    pub audience: Audience,
    /// Description for agents: when to call the tool, and what to call next.
    pub words: &'static str,
    /// Operation or operations behind the tool.
    pub calls: Calls,
    /// Parameter descriptions that replace those of the OpenAPI document, as `(parameter, description)`. Used
    /// where the document's text does not fit, or where agents get the parameter wrong.
    pub parameters: &'static [(&'static str, &'static str)],
    /// Tools that return the IDs that this tool takes; empty if it takes none.
    pub ids: &'static str,
    /// Whether the result contains text that teams wrote, as opposed to the platform.
    pub is_written_by_teams: bool,
}

/// The operations behind a tool.
#[derive(Debug)]
pub enum Calls {
    /// No operation: the tool describes the team of the API key.
    Nothing,
    /// A single operation.
    One(Call),
    /// One of several operations, selected by an argument.
    Choice {
        /// Name of the argument.
        argument: &'static str,
        /// Description of the argument.
        words: &'static str,
        /// Default value; if `None`, the argument is required.
        usual: Option<&'static str>,
        /// Values of the argument, who may use each, and the operation that each selects.
        of: &'static [(&'static str, Audience, Call)],
    },
}

/// A GET operation, and the list in its response that is paged.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// `operationId` in the OpenAPI document.
    pub operation: &'static str,
    /// Name of the response field that holds the list; `None` if the response is a single record.
    pub list: Option<&'static str>,
}

const fn whole(operation: &'static str) -> Call {
    Call { operation, list: None }
}

const fn listed(operation: &'static str, field: &'static str) -> Call {
    Call { operation, list: Some(field) }
}

/// A single operation that returns a record.
const fn record(operation: &'static str) -> Calls {
    Calls::One(whole(operation))
}

/// A single operation that returns a list in the given field.
const fn list(operation: &'static str, field: &'static str) -> Calls {
    Calls::One(listed(operation, field))
}

/// An entry without parameter descriptions and IDs.
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

    /// Returns the description that agents see: when to call the tool, what to call next, and where its IDs
    /// come from.
    pub fn description(&self) -> String {
        if self.ids.is_empty() {
            return self.words.to_owned();
        }
        format!("{} IDs: {}.", self.words, self.ids)
    }

    /// Returns the name of the argument that selects the operation, or `None` if there is no choice.
    pub const fn choice(&self) -> Option<&'static str> {
        match &self.calls {
            Calls::Choice { argument, .. } => Some(argument),
            _ => None,
        }
    }

    /// Returns every operation behind the tool, with the teams that may use it.
    pub fn all(&self) -> Vec<(Audience, Call)> {
        match &self.calls {
            Calls::Nothing => Vec::new(),
            Calls::One(call) => vec![(self.audience, *call)],
            Calls::Choice { of, .. } => of.iter().map(|(_, audience, call)| (*audience, *call)).collect(),
        }
    }
}

/// GET operations without a tool, as `(operation, reason)`.
pub const LEFT_OUT: [(&str, &str); 4] = [
    ("get_asset_group", "list_asset_groups returns every group in full"),
    (
        "get_asset_window",
        "a screen of collapsed groups; list_asset_groups, and list_assets with group_id, return the same \
         data",
    ),
    ("get_estimation", "list_estimations returns every estimation in full"),
    (
        "get_task_qc_refresh",
        "the state of a refresh that no tool can start; each task has the time of its last refresh",
    ),
];

/// Returns every tool, in the order in which agents see them.
pub fn tools() -> impl Iterator<Item = &'static Row> {
    shared::TOOLS.iter().chain(&vendors::TOOLS).chain(&buyers::TOOLS)
}
