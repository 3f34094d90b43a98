//! Selects an agent's tools among those for its team's roles: all, or some toolsets and single tools. A model reads the
//! definitions of all its tools.

use crate::{
    config::{AgentSettings, Toolset},
    error::excerpt,
    rest::route::ToolText,
    string_enum::StringEnum,
};

/// The tool that every agent has, since it says what the others need.
pub const ALWAYS_SELECTED: &str = "get_current_team";

/// The tools that are selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolSelection {
    /// All tools, of which those that few questions need are not listed.
    Default,
    /// All tools.
    All,
    /// The tools of these toolsets, and these tools.
    Some(Vec<Toolset>, Vec<&'static str>),
}

impl ToolSelection {
    /// Returns the selection of the settings. The error says which tool is unknown.
    pub fn from_settings(settings: &AgentSettings, known_tools: &[&'static str]) -> Result<Self, String> {
        let names = settings.tools.iter().map(String::as_str);
        Ok(ToolSelection::new(settings.toolsets.clone(), find_tools(names, known_tools)?))
    }

    /// Parses names that are separated by commas. The error says which name is unknown, and which are known.
    pub fn parse(toolsets: &str, tools: &str, known_tools: &[&'static str]) -> Result<Self, String> {
        let mut selected = Vec::new();
        for name in names(toolsets) {
            let toolset = Toolset::parse(name).ok_or_else(|| {
                let known: Vec<&str> = Toolset::ALL.iter().map(|toolset| toolset.as_str()).collect();
                format!("There is no toolset {:?}. Toolsets: {}.", excerpt(name), known.join(", "))
            })?;
            if !selected.contains(&toolset) {
                selected.push(toolset);
            }
        }
        Ok(ToolSelection::new(selected, find_tools(names(tools), known_tools)?))
    }

    fn new(toolsets: Vec<Toolset>, tools: Vec<&'static str>) -> ToolSelection {
        if toolsets.contains(&Toolset::All) {
            ToolSelection::All
        } else if toolsets.is_empty() && tools.is_empty() {
            ToolSelection::Default
        } else {
            ToolSelection::Some(toolsets, tools)
        }
    }

    /// Returns whether `tools/list` returns a tool.
    pub fn lists(&self, tool: &ToolText) -> bool {
        self.has(tool) && (tool.is_listed || *self != ToolSelection::Default)
    }

    /// Returns whether a tool is selected, so that it can be called.
    pub fn has(&self, tool: &ToolText) -> bool {
        match self {
            ToolSelection::Default | ToolSelection::All => true,
            ToolSelection::Some(toolsets, tools) => {
                tool.name == ALWAYS_SELECTED || toolsets.contains(&tool.toolset) || tools.contains(&tool.name)
            }
        }
    }
}

/// Returns the names in a list that are separated by commas.
fn names(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty())
}

/// Returns the known tools with these names, each once.
fn find_tools<'n>(
    names: impl Iterator<Item = &'n str>,
    known_tools: &[&'static str],
) -> Result<Vec<&'static str>, String> {
    let mut found = Vec::new();
    for name in names {
        let tool = known_tools.iter().find(|known| **known == name).ok_or_else(|| {
            format!("There is no tool {:?}. Tools: {}.", excerpt(name), known_tools.join(", "))
        })?;
        if !found.contains(tool) {
            found.push(*tool);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLS: [&str; 3] = ["get_current_team", "get_wallet", "list_sales"];

    #[test]
    fn names_are_parsed_and_checked() {
        let some = |toolsets: &[Toolset], tools: &[&'static str]| {
            Ok(ToolSelection::Some(toolsets.to_vec(), tools.to_vec()))
        };
        for (toolsets, tools, expected) in [
            ("", "", Ok(ToolSelection::Default)),
            (" , ", ",", Ok(ToolSelection::Default)),
            ("catalog,all", "get_wallet", Ok(ToolSelection::All)),
            ("catalog, sales,catalog", "", some(&[Toolset::Catalog, Toolset::Sales], &[])),
            ("", "get_wallet,get_wallet", some(&[], &["get_wallet"])),
            ("assets", "list_sales", some(&[Toolset::Assets], &["list_sales"])),
        ] {
            assert_eq!(ToolSelection::parse(toolsets, tools, &TOOLS), expected, "{toolsets} {tools}");
        }
        let error = ToolSelection::parse("catalogue", "", &TOOLS).unwrap_err();
        assert!(error.starts_with("There is no toolset \"catalogue\". Toolsets: all, account,"), "{error}");
        let error = ToolSelection::parse("", "get_walet", &TOOLS).unwrap_err();
        assert_eq!(error, "There is no tool \"get_walet\". Tools: get_current_team, get_wallet, list_sales.");
    }

    #[test]
    fn selection_has_toolsets_and_tools_and_the_team() {
        let selection = ToolSelection::parse("sales", "get_wallet", &TOOLS).unwrap();
        let has = |toolset, name| selection.has(&ToolText::new(toolset, name, "", ""));
        assert!(has(Toolset::Sales, "list_sales") && has(Toolset::Account, "get_wallet"));
        assert!(has(Toolset::Account, ALWAYS_SELECTED) && !has(Toolset::Account, "list_notifications"));
    }
}
