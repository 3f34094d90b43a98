//! The start page of operators: waiting tasks, the health of the market, and the activity of the last days.

use std::time::Duration;

use super::{
    credit_purchases::CreditPurchases, jobs::Jobs, prelude::*, purchases::Purchases, webhooks::Webhooks,
    withdrawals::Withdrawals,
};
use crate::operations::{
    health::{Concern, FileFacts, Health},
    operator_start::{self, Activity, AllWaiting, DAYS, Overview, Waiting},
};

/// The page.
pub struct Start;

impl Page<Operator> for Start {
    const PATH: &'static str = paths::OPERATOR_START;
    const TITLE: &'static str = "Start";
    const NAVIGATION: Option<NavigationItem> = Some(Section::Market.link("Start"));
    const OPERATIONS: &'static [&'static str] = &["get_market"];

    async fn show(visit: &Visit<Operator>) -> Result<Answer> {
        let market = visit.market().clone();
        let read = visit.read(move |reader, operator| {
            let overview = operator_start::find(reader, operator.platform())?;
            Ok((overview, Health::read(reader, FileFacts::read(&market)?)?))
        });
        let (Overview { waiting, activity }, health) = read.await?;
        let context = &visit.context;
        let body = html! {
            (tables::section("waiting", "Waiting for you", &what_waits(context, &waiting)))
            (tables::section("health", "Health", &health_of(&health)))
            (tables::section("days", "The last days", &days(&activity)))
        };
        Ok(Content::new(Self::TITLE, body).with_request("/operator/v1/market").into())
    }
}

/// Returns what waits, with its name and the path of its list.
fn lists(waiting: &AllWaiting) -> [(&'static str, String, Waiting); 6] {
    let filtered = |list: &str, filter: &str| format!("{list}?{filter}");
    [
        ("Listings in review", REVIEW.to_owned(), waiting.reviews),
        ("Purchases that wait for payment", filtered(Purchases::LIST, "status=pending"), waiting.purchases),
        ("Requests for credits", filtered(CreditPurchases::LIST, "status=pending"), waiting.credit_purchases),
        ("Withdrawals to pay", filtered(Withdrawals::LIST, "status=requested"), waiting.withdrawals),
        ("Failed jobs", filtered(Jobs::LIST, "state=failed"), waiting.failed_jobs),
        ("Failing webhooks", filtered(Webhooks::LIST, "failing=true"), waiting.failing_webhooks),
    ]
}

/// Returns the table of waiting tasks. The oldest one comes first.
fn what_waits(context: &Context, waiting: &AllWaiting) -> Markup {
    let mut waiting: Vec<_> =
        lists(waiting).into_iter().filter(|(_, _, waiting)| waiting.count > 0).collect();
    if waiting.is_empty() {
        return tables::empty("Nothing waits", "What needs a decision or attention appears here.", None);
    }
    waiting.sort_by_key(|(_, _, waiting)| waiting.oldest.unwrap_or(Timestamp(i64::MAX)));
    let row = |(words, path, waiting): &(&str, String, Waiting)| {
        let oldest = html! { @match waiting.oldest {
            Some(at) => {
                (duration(context.now().seconds() - at.seconds())) br; span.note { "since " (text::day(at)) }
            },
            None => (text::MISSING),
        } };
        [
            Head::text("What").cell(html! { a href=(context.links.to(path)) { (words) } }),
            Head::number("Number").cell(text::grouped(waiting.count)),
            Head::number("Longest wait").cell(oldest),
        ]
    };
    html! { div.compact { (tables::of("Waiting for you", &waiting, row)) } }
}

fn health_of(health: &Health) -> Markup {
    let row = |(what, now, concern): &(&'static str, Markup, Option<Concern>)| {
        let state = match concern {
            Some(_) => badges::badge(Tone::Warning, "Needs attention"),
            None => badges::badge(Tone::Good, "Good"),
        };
        let advice = concern.map(advice);
        let status =
            html! { (state) " · " (now) @if let Some(advice) = advice { ". " br; span.note { (advice) } } };
        [Head::text("What").cell(what), Head::text("Status").cell(status)]
    };
    let mut rows = vec![
        ("Search index", index(health), health.index_concern()),
        ("Jobs", jobs(health), health.job_concern()),
        ("Disk", disk(health), health.disk_concern()),
        ("Database", database(health), health.database_concern()),
    ];
    if health.files.is_backed_up {
        rows.push(("Backup", backup(health), health.backup_concern()));
    }
    html! { div.compact { (tables::of("Health", &rows, row)) } }
}

fn index(health: &Health) -> Markup {
    html! {
        @if health.has_index_failed { "Damaged" }
        @else if health.index_lag == 0 { "Up to date" }
        @else { "Lacks " (text::counted(health.index_lag, "change", "changes")) }
    }
}

fn duration(seconds: i64) -> String {
    text::duration(Duration::from_secs(u64::try_from(seconds).unwrap_or_default()))
}

fn jobs(health: &Health) -> Markup {
    html! {
        (text::grouped(health.running_jobs)) " running, " (text::grouped(health.waiting_jobs)) " waiting"
        @if let Some(seconds) = health.oldest_job_seconds { ", the oldest for " (duration(seconds)) }
    }
}

fn disk(health: &Health) -> Markup {
    let FileFacts { disk_free_bytes, disk_reserve_bytes, .. } = health.files;
    html! { (text::size(disk_free_bytes)) " free, of which " (text::size(disk_reserve_bytes)) " are reserved" }
}

fn database(health: &Health) -> Markup {
    html! { (text::size(health.database_bytes)) ", and a log of " (text::size(health.files.log_bytes)) }
}

fn backup(health: &Health) -> Markup {
    html! { @match (&health.files.last_backup, health.backup_age_seconds()) {
        (Some(backup), Some(age)) => {
            (duration(age)) " old, " (text::size(backup.bytes)) ", "
            @if backup.missing_files == 0 { "complete, and compared with its digests" }
            @else { "without " (text::counted(backup.missing_files, "damaged file", "damaged files")) }
            @if let (Some(check), Some(since)) = (&backup.check, health.backup_check_age_seconds()) {
                "; restored to check it " (duration(since)) " ago"
                @if check.problems > 0 { ", with " (text::counted(check.problems, "problem", "problems")) }
            }
        },
        _ => "No backup yet",
    } }
}

/// Returns why something needs attention, and what to do.
const fn advice(concern: Concern) -> &'static str {
    match concern {
        Concern::IndexFailed => {
            "The server rebuilds it by itself. If this message stays, look into the log of the server, and check the disk."
        }
        Concern::IndexBehind => {
            "After a large import, wait. If the number does not fall, look into the log of the server."
        }
        Concern::JobsLate => {
            "Look at the jobs that have run for a long time. If many jobs wait, let the server run more of them at a time."
        }
        Concern::DiskFull => {
            "Only the reserve is left, so the market accepts nothing that needs space. Free some, or use a larger disk."
        }
        Concern::DiskLow => "Free some space, or use a larger disk, before only the reserve is left.",
        Concern::LogLarge => {
            "A read of the database takes very long, or the disk is too slow. Look for running backups and commands."
        }
        Concern::NoBackup => {
            "Make one with the command marketplace backup on the machine of the server, and repeat it daily."
        }
        Concern::BackupOld => {
            "Find out why the backups have stopped, and make one with the command marketplace backup."
        }
        Concern::BackupIncomplete => {
            "Files of the market are damaged. The command marketplace verify names them. Restore them from an earlier backup."
        }
        Concern::BackupCheckFailed => {
            "A backup could not be restored without problems. Make a new one, and check it with marketplace restore --check."
        }
    }
}

fn days(activity: &[Activity; 3]) -> Markup {
    let number = |label: &'static str, read: fn(&Activity) -> u64| {
        figure_row(label, activity, |of| text::grouped(read(of)))
    };
    let amount = |label: &'static str, read: fn(&Activity) -> Cents| {
        figure_row(label, activity, |of| text::money(read(of)))
    };
    let rows = [
        number("Sales", |of| of.sales),
        amount("What buyers paid, USD", |of| of.volume),
        amount("Fees of the market, USD", |of| of.fees),
        number("New teams", |of| of.teams),
        number("New listings", |of| of.listings),
        number("Submissions for review", |of| of.submissions),
    ];
    const { assert!(DAYS[0] == 1 && DAYS[1] == 7 && DAYS[2] == 30, "the heads name the days") };
    html! {
        div.compact { (tables::of_rows("The last days", rows)) }
        p.note { "Days begin at midnight UTC, and today counts as one. Sales that were refunded later are included." }
    }
}

fn figure_row(label: &str, activity: &[Activity; 3], show: impl Fn(&Activity) -> String) -> [Cell; 4] {
    let [today, week, month] = activity.each_ref().map(show);
    [
        Head::text("What").cell(label),
        Head::number("Today").cell(today),
        Head::number("7 days").cell(week),
        Head::number("30 days").cell(month),
    ]
}
