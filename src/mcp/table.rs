//! The tool table: which GET operations an agent can call, and under which name. Each route declares its
//! tool; see [`crate::rest::route::Tool`].

use std::collections::BTreeSet;

use crate::rest::route::{Audience, DeclaredRoute, MultiTool, Tool, ToolText, Toolset};

/// An entry of the tool table.
#[derive(Debug)]
pub struct ToolEntry {
    /// The texts of the tool.
    pub text: &'static ToolText,
    /// Teams that see the tool.
    pub audience: Audience,
    /// Operation or operations behind the tool.
    pub operations: ToolOperations,
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
        /// The argument.
        argument: &'static MultiTool,
        /// Values of the argument, who may use each, and the operation that each selects.
        options: Vec<(&'static str, Audience, OperationCall)>,
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

impl ToolEntry {
    /// Returns the description that agents see: when to call the tool, what to call next, and where its IDs
    /// come from.
    pub fn description(&self) -> String {
        let ToolText { summary, id_sources, .. } = self.text;
        if id_sources.is_empty() { (*summary).to_owned() } else { format!("{summary} IDs: {id_sources}.") }
    }

    /// Returns the name of the argument that selects the operation, or `None` if there is no choice.
    pub const fn choice_argument(&self) -> Option<&'static str> {
        match &self.operations {
            ToolOperations::Choice { argument, .. } => Some(argument.argument),
            _ => None,
        }
    }

    /// Returns the values that a parameter takes in calls of these operations, which the argument of the tool selects; `None` if
    /// the tool states none.
    pub fn values_of(&self, parameter: &str, choices: &[&str]) -> Option<Vec<&'static str>> {
        if let ToolOperations::Choice { argument, .. } = &self.operations {
            let of_choices = argument.choice_values.iter().map(|values| values());
            let values: BTreeSet<&'static str> = of_choices
                .filter(|values| choices.contains(&values.choice))
                .flat_map(|choice| choice.values)
                .filter(|(name, _)| *name == parameter)
                .flat_map(|(_, values)| values)
                .collect();
            if !values.is_empty() {
                return Some(values.into_iter().collect());
            }
        }
        let stated = self.text.values.iter().find(|(name, _)| *name == parameter);
        stated.map(|(_, values)| values.to_vec())
    }

    /// Returns the description of the argument `filters`; `None` if the tool has none.
    pub const fn filters_description(&self) -> Option<&'static str> {
        match &self.operations {
            ToolOperations::Choice { argument, .. } => argument.filters,
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

/// The texts of the only tool without an operation.
static CURRENT_TEAM: ToolText = ToolText::new(
    Toolset::Account,
    "get_current_team",
    "Current team",
    "Call this first. Returns the key's team, its roles, the market's time (`now`), balances and counts, whether it \
     accepted the mutual NDA, and its browse gate status.",
);

/// Returns the tools that routes declare, in the order in which agents see them. A tool with several operations
/// is at the place of the first one.
pub fn tools(routes: &[DeclaredRoute]) -> Vec<ToolEntry> {
    let mut tools = vec![ToolEntry {
        text: &CURRENT_TEAM,
        audience: Audience::AllTeams,
        operations: ToolOperations::None,
    }];
    for route in routes {
        let (operation, audience) = (route.operation, route.required_access.audience());
        match route.tool() {
            Some(Tool::Own { text, list }) => {
                let operations = ToolOperations::Single(OperationCall { operation, list: *list });
                tools.push(ToolEntry { text, audience, operations });
            }
            Some(Tool::Choice { tool, value, list }) => {
                let option = (*value, audience, OperationCall { operation, list: *list });
                match tools.iter_mut().find(|entry| entry.text.name == tool.text.name) {
                    Some(ToolEntry { operations: ToolOperations::Choice { options, .. }, .. }) => {
                        options.push(option);
                    }
                    _ => {
                        let operations = ToolOperations::Choice { argument: tool, options: vec![option] };
                        tools.push(ToolEntry { text: &tool.text, audience, operations });
                    }
                }
            }
            Some(Tool::Excluded(_)) | None => {}
        }
    }
    tools
}
