//! The tools as agents see them: entries of the tool table joined with their operations, for each combination
//! of roles.

use std::{collections::HashMap, sync::Arc};

use rmcp::model::{JsonObject, Tool as Definition, ToolAnnotations};

use super::{
    openapi::GetOperations,
    schemas,
    table::{self, OperationCall, ToolEntry, ToolOperations},
    variants::Variant,
};
use crate::{
    config::SchemaDetail,
    domain::teams::Team,
    rest::route::{Audience, DeclaredRoute},
};

/// The tools of teams with one combination of roles, in display order.
#[derive(Debug)]
pub struct ToolSet {
    tools: Vec<Tool>,
    by_name: HashMap<&'static str, usize>,
}

/// A tool that a team can call.
#[derive(Debug)]
pub struct Tool {
    /// Entry in the tool table.
    pub entry: Arc<ToolEntry>,
    /// Operations that the team can call through the tool; empty if the tool has none.
    pub variants: Vec<Variant>,
    /// Path of the operation that names the basis of the record in the result; `None` if there is none.
    pub evidence_path: Option<String>,
    /// Names of the tool's arguments.
    pub arguments: Vec<String>,
    /// Names of the parameters that the argument `filters` contains; empty if the tool has none.
    pub filters: Vec<String>,
    /// Definition with the shallow output schema.
    definition: Definition,
    full_output: Arc<JsonObject>,
}

/// The tools for every combination of roles.
#[derive(Debug)]
pub struct ToolSets {
    by_role: [ToolSet; 4],
    /// Names of the tools of all roles.
    names: Vec<&'static str>,
}

impl ToolSets {
    /// Joins the tools that routes declare with the operations.
    pub fn new(routes: &[DeclaredRoute], operations: &GetOperations) -> ToolSets {
        let table: Vec<Arc<ToolEntry>> = table::tools(routes).into_iter().map(Arc::new).collect();
        let tool_set = |(is_vendor, is_buyer)| ToolSet::new(&table, operations, is_vendor, is_buyer);
        ToolSets {
            by_role: [(false, false), (false, true), (true, false), (true, true)].map(tool_set),
            names: table.iter().map(|entry| entry.text.name).collect(),
        }
    }

    /// Returns the names of the tools of all roles, in display order.
    pub fn names(&self) -> &[&'static str] {
        &self.names
    }

    /// Returns the tools that are listed for a team: those that it can call now. Before the NDA, these are the tools that need
    /// no role. If the team calls another tool of its roles, the error says how to get access.
    pub fn listed_for(&self, team: &Team) -> &ToolSet {
        let [without_role, ..] = &self.by_role;
        if team.nda_accepted_at.is_some() { self.for_team(team) } else { without_role }
    }

    /// Returns the tools of the roles of a team.
    pub fn for_team(&self, team: &Team) -> &ToolSet {
        &self.by_role[usize::from(team.is_vendor) * 2 + usize::from(team.is_buyer)]
    }
}

impl ToolSet {
    fn new(table: &[Arc<ToolEntry>], operations: &GetOperations, is_vendor: bool, is_buyer: bool) -> ToolSet {
        let is_visible = |audience| match audience {
            Audience::Everyone | Audience::AllTeams => true,
            Audience::TeamsWithRole => is_vendor || is_buyer,
            Audience::Vendors => is_vendor,
            Audience::Buyers => is_buyer,
            Audience::Operators => false,
        };
        let rows = table.iter().filter(|row| is_visible(row.audience)).cloned();
        // The list of tools of a team with both roles is at its maximum size without them.
        let names_fields = !(is_vendor && is_buyer);
        let tools: Vec<Tool> =
            rows.map(|row| Tool::new(row, operations, &is_visible, names_fields)).collect();
        let by_name = tools.iter().enumerate().map(|(index, tool)| (tool.entry.text.name, index)).collect();
        ToolSet { tools, by_name }
    }

    /// Returns every tool, in display order.
    pub fn as_slice(&self) -> &[Tool] {
        &self.tools
    }

    /// Returns the tool with this name, if the team has it.
    pub fn find(&self, name: &str) -> Option<&Tool> {
        self.by_name.get(name).map(|index| &self.tools[*index])
    }
}

impl Tool {
    fn new(
        row: Arc<ToolEntry>,
        operations: &GetOperations,
        is_visible: &dyn Fn(Audience) -> bool,
        names_fields: bool,
    ) -> Tool {
        let variant = |choice, call: OperationCall| Variant::new(choice, call, operations);
        let variants: Vec<Variant> = match &row.operations {
            ToolOperations::None => Vec::new(),
            ToolOperations::Single(call) => vec![variant(None, *call)],
            ToolOperations::Choice { options, .. } => {
                let visible = options.iter().filter(|(_, audience, _)| is_visible(*audience));
                visible.map(|(choice, _, call)| variant(Some(*choice), *call)).collect()
            }
        };
        let input = schemas::input_schema(&row, &variants, names_fields);
        let arguments = schemas::argument_names(&input);
        let names = variants
            .iter()
            .flat_map(|variant| &variant.operation.parameters)
            .map(|parameter| &parameter.name);
        let filters = names.filter(|name| schemas::is_nested(&row, &variants, name)).cloned().collect();
        let evidence_path = (!row.text.evidence.is_empty()).then(|| {
            let operation = operations.find(row.text.evidence);
            operation.expect("the operation that names the basis exists").path.clone()
        });
        let full_output = Arc::new(schemas::output_schema(row.text, &variants));
        // Whether calls are idempotent says nothing more, since tools only read.
        let annotations = ToolAnnotations::new().read_only(true).destructive(false);
        let definition = Definition::new(row.text.name, row.description(), input)
            .with_title(row.text.title)
            .with_raw_output_schema(Arc::new(schemas::shallow(&full_output)))
            .with_annotations(annotations.open_world(false));
        Tool { entry: row, variants, evidence_path, arguments, filters, definition, full_output }
    }

    /// Returns the definition that `tools/list` returns.
    pub fn definition(&self, schemas: SchemaDetail) -> Definition {
        let definition = self.definition.clone();
        match schemas {
            SchemaDetail::Shallow => definition,
            SchemaDetail::Full => definition.with_raw_output_schema(Arc::clone(&self.full_output)),
        }
    }
}
