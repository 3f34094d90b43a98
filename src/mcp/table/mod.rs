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
    AllTeams,
    /// Every team with at least one marketplace role.
    TeamsWithRole,
    /// Teams with the vendor role.
    Vendors,
    /// Teams with the buyer role.
    Buyers,
}

/// An entry of the tool table.
#[derive(Debug)]
pub struct ToolEntry {
    /// Name by which agents call the tool.
    pub name: &'static str,
    /// Display name for people.
    pub title: &'static str,
    /// Teams that see the tool.
    pub audience: Audience,
    /// Description for agents: when to call the tool, and what to call next.
    pub summary: &'static str,
    /// Operation or operations behind the tool.
    pub operations: ToolOperations,
    /// Parameter descriptions that replace those of the OpenAPI document, as `(parameter, description)`. Used
    /// where the document's text does not fit, or where agents get the parameter wrong.
    pub parameters: &'static [(&'static str, &'static str)],
    /// Tools that return the IDs that this tool takes; empty if it takes none.
    pub id_sources: &'static str,
    /// Whether the result contains text that teams wrote, as opposed to the platform.
    pub has_team_text: bool,
}

/// The operations behind a tool.
#[derive(Debug)]
pub enum ToolOperations {
    /// No operation: the tool describes the team of the API key.
    None,
    /// A single operation.
    Single(OperationCall),
    /// One of several operations, selected by an argument.
    Choice {
        /// Name of the argument.
        argument: &'static str,
        /// Description of the argument.
        description: &'static str,
        /// Default value; if `None`, the argument is required.
        default: Option<&'static str>,
        /// Values of the argument, who may use each, and the operation that each selects.
        options: &'static [(&'static str, Audience, OperationCall)],
    },
}

/// A GET operation, and the list in its response that is paged.
#[derive(Clone, Copy, Debug)]
pub struct OperationCall {
    /// `operationId` in the OpenAPI document.
    pub operation: &'static str,
    /// Name of the response field that holds the list; `None` if the response is a single record.
    pub list: Option<&'static str>,
}

const fn record_call(operation: &'static str) -> OperationCall {
    OperationCall { operation, list: None }
}

const fn list_call(operation: &'static str, field: &'static str) -> OperationCall {
    OperationCall { operation, list: Some(field) }
}

/// A single operation that returns a record.
const fn single_record(operation: &'static str) -> ToolOperations {
    ToolOperations::Single(record_call(operation))
}

/// A single operation that returns a list in the given field.
const fn single_list(operation: &'static str, field: &'static str) -> ToolOperations {
    ToolOperations::Single(list_call(operation, field))
}

/// An entry without parameter descriptions and IDs.
const fn entry(
    name: &'static str,
    title: &'static str,
    audience: Audience,
    summary: &'static str,
    operations: ToolOperations,
) -> ToolEntry {
    ToolEntry {
        name,
        title,
        audience,
        summary,
        operations,
        parameters: &[],
        id_sources: "",
        has_team_text: true,
    }
}

impl ToolEntry {
    const fn with_parameters(mut self, parameters: &'static [(&'static str, &'static str)]) -> ToolEntry {
        self.parameters = parameters;
        self
    }

    const fn with_ids(mut self, id_sources: &'static str) -> ToolEntry {
        self.id_sources = id_sources;
        self
    }

    const fn without_team_text(mut self) -> ToolEntry {
        self.has_team_text = false;
        self
    }

    /// Returns the description that agents see: when to call the tool, what to call next, and where its IDs
    /// come from.
    pub fn description(&self) -> String {
        if self.id_sources.is_empty() {
            return self.summary.to_owned();
        }
        format!("{} IDs: {}.", self.summary, self.id_sources)
    }

    /// Returns the name of the argument that selects the operation, or `None` if there is no choice.
    pub const fn choice_argument(&self) -> Option<&'static str> {
        match &self.operations {
            ToolOperations::Choice { argument, .. } => Some(argument),
            _ => None,
        }
    }

    /// Returns every operation behind the tool, with the teams that may use it.
    pub fn operation_calls(&self) -> Vec<(Audience, OperationCall)> {
        match &self.operations {
            ToolOperations::None => Vec::new(),
            ToolOperations::Single(call) => vec![(self.audience, *call)],
            ToolOperations::Choice { options, .. } => {
                options.iter().map(|(_, audience, call)| (*audience, *call)).collect()
            }
        }
    }
}

/// GET operations without a tool, as `(operation, reason)`.
pub const EXCLUDED_OPERATIONS: [(&str, &str); 4] = [
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
pub fn tools() -> impl Iterator<Item = &'static ToolEntry> {
    shared::TOOLS.iter().chain(&vendors::TOOLS).chain(&buyers::TOOLS)
}
