//! The web app as a vendor reads it: every page of the table with the IDs that its own pages link, their files, what is refused,
//! and what forms answer.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use marketplace::{
    console::{self, PREFIX, PageRow},
    domain::notifications::NotificationType,
    string_enum::StringEnum,
    web::Audience,
};
use uuid::Uuid;

use super::{Hidden, text_of};
use crate::harness::{
    TestMarket,
    browser::{Browser, Page, row_of},
    database,
    patterns::pattern,
};

/// Maximum number of pages that are read of each row with parameters.
const PAGES_OF_ROW: usize = 3;

/// Identifiers of teams that a vendor must not see, for each kind of page that shows other teams.
#[derive(Clone, Debug)]
pub struct HiddenFrom {
    /// All teams that have traded, but the vendor itself.
    pub all: Hidden,
    /// Without teams whose names the reader may see: owners of opportunities, which buyers publish under their own name, and
    /// teams that have bid on an opportunity of the reader or that the reader has excluded from one.
    pub without_owners: Hidden,
    /// Without those that have listings, whose vendors the catalog names, and the preview of a listing beside similar ones, and
    /// those whose names the reader sees on its own opportunities.
    pub without_sellers: Hidden,
}

impl HiddenFrom {
    /// Collects the identifiers that are hidden from a team. The function returns the identifiers of the teams that match a
    /// condition.
    pub fn new(
        market: &TestMarket,
        reader: Uuid,
        hide: impl Fn(&dyn Fn(Uuid) -> bool) -> Hidden,
    ) -> HiddenFrom {
        let rows = database::connect_to_copy(market.market());
        let select = |sql: &str, parameters: &[&dyn rusqlite::ToSql]| -> BTreeSet<Uuid> {
            let mut statement = rows.prepare(sql).unwrap();
            statement.query_map(parameters, |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        let owners =
            select("SELECT DISTINCT t.uuid FROM opportunities o JOIN teams t ON t.id = o.owner", &[]);
        let sellers = select("SELECT DISTINCT t.uuid FROM listings l JOIN teams t ON t.id = l.team", &[]);
        let sql = "SELECT t.uuid FROM (SELECT team, opportunity FROM project_bids
                 UNION SELECT team, opportunity FROM opportunity_exclusions) shown
             JOIN teams t ON t.id = shown.team
             JOIN opportunities o ON o.id = shown.opportunity
             JOIN teams owner ON owner.id = o.owner
             WHERE owner.uuid = ?1";
        let shown = select(sql, &[&reader]);
        HiddenFrom {
            all: hide(&|_| true),
            without_owners: hide(&|team| !owners.contains(&team) && !shown.contains(&team)),
            without_sellers: hide(&|team| !sellers.contains(&team) && !shown.contains(&team)),
        }
    }
}

/// Returns IDs of offers and purchases of all teams, some of each.
fn deals(market: &TestMarket) -> Vec<Uuid> {
    let rows = database::connect_to_copy(market.market());
    let sql = "SELECT * FROM (SELECT uuid FROM offers ORDER BY id LIMIT 5)
         UNION ALL SELECT * FROM (SELECT uuid FROM purchases ORDER BY id LIMIT 5)
         UNION ALL SELECT * FROM (SELECT uuid FROM teams WHERE is_buyer ORDER BY id LIMIT 3)";
    rows.prepare(sql).unwrap().query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// A vendor who reads.
struct Vendor<'m> {
    market: &'m TestMarket,
    browser: Browser<'m>,
    name: &'m str,
    hidden: &'m HiddenFrom,
    rows: Vec<PageRow>,
    /// Paths that were found, without queries, by the row that they belong to.
    found: BTreeMap<&'static str, BTreeSet<String>>,
    checked: usize,
}

impl Vendor<'_> {
    /// Checks an answer for a path below the prefix.
    fn check(&mut self, what: &str, path: &str, page: &Page) {
        let mut text = text_of(&page.response);
        let row = row_of(&format!("{PREFIX}{path}"));
        let is_of_vendors = !path.ends_with("/preview")
            && row.is_some_and(|row| row.access.is_some_and(|access| access.audience() == Audience::Vendors));
        let hidden = if path.starts_with("/requests") || path.contains("opportunities") {
            &self.hidden.without_owners
        } else if path == "/notifications" || path.starts_with("/notifications?format") {
            // Those of other types than opportunities are read one by one.
            &self.hidden.without_owners
        } else if is_of_vendors || path.starts_with("/wallet") || path.starts_with("/notifications") {
            &self.hidden.all
        } else {
            &self.hidden.without_sellers
        };
        if path == "/selling" {
            // What buyers ask for names them.
            let asked = pattern(r#"(?s)<section[^>]*aria-labelledby="asked">.*?</section>"#);
            text = asked.replace(&text, "").into_owned();
        }
        // What is refused names the address that was asked for.
        for id in path.split(['/', '?', '=', '&']).filter(|segment| Uuid::try_parse(segment).is_ok()) {
            text = text.replace(id, "");
        }
        hidden.assert_absent(&format!("{what} {path} for {}", self.name), &text);
        assert!(page.status() < 500, "{path}: {}", page.visible());
        self.checked += 1;
        // The budget of a minute is for people.
        self.market.clock().advance(5_000_000);
    }

    /// Reads a page, and returns the addresses below the prefix that it links.
    async fn read(&mut self, path: &str) -> Vec<String> {
        let links = pattern(r##"(?:href|action)="/console([^"#]*)""##);
        let page = self.browser.get(&format!("{PREFIX}{path}")).await;
        self.check("GET", path, &page);
        let mut found: Vec<String> =
            links.captures_iter(&page.text).map(|link| link[1].replace("&amp;", "&")).collect();
        found.extend(page.location().strip_prefix(PREFIX).map(str::to_owned));
        found
    }

    /// Reads all pages without parameters, and some of each of the others that they lead to.
    /// The guide is left out: it is a text of the program, with the name of a team in an example.
    async fn read_all(&mut self, also: &[String]) {
        let plain =
            self.rows.iter().filter(|row| row.is_shown && !row.path.contains('{') && row.path != "/help");
        let mut queue: VecDeque<String> = plain.map(|row| row.path.to_owned()).collect();
        queue.extend(also.iter().cloned());
        let types = NotificationType::ALL.iter().filter(|kind| {
            !kind.as_str().starts_with("opportunity_") && !kind.as_str().starts_with("project_bid_")
        });
        queue.extend(types.map(|kind| format!("/notifications?type={}", kind.as_str())));
        let mut seen = BTreeSet::new();
        while let Some(path) = queue.pop_front() {
            for link in self.read(&path).await {
                if !seen.insert(link.clone()) {
                    continue;
                }
                let Some(row) = row_of(&format!("{PREFIX}{link}")) else { continue };
                if link.contains("format=csv") {
                    self.read(&link).await;
                }
                let path = link.split('?').next().unwrap().to_owned();
                let known = self.found.entry(row.path).or_default();
                let is_new = known.len() < PAGES_OF_ROW && known.insert(path.clone());
                if is_new && row.is_shown && row.path.contains('{') {
                    queue.push_back(path);
                }
            }
        }
    }

    /// Opens pages with the IDs of deals and of teams, which are refused unless they are the vendor's own.
    async fn read_refusals(&mut self) {
        let ids = deals(self.market);
        let rows: Vec<PageRow> =
            self.rows.iter().filter(|row| row.is_shown && row.path.contains('{')).copied().collect();
        let parameters = pattern(r"\{[^}]*\}");
        for (number, row) in rows.iter().enumerate() {
            let id = ids[number % ids.len()].to_string();
            self.read(&parameters.replace_all(row.path, id.as_str())).await;
        }
    }

    /// Sends forms of vendors without fields: they are refused, or change something.
    async fn send_forms(&mut self) {
        let is_sent = |row: &&PageRow| {
            row.has_form && row.access.is_some_and(|access| access.audience() == Audience::Vendors)
        };
        for row in self.rows.iter().filter(is_sent).copied().collect::<Vec<_>>() {
            let path = match self.found.get(row.path).and_then(|paths| paths.first()) {
                Some(path) => path.clone(),
                None if row.path.contains('{') => continue,
                None => row.path.to_owned(),
            };
            let page = self.browser.post(&format!("{PREFIX}{path}"), &[]).await;
            self.check("POST", &path, &page);
        }
    }
}

/// Checks everything that the web app shows to the vendor of a key. Returns the number of answers, and the rows of pages for
/// vendors of which none was found. `also` has paths of the vendor's records besides those that its first pages link.
pub async fn check_vendor(
    market: &TestMarket,
    key: &str,
    name: &str,
    hidden: &HiddenFrom,
    also: &[String],
) -> (usize, BTreeSet<&'static str>) {
    let browser = Browser::signed_in(market, key).await;
    let rows = console::pages();
    let mut vendor = Vendor { market, browser, name, hidden, rows, found: BTreeMap::new(), checked: 0 };
    vendor.read_all(also).await;
    vendor.read_refusals().await;
    vendor.send_forms().await;
    let missing = vendor.rows.iter().filter(|row| {
        let is_of_vendors = row.access.is_some_and(|access| access.audience() == Audience::Vendors);
        row.is_shown && is_of_vendors && row.path.contains('{') && !vendor.found.contains_key(row.path)
    });
    (vendor.checked, missing.map(|row| row.path).collect())
}
