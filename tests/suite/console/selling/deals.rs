//! Random bids, decisions, refunds, and days, against the rules: the market keeps 10 % of a price, rounded half up to a cent; the
//! rest is on hold for 7 days after the payment; a refund takes it back.

use std::collections::BTreeMap;

use marketplace::{
    domain::{
        listing_lifecycle::Operation,
        listings::Actor,
        purchases::{PayWith, PurchaseKind},
        time::Timestamp,
    },
    operations::{self, access::Platform, purchases, wallet, withdrawals},
    store,
};
use regex::Regex;
use serde_json::json;
use uuid::Uuid;

use crate::{
    catalog::small_market::{console_key, published, small_market_with},
    harness::{
        TestMarket,
        browser::{Browser, Page},
        listing_lifecycle,
        random::Random,
        teams,
    },
    sales::{DAY, bid, buy, complete, give_credits, listing_id},
};

const VENDOR: &str = "mkt_seller_console";
const BUYERS: [&str; 2] = ["buyer", "other"];
const LISTINGS: [&str; 5] = ["l0", "l1", "l2", "l3", "l4"];

/// Days that earnings are on hold.
const HOLD: i64 = 7;

fn market() -> TestMarket {
    let listings = LISTINGS.map(|key| published(key, 30, &json!({"accepts_bids": true})));
    let market = small_market_with(&listings, &json!({"keys": [console_key("seller")]}));
    for team in BUYERS {
        give_credits(&market, team, 100_000_000);
    }
    market
}

/// What the vendor gets of a price in cents.
const fn earned(price: i64) -> i64 {
    price - (price + 5) / 10
}

/// Writes an amount in cents as the pages do.
fn money(cents: i64) -> String {
    let whole = (cents.abs() / 100).to_string();
    let digits: Vec<&str> = whole.split("").filter(|digit| !digit.is_empty()).collect();
    let mut grouped = String::new();
    for (index, digit) in digits.iter().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push_str(digit);
    }
    format!("{}${grouped}.{:02}", if cents < 0 { "−" } else { "" }, cents.abs() % 100)
}

/// Reads an amount of a page or of a file.
fn cents(text: &str) -> i64 {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let sign = if text.contains(['-', '−']) { -1 } else { 1 };
    sign * digits.parse::<i64>().unwrap_or_else(|_| panic!("{text:?} is no amount"))
}

/// A sale: its price, and when its earnings become available; `None` for the latter after a refund.
#[derive(Clone, Copy, Debug)]
struct Sale {
    price: i64,
    available_at: Option<Timestamp>,
}

/// What should be.
#[derive(Debug, Default)]
struct Model {
    /// Bids that wait, with their amounts.
    bids: BTreeMap<Uuid, i64>,
    /// Accepted bids that wait for the payment of an invoice.
    unpaid: BTreeMap<Uuid, i64>,
    sales: BTreeMap<Uuid, Sale>,
}

impl Model {
    fn sum(&self, is_counted: impl Fn(Timestamp) -> bool) -> i64 {
        let sales = self.sales.values().filter(|sale| sale.available_at.is_some_and(&is_counted));
        sales.map(|sale| earned(sale.price)).sum()
    }

    /// Returns when earnings become available next, and how much.
    fn next_release(&self, now: Timestamp) -> Option<(Timestamp, i64)> {
        let at = self.sales.values().filter_map(|sale| sale.available_at).filter(|at| *at > now).min()?;
        Some((at, self.sum(|found| found == at)))
    }

    fn pay(&mut self, sale: Uuid, price: i64, now: Timestamp) {
        self.sales.insert(sale, Sale { price, available_at: Some(now.plus_days(HOLD)) });
    }
}

/// Opens the question of a bid, and answers it. Returns the page of the bid after that.
async fn answer(browser: &Browser<'_>, bid: Uuid, verb: &str, price: i64) -> Page {
    let path = format!("/console/selling/bids/{bid}");
    browser.get(&path).await.expect(200, &yields(price));
    let form = format!("{path}/{verb}");
    let question = browser.get(&form).await;
    if verb == "accept" {
        question.expect(200, &yields(price)).expect(200, "on hold for 7 days");
    }
    let done = browser.submit(&question, &form, &[]).await;
    assert_eq!(done.status(), 303, "{}", done.visible());
    // Pressed twice, it is done once.
    assert_eq!(browser.submit(&question, &form, &[]).await.location(), done.location());
    browser.get(&path).await
}

/// Returns the amounts of a bid as a page has them.
fn yields(price: i64) -> String {
    let (fee, rest) = (money(price - earned(price)), money(earned(price)));
    format!(
        "<dt>Bid</dt><dd>{}</dd><dt>Fee of the market</dt><dd>−{fee}</dd><dt class=\"total\">You earn, USD</dt><dd \
         class=\"total\">{rest}</dd>",
        money(price)
    )
}

async fn decide(market: &TestMarket, browser: &Browser<'_>, random: &mut Random, model: &mut Model) {
    let open: Vec<(Uuid, i64)> = model.bids.iter().map(|(id, price)| (*id, *price)).collect();
    if open.is_empty() {
        return;
    }
    let (id, price) = *random.pick(&open);
    model.bids.remove(&id);
    if random.percent(30) {
        answer(browser, id, "decline", price).await.expect(200, "This bid was declined.");
        return;
    }
    let page = answer(browser, id, "accept", price).await;
    page.expect(200, "You accepted this bid.");
    let sale = Regex::new("href=\"/console/selling/sales/([^\"]*)\"").unwrap();
    match sale.captures(&page.text) {
        Some(sale) => model.pay(sale[1].parse().unwrap(), price, market.clock().now()),
        None => {
            page.expect(200, "The sale appears here when the market has the payment.");
            model.unpaid.insert(id, price);
        }
    }
}

/// Returns the purchase that an accepted bid led to, which is not paid.
fn purchase_of(market: &TestMarket, bid: Uuid) -> Uuid {
    let rows = crate::harness::database::connect_to_copy(market.market());
    let sql = "SELECT p.uuid FROM purchases p JOIN offers o ON o.id = p.offer WHERE o.uuid = ?1";
    rows.query_row(sql, [bid], |row| row.get(0)).unwrap()
}

fn pay_invoice(market: &TestMarket, random: &mut Random, model: &mut Model) {
    let unpaid: Vec<(Uuid, i64)> = model.unpaid.iter().map(|(id, price)| (*id, *price)).collect();
    if unpaid.is_empty() {
        return;
    }
    let (bid, price) = *random.pick(&unpaid);
    model.unpaid.remove(&bid);
    let sale = purchase_of(market, bid);
    // It is canceled if it is not paid for too long.
    if complete(market, sale).is_ok() {
        model.pay(sale, price, market.clock().now());
    }
}

fn refund(market: &TestMarket, random: &mut Random, model: &mut Model) {
    let ids: Vec<Uuid> = model.sales.keys().copied().collect();
    if ids.is_empty() {
        return;
    }
    let id = *random.pick(&ids);
    let platform = Platform::of_process();
    let refunded = market.write(|writer| purchases::refund(writer, platform, Actor::Platform, id));
    let sale = model.sales.get_mut(&id).unwrap();
    if refunded.is_ok() {
        assert!(sale.available_at.is_some(), "it is refunded once");
        sale.available_at = None;
    }
}

/// Returns the figure of a page with this name, in cents.
fn figure(page: &Page, name: &str) -> i64 {
    let (_, rest) =
        page.text.split_once(&format!("<dt>{name}</dt><dd>")).unwrap_or_else(|| panic!("no {name}"));
    cents(rest.split('<').next().unwrap())
}

async fn check(market: &TestMarket, browser: &Browser<'_>, model: &Model) {
    let now = market.clock().now();
    let page = browser.get("/console/selling/earnings").await;
    let all = model.sum(|_| true);
    assert_eq!(figure(&page, "Available"), model.sum(|at| at <= now), "{model:?}");
    assert_eq!(figure(&page, "Pending"), model.sum(|at| at > now), "{model:?}");
    assert_eq!(figure(&page, "Earned so far"), all);
    match model.next_release(now) {
        Some((at, amount)) => {
            let day = at.day().to_string();
            let (month, date) = (&day[5..7], day[8..].trim_start_matches('0'));
            let month = ["", "Jan", "Feb", "Mar", "Apr", "May", "Jun"][month.parse::<usize>().unwrap()];
            let release = format!("next release: {} on {date} {month} 2026", money(amount));
            assert!(page.visible().contains(&release), "{release:?} is not in: {}", page.visible());
        }
        None => drop(page.expect(200, "nothing is on hold")),
    }
    let month =
        Regex::new(r#"<th scope="row">[A-Z][a-z]{2} \d{4}</th><td class="num">([^<]*)</td>"#).unwrap();
    let months: Vec<i64> = month.captures_iter(&page.text).map(|month| cents(&month[1])).collect();
    assert_eq!((months.len(), months.iter().sum::<i64>()), (12, all), "{model:?}");
    let file = browser.get("/console/wallet/earnings-entries?format=csv").await;
    let amounts = file.text.trim_end().lines().skip(1).map(|line| cents(line.rsplit(',').nth(4).unwrap()));
    assert_eq!(amounts.sum::<i64>(), all, "{}", file.text);
}

#[tokio::test]
async fn random_deals_yield_what_the_fees_leave() {
    for seed in 1..=3 {
        let market = market();
        let browser = Browser::signed_in(&market, VENDOR).await;
        let (mut random, mut model) = (Random::new(seed), Model::default());
        for step in 0..45 {
            match random.below(8) {
                0..=2 => {
                    let price = 1 + random.below(400_000) as i64;
                    let with = *random.pick(&[PayWith::Credits, PayWith::Credits, PayWith::Invoice]);
                    let (buyer, listing): (&&str, &&str) = (random.pick(&BUYERS), random.pick(&LISTINGS));
                    let made = bid(&market, buyer, listing_id(listing), price, with);
                    model.bids.extend(made.ok().map(|id| (id, price)));
                }
                3 | 4 => decide(&market, &browser, &mut random, &mut model).await,
                5 => pay_invoice(&market, &mut random, &mut model),
                6 => refund(&market, &mut random, &mut model),
                _ => market.clock().advance(random.below(4) as i64 * DAY),
            }
            // The budget of a minute is for people.
            market.clock().advance(60_000_000);
            market.market().run_due_steps().unwrap();
            if step % 5 == 4 {
                check(&market, &browser, &model).await;
            }
        }
        check(&market, &browser, &model).await;
        check_sales(&browser, &market, &model).await;
        market.clock().advance(HOLD * DAY);
        market.market().run_due_steps().unwrap();
        check(&market, &browser, &model).await;
    }
}

/// Checks the statements of the sales, and their file.
async fn check_sales(browser: &Browser<'_>, market: &TestMarket, model: &Model) {
    assert!(model.sales.len() > 2, "{model:?}");
    for (id, sale) in &model.sales {
        let page = browser.get(&format!("/console/selling/sales/{id}")).await;
        let (fee, rest) = (money(sale.price - earned(sale.price)), money(earned(sale.price)));
        page.expect(200, &format!("<dt>Price, the accepted bid</dt><dd>{}</dd>", money(sale.price)));
        page.expect(200, &format!("<dd>−{fee}</dd>"))
            .expect(200, &format!("<dd class=\"total\">{rest}</dd>"));
        match sale.available_at {
            Some(at) if at > market.clock().now() => {
                page.expect(200, "is on hold until").expect(200, "</svg>Paid, on hold until ");
                page.expect(200, "The market can refund this sale until");
                assert!(!page.text.contains("</svg>Paid<"), "{}", page.visible());
            }
            Some(_) => drop(page.expect(200, "Available since").expect(200, "</svg>Paid")),
            None => drop(page.expect(200, "The market refunded this sale").expect(200, "Taken back, USD")),
        }
        market.clock().advance(60_000_000);
    }
    market.market().run_due_steps().unwrap();
    let file = browser.get("/console/selling/sales?format=csv").await;
    assert_eq!(file.text.trim_end().lines().count(), model.sales.len() + 1);
    let earnings = file.text.trim_end().lines().skip(1).map(|row| cents(row.split(',').nth(1).unwrap()));
    assert_eq!(earnings.sum::<i64>(), model.sum(|_| true), "{}", file.text);
    let kept = model.sales.values().filter(|sale| sale.available_at.is_some()).count();
    let file = browser.get("/console/selling/sales?format=csv&status=completed").await;
    assert_eq!(file.text.trim_end().lines().count(), kept + 1);
}

/// A bid, a hold that ends, a conversion, and withdrawals that are paid and fail.
#[tokio::test]
async fn earnings_are_released_converted_and_withdrawn() {
    let market = market();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let mut model = Model::default();
    let id = bid(&market, "buyer", listing_id("l0"), 40_05, PayWith::Credits).unwrap();
    model.bids.insert(id, 40_05);
    let page = answer(&browser, id, "accept", 40_05).await;
    page.expect(200, "Notifications about this");
    let sale = page.text.split("/console/selling/sales/").nth(1).unwrap().split('"').next().unwrap();
    browser.get(&format!("/console/selling/sales/{sale}")).await.expect(200, "Notifications about this");
    let page = browser.get("/console/selling/earnings").await;
    page.expect(200, "Nothing is available yet.");
    assert!(page.visible().contains("next release: $36.04 on 8 Mar 2026"), "{}", page.visible());
    assert_eq!(page.text.matches("aria-disabled=\"true\"").count(), 2, "{}", page.visible());
    let convert = "/console/selling/earnings/convert";
    let page = browser.get(convert).await;
    browser.submit(&page, convert, &[("amount", "1")]).await.expect(409, "more than the available");
    market.clock().advance(HOLD * DAY - 1);
    market.market().run_due_steps().unwrap();
    assert_eq!(figure(&browser.get("/console/selling/earnings").await, "Available"), 0);
    market.clock().advance(1);
    market.market().run_due_steps().unwrap();
    let page = browser.get("/console/selling/earnings").await;
    assert_eq!((figure(&page, "Available"), figure(&page, "Pending")), (36_04, 0));
    page.expect(200, "nothing is on hold");

    let page = browser.get(convert).await;
    let page = browser.submit(&page, convert, &[("amount", "6.04")]).await;
    let answer = browser.submit(&page, convert, &[("confirmed", "yes")]).await;
    assert_eq!(answer.location(), "/console/selling/earnings?notice=earnings_converted");
    let setup = "/console/settings/payout";
    let page = browser.get(setup).await;
    browser.submit(&page, setup, &[("payout_setup", "IBAN DE00 0000"), ("confirmed", "yes")]).await;
    market.clock().advance(3 * DAY);
    let withdraw = "/console/selling/earnings/withdraw";
    for amount in ["10", "20"] {
        let page = browser.get(withdraw).await;
        let answer = browser.submit(&page, withdraw, &[("amount", amount), ("confirmed", "yes")]).await;
        assert_eq!(answer.location(), "/console/selling/withdrawals?notice=withdrawal_requested");
    }
    let page = browser.get(withdraw).await;
    browser.submit(&page, withdraw, &[("amount", "0.01")]).await.expect(409, "more than the available");
    for (amount, is_paid) in [(1_000, true), (2_000, false)] {
        let rows = crate::harness::database::connect_to_copy(market.market());
        let sql = "SELECT uuid FROM withdrawals WHERE cents = ?1";
        let id: Uuid = rows.query_row(sql, [amount], |row| row.get(0)).unwrap();
        let decided = market.write(|writer| {
            let decide = if is_paid { withdrawals::mark_paid } else { withdrawals::mark_failed };
            decide(writer, Platform::of_process(), Actor::Platform, id)
        });
        decided.unwrap();
    }
    let list = browser.get("/console/selling/withdrawals").await;
    list.expect(200, "$10.00").expect(200, "Failed, posted back");
    let paid = browser.get("/console/selling/withdrawals?status=paid&format=csv").await;
    assert!(paid.text.contains(",10.00,Paid,") && !paid.text.contains("20.00"), "{}", paid.text);
    let page = browser.get("/console/selling/earnings").await;
    assert_eq!((figure(&page, "Available"), figure(&page, "Earned so far")), (20_00, 36_04));
    assert!(!page.text.contains("aria-disabled"), "{}", page.visible());
}

/// Those of the agreement, as on the receipt of the buyer.
#[tokio::test]
async fn statement_has_the_names_at_the_time_of_the_sale() {
    let market = market();
    let listing = listing_id("l0");
    let sold = buy(&market, "buyer", listing, PurchaseKind::Full, PayWith::Credits).unwrap();
    let renamed = market.write(|writer| {
        listing_lifecycle::perform(writer, listing, Operation::Unpublish)?;
        let row = store::listings::find(writer.rows, listing)?.unwrap();
        let mut fields = store::listings::find_fields(writer.rows, row.row_id)?;
        "Another title".clone_into(&mut fields.title);
        listing_lifecycle::update(writer, listing, &fields)?;
        operations::teams::rename(writer, Platform::of_process(), "Seller house", "New house").map(drop)
    });
    renamed.unwrap();
    let browser = Browser::signed_in(&market, VENDOR).await;
    let page = browser.get(&format!("/console/selling/sales/{}", sold.id)).await;
    page.expect(200, "<bdi>Listing l0</bdi>").expect(200, "<bdi>Seller house</bdi>");
    assert!(!page.visible().contains("Another title"), "{}", page.visible());
    // So has the list, its file, and its filter.
    for format in ["", "&format=csv"] {
        let list = |text: &str| format!("/console/selling/sales?text={text}{format}");
        browser.get(&list("listing+l0")).await.expect(200, "Listing l0");
        let other = browser.get(&list("another")).await;
        assert!(other.status() == 200 && !other.text.contains(&sold.id.to_string()), "{}", other.visible());
    }
}

/// A refund of another sale can take the earnings of a sale from its hold. Then they never become available.
#[tokio::test]
async fn sale_whose_earnings_another_refund_took_does_not_promise_them() {
    let market = market();
    let full = |key| buy(&market, "buyer", listing_id(key), PurchaseKind::Full, PayWith::Credits).unwrap();
    let first = full("l0");
    market.clock().advance((HOLD + 1) * DAY);
    market.market().run_due_steps().unwrap();
    let all = market.market().write_blocking(|writer| {
        let vendor = teams::vendor(writer.rows, "seller");
        let available = store::wallet::balances(writer.rows, vendor.team_row_id())?.available;
        wallet::convert(writer, &vendor, Actor::Team, available).map(drop)
    });
    all.unwrap();
    let second = full("l1");
    let browser = Browser::signed_in(&market, VENDOR).await;
    let path = format!("/console/selling/sales/{}", second.id);
    browser.get(&path).await.expect(200, "is on hold until");
    let platform = Platform::of_process();
    market
        .market()
        .write_blocking(|writer| purchases::refund(writer, platform, Actor::Platform, first.id))
        .unwrap();
    // Nor does it after the hold would have ended.
    for _ in 0..2 {
        let page = browser.get(&path).await;
        page.expect(200, "were used for the refund of another one");
        for promised in ["Available since", "On hold until", "is on hold until"] {
            assert!(!page.text.contains(promised), "{promised}: {}", page.visible());
        }
        let file = browser.get("/console/selling/sales?format=csv").await;
        file.expect(200, ",Available from,ID\r\n");
        let available = file.text.trim_end().lines().skip(1).map(|row| row.rsplit(',').nth(1).unwrap());
        assert_eq!(available.collect::<Vec<_>>(), ["", ""], "{}", file.text);
        market.clock().advance((HOLD + 1) * DAY);
        market.market().run_due_steps().unwrap();
    }
}
