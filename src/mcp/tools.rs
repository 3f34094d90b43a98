//! The tools as agents see them: entries of the tool table joined with their operations, for each combination
//! of roles.

use std::{collections::HashMap, sync::Arc};

use rmcp::model::{Tool as Definition, ToolAnnotations};

use super::{
    reads::Reads,
    schemas,
    table::{self, Audience, Call, Calls, Row},
    variants::Variant,
};
use crate::domain::teams::Team;

/// The tools of teams with one combination of roles, in display order.
#[derive(Debug)]
pub struct Toolbox {
    tools: Vec<Tool>,
    by_name: HashMap<&'static str, usize>,
}

/// A tool that a team can call.
#[derive(Debug)]
pub struct Tool {
    /// Entry in the tool table.
    pub row: &'static Row,
    /// Operations that the team can call through the tool; empty if the tool has none.
    pub variants: Vec<Variant>,
    /// Names of the tool's arguments.
    pub arguments: Vec<String>,
    /// Definition that `tools/list` returns.
    pub definition: Definition,
}

/// The tools for every combination of roles.
#[derive(Debug)]
pub struct Toolboxes {
    by_role: [Toolbox; 4],
}

impl Toolboxes {
    /// Joins the tool table with the operations.
    pub fn new(reads: &Reads) -> Toolboxes {
        let of = |(is_vendor, is_buyer)| Toolbox::new(reads, is_vendor, is_buyer);
        Toolboxes { by_role: [(false, false), (false, true), (true, false), (true, true)].map(of) }
    }

    /// Returns the tools of a team.
    pub fn of(&self, team: &Team) -> &Toolbox {
        &self.by_role[usize::from(team.is_vendor) * 2 + usize::from(team.is_buyer)]
    }
}

impl Toolbox {
    fn new(reads: &Reads, is_vendor: bool, is_buyer: bool) -> Toolbox {
        let may = |audience| match audience {
            Audience::Anybody => true,
            Audience::Everyone => is_vendor || is_buyer,
            Audience::Vendors => is_vendor,
            Audience::Buyers => is_buyer,
        };
        let rows = table::tools().filter(|row| may(row.audience));
        let mut said = schemas::Said::default();
        let tools: Vec<Tool> = rows.map(|row| Tool::new(row, reads, &may, &mut said)).collect();
        let by_name = tools.iter().enumerate().map(|(place, tool)| (tool.row.name, place)).collect();
        Toolbox { tools, by_name }
    }

    /// Returns every tool, in display order.
    pub fn all(&self) -> &[Tool] {
        &self.tools
    }

    /// Returns the tool with this name, if the team has it.
    pub fn find(&self, name: &str) -> Option<&Tool> {
        self.by_name.get(name).map(|place| &self.tools[*place])
    }
}

impl Tool {
    fn new(
        row: &'static Row,
        reads: &Reads,
        may: &dyn Fn(Audience) -> bool,
        said: &mut schemas::Said,
    ) -> Tool {
        let variant = |word, call: Call| Variant::new(word, call, reads);
        let variants: Vec<Variant> = match &row.calls {
            Calls::Nothing => Vec::new(),
            Calls::One(call) => vec![variant(None, *call)],
            Calls::Choice { of, .. } => {
                let open = of.iter().filter(|(_, audience, _)| may(*audience));
                open.map(|(word, _, call)| variant(Some(*word), *call)).collect()
            }
        };
        let input = schemas::input(row, &variants, said);
        let arguments = schemas::names(&input);
        let annotations = ToolAnnotations::new().read_only(true).destructive(false);
        let definition = Definition::new(row.name, row.description(), input)
            .with_title(row.title)
            .with_raw_output_schema(Arc::new(schemas::output(&variants)))
            .with_annotations(annotations.idempotent(true).open_world(false));
        Tool { row, variants, arguments, definition }
    }
}
