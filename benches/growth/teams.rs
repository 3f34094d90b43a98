//! Teams.

use marketplace::{
    domain::principals::KeyScope,
    market::{Reader, Writer},
    operations::{self, access::Platform, operator_search, teams::TeamInput},
};
use poem::Endpoint;

use super::{
    BATCH_SIZE, Bench,
    table::{Table, cpu_seconds},
};

pub fn measure(bench: &Bench<impl Endpoint<Output = poem::Response>>, sizes: &[usize]) -> Table {
    let mut table = Table::new("teams", sizes);
    let key = create_operator_key(bench);
    let mut existing = 0;
    for size in sizes {
        let (start, bytes) = (cpu_seconds(), bench.stored_bytes());
        create(bench, existing, *size);
        let added = (size - existing) as f64;
        table.add("added", "µs", (cpu_seconds() - start) * 1e6 / added);
        table.add("stored", "bytes", bench.stored_bytes().saturating_sub(bytes) as f64 / added);
        existing = *size;
        for (name, path) in [
            ("first page", "/operator/v1/teams".to_owned()),
            ("of a name", format!("/operator/v1/teams?name=Team%20{}", size / 2)),
            ("buyers", "/operator/v1/teams?role=buyer".to_owned()),
            ("closed ones, none", "/operator/v1/teams?closed=true".to_owned()),
        ] {
            table.add_request(name, || drop(bench.get(&path, &key)));
        }
        for (name, text) in [
            ("operators' search of the start of a name", format!("Team {}", size / 2)),
            ("operators' search of a number in names", (size / 2).to_string()),
            ("operators' search of nothing that exists", "xyzzyq plughq".to_owned()),
        ] {
            let query = operator_search::Query::parse(&text).expect("the text can be searched");
            let find = |reader: &Reader| operator_search::find(reader, Platform::of_process(), &query, 5);
            table.add_request(name, || drop(bench.market.read_blocking(find).expect("search")));
        }
        let unknown = format!("Team {size}x");
        let resolve = |reader: &Reader| Ok(operations::teams::resolve(reader.rows, &unknown).is_err());
        table.add_request("an unknown name, with the similar ones", || {
            assert!(bench.market.read_blocking(resolve).expect("read"));
        });
    }
    table
}

/// Creates the teams with numbers in a range, which buy.
pub fn create(bench: &Bench<impl Endpoint<Output = poem::Response>>, first: usize, end: usize) {
    let bulk = bench.market.bulk_writer().expect("start a bulk write");
    for start in (first..end).step_by(BATCH_SIZE) {
        bulk.write(|writer| {
            for number in start..end.min(start + BATCH_SIZE) {
                let name = format!("Team {number}");
                let team = TeamInput {
                    name: &name,
                    is_vendor: false,
                    is_buyer: true,
                    tier: 1,
                    has_accepted_nda: true,
                };
                operations::teams::create(writer, &team)?;
            }
            Ok(())
        })
        .expect("create teams");
    }
    bulk.finish(&()).expect("update the index");
}

/// Returns a new operator key.
pub fn create_operator_key(bench: &Bench<impl Endpoint<Output = poem::Response>>) -> String {
    let create = |writer: &mut Writer| {
        operations::keys::create_for_operator(writer, Platform::of_process(), "bench", KeyScope::All, None)
    };
    bench.market.write_blocking(create).expect("create an operator key").1
}
