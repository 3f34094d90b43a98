//! Purchases with credits, each of another buyer or of another listing, with their ledger entries and events.

use marketplace::{
    market::Reader,
    operations::{access::Platform, records},
    store::records::{
        Filters, Records,
        ledger::LEDGER_ENTRIES,
        pages::{Start, TeamPageRequest},
        purchases::PURCHASES,
    },
};
use poem::Endpoint;

use super::{
    BATCH_SIZE, Bench, codebases, sales,
    table::{Table, cpu_seconds},
    teams,
};

/// Number of listings that are bought.
const LISTINGS: usize = 1_000;

pub fn measure(bench: &Bench<impl Endpoint<Output = poem::Response>>, sizes: &[usize]) -> Table {
    let mut table = Table::new("purchases", sizes);
    let (operator, market) = (teams::create_operator_key(bench), &bench.market);
    let (vendor, _) = codebases::create_codebases(market, LISTINGS);
    let purchases = sales::Purchases::prepare(market, "Bench", sizes.last().copied().unwrap_or_default());
    let mut existing = 0;
    for size in sizes {
        let (start, bytes) = (cpu_seconds(), bench.stored_bytes());
        let bulk = market.bulk_writer().expect("start a bulk write");
        for first in (existing..*size).step_by(BATCH_SIZE) {
            let mut numbers = first..size.min(&(first + BATCH_SIZE)).to_owned();
            bulk.write(|writer| numbers.try_for_each(|number| purchases.make_in(writer, number)))
                .expect("the buyers have enough credits");
        }
        bulk.finish(&()).expect("update the index");
        let added = (size - existing) as f64;
        table.add("added, many in a transaction", "µs", (cpu_seconds() - start) * 1e6 / added);
        table.add(
            "stored, with ledger and events",
            "bytes",
            bench.stored_bytes().saturating_sub(bytes) as f64 / added,
        );
        existing = *size;
        for (name, path, key) in [
            ("first page of operators", "/operator/v1/purchases", &operator),
            ("pending ones, none", "/operator/v1/purchases?status=pending", &operator),
            ("wallet of the vendor of all", "/v2/wallet", &vendor),
            (
                "ledger entries of a type, none",
                "/operator/v1/ledger-entries?entry_type=sample_sale",
                &operator,
            ),
        ] {
            table.add_request(name, || drop(bench.get(path, key)));
        }
        for (name, list, filter, day) in [
            ("paid since tomorrow, none", &PURCHASES, "paid_from", "2999-12-31"),
            ("paid until long ago, none", &PURCHASES, "paid_until", "2000-01-01"),
            ("paid since long ago, all", &PURCHASES, "paid_from", "2000-01-01"),
            ("ledger entries since tomorrow, none", &LEDGER_ENTRIES, "created_from", "2999-12-31"),
        ] {
            table.add_request(name, || list_by_day(bench, list, filter, day));
        }
    }
    table
}

/// Reads the first page of a list of the console.
fn list_by_day(
    bench: &Bench<impl Endpoint<Output = poem::Response>>,
    list: &Records,
    filter: &str,
    day: &str,
) {
    let request = TeamPageRequest { start: Start::Newest, limit: 24, counts: true };
    let filters = Filters::default().with(filter, day);
    let read =
        |reader: &Reader| records::page_of_any(reader, Platform::of_process(), list, &filters, request);
    bench.market.read_blocking(read).expect("read a page");
}
