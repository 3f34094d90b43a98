//! Checks the access of an agent without an agent: whether its key works, what its team may do, and whether tools respond. The
//! result says what a person has to change.

use serde_json::json;

use super::{
    agent_server::AgentServer,
    current_team::catalog_gate,
    tool_selection::{ALWAYS_SELECTED, ToolSelection},
    tools::Tool,
};
use crate::{
    config::SchemaDetail,
    domain::{teams::Team, written::counted},
    error::{Error, quoted},
    web::in_process::Caller,
};

/// The environment variable with the API key of a process that serves one agent.
pub const KEY_VARIABLE: &str = "MARKETPLACE_API_KEY";

/// A result of the check: a fact that works, or a problem with its solution.
pub type Finding = Result<String, String>;

/// Calls the tool that describes the team of a key, and one that needs a role and the NDA. Ends with the first problem that
/// keeps the rest from working.
pub async fn check(agents: &AgentServer, key: Option<&str>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let caller = match caller(agents, key).await {
        Ok(caller) => caller,
        Err(problem) => return vec![Err(problem)],
    };
    let team = caller.team();
    findings.push(Ok(format!("The key is one of the team {}, which {}.", quoted(&team.name), roles(team))));
    findings.push(describe_tools(agents, team));
    if let Some(problem) = missing_access(team) {
        findings.push(Err(problem));
        return findings;
    }
    let selected = match selected_tool(agents, team) {
        Ok(Some(tool)) => Some(tool),
        Ok(None) => {
            findings.push(Err(
                "No tool but get_current_team is selected of those of the team's roles. Select others, or \
                               none for all of them."
                    .to_owned(),
            ));
            None
        }
        Err(problem) => return vec![Err(problem)],
    };
    for tool in std::iter::once(ALWAYS_SELECTED).chain(selected) {
        let input = if tool == ALWAYS_SELECTED { json!({}) } else { json!({"max_bytes": 4_000}) };
        findings.push(match agents.run_tool_by_name(&caller, tool, input).await {
            Ok(_) => Ok(format!("{tool} responds.")),
            Err(error) => {
                Err(format!("{tool} fails ({}): {} {}", error.code.as_str(), error.message, error.next_step))
            }
        });
    }
    if let Some(gate) = catalog_gate(&caller, &agents.market).filter(|gate| !gate.is_open) {
        findings.push(Err(format!(
            "The team only sells, and has {} of the {} that it needs to browse the catalog. Until then, its agent sees its \
             own data and the first page of the catalog.",
            gate.published_count,
            counted(gate.required_count, "published listing", "published listings")
        )));
    }
    findings
}

/// Returns the caller with a key, or what is wrong with the key.
async fn caller(agents: &AgentServer, key: Option<&str>) -> Result<Caller, String> {
    let key = key.ok_or_else(|| format!("{KEY_VARIABLE} is not set. Set it to an API key of your team."))?;
    Caller::from_key(&agents.market, key).await.map_err(|error| match error {
        Error::TeamKeyRequired => format!(
            "The key in {KEY_VARIABLE} is an operator key, but agents act for a team. Create a key of a team with \
             `marketplace key create`."
        ),
        Error::ApiScopeRequired => {
            format!("The key in {KEY_VARIABLE} is not for agents: {}", Error::ApiScopeRequired.message())
        }
        Error::Unauthorized(reason) => {
            format!("The key in {KEY_VARIABLE} does not work on this market: {reason}")
        }
        error => format!("The key in {KEY_VARIABLE} cannot be checked: {}", error.message()),
    })
}

/// Returns what a team does in the market, as the end of a sentence.
const fn roles(team: &Team) -> &'static str {
    match (team.is_vendor, team.is_buyer) {
        (true, true) => "sells and buys",
        (true, false) => "sells",
        (false, true) => "buys",
        (false, false) => "has no role",
    }
}

/// Returns what keeps a team from using tools; `None` if nothing does.
fn missing_access(team: &Team) -> Option<String> {
    let name = &team.name;
    if !team.is_vendor && !team.is_buyer {
        return Some(format!(
            "The team has no marketplace role. An operator adds one: `marketplace team edit {name} --role buyer`.",
            name = quoted(name)
        ));
    }
    team.nda_accepted_at.is_none().then(|| {
        format!(
            "The team has not accepted the mutual NDA. An operator records it: `marketplace team accept-nda {name}`."
        , name = quoted(name))
    })
}

/// Returns the tools that the settings and flags select.
fn selection(agents: &AgentServer) -> Result<ToolSelection, String> {
    ToolSelection::from_settings(&agents.market.settings().agents, agents.tool_sets.names())
        .map_err(|message| format!("The setting agents.tools is invalid. {message}"))
}

/// Returns a tool that needs a role, and that an agent can call without arguments; `None` if none is selected.
fn selected_tool(agents: &AgentServer, team: &Team) -> Result<Option<&'static str>, String> {
    let selection = selection(agents)?;
    let usual = if team.is_buyer { "browse_listings" } else { "list_own_listings" };
    let can_be_called = |tool: &&Tool| {
        tool.entry.text.name != ALWAYS_SELECTED
            && selection.has(tool.entry.text)
            && tool.definition(SchemaDetail::Shallow).input_schema.get("required").is_none()
    };
    let tools = agents.tool_sets.for_team(team).as_slice().iter().filter(can_be_called);
    let names: Vec<&'static str> = tools.map(|tool| tool.entry.text.name).collect();
    Ok(names.iter().find(|name| **name == usual).or(names.first()).copied())
}

/// Returns how many tools an agent of the team sees.
fn describe_tools(agents: &AgentServer, team: &Team) -> Finding {
    let selection = selection(agents)?;
    let tools = agents.tool_sets.listed_for(team).as_slice();
    let listed = tools.iter().filter(|tool| selection.lists(tool.entry.text)).count();
    Ok(match selection {
        ToolSelection::Default | ToolSelection::All => {
            format!("Its agent sees {}.", counted(listed as u64, "tool", "tools"))
        }
        ToolSelection::Some(..) => {
            format!("Its agent sees {listed} of {} tools, which the settings or flags select.", tools.len())
        }
    })
}
