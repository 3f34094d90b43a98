//! The content of a team's page below its fields: its wallet, its keys and grants, numbers, and lists of its records.

use super::{events::EVENTS, grants, keys, prelude::*};
use crate::{
    console::resources::path_of,
    operations::{
        access::BrowseGate,
        operator_views::{self, BlockingBid},
        teams,
    },
    store::{
        records::{
            Filters,
            any_record::Names,
            grants::GRANTS as GRANT_RECORDS,
            keys::TEAM_KEYS,
            pages::{Start, TeamPageRequest},
            wallets::WALLETS,
        },
        team_overviews::TeamOverview,
    },
};

/// The state of a key or a grant.
const STATE: RecordField = RecordField::listed("status", "Status", FieldFormat::State);

/// Path of the purchases.
const PURCHASES: &str = "/operator/purchases";

/// Number of keys and grants that are shown.
const SHOWN: u32 = 10;

/// Returns the lists of the records of a team.
pub fn links(record: &AnyRecord) -> Vec<(&'static str, String)> {
    let Some(id) = record.id("id") else { return Vec::new() };
    let of = |label: &'static str, path: &str, filter: &str| (label, format!("{path}?{filter}={id}"));
    vec![
        of("Listings", LISTINGS, "team_id"),
        of("Assets", ASSETS, "team_id"),
        of("Quality runs", RUNS, "team_id"),
        of("Tasksets", TASKSETS, "team_id"),
        of("Purchases", PURCHASES, "team_id"),
        of("Sales", PURCHASES, "vendor_team_id"),
        of("Bids it made", "/operator/bids", "team_id"),
        of("Bids it received", "/operator/bids", "vendor_team_id"),
        of("Opportunities", OPPORTUNITIES, "team_id"),
        of("Projects", PROJECTS, "team_id"),
        of("Project bids", PROJECT_BIDS, "team_id"),
        of("Ledger", "/operator/ledger", "team_id"),
        of("Requests for credits", "/operator/credit-purchases", "team_id"),
        of("Withdrawals", "/operator/withdrawals", "team_id"),
        of("Notifications", "/operator/notifications", "team_id"),
        of("Keys", KEYS, "team_id"),
        of("Upload grants", GRANTS, "team_id"),
        of("Webhooks", WEBHOOKS, "team_id"),
        of("Events that it sees", EVENTS, "team"),
        of("Actions of the team, and of operators for it", paths::OPERATOR_AUDIT, "team_id"),
    ]
}

/// Reads the wallet, the newest keys and grants, and the numbers of a team.
pub fn read(reader: &Reader, platform: Platform, team: &AnyRecord) -> Result<RenderFn> {
    let id = id_of(team)?;
    let wallet = records::find_any(reader.rows, platform, &WALLETS, &id)?;
    let overview = operator_views::team_overview(reader, platform, id)?;
    let newest = |of| {
        let request = TeamPageRequest { start: Start::Newest, limit: SHOWN, counts: false };
        let filters = Filters::default().with("team_id", id.to_string());
        records::page_of_any(reader, platform, of, &filters, request).map(|page| page.rows)
    };
    let (mut keys, mut grants) = (newest(&TEAM_KEYS)?, newest(&GRANT_RECORDS)?);
    for key in &mut keys {
        keys::Keys::DERIVED_COLUMNS(key, reader.now);
    }
    for grant in &mut grants {
        grants::Grants::DERIVED_COLUMNS(grant, reader.now);
    }
    let is_closed = team.time("closed_at").is_some();
    let gate = {
        let required = reader.settings.browse_gate.required_published;
        BrowseGate::new(&teams::resolve(reader.rows, &id.to_string())?, overview.published_listings, required)
    };
    Ok(Box::new(move |context: &Context| {
        let new = |label: &str, path: &str| {
            html! { @if !is_closed && context.may_act() {
                div.row { a.button href=(context.links.to(&format!("{path}/new?team_id={id}"))) { (label) } }
            } }
        };
        html! {
            (tables::section("numbers", "In numbers", &numbers(context, id, &overview, gate)))
            (tables::section("team-wallet", "Wallet", &html! {
                (wallet_of(&wallet))
                p { a href=(context.links.to(&format!("/operator/wallets/{id}"))) { "Details of the balances" } }
                (new("Add credits that it bought", "/operator/credit-purchases"))
                (new("Adjust credits", "/operator/adjustments"))
            }))
            (tables::section("team-keys", "Newest keys", &html! {
                (list::<keys::Keys>(context, &keys, "The team has no key, so nobody can sign in for it."))
                (new("Create a key", KEYS))
            }))
            (tables::section("team-grants", "Newest upload grants", &html! {
                (list::<grants::Grants>(context, &grants, "The team has no upload grants."))
                (new("Create an upload grant", GRANTS))
            }))
        }
    }))
}

/// Returns a short list of records of a resource: the names, the state, and when they end.
fn list<R: Resource>(context: &Context, records: &[AnyRecord], empty: &str) -> Markup {
    let row = |record: &AnyRecord| {
        let path = path_of::<R>(&R::key_of(record));
        [
            Head::text("Name")
                .cell(html! { a.long href=(context.links.to(&path)) { bdi { (R::title_of(record)) } } }),
            Head::text("Status").cell(STATE.show(context, record, &Names::default())),
            Head::number("Created").cell(record.time("created_at").map(text::moment).unwrap_or_default()),
            Head::number("Ends")
                .cell(record.time("expires_at").map_or_else(|| html! { "Never" }, text::moment)),
        ]
    };
    html! {
        @if records.is_empty() { p.note { (empty) } }
        @else { (tables::of(R::TITLE, records, row)) }
    }
}

fn wallet_of(wallet: &AnyRecord) -> Markup {
    let amount = |name: &str| html! { (text::money(Cents(wallet.integer(name).unwrap_or_default()))) };
    tables::facts(&[
        ("Credits", amount("credits")),
        ("Earnings, available", amount("earnings_available")),
        ("Earnings, on hold", amount("earnings_pending")),
        ("Earned in all", amount("earnings_total")),
    ])
}

/// Shows the numbers of a team. A number with a list links to it.
fn numbers(context: &Context, id: Uuid, overview: &TeamOverview, gate: BrowseGate) -> Markup {
    let of = |number: u64| html! { (text::grouped(number)) };
    // Screen readers list links without the words beside them.
    let list = |number: u64, what: &str, path: &str, rest: &str| {
        let address = context.links.to(&format!("{path}?team_id={id}{rest}"));
        html! { a href=(address) { (text::grouped(number)) span.out { " " (what) } } }
    };
    tables::facts(&[
        (
            "Listings in the catalog",
            html! {
                (list(overview.published_listings, "in the catalog", LISTINGS, "&catalog_status=published"))
                " of " (list(overview.listings + overview.archived_listings, "listings", LISTINGS, ""))
                @if overview.archived_listings > 0 {
                    ", " (list(overview.archived_listings, "archived listings", LISTINGS, "&catalog_status=archived")) " of them archived"
                }
            },
        ),
        ("Its search of the catalog", gate_text(gate)),
        ("Assets", list(overview.assets, "assets", ASSETS, "")),
        ("Purchases", list(overview.purchases, "purchases", PURCHASES, "")),
        ("Purchases and sales that wait for payment", of(overview.pending_purchases)),
        (
            "Requests for credits that wait",
            list(
                overview.pending_credit_purchases,
                "requests for credits",
                "/operator/credit-purchases",
                "&status=pending",
            ),
        ),
        (
            "Withdrawals that wait",
            list(overview.requested_withdrawals, "withdrawals", "/operator/withdrawals", "&status=requested"),
        ),
        ("Bids it waits for", of(overview.made_offers + overview.made_bids)),
        ("Bids it has to decide", of(overview.received_offers + overview.received_bids)),
        ("Opportunities that are drafts or open", of(overview.opportunities)),
        ("Valid keys", of(overview.keys)),
        ("Webhooks that are on", list(overview.webhooks, "webhooks", WEBHOOKS, "&status=enabled")),
    ])
}

/// Says whether a team may search the catalog. Buyers see the team's own listings in any case.
fn gate_text(gate: BrowseGate) -> Markup {
    html! {
        @if gate.is_open { "Open" }
        @else {
            "Locked: it has " (gate.published_count) " of the " (text::counted(gate.required_count, "listing", "listings"))
            " in the catalog that a vendor needs. "
            "Buyers see its listings."
        }
    }
}

/// Shows the effects of closing a team, or why it cannot be closed.
pub fn closing(reader: &Reader, platform: Platform, id: Uuid) -> Result<Previewed> {
    let blocking = operator_views::blocking_bids(reader, platform, id)?;
    if !blocking.is_empty() {
        return Ok(Previewed::refused(move |context| blocked_by(context, &blocking)));
    }
    if let Some(obstacle) = operator_views::closing_obstacle(reader, platform, id)? {
        return Ok(Previewed::refused(move |_| {
            badges::warning(html! { "It cannot be closed now. " (obstacle) })
        }));
    }
    let overview = operator_views::team_overview(reader, platform, id)?;
    let wallet = records::find_any(reader.rows, platform, &WALLETS, &id)?;
    Ok(Previewed::new(move |_| ends_with(&overview, &wallet)))
}

/// Names the bids for which a team cannot be closed.
fn blocked_by(context: &Context, bids: &[BlockingBid]) -> Markup {
    badges::warning(html! {
        b { "It cannot be closed now:" }
        ul { @for bid in bids { li {
            a.long href=(context.links.to(&format!("{PROJECT_BIDS}/{}", bid.id))) { bdi { (bid.title) } }
            @if bid.is_owed { ": its bid was accepted, and it has not delivered yet. Record the delivery first." }
            @else { ": it has not accepted this delivery yet. Complete the bid first." }
        } } }
    })
}

fn ends_with(overview: &TeamOverview, wallet: &AnyRecord) -> Markup {
    let amount = |name: &str| Cents(wallet.integer(name).unwrap_or_default());
    let earnings = Cents(amount("earnings_available").0 + amount("earnings_pending").0);
    let ends = [
        (
            overview.pending_purchases,
            "purchase that waits for payment is canceled",
            "purchases that wait for payment are canceled",
        ),
        (
            overview.pending_credit_purchases,
            "request for credits is canceled",
            "requests for credits are canceled",
        ),
        (overview.made_offers, "bid on a listing is withdrawn", "bids on listings are withdrawn"),
        (overview.made_bids, "bid on a project is withdrawn", "bids on projects are withdrawn"),
        (overview.received_offers, "bid on its listings is declined", "bids on its listings are declined"),
        (overview.received_bids, "bid on its projects is declined", "bids on its projects are declined"),
        (overview.opportunities, "opportunity ends", "opportunities end"),
        (overview.listings, "listing is archived", "listings are archived"),
        (overview.keys, "key is revoked", "keys are revoked"),
        (overview.grants, "upload grant is revoked", "upload grants are revoked"),
        (overview.webhooks, "webhook is disabled", "webhooks are disabled"),
    ];
    let ends: Vec<String> = ends
        .iter()
        .filter(|(number, _, _)| *number > 0)
        .map(|(number, one, many)| text::counted(*number, one, many))
        .collect();
    html! {
        @if ends.is_empty() { p { "Nothing of it is under way." } }
        @else { p { "With it:" } ul { @for end in &ends { li { (end) } } } }
        p { "What stays:" }
        ul {
            @if amount("credits").0 > 0 { li {
                (text::money(amount("credits"))) " of credits stay in its wallet, and nobody can spend them. To pay them back, deduct them \
                 with an adjustment, and transfer the money outside the marketplace."
            } }
            @if earnings.0 > 0 { li {
                (text::money(earnings)) " of earnings stay payable: request withdrawals of them in its name."
            } }
            li { "Buyers keep what they have bought from it, and can download it. Nobody can download the team's own purchases any more." }
        }
    }
}
