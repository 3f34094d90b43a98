//! Requests of the people, programs, and agents of a market, with their frequencies.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::{client::Client, request_values::RequestValues, server::Server};

/// Who sends a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    Buyer,
    Vendor,
    Operator,
}

/// A kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    FirstPage,
    Search,
    FilteredSearch,
    Details,
    Wallet,
    Tool,
    Inventory,
    ChangedCodebase,
    Upload,
    Purchase,
    Events,
}

/// The kinds, with how many of a hundred requests are of each.
pub const KINDS: [(Kind, &str, usize); 11] = [
    (Kind::FirstPage, "first page", 15),
    (Kind::Search, "search for two words", 14),
    (Kind::FilteredSearch, "search with filters, by price", 9),
    (Kind::Details, "one listing", 28),
    (Kind::Wallet, "wallet", 5),
    (Kind::Tool, "tool of an agent", 7),
    (Kind::Inventory, "inventory, filtered and sorted", 10),
    (Kind::ChangedCodebase, "changed codebase", 5),
    (Kind::Upload, "upload of 64 KB", 2),
    (Kind::Purchase, "purchase", 2),
    (Kind::Events, "events", 3),
];

/// Number of listings that are bought, each once by each buyer.
const FOR_SALE: usize = 5_000;

/// Number of bytes of an upload.
const UPLOAD_BYTES: usize = 65_536;

/// What one connection uses: a client for each sender.
pub struct Clients {
    of_buyer: Client,
    of_vendor: Client,
    of_operator: Client,
    vendor: String,
    upload: String,
    codebases: Vec<String>,
}

impl Clients {
    /// Connects the n-th user of each side.
    pub fn connect(server: &Server, n: usize) -> Clients {
        let (buyer, vendor) =
            (&server.buyers[n % server.buyers.len()], &server.vendors[n % server.vendors.len()]);
        Clients {
            of_buyer: Client::connect(&server.address, &buyer.key),
            of_vendor: Client::connect(&server.address, &vendor.key),
            of_operator: Client::connect(&server.address, &server.operator),
            vendor: vendor.id.clone(),
            upload: "x".repeat(UPLOAD_BYTES),
            codebases: vendor.codebases.clone(),
        }
    }
}

/// The requests of a market.
pub struct Mix {
    pub values: RequestValues,
    /// IDs of listings that the buyers do not have yet.
    for_sale: Vec<String>,
    sent: AtomicUsize,
    purchases: AtomicUsize,
}

impl Mix {
    /// Samples the market that a client of a buyer sees.
    pub fn sample(client: &mut Client) -> Mix {
        Mix {
            for_sale: list_listings(client),
            values: RequestValues::sample(client),
            sent: AtomicUsize::default(),
            purchases: AtomicUsize::default(),
        }
    }

    /// Returns the index in [`KINDS`] of the n-th request. The kinds are spread evenly.
    pub fn kind_of(n: usize) -> usize {
        // 37 has no divisor in common with 100, so each hundred requests has each place once.
        let mut place = n * 37 % 100;
        KINDS
            .iter()
            .position(|(_, _, share)| {
                let is_here = place < *share;
                place = place.saturating_sub(*share);
                is_here
            })
            .unwrap_or_default()
    }

    /// Sends a request of a kind. Returns the status, 0 if the connection ended, and the path of an upload to be canceled.
    pub fn send(&self, kind: Kind, server: &Server, clients: &mut Clients) -> (u16, Option<String>) {
        let n = self.sent.fetch_add(1, Ordering::Relaxed);
        if kind == Kind::Upload {
            return upload(n, server, clients);
        }
        let values = &self.values;
        let (sender, method, path, body) = match kind {
            Kind::FirstPage => (Sender::Buyer, "GET", "/v2/listings/browse?limit=24".to_owned(), None),
            Kind::Search => {
                (Sender::Buyer, "GET", format!("/v2/listings/browse?query={}", values.pair(n)), None)
            }
            Kind::FilteredSearch => {
                let query = format!("query={}&{}&sort=price_low", values.pair(n), values.filters(n));
                (Sender::Buyer, "GET", format!("/v2/listings/browse?{query}"), None)
            }
            Kind::Details => (Sender::Buyer, "GET", format!("/v2/listings/browse/{}", values.id(n)), None),
            Kind::Wallet => (Sender::Buyer, "GET", "/v2/wallet".to_owned(), None),
            Kind::Tool => {
                let arguments = json!({"query": values.pair(n).replace("%20", " "), "limit": 20});
                let call = json!({"name": "browse_listings", "arguments": arguments});
                let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call});
                (Sender::Buyer, "POST", "/v2/mcp/".to_owned(), Some(body))
            }
            Kind::Inventory => {
                let path = format!("/v2/codebases?sort=name&limit=50&offset={}", n % 9 * 50);
                (Sender::Vendor, "GET", path, None)
            }
            Kind::ChangedCodebase => {
                let path = format!("/v2/codebases/{}", clients.codebases[n % clients.codebases.len()]);
                (Sender::Vendor, "PATCH", path, Some(json!({"commits": n})))
            }
            Kind::Purchase => {
                // A buyer can buy each listing once.
                let number = self.purchases.fetch_add(1, Ordering::Relaxed);
                let (listing, buyer) = (number / server.buyers.len(), number % server.buyers.len());
                let body = json!({
                    "team_id": server.buyers[buyer].id, "listing_id": self.for_sale[listing % self.for_sale.len()],
                    "kind": "full", "pay_with": "credits",
                });
                (Sender::Operator, "POST", "/operator/v1/purchases".to_owned(), Some(body))
            }
            Kind::Events => (
                Sender::Operator,
                "GET",
                "/operator/v1/events?cursor=evt_0000000000000000&limit=50".to_owned(),
                None,
            ),
            Kind::Upload => unreachable!("an upload is two requests"),
        };
        let content = body.map_or_else(String::new, |body| {
            let body = body.to_string();
            format!("content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len())
        });
        (exchange(clients, sender, (method, &path, &content)).0, None)
    }
}

/// Plans an upload as an operator, and sends its only part. Returns the status, and the path of the upload.
fn upload(n: usize, server: &Server, clients: &mut Clients) -> (u16, Option<String>) {
    let plan = json!({"file_name": format!("{n}.zip"), "size_bytes": UPLOAD_BYTES}).to_string();
    let content = format!("content-type: application/json\r\ncontent-length: {}\r\n\r\n{plan}", plan.len());
    let path = format!("/operator/v1/teams/{}/uploads", clients.vendor);
    let (status, plan) = exchange(clients, Sender::Operator, ("POST", &path, &content));
    let plan: Value = serde_json::from_slice(&plan).unwrap_or_default();
    let url = plan["parts"][0]["url"].as_str().and_then(|url| url.split_once(&server.address));
    let Some((_, path)) = url.filter(|_| status == 201) else { return (status, None) };
    let content = format!("content-length: {UPLOAD_BYTES}\r\n\r\n{}", clients.upload);
    let status = exchange(clients, Sender::Vendor, ("PUT", path, &content)).0;
    (status, Some(format!("/operator/v1/uploads/{}", plan["id"].as_str().unwrap_or_default())))
}

/// Cancels an upload, since a team has few that are not completed. Requests that are refused for lack of capacity are sent again.
pub fn cancel_upload(path: &str, clients: &mut Clients) {
    while exchange(clients, Sender::Operator, ("DELETE", path, "")).0 == 503 {}
}

/// Returns the IDs of the newest listings.
fn list_listings(client: &mut Client) -> Vec<String> {
    let (mut ids, mut cursor) = (Vec::new(), String::new());
    while ids.len() < FOR_SALE {
        let page = client.get(&format!("/v2/listings/browse?sort=recent&limit=100{cursor}"));
        let page: Value = serde_json::from_slice(&page).expect("the page is JSON");
        let items = page["items"].as_array().expect("the page has items").iter();
        ids.extend(items.map(|item| item["id"].as_str().expect("the item has an ID").to_owned()));
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    ids
}

/// Sends a request. Returns the status, or 0 if the connection ended twice, and the body.
fn exchange(
    clients: &mut Clients,
    sender: Sender,
    (method, path, content): (&str, &str, &str),
) -> (u16, Vec<u8>) {
    let client = match sender {
        Sender::Buyer => &mut clients.of_buyer,
        Sender::Vendor => &mut clients.of_vendor,
        Sender::Operator => &mut clients.of_operator,
    };
    let answer = client.try_send(method, path, content).or_else(|_| {
        // The server closes connections that were idle for a while, so clients try again.
        client.reconnect();
        client.try_send(method, path, content)
    });
    answer.unwrap_or_default()
}
