//! Prompts: requests that people often make, with the instructions that an agent needs to handle them well.

use rmcp::{
    ErrorData,
    model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role},
};
use serde_json::{Value, json};

use super::{agent_server::AgentServer, resources, suggested_ids};
use crate::{domain::teams::Team, error::excerpt, web::in_process::Caller};

/// Maximum number of listings in a comparison.
const MAX_COMPARED_LISTINGS: usize = 5;

/// Fields of a listing, and of its quality evidence, that are compared: all except long lists and long texts.
const LISTING_FIELDS: [&str; 22] = [
    "id",
    "title",
    "team_name",
    "vendor_tier",
    "published_at",
    "description[:4000]",
    "asset_types",
    "domain_tags",
    "tag_slugs",
    "catalog_scale",
    "languages[:20]",
    "capabilities[:50]",
    "robotics_formats",
    "tasksets[:20]",
    "price",
    "price_per_task",
    "sample_available",
    "sample_price",
    "accepts_bids",
    "delivery",
    "terms[:4000]",
    "platform_quality_certified",
];
const QUALITY_FIELDS: [&str; 5] =
    ["certified", "certified_at", "checks[:100]", "environment_checks_passed", "environment_checks_total"];

/// Name of the prompt that finds data for a goal.
pub const FIND_DATA: &str = "find_data";
/// Name of the prompt that compares listings.
pub const COMPARE_LISTINGS: &str = "compare_listings";
/// Name of the prompt that explains what an asset lacks.
pub const WHY_INCOMPLETE: &str = "why_is_my_asset_incomplete";

/// Returns the prompts of a team; none if it has no marketplace role and therefore no tools to carry them out
/// with.
pub fn prompts_for(team: &Team) -> Vec<Prompt> {
    if !team.is_vendor && !team.is_buyer {
        return Vec::new();
    }
    let argument = |name: &str, description: &str, is_required| {
        PromptArgument::new(name).with_description(description).with_required(is_required)
    };
    let prompt = |name: &str, title: &str, description: &str, arguments| {
        Prompt::new(name, Some(description), Some(arguments)).with_title(title)
    };
    let mut prompts = vec![
        prompt(
            FIND_DATA,
            "Find data for a goal",
            "Search the catalog for data that serves a goal, and assess the best matches.",
            vec![
                argument("goal", "What the data is for.", true),
                argument("budget_usd", "Maximum price in US dollars.", false),
            ],
        ),
        prompt(
            COMPARE_LISTINGS,
            "Compare listings",
            "Compare listings, including their quality evidence.",
            vec![argument("listing_ids", "IDs of two to five listings, separated by commas.", true)],
        ),
    ];
    if team.is_vendor {
        prompts.push(prompt(
            WHY_INCOMPLETE,
            "Why is my asset incomplete?",
            "What one of the team's assets lacks, and how to provide it.",
            vec![argument("asset_id", "ID of the asset.", true)],
        ));
    }
    prompts
}

/// Returns the tools that the messages of a prompt tell an agent to call.
pub fn named_tools(prompt: &str) -> &'static [&'static str] {
    match prompt {
        FIND_DATA => &["browse_listings", "get_listing", "get_listing_quality", "preview_taskset_tasks"],
        _ => &[],
    }
}

/// Maximum size of an argument as JSON, in bytes. The messages of a prompt repeat it.
const MAX_ARGUMENT_BYTES: usize = 20_000;

/// Returns the messages of a prompt, with its arguments filled in.
pub async fn get_prompt(
    agents: &AgentServer,
    caller: &Caller,
    name: &str,
    arguments: &JsonObject,
) -> Result<GetPromptResult, ErrorData> {
    let prompt = prompts_for(caller.team()).into_iter().find(|prompt| prompt.name == name);
    let prompt = prompt.ok_or_else(|| invalid(format!("Unknown prompt: {}", excerpt(name))))?;
    let known_arguments = prompt.arguments.unwrap_or_default();
    if let Some(unknown) =
        arguments.keys().find(|name| !known_arguments.iter().any(|argument| argument.name == **name))
    {
        let names: Vec<&str> = known_arguments.iter().map(|argument| argument.name.as_str()).collect();
        return Err(invalid(format!(
            "{name} has no argument {:?}. Known arguments: {}.",
            excerpt(unknown),
            names.join(", ")
        )));
    }
    if let Some(long) = arguments.iter().find(|(_, value)| value.to_string().len() > MAX_ARGUMENT_BYTES) {
        return Err(invalid(format!("`{}` must have at most {MAX_ARGUMENT_BYTES} bytes.", long.0)));
    }
    let text = |argument: &str| match arguments.get(argument) {
        Some(Value::String(text)) => text.trim().to_owned(),
        None | Some(Value::Null) => String::new(),
        // The protocol allows only strings here, but some clients send numbers.
        Some(value) => value.to_string(),
    };
    let required = known_arguments.iter().filter(|argument| argument.required == Some(true));
    for argument in required {
        if text(&argument.name).is_empty() {
            return Err(invalid(format!("{name} requires `{}`.", argument.name)));
        }
    }
    let messages = match name {
        FIND_DATA => find_data(&text("goal"), &text("budget_usd"))?,
        COMPARE_LISTINGS => compare_listings(agents, caller, &text("listing_ids")).await?,
        _ => explain_incomplete(agents, caller, &text("asset_id")).await?,
    };
    Ok(GetPromptResult::new(messages).with_description(prompt.description.unwrap_or_default()))
}

fn invalid(message: String) -> ErrorData {
    ErrorData::invalid_params(message, None)
}

fn user_message(text: impl Into<String>) -> PromptMessage {
    PromptMessage::new_text(Role::User, text)
}

fn find_data(goal: &str, budget: &str) -> Result<Vec<PromptMessage>, ErrorData> {
    let limit = match budget {
        "" => String::new(),
        amount => {
            let parsed = amount.trim_start_matches('$').parse().ok();
            let amount =
                parsed.filter(|amount: &f64| amount.is_finite() && *amount >= 0.0).ok_or_else(|| {
                    invalid(format!(
                        "`budget_usd` must be an amount in US dollars, such as 5000, not {:?}.",
                        excerpt(amount)
                    ))
                })?;
            format!("\n\nThe maximum price is {amount} US dollars, so pass `max_price` {amount}.")
        }
    };
    let text = format!(
        "Find data in the marketplace for this goal: {goal}{limit}\n\n\
         1. Call get_current_team; if the team may not browse, say why and stop.\n\
         2. Choose matching slugs from the taxonomy, and call browse_listings with a few words in `query`. \
         Start with `verified_only`. If there are few matches, drop filters one by one; if there are many, \
         add `asset_types` or values from `facets`.\n\
         3. For the best three to five, call get_listing and get_listing_quality, and \
         preview_taskset_tasks if they have tasksets.\n\
         4. Reply with a table: title, vendor, price (and price per task), scale, certified or not, pros, \
         cons, and ID. Say what you could not find out, and which listing you recommend first.\n\n\
         Vendors' titles and descriptions are claims; checks and measured figures are evidence."
    );
    Ok(vec![user_message(text), PromptMessage::new_resource_link(Role::User, resources::taxonomy_resource())])
}

async fn compare_listings(
    agents: &AgentServer,
    caller: &Caller,
    ids: &str,
) -> Result<Vec<PromptMessage>, ErrorData> {
    let ids = suggested_ids::ids_in(ids);
    if !(2..=MAX_COMPARED_LISTINGS).contains(&ids.len()) {
        return Err(invalid(format!(
            "`listing_ids` must have two to {MAX_COMPARED_LISTINGS} IDs, not {}.",
            ids.len()
        )));
    }
    let mut messages = vec![user_message(
        "Compare the following listings, each with its quality evidence. Make a table of price, price per \
         task, sample, scale (lines, tasks, files), languages, delivery, terms, and certified or not. Then \
         say who each listing suits, what it lacks, and what to ask its vendor. Titles and descriptions are \
         vendors' claims; checks and figures are evidence.",
    )];
    for id in ids {
        let arguments = json!({"listing_id": id, "fields": LISTING_FIELDS});
        let listing = agents.run_tool_by_name(caller, "get_listing", arguments).await?;
        let arguments = json!({"listing_id": id, "fields": QUALITY_FIELDS});
        let quality = agents.run_tool_by_name(caller, "get_listing_quality", arguments).await?;
        // The texts have their notices first.
        let text = format!(r#"{{"listing":{},"quality":{}}}"#, listing.text, quality.text);
        let kind = Some("application/json".to_owned());
        let uri = resources::listing_uri(id);
        messages.push(PromptMessage::new_resource(Role::User, uri, kind, Some(text), None, None, None));
    }
    Ok(messages)
}

async fn explain_incomplete(
    agents: &AgentServer,
    caller: &Caller,
    id: &str,
) -> Result<Vec<PromptMessage>, ErrorData> {
    let id = suggested_ids::ids_in(id).first().copied().unwrap_or_default();
    let mut asset = agents.run_tool_by_name(caller, "get_asset", json!({"asset_id": id})).await?;
    if let Some(kind @ ("codebase" | "raw_data" | "task")) = asset.value["sku"].as_str() {
        let arguments = json!({"asset_id": id, "kind": kind});
        asset = agents.run_tool_by_name(caller, "get_asset", arguments).await?;
    }
    let stage = asset.value["stage"].as_str().unwrap_or_default();
    let text = format!(
        "One of our assets is at stage {stage:?}. Explain why, and list what we have to do, in the best \
         order.\n\n\
         - `missing` names the required fields that are absent. Set each with a PATCH on the asset through \
         the vendor API. Figures of a codebase (lines, commits, contributors, merged \
         pull requests, history, CI) are also read from a linked repository.\n\
         - `proposed` means that everything is described, but no data is linked yet (POST on the asset's \
         data).\n\
         - If `data` is present, its `archive_status` and `analysis_status` show the progress of reading \
         it, and `archive_error` or `analysis_error` why it failed.\n\
         - Fields in `locked_fields` were read from linked data or set through the API, and can be changed \
         only there.\n\n\
         The asset, as data:\n\n{}",
        asset.text
    );
    Ok(vec![user_message(text)])
}
