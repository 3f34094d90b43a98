//! Previews of changes of money, for the pages that ask for a confirmation.

use super::{ledger::account_words, prelude::*};
use crate::{
    console::{
        pages::deals::QUOTE,
        parts::balances::{self, Balance},
        wording,
    },
    domain::{
        ledger::{AccountKind, Posting},
        money::MAX_AMOUNT,
        purchases::{PayWith, PurchaseKind},
        teams::Team,
    },
    operations::{
        ledger::RefundPart,
        purchases,
        quotes::{self, Part, Wanted},
        teams, wallet,
    },
    store::records::any_record::Names,
};

/// Returns the team and its balances before and after a change.
fn balances(team: &Team, balances: &[Balance]) -> Markup {
    html! {
        (tables::facts(&[("Team", html! { b.long { bdi { (team.name) } } })]))
        (balances::table(balances))
    }
}

fn too_much(what: &str, has: Cents) -> Error {
    let message = format!("The team has only {} of {what}.", text::money(has));
    invalid("amount", &message)
}

/// Returns the amount that a form states. Fails if it cannot be booked, so that no page promises it.
fn bookable_amount(fields: &Fields) -> Result<Cents> {
    let amount = fields.required_amount("amount")?;
    wallet::check_amount(amount, MAX_AMOUNT).map(|()| amount)
}

/// Shows the effect of an adjustment of credits.
pub fn adjustment(reader: &Reader, platform: Platform, fields: &Fields, amount: Cents) -> Result<Markup> {
    let (team, description) =
        (inputs::team_of(reader.rows, fields)?, resources::typed(fields, "description"));
    wallet::check_adjustment(amount, description)?;
    let credits = wallet::balances_of(reader, platform, &team)?.credits;
    if credits.0 + amount.0 < 0 {
        return Err(too_much("credits", credits));
    }
    Ok(html! {
        (balances(&team, &[("Credits", credits, amount)]))
        p.long { "The team reads: " bdi { (description) } }
    })
}

/// Shows the effect of a purchase of credits that was paid outside the marketplace.
pub fn bought_credits(reader: &Reader, platform: Platform, fields: &Fields) -> Result<Markup> {
    let (team, amount) = (inputs::team_of(reader.rows, fields)?, bookable_amount(fields)?);
    let credits = wallet::balances_of(reader, platform, &team)?.credits;
    Ok(balances(&team, &[("Credits", credits, amount)]))
}

/// Shows the effect of a conversion of earnings into credits.
pub fn conversion(reader: &Reader, platform: Platform, fields: &Fields) -> Result<Markup> {
    let (team, amount) = (inputs::team_of(reader.rows, fields)?, bookable_amount(fields)?);
    let found = wallet::balances_of(reader, platform, &team)?;
    if amount > found.available {
        return Err(too_much("available earnings", found.available));
    }
    let changes =
        [("Earnings, available", found.available, Cents(-amount.0)), ("Credits", found.credits, amount)];
    Ok(balances(&team, &changes))
}

/// Shows the effect of a withdrawal of earnings.
pub fn withdrawal(reader: &Reader, platform: Platform, fields: &Fields) -> Result<Markup> {
    let (team, amount) = (inputs::team_of(reader.rows, fields)?, bookable_amount(fields)?);
    let found = wallet::balances_of(reader, platform, &team)?;
    if amount > found.available {
        return Err(too_much("available earnings", found.available));
    }
    let setup = teams::payout_setup(reader, platform, &team.id.to_string())?;
    Ok(html! {
        (balances(&team, &[("Earnings, available", found.available, Cents(-amount.0))]))
        (pay_to(setup.as_deref()))
    })
}

/// Returns the purchase in the name of a team: the listing, the part, and the payment.
pub fn wanted(fields: &Fields) -> Result<(Uuid, Wanted)> {
    let assets = fields.get("asset_ids").map(|_| resources::ids(fields, "asset_ids")).transpose()?;
    let part = match (resources::choice::<PurchaseKind>(fields, "kind")?, assets) {
        (PurchaseKind::Sample, None) => Part::Sample,
        (PurchaseKind::Sample, Some(_)) => {
            return Err(invalid("asset_ids", "A sample is of the whole listing. Leave this empty."));
        }
        (_, Some(assets)) => Part::Selection(assets),
        (_, None) => Part::Whole,
    };
    let wanted = Wanted { part, pay_with: resources::choice(fields, "pay_with")? };
    Ok((resources::id(fields, "listing_id")?, wanted))
}

/// Shows the cost of a purchase in the name of a team. The form that confirms it names the quote, so the purchase cannot differ
/// from it.
pub fn purchase(reader: &Reader, platform: Platform, fields: &Fields) -> Result<Markup> {
    let team = inputs::team_of(reader.rows, fields)?;
    let name = team.name.clone();
    let buyer = platform.buyer(team)?;
    let (listing, wanted) = wanted(fields)?;
    let quote = quotes::quote(reader, &buyer, listing, &wanted)?;
    if let Some(shortfall) = quote.shortfall {
        let message = format!("The buyer lacks {} of credits.", text::money(shortfall));
        return Err(invalid("pay_with", &message));
    }
    Ok(html! {
        input type="hidden" name=(QUOTE) value=(quote.digest);
        (tables::facts(&[
            ("Buyer", html! { b.long { bdi { (name) } } }),
            ("Listing", html! { b.long { bdi { (quote.title) } } }),
            ("Vendor", html! { bdi { (quote.vendor) } }),
            ("Payment", html! { (text::words(quote.pay_with.as_str())) }),
        ]))
        (tables::sum(&[
            ("Price", text::money(quote.price)),
            ("Fee of the buyer", text::money(quote.buyer_fee)),
            ("Total", text::money(quote.total)),
        ]))
        @if let Some(left) = quote.credits_left { p { "The buyer has " (text::money(left)) " of credits left after it." } }
        @if !quote.completes_at_once {
            p { "It waits at most " (text::counted(quote.pending_days.into(), "day", "days")) " for the payment of the invoice." }
        }
    })
}

/// Returns where the money of a vendor goes that requests a withdrawal now.
fn pay_to(setup: Option<&str>) -> Markup {
    match setup {
        Some(setup) => where_to_pay(setup),
        None => badges::warning(
            html! { "The vendor has not stated how it is paid. Before you pay, ask the vendor, and enter the answer in its record." },
        ),
    }
}

fn where_to_pay(setup: &str) -> Markup {
    tables::section("payout", "Where to pay", &html! { p.long { bdi { (setup) } } })
}

/// Returns where the money of a withdrawal goes, which is as the vendor had stated when it was requested.
pub fn payee(reader: &Reader, platform: Platform, record: &AnyRecord) -> Result<Markup> {
    let team = record.id("team_id").unwrap_or_default();
    let (stated, is_open) = (record.text("payout_setup"), record.text("status") == "requested");
    let is_changed =
        is_open && teams::payout_setup(reader, platform, &team.to_string())?.as_deref() != Some(stated);
    let message = match (stated, is_open) {
        ("", true) => "It was not stated how this withdrawal is paid. Ask the vendor, before you pay.",
        ("", false) => "It is not recorded how the vendor wanted to be paid.",
        (_, _) if is_changed => {
            "The vendor has changed how it is paid since it requested this. Pay as stated above. If the vendor asks you to pay in the \
             new way, mark the withdrawal as failed: then the vendor can request it again."
        }
        _ => return Ok(where_to_pay(stated)),
    };
    Ok(html! {
        @if !stated.is_empty() { (where_to_pay(stated)) }
        (badges::warning(message))
    })
}

/// Shows the vendor, the amount, and the account of a withdrawal that is paid.
pub fn of_paid_withdrawal(reader: &Reader, platform: Platform, record: &AnyRecord) -> Result<Previewed> {
    of_amount(reader, platform, record, "Vendor", payee(reader, platform, record)?)
}

/// Shows the vendor and the amount of a withdrawal that is not paid.
pub fn of_failed_withdrawal(reader: &Reader, platform: Platform, record: &AnyRecord) -> Result<Previewed> {
    of_amount(reader, platform, record, "Vendor", Markup::default())
}

/// Shows the team and the amount of a request for credits.
pub fn of_credit_purchase(reader: &Reader, platform: Platform, record: &AnyRecord) -> Result<Previewed> {
    of_amount(reader, platform, record, "Team", Markup::default())
}

/// Shows the team of a record, under this name, its amount, and what follows.
fn of_amount(
    reader: &Reader,
    platform: Platform,
    record: &AnyRecord,
    name: &'static str,
    more: Markup,
) -> Result<Previewed> {
    let team = record.id("team_id").unwrap_or_default();
    let names = records::names(reader.rows, platform, &[team])?;
    let amount = amount_of(record, "amount");
    Ok(Previewed::new(move |context| {
        html! {
            (tables::facts(&[(name, team_link(context, team, &names)), ("Amount", html! { b { (text::money(amount)) } })]))
            (more)
        }
    }))
}

fn amount_of(record: &AnyRecord, column: &str) -> Cents {
    Cents(record.integer(column).unwrap_or_default())
}

fn name_of(names: &Names, id: Uuid) -> String {
    names.get(&id).cloned().unwrap_or_else(|| id.to_string())
}

fn team_link(context: &Context, id: Uuid, names: &Names) -> Markup {
    html! { a.long href=(context.links.to(&format!("{TEAMS}/{id}"))) { bdi { (name_of(names, id)) } } }
}

/// The facts about a purchase on the page that changes it.
struct Sale {
    buyer: Uuid,
    vendor: Uuid,
    listing: Uuid,
    total: Cents,
    pay_with: Option<PayWith>,
    names: Names,
}

impl Sale {
    fn read(reader: &Reader, platform: Platform, record: &AnyRecord) -> Result<Sale> {
        let [buyer, vendor, listing] =
            ["team_id", "vendor_team_id", "listing_id"].map(|column| record.id(column).unwrap_or_default());
        Ok(Sale {
            buyer,
            vendor,
            listing,
            total: amount_of(record, "total"),
            pay_with: PayWith::parse(record.text("pay_with")),
            names: records::names(reader.rows, platform, &[buyer, vendor, listing])?,
        })
    }

    /// Returns what replaces the form of a step that cannot be taken for this reason.
    fn refused(self, reason: String) -> Previewed {
        Previewed::refused(move |context| {
            html! { (self.facts(context)) (badges::warning(wording::humanize(&reason))) }
        })
    }

    fn facts(&self, context: &Context) -> Markup {
        let listing = format!("{}/{}", LISTINGS, self.listing);
        let payment = self.pay_with.map_or_else(String::new, |pay_with| text::words(pay_with.as_str()));
        tables::facts(&[
            (
                "Listing",
                html! { a.long href=(context.links.to(&listing)) { bdi { (name_of(&self.names, self.listing)) } } },
            ),
            ("Buyer", team_link(context, self.buyer, &self.names)),
            ("Vendor", team_link(context, self.vendor, &self.names)),
            ("Total", html! { b { (text::money(self.total)) } }),
            ("Payment", html! { (payment) }),
        ])
    }

    /// Returns the name of an account of the purchase, with the team that it belongs to.
    fn account(&self, account: AccountKind) -> Markup {
        html! { @match account {
            AccountKind::Credits => { "Credits of " bdi { (name_of(&self.names, self.buyer)) } },
            AccountKind::Earnings => { "Earnings of " bdi { (name_of(&self.names, self.vendor)) } },
            AccountKind::Payments => "Payments from outside (the invoice)",
            other => (account_words(other)),
        } }
    }

    fn refund_part(&self, number: usize, count: usize, part: &RefundPart) -> Markup {
        let row = |posting: &Posting| {
            [
                Head::text("Account").cell(self.account(posting.account.kind())),
                Head::number("Change, USD").cell(text::signed_money(posting.cents)),
            ]
        };
        let label = format!("Entry {number}");
        html! {
            @if count > 1 { h3 { (label) } }
            (tables::of(&label, &part.transfer.postings, row))
            @if part.source.cents.0 > 0 { p.note {
                (text::money(part.source.cents)) " of the vendor's share come from "
                @if part.source.hold.is_some() { "earnings on hold until " (text::moment(part.source.available_at)) "." }
                @else { "its available earnings." }
            } }
        }
    }
}

/// Shows who buys what from whom, before a pending purchase is completed, or why that is not possible.
pub fn of_completion(reader: &Reader, platform: Platform, record: &AnyRecord) -> Result<Previewed> {
    let purchase = purchases::find(reader.rows, platform, id_of(record)?)?;
    match purchases::why_not_completable(reader.rows, &purchase)? {
        Some(reason) => Ok(Sale::read(reader, platform, record)?.refused(reason)),
        None => of_purchase(reader, platform, record),
    }
}

/// Shows who buys what from whom, before a pending purchase is canceled.
pub fn of_purchase(reader: &Reader, platform: Platform, record: &AnyRecord) -> Result<Previewed> {
    let sale = Sale::read(reader, platform, record)?;
    Ok(Previewed::new(move |context| sale.facts(context)))
}

/// Shows the effects and the postings of a refund, or why it is not possible.
pub fn of_refund(reader: &Reader, platform: Platform, record: &AnyRecord) -> Result<Previewed> {
    let sale = Sale::read(reader, platform, record)?;
    let parts = match purchases::preview_refund(reader, platform, id_of(record)?) {
        Ok(parts) => parts,
        Err(Error::InvalidState(_, reason)) => return Ok(sale.refused(reason)),
        Err(error) => return Err(error),
    };
    let is_exclusive = record.is_true("exclusive");
    Ok(Previewed::new(move |context| {
        let postings = html! {
            @if parts.is_empty() { p { "Nothing: no money moved for this purchase." } }
            @for (number, part) in (1..).zip(&parts) { (sale.refund_part(number, parts.len(), part)) }
        };
        html! {
            (sale.facts(context))
            @if sale.pay_with == Some(PayWith::Invoice) && sale.total.0 > 0 {
                (badges::warning(html! {
                    b { "You must transfer " (text::money(sale.total)) " yourself. " }
                    "The purchase was paid by invoice, so the buyer gets nothing back in the marketplace."
                }))
            }
            ul {
                li { "The buyer can no longer download what it bought, and loses the right to use it." }
                @if is_exclusive {
                    li { "The exclusive sale ends: its codebases can be sold again, and listings that it archived can be restored." }
                }
                li { "It is final. To give access again, the buyer has to buy it again." }
            }
            (tables::section("postings", "What will be posted", &postings))
        }
    }))
}
