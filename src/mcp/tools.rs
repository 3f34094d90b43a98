//! The tools as agents see them: rows of the table joined with the operations that they call, for each kind of team.

use std::{collections::HashMap, sync::Arc};

use rmcp::model::{Tool as Definition, ToolAnnotations};

use super::{
    reads::Reads,
    schemas,
    table::{self, Audience, Call, Calls, Row},
    variants::Variant,
};
use crate::domain::teams::Team;

/// The tools of one kind of team, in their order.
#[derive(Debug)]
pub struct Toolbox {
    tools: Vec<Tool>,
    by_name: HashMap<&'static str, usize>,
}

/// A tool that a team can call.
#[derive(Debug)]
pub struct Tool {
    /// Its row in the table.
    pub row: &'static Row,
    /// What it can call.
    pub variants: Vec<Variant>,
    /// The names of its arguments.
    pub arguments: Vec<String>,
    /// How it is shown.
    pub definition: Definition,
}

/// The toolboxes of all kinds of teams.
#[derive(Debug)]
pub struct Toolboxes {
    by_role: [Toolbox; 4],
}

impl Toolboxes {
    /// Joins the table with the operations.
    pub fn new(reads: &Reads) -> Toolboxes {
        let of = |(is_vendor, is_buyer)| Toolbox::new(reads, is_vendor, is_buyer);
        Toolboxes { by_role: [(false, false), (false, true), (true, false), (true, true)].map(of) }
    }

    /// The tools of a team.
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

    /// Every tool.
    pub fn all(&self) -> &[Tool] {
        &self.tools
    }

    /// The tool of this name, if the team has it.
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
