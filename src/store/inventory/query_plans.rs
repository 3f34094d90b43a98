//! Tests of the query plans of asset lists: each statement uses indexes and scans no whole table.

use uuid::Uuid;

use super::{AttachableTo, Query, lists};
use crate::{
    domain::{
        asset_filters::{self, FilterField, SortColumn},
        assets::Kind,
        filters::SortDirection,
        listings::ListingRowId,
        row_ids::GroupRowId,
        stages::Stage,
        teams::TeamRowId,
    },
    store::Store,
    string_enum::StringEnum,
};

/// Returns queries with each parameter alone, each filter, each sort column in both directions, and some
/// combinations.
fn queries() -> Vec<Query> {
    let all = || Query::new(TeamRowId(1));
    let mut queries = vec![
        all(),
        Query { kinds: Some(vec![Kind::Codebase]), ..all() },
        Query { kinds: Some(vec![Kind::Codebase, Kind::Task]), ..all() },
        Query { kinds: Some(Vec::new()), ..all() },
        Query { stage: Some(Stage::Complete), ..all() },
        Query { ids: vec![Uuid::nil()], ..all() },
        Query { group: Some(Uuid::nil()), ..all() },
        Query { listing: Some(Uuid::nil()), ..all() },
        Query { group: Some(Uuid::nil()), listing: Some(Uuid::nil()), ids: vec![Uuid::nil()], ..all() },
    ];
    for field in FilterField::ALL {
        for text in [
            "is:x",
            "is:true",
            "is:complete",
            "is:task",
            "is:zip",
            "is:not_linked",
            "is:available",
            "is_not:legal",
            "is:reward_hacking",
            "contains:x",
        ] {
            if let Ok(condition) = asset_filters::parse_filter(&format!("{}:{text}", field.as_str()), None) {
                queries.push(Query { conditions: vec![condition], ..all() });
            }
        }
    }
    for column in SortColumn::ALL {
        for direction in SortDirection::ALL {
            let sort = Some((*column, *direction));
            queries.push(Query { sort, ..all() });
            queries.push(Query {
                sort,
                kinds: Some(vec![Kind::Codebase]),
                group: Some(Uuid::nil()),
                ..all()
            });
        }
    }
    queries
}

#[test]
fn asset_lists_do_not_scan_whole_tables() {
    let (_directory, store) = Store::temporary();
    store
        .read(|reader| {
            for query in queries() {
                let groups = [GroupRowId(1), GroupRowId(2)];
                let mut statements =
                    vec![lists::page_sql(&query, None, 50, 0), lists::page_sql(&query, Some(&groups), 50, 0)];
                for to in [AttachableTo::Any, AttachableTo::None, AttachableTo::Listing(ListingRowId(1))] {
                    statements.push(lists::counts_sql(&query, to, true));
                }
                for (sql, _) in statements {
                    let steps = reader.plan_of(&sql);
                    // Only the page itself and the IDs in the request may be scanned.
                    let scans = |step: &&String| {
                        step.starts_with("SCAN") && *step != "SCAN page" && !step.contains("VIRTUAL TABLE")
                    };
                    assert_eq!(steps.iter().find(scans), None, "{query:?}\n{sql}\n{steps:#?}");
                }
            }
            Ok(())
        })
        .unwrap();
}

/// An index returns the rows of common pages in order, so the cost of a page is proportional to its size.
#[test]
fn common_pages_need_no_sort() {
    let (_directory, store) = Store::temporary();
    let all = || Query::new(TeamRowId(1));
    store
        .read(|reader| {
            for (query, index) in [
                (all(), "inventory_newest"),
                (Query { kinds: Some(vec![Kind::Task]), ..all() }, "inventory_by_kind"),
                (
                    Query { sort: Some((SortColumn::Name, SortDirection::Ascending)), ..all() },
                    "inventory_by_name",
                ),
                (
                    Query { sort: Some((SortColumn::Name, SortDirection::Descending)), ..all() },
                    "inventory_by_name",
                ),
                (
                    Query { sort: Some((SortColumn::CreatedAt, SortDirection::Descending)), ..all() },
                    "inventory_newest",
                ),
                (Query { group: Some(Uuid::nil()), ..all() }, "PRIMARY KEY (team=? AND group_id=?)"),
            ] {
                let steps = reader.plan_of(&lists::page_sql(&query, None, 50, 0).0);
                // Equal names are sorted by age after the index lookup, a few at a time, and the rows of the page
                // are sorted again at the end. This test ignores both sorts.
                let keys: Vec<&String> = steps.iter().take_while(|step| *step != "SCAN page").collect();
                assert!(keys.iter().any(|step| step.contains(index)), "{query:?}\n{steps:#?}");
                let is_sorted = |step: &&&String| step.contains("TEMP B-TREE FOR ORDER BY");
                assert_eq!(keys.iter().find(is_sorted), None, "{query:?}\n{steps:#?}");
            }
            Ok(())
        })
        .unwrap();
}
