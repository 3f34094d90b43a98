//! Every ID that a response contains leads to its details, unless the documents or the response say
//! otherwise: the demo market is read completely by each of its teams, following every ID. `operator_ids.rs` does the same
//! for operators.

use std::collections::{BTreeSet, HashMap, HashSet};

use marketplace::rest;
use serde_json::{Value, json};

use crate::harness::{
    TestMarket,
    documents::{Document, documents_of_teams},
    records::{demo_records, key, texts},
};

/// What can be requested with an ID in a response.
#[derive(Clone, Copy, Debug)]
enum Details {
    /// Any of these paths serves the details, with the ID in place of `{}`.
    At(&'static [&'static str]),
    /// As `At`, unless the enclosing object says that `listing_detail_available` is false.
    AtUnlessUnavailable(&'static [&'static str]),
    /// The paths are below the listing of the request, which takes the place of `{listing}`.
    InListing(&'static [&'static str]),
    /// The description in the documents says whose or where the details are.
    Elsewhere(&'static str),
    /// No document has a GET of this kind.
    NoRoute,
    /// Below the path of the request, if a document has a GET there.
    BelowList,
}

use Details::{At, AtUnlessUnavailable, BelowList, Elsewhere, InListing, NoRoute};

const ASSET: Details = At(&["/v2/assets/{}"]);
const LISTING: Details = AtUnlessUnavailable(&["/v2/listings/browse/{}"]);
const OWN_LISTING: Details = At(&["/v2/listings/{}", "/v2/listings/browse/{}"]);
const OPPORTUNITY: Details = At(&["/v2/opportunities/{}", "/v2/buyer/opportunities/{}"]);
const PROJECT: Details = At(&["/v2/project-opportunities/{}", "/v2/buyer/project-opportunities/{}"]);
const TASKSET: Details = InListing(&["/v2/listings/browse/{listing}/tasksets/{}"]);

/// The IDs in responses, as `Schema.field`. `*` matches every schema. An `id` that is not here is that of a
/// record of the requested list: its details are at the path of the list and the ID, if a document has a GET
/// of that path.
const IDS: &[(&str, Details)] = &[
    ("AssetEstimation.asset_id", ASSET),
    ("AssetQuality.asset_id", ASSET),
    ("AssetSummary.id", ASSET),
    ("DataObject.asset_id", ASSET),
    ("Estimation.inventory_asset_id", ASSET),
    ("ListedAsset.id", Elsewhere("only to its vendor")),
    ("ListedTaskset.id", TASKSET),
    ("ListingDetail.id", LISTING),
    ("ListingQuality.listing_id", OWN_LISTING),
    ("ListingSummary.id", LISTING),
    ("Notification.opportunity_id", OPPORTUNITY),
    ("Notification.project_opportunity_id", PROJECT),
    ("Notification.task_id", Elsewhere("not the ID of an asset")),
    ("Offer.listing_id", LISTING),
    ("Opportunity.id", OPPORTUNITY),
    ("OwnListingSummary.id", OWN_LISTING),
    ("OwnOpportunity.id", OPPORTUNITY),
    ("OwnProjectOpportunity.id", PROJECT),
    ("ProjectBid.opportunity_id", PROJECT),
    ("ProjectOpportunity.id", PROJECT),
    ("Purchase.listing_id", LISTING),
    ("QcReport.listing_id", OWN_LISTING),
    ("QualityCheck.listing_asset_id", ASSET),
    ("ReceivedBid.opportunity_id", PROJECT),
    ("Sale.listing_id", OWN_LISTING),
    ("Task.taskset_id", TASKSET),
    ("TaskSummary.listing_asset_id", ASSET),
    ("Taskset.id", TASKSET),
    ("*.asset_ids", Elsewhere("only to")),
    ("*.delivery_taskset_ids", Elsewhere("only as parts of listings")),
    ("*.group_id", At(&["/v2/asset-groups/{}"])),
    // Kinds without a GET operation for one record: people, teams, bids, offers, purchases, sales, runs,
    // checks, ledger entries, notifications, tasks of the platform and their versions, and uploads.
    ("*.agreement_document_id", NoRoute),
    ("*.assignee_user_id", NoRoute),
    ("*.build_id", NoRoute),
    ("*.created_by", NoRoute),
    ("*.excluded_team_ids", NoRoute),
    ("*.internally_reviewed_by", NoRoute),
    ("*.latest_version_id", NoRoute),
    ("*.opportunity_bid_id", NoRoute),
    ("*.owner_id", NoRoute),
    ("*.purchase_id", NoRoute),
    ("*.registry_id", NoRoute),
    ("*.run_id", NoRoute),
    ("*.task_id", NoRoute),
    ("*.task_version_id", NoRoute),
    ("*.team_id", NoRoute),
    ("*.trace_id", NoRoute),
    ("*.upload_id", NoRoute),
    ("StartedRun.asset_id", ASSET),
];

/// Path of the first page of the catalog.
const CATALOG: &str = "/v2/listings/browse?limit=100";

/// Paths below those of details that contain further IDs.
const MORE_PATHS: &[(&str, &[&str])] = &[
    ("/v2/listings/{}", &["/v2/listings/{}/assets", "/v2/listings/{}/qc?task_rows=all"]),
    ("/v2/listings/browse/{listing}/tasksets/{}", &["/v2/listings/browse/{listing}/tasksets/{}/tasks"]),
    ("/v2/codebases/{}", &["/v2/codebases/{}/qc", "/v2/estimations/latest?asset_id={}"]),
    ("/v2/raw-data/{}", &["/v2/raw-data/{}/qc"]),
    ("/v2/buyer/project-opportunities/{}", &["/v2/buyer/project-opportunities/{}/bids"]),
];

fn details(schema: &str, field: &str) -> Option<Details> {
    let (exact, any) = (format!("{schema}.{field}"), format!("*.{field}"));
    let find = |name: &str| IDS.iter().find(|(id, _)| *id == name).map(|(_, details)| *details);
    find(&exact).or_else(|| find(&any)).or((field == "id").then_some(BelowList))
}

/// An ID in a response, with the schema and the field that it is a value of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReceivedId {
    pub schema: String,
    pub field: String,
    pub id: String,
    /// Whether the response says that the details are not available.
    is_unavailable: bool,
}

/// Walks a value along its schema and collects the IDs.
pub struct Walk<'a> {
    components: &'a Value,
    pub found: HashSet<ReceivedId>,
}

impl<'a> Walk<'a> {
    /// Creates a walk along schemas of a document.
    pub fn new(components: &'a Value) -> Walk<'a> {
        Walk { components, found: HashSet::new() }
    }

    /// Collects the IDs in a value. `place` is the name of the component and the field that it is a value of.
    pub fn visit(&mut self, schema: &Value, value: &Value, place: (&str, &str), is_unavailable: bool) {
        if let Some(reference) = schema["$ref"].as_str() {
            let (components, name) = (self.components, reference.rsplit('/').next().unwrap());
            return self.visit(&components[name], value, (name, place.1), is_unavailable);
        }
        for key in ["allOf", "anyOf", "oneOf"] {
            for part in schema[key].as_array().into_iter().flatten() {
                self.visit(part, value, place, is_unavailable);
            }
        }
        match value {
            Value::String(id) if schema["format"] == "uuid" => {
                let (schema, field) = (place.0.to_owned(), place.1.to_owned());
                self.found.insert(ReceivedId { schema, field, id: id.clone(), is_unavailable });
            }
            Value::Array(items) => {
                for item in items {
                    self.visit(&schema["items"], item, place, is_unavailable);
                }
            }
            Value::Object(fields) => {
                let is_unavailable = is_unavailable || value["listing_detail_available"] == json!(false);
                for (name, field) in fields {
                    let known = schema["properties"].get(name);
                    let field_schema = known.unwrap_or(&schema["additionalProperties"]);
                    self.visit(field_schema, field, (place.0, name), is_unavailable);
                }
            }
            _ => {}
        }
    }
}

/// A team that reads everything it can reach.
struct Reader<'a> {
    market: &'a TestMarket,
    key: String,
    documents: Vec<&'a Document>,
    /// Status of each requested path.
    statuses: HashMap<String, u16>,
    /// IDs in responses that are not followed yet, with the path of the request.
    pending: Vec<(String, ReceivedId)>,
    /// Paths of lists to request.
    next_pages: Vec<String>,
    problems: BTreeSet<String>,
}

impl Reader<'_> {
    /// Requests a path, unless it was requested before. Returns the status.
    async fn get(&mut self, path: &str) -> u16 {
        if let Some(status) = self.statuses.get(path) {
            return *status;
        }
        let response = self.market.get(&self.key, path).await;
        self.statuses.insert(path.to_owned(), response.status);
        if response.status == 200 {
            let found = self.documents.iter().find_map(|document| Some((document, document.find(path)?)));
            let (document, operation) = found.unwrap_or_else(|| panic!("no document has {path}"));
            let body = response.json();
            let mut walk = Walk::new(document.schemas());
            walk.visit(operation.success_schema(), &body, ("", ""), false);
            self.pending.extend(walk.found.into_iter().map(|id| (path.to_owned(), id)));
            let next = body["next_cursor"].as_str().map(|cursor| format!("{CATALOG}&cursor={cursor}"));
            self.next_pages.extend(next);
        }
        response.status
    }

    /// Requests all lists: pages of the catalog, which is the same for all teams, only if asked to.
    async fn read_lists(&mut self, is_catalog_read: bool) {
        if is_catalog_read {
            self.next_pages.push(CATALOG.to_owned());
        }
        for operation in self.documents.iter().flat_map(|document| document.operations()) {
            let is_list = operation.method == "GET" && !operation.path.contains('{');
            let needs_ids = ["browse_listings", "get_listings_by_ids", "list_latest_estimations"];
            if is_list && !needs_ids.contains(&operation.id.as_str()) {
                let has_limit = operation.query.iter().any(|name| name == "limit");
                self.next_pages.push(format!(
                    "{}{}",
                    operation.path,
                    if has_limit { "?limit=100" } else { "" }
                ));
            }
        }
        while let Some(path) = self.next_pages.pop() {
            assert_eq!(self.get(&path).await, 200, "{path} as {}", self.key);
        }
    }

    /// Follows the IDs in the responses, and those in the responses to that, until nothing is new.
    async fn follow_ids(&mut self) {
        while let Some((path, received)) = self.pending.pop() {
            let listing = path.split(['/', '?']).nth(4).unwrap_or_default();
            let below_list = [format!("{}/{{}}", path.split('?').next().unwrap_or_default())];
            let below_list = below_list.each_ref().map(String::as_str);
            let templates: &[&str] = match details(&received.schema, &received.field) {
                Some(AtUnlessUnavailable(_)) if received.is_unavailable => continue,
                Some(At(templates) | AtUnlessUnavailable(templates)) => templates,
                // The response for an own listing has the tasksets that the browse routes show.
                Some(InListing(templates)) if path.starts_with("/v2/listings/browse/") => templates,
                Some(BelowList) => &below_list,
                Some(InListing(_) | Elsewhere(_) | NoRoute) => continue,
                None => panic!("{}.{} in {path} is not in the table", received.schema, received.field),
            };
            let path_of = |template: &str| template.replace("{listing}", listing).replace("{}", &received.id);
            let mut statuses = Vec::new();
            for template in templates {
                let details = path_of(template);
                if !self.documents.iter().any(|document| document.find(&details).is_some()) {
                    continue;
                }
                statuses.push(self.get(&details).await);
                let below = MORE_PATHS.iter().filter(|(from, _)| from == template);
                for below in below.flat_map(|(_, below)| below.iter()) {
                    self.get(&path_of(below)).await;
                }
            }
            if !statuses.is_empty() && statuses.iter().all(|status| *status == 404) {
                self.problems.insert(format!("{received:?} in {path} as {}", self.key));
            }
        }
    }
}

#[test]
fn all_ids_of_the_documents_are_known() {
    for document in documents_of_teams() {
        for operation in document.operations().iter().filter(|operation| operation.method == "GET") {
            for id in document.id_fields(operation.success_schema()) {
                match details(&id.schema, &id.field) {
                    Some(Elsewhere(statement)) => {
                        let words: Vec<&str> = id.description.split_whitespace().collect();
                        assert!(words.join(" ").contains(statement), "{id:?}");
                    }
                    Some(_) => {}
                    None => panic!("{id:?} is not in the table"),
                }
            }
        }
    }
}

#[tokio::test]
async fn every_received_id_leads_to_its_details() {
    let market = TestMarket::demo();
    let teams = demo_records().collection("teams");
    let members = teams
        .iter()
        .filter(|team| texts(&team["roles"]).next().is_some() && team["nda_accepted_at"].is_string());
    let key_of = |team: &Value| format!("mkt_reader_{}", key(team));
    let new_key = |team: &Value| {
        let (team, secret) = (key(team), key_of(team));
        json!({"key": format!("reader-{team}"), "team": team, "name": "R", "created_at": "-P1D", "secret": secret})
    };
    market.seed_json(&json!({"keys": members.clone().map(new_key).collect::<Vec<Value>>()}));
    let (mut problems, mut count) = (BTreeSet::new(), 0);
    for team in members {
        let has_role = |role: &str| texts(&team["roles"]).any(|own| own == role);
        // An API has the name of the role that its callers have.
        let documents =
            documents_of_teams().into_iter().zip(rest::APIS).filter(|(_, api)| has_role(api.name));
        let mut reader = Reader {
            market: &market,
            key: key_of(team),
            documents: documents.map(|(document, _)| document).collect(),
            statuses: HashMap::new(),
            pending: Vec::new(),
            next_pages: Vec::new(),
            problems: BTreeSet::new(),
        };
        reader.read_lists(count == 0).await;
        reader.follow_ids().await;
        problems.append(&mut reader.problems);
        count += reader.statuses.len();
    }
    assert!(problems.is_empty(), "404 for IDs that the caller received: {problems:#?}");
    assert!(count > 500, "{count} requests");
}
