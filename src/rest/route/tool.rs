//! The tool of an operation: texts that the OpenAPI documents lack, about when to choose the tool, and what to
//! call next. Parameters, response shapes, and rules come from the operation.

pub use crate::config::Toolset;

/// How agents call an operation.
#[derive(Debug)]
pub enum Tool {
    /// A tool of its own.
    Own {
        /// The texts of the tool.
        text: ToolText,
        /// Name of the response field that holds the list; none if the response is a single record.
        list: Option<&'static str>,
    },
    /// One of the operations of a tool, which an argument selects. The tool is shown where its first
    /// operation is.
    Choice {
        /// The tool.
        tool: &'static MultiTool,
        /// The value of the argument.
        value: &'static str,
        /// Name of the response field that holds the list; none if the response is a single record.
        list: Option<&'static str>,
    },
    /// No tool, for this reason.
    Excluded(&'static str),
}

/// A tool that calls one of several operations.
#[derive(Debug)]
pub struct MultiTool {
    /// The texts of the tool.
    pub text: ToolText,
    /// Name of the argument that selects the operation.
    pub argument: &'static str,
    /// Description of the argument.
    pub description: &'static str,
    /// Default value of the argument; if none, it is required.
    pub default: Option<&'static str>,
    /// Description of the argument `filters`, which contains the parameters that only some of the operations have; if
    /// none, these are arguments of their own.
    pub filters: Option<&'static str>,
    /// Values of parameters that depend on the operation. What agents see are those of the operations that they can call.
    pub choice_values: &'static [fn() -> ChoiceValues],
}

/// Values that two parameters of one operation of a tool take.
#[derive(Clone, Debug)]
pub struct ChoiceValues {
    /// The value of the tool's argument that selects the operation.
    pub choice: &'static str,
    /// The parameters and their values.
    pub values: [(&'static str, Vec<&'static str>); 2],
}

/// Which results of a tool contain text that teams wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TeamTextIn {
    /// Any of them can.
    AnyResult,
    /// None of them.
    NoResult,
    /// Those of calls that give a parameter one of these values.
    ResultsFor {
        /// Name of the parameter.
        parameter: &'static str,
        /// The values.
        values: &'static [&'static str],
    },
}

/// The texts of a tool.
#[derive(Debug)]
pub struct ToolText {
    /// Toolset that the tool belongs to.
    pub toolset: Toolset,
    /// Name by which agents call the tool.
    pub name: &'static str,
    /// Display name for people.
    pub title: &'static str,
    /// When to call the tool, and what to call next.
    pub summary: &'static str,
    /// Parameter descriptions that replace those of the OpenAPI document, as `(parameter, description)`. Used
    /// where the document's text does not fit, or where agents get the parameter wrong.
    pub parameters: &'static [(&'static str, &'static str)],
    /// Tools that return the IDs that this tool takes; empty if it takes none.
    pub id_sources: &'static str,
    /// Whether the result contains text that teams wrote, as opposed to the platform.
    pub team_text: TeamTextIn,
    /// Paths of the fields that a call returns unless it selects others, of an item or of its page; empty for all.
    pub row: &'static [&'static str],
    /// Tool that returns one of the items, whose fields can be selected; empty if the description of the selection names
    /// them.
    pub fields_of: &'static str,
    /// Values that parameters take, as `(parameter, values)`, where the OpenAPI document lists none, or more than the tool
    /// needs.
    pub values: &'static [(&'static str, &'static [&'static str])],
    /// `operationId` of the operation that names the basis of the record in the result; empty if there is none. Its path has
    /// parameters with the same names.
    pub evidence: &'static str,
    /// Whether agents see the tool without selecting it or its toolset. Others can be called all the same.
    pub is_listed: bool,
}

impl Tool {
    /// A tool that returns a record.
    pub const fn record(text: ToolText) -> Tool {
        Tool::Own { text, list: None }
    }

    /// A tool that returns a list in the given field.
    pub const fn list(text: ToolText, field: &'static str) -> Tool {
        Tool::Own { text, list: Some(field) }
    }
}

impl ToolText {
    /// Creates texts without parameter descriptions and IDs.
    pub const fn new(
        toolset: Toolset,
        name: &'static str,
        title: &'static str,
        summary: &'static str,
    ) -> ToolText {
        ToolText {
            toolset,
            name,
            title,
            summary,
            parameters: &[],
            id_sources: "",
            team_text: TeamTextIn::AnyResult,
            row: &[],
            fields_of: "",
            values: &[],
            evidence: "",
            is_listed: true,
        }
    }

    /// Replaces parameter descriptions, given as `(parameter, description)`.
    #[must_use]
    pub const fn with_parameters(self, parameters: &'static [(&'static str, &'static str)]) -> ToolText {
        ToolText { parameters, ..self }
    }

    /// Sets the tool that returns one of the items, whose fields can be selected.
    #[must_use]
    pub const fn with_fields_of(self, tool: &'static str) -> ToolText {
        ToolText { fields_of: tool, ..self }
    }

    /// Sets the paths of the fields that a call returns unless it selects others: what an agent needs to decide.
    #[must_use]
    pub const fn with_row(self, row: &'static [&'static str]) -> ToolText {
        ToolText { row, ..self }
    }

    /// Sets the values that parameters take, as `(parameter, values)`.
    #[must_use]
    pub const fn with_values(self, values: &'static [(&'static str, &'static [&'static str])]) -> ToolText {
        ToolText { values, ..self }
    }

    /// Sets the operation that names the basis of the record in the result.
    #[must_use]
    pub const fn with_evidence(self, evidence: &'static str) -> ToolText {
        ToolText { evidence, ..self }
    }

    /// States that agents see the tool only if they select it, since few questions need it.
    #[must_use]
    pub const fn unlisted(self) -> ToolText {
        ToolText { is_listed: false, ..self }
    }

    /// Sets the tools that return the IDs that this tool takes.
    #[must_use]
    pub const fn with_ids(self, id_sources: &'static str) -> ToolText {
        ToolText { id_sources, ..self }
    }

    /// States that only results of calls that give a parameter one of these values contain text that teams wrote.
    #[must_use]
    pub const fn with_team_text_for(
        self,
        parameter: &'static str,
        values: &'static [&'static str],
    ) -> ToolText {
        ToolText { team_text: TeamTextIn::ResultsFor { parameter, values }, ..self }
    }

    /// States that the result contains no text that teams wrote.
    #[must_use]
    pub const fn without_team_text(self) -> ToolText {
        ToolText { team_text: TeamTextIn::NoResult, ..self }
    }
}
