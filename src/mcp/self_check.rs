//! What an agent would meet: whether its key works, what its team may do, and whether tools respond. Run without an agent, it
//! says what a person has to change.

use serde_json::json;

use super::{
    agent_server::AgentServer, current_team::catalog_gate, tool_selection::ToolSelection, tools::ToolSets,
};
use crate::{domain::teams::Team, error::Error, rest::Caller};

/// The environment variable with the API key of a process that serves one agent.
pub const KEY_VARIABLE: &str = "MARKETPLACE_API_KEY";

/// A result of the check: what works, or what does not and how to change that.
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
    findings.push(Ok(format!("The key is one of the team {:?}, which {}.", team.name, roles(team))));
    findings.push(describe_tools(agents, team));
    if let Some(problem) = missing_access(team) {
        findings.push(Err(problem));
        return findings;
    }
    let with_role = if team.is_buyer { "browse_listings" } else { "list_own_listings" };
    for (tool, input) in [("get_current_team", json!({})), (with_role, json!({"limit": 1, "fields": ["id"]}))]
    {
        findings.push(match agents.run_tool_by_name(&caller, tool, input).await {
            Ok(_) => Ok(format!("{tool} responds.")),
            Err(error) => {
                Err(format!("{tool} fails ({}): {} {}", error.code.as_str(), error.message, error.next_step))
            }
        });
    }
    if let Some(gate) = catalog_gate(&caller, &agents.market).filter(|gate| !gate.is_open) {
        findings.push(Err(format!(
            "The team only sells, and has {} of the {} published listings that it needs to browse the catalog. Until then, its \
             agent sees its own data and the first page of the catalog.",
            gate.published_count, gate.required_count
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
            "The team has no marketplace role. An operator adds one: `marketplace team edit {name:?} --role buyer`."
        ));
    }
    team.nda_accepted_at.is_none().then(|| {
        format!(
            "The team has not accepted the mutual NDA. An operator records it: `marketplace team accept-nda {name:?}`."
        )
    })
}

/// Returns how many tools a team has.
fn describe_tools(agents: &AgentServer, team: &Team) -> Finding {
    let tool_sets: &ToolSets = &agents.tool_sets;
    let settings = &agents.market.settings().agents;
    let selection = ToolSelection::from_settings(settings, tool_sets.names())
        .map_err(|message| format!("The setting agents.tools is invalid. {message}"))?;
    let tools = tool_sets.listed_for(team).as_slice();
    let selected = tools.iter().filter(|tool| selection.has(tool.entry.text)).count();
    Ok(match selection {
        ToolSelection::Default | ToolSelection::All => format!("It has {selected} tools."),
        ToolSelection::Some(..) => {
            format!("It has {selected} of {} tools, which the settings or flags select.", tools.len())
        }
    })
}
