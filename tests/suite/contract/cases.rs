//! One test case per operation, built from the attributes of its route: who may call it, and sample requests.

use std::sync::OnceLock;

use marketplace::domain::principals::PrincipalKind;
use marketplace::rest::{
    self, APIS,
    route::{DeclaredRoute, Target},
};
use serde_json::Value;

pub use marketplace::rest::route::RequiredAccess;

use super::targets;
use crate::harness::{
    TestResponse,
    documents::{Document, Operation, documents},
    records::{self, demo_records, is_published, key},
};

/// A request: its key and its path.
pub type CaseRequest = (&'static str, String);

/// Key of a buyer.
pub const BUYER: &str = "mkt_demo_buyer";
/// Key of a vendor with catalog access.
pub const VENDOR: &str = "mkt_demo_vendor";
/// Key of a team that is vendor and buyer.
pub const BOTH: &str = "mkt_demo_both";
/// Key of a vendor without catalog access.
pub const LOCKED_VENDOR: &str = "mkt_demo_locked";

/// Key of an operator.
pub const OPERATOR: &str = "mkt_demo_operator";
/// Key of an operator who only reads.
pub const READING_OPERATOR: &str = "mkt_demo_operator_read";

/// Keys of teams with catalog access.
pub const TEAMS_WITH_CATALOG_ACCESS: [&str; 7] = [
    VENDOR,
    BUYER,
    BOTH,
    "mkt_demo_buyer_two",
    "mkt_demo_buyer_three",
    "mkt_demo_vendor_two",
    "mkt_demo_both_two",
];

/// Keys of teams with the vendor role.
const VENDORS: [&str; 4] = [VENDOR, BOTH, LOCKED_VENDOR, "mkt_demo_vendor_two"];

/// Keys of teams with the buyer role.
const BUYERS: [&str; 5] = [BUYER, BOTH, "mkt_demo_buyer_two", "mkt_demo_buyer_three", "mkt_demo_both_two"];

/// Number of records that are requested of each collection for operators, who may see all of them.
const MAX_RECORDS: usize = 6;

/// Number of assets whose IDs a query contains for `{assets}`.
const ASSETS_IN_QUERY: usize = 150;

/// Test case of an operation.
pub struct Case {
    /// `operationId` in the document.
    pub operation: &'static str,
    /// Access that the caller needs.
    pub access: RequiredAccess,
    /// The route.
    pub route: DeclaredRoute,
    /// The first request. There can be thousands of others, and tests of errors need only one.
    first: OnceLock<CaseRequest>,
}

/// Returns the cases of all operations.
pub fn cases() -> impl Iterator<Item = &'static Case> {
    static CASES: OnceLock<Vec<Case>> = OnceLock::new();
    let case = |route: DeclaredRoute| {
        let (operation, access) = (route.operation, route.required_access);
        Case { operation, access, route, first: OnceLock::new() }
    };
    CASES.get_or_init(|| rest::routes().into_iter().map(case).collect()).iter()
}

impl Case {
    /// Returns the case of an operation of the teams' APIs.
    pub fn for_operation(operation: &str) -> &'static Case {
        let mut of_teams = cases().filter(|case| case.access.key_kind() == PrincipalKind::Team);
        of_teams
            .find(|case| case.operation == operation)
            .unwrap_or_else(|| panic!("{operation} has no route"))
    }

    /// Returns the operation in the first document that has it.
    pub fn documented(&self) -> &'static Operation {
        let found = self.documents().find_map(|document| document.operation(self.operation));
        found.unwrap_or_else(|| panic!("{} is in no document", self.operation))
    }

    /// Returns the documents of the APIs that take the keys of the operation's callers.
    pub fn documents(&self) -> impl Iterator<Item = &'static Document> {
        let keys = self.access.key_kind();
        APIS.iter().zip(documents()).filter(move |(api, _)| api.keys == keys).map(|(_, document)| document)
    }

    /// Asserts that a response matches each document that has the operation.
    pub fn assert_matches_documents(&self, response: &TestResponse) {
        for document in self.documents() {
            if let Some(operation) = document.operation(self.operation) {
                document.assert_valid(operation, response);
            }
        }
    }

    /// Returns the path of the first successful request, or else of one that returns 404, without its query.
    pub fn path(&self) -> String {
        let (_, path) = self.first_request();
        path.split('?').next().unwrap().to_owned()
    }

    /// Returns the first request that succeeds, or one that returns 404 if the demo has no such record.
    pub fn first_request(&self) -> CaseRequest {
        let find = || {
            let found = self.ok_requests().into_iter().chain(self.not_found_requests()).next();
            found.unwrap_or_else(|| panic!("{} has no path", self.operation))
        };
        self.first.get_or_init(find).clone()
    }

    /// Whether the demo has no record that the path can name.
    pub fn is_absent(&self) -> bool {
        matches!(self.route.contract.target, Target::Absent(_))
    }

    /// Whether the operation is one of the sandbox API.
    pub fn is_of_sandbox(&self) -> bool {
        rest::SANDBOX.has_path(&self.documented().path)
    }

    /// Returns requests that return 200 (of a GET operation).
    pub fn ok_requests(&self) -> Vec<CaseRequest> {
        self.requests(if self.access.key_kind() == PrincipalKind::Operator {
            MAX_RECORDS
        } else {
            usize::MAX
        })
    }

    /// Like [`Case::ok_requests`], for every record that the path can name.
    pub fn requests_for_all_records(&self) -> Vec<CaseRequest> {
        self.requests(usize::MAX)
    }

    fn requests(&self, max_records: usize) -> Vec<CaseRequest> {
        let contract = &self.route.contract;
        let queries: Vec<String> = contract.queries.iter().map(|query| expand_query(query)).collect();
        let mut requests = Vec::new();
        for key in self.callers() {
            let paths = self.paths(key, true);
            let step = paths.len().div_ceil(max_records).max(1);
            for path in paths.into_iter().step_by(step) {
                if !contract.requires_query {
                    requests.push((*key, path.clone()));
                }
                requests.extend(queries.iter().map(|query| (*key, format!("{path}?{query}"))));
            }
        }
        requests
    }

    /// Returns well-formed requests that return 404, since the resource does not exist or is not visible to
    /// the team.
    pub fn not_found_requests(&self) -> Vec<CaseRequest> {
        let requests =
            |key: &&'static str| self.paths(key, false).into_iter().map(|path| (*key, path)).collect();
        self.callers().iter().flat_map(|key| -> Vec<CaseRequest> { requests(key) }).collect()
    }

    /// Returns the documented example of the request body, `Null` if the operation takes none.
    pub fn body(&self) -> Value {
        self.route.body_example.map_or(Value::Null, |example| example())
    }

    /// Returns keys of teams that may call the operation.
    const fn callers(&self) -> &'static [&'static str] {
        match self.access {
            RequiredAccess::Vendor => &VENDORS,
            RequiredAccess::Buyer => &BUYERS,
            RequiredAccess::Operator => &[OPERATOR, READING_OPERATOR],
            RequiredAccess::ActingOperator => &[OPERATOR],
            _ => &TEAMS_WITH_CATALOG_ACCESS,
        }
    }

    /// Returns paths with IDs of records that the team may see, or of others.
    fn paths(&self, key: &str, is_visible: bool) -> Vec<String> {
        let path = &self.documented().path;
        let fill = |ids: Vec<String>| {
            ids.iter().fold(path.clone(), |path, id| {
                let (start, end) = (path.find('{').unwrap(), path.find('}').unwrap());
                format!("{}{id}{}", &path[..start], &path[end + 1..])
            })
        };
        targets::ids(self.route.contract.target, key, is_visible).into_iter().map(fill).collect()
    }
}

/// Replaces `name={collection}` by the IDs of the records of this collection.
fn expand_query(query: &str) -> String {
    let Some((before, rest)) = query.split_once('{') else { return query.to_owned() };
    let (collection, after) = rest.split_once('}').unwrap();
    let (before, name) = before.rsplit_once('&').map_or(("", before), |(before, name)| (before, name));
    let records = demo_records().collection(collection).iter();
    let records = records.take(if collection == "assets" { ASSETS_IN_QUERY } else { usize::MAX });
    let mut parts: Vec<String> =
        records.map(|record| format!("{name}{}", records::id(collection, record))).collect();
    parts.splice(0..0, (!before.is_empty()).then(|| before.to_owned()));
    parts.join("&") + after
}

/// Whether the browse routes show a listing to a team: it is published, the team owns it, or the team bought
/// it.
pub fn is_listing_visible(team: &str, listing: &Value) -> bool {
    is_published(listing)
        || listing["team"] == team
        || !demo_records().purchase_kinds(team, key(listing)).is_empty()
}
