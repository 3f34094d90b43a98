//! The texts that operations accept: every name has a length, a visible character, and no control characters.

use marketplace::{
    domain::taxonomy::{InventoryTag, Label},
    error::{Error, Result},
    operations::{keys, task_changes, taxonomy, teams},
};

use super::{platform, tasksets::seller};
use crate::{catalog::small_market::small_market, harness::TestMarket};

/// Returns what is wrong with a text.
fn problem_kind<T: std::fmt::Debug>(result: Result<T>) -> &'static str {
    match result {
        Err(Error::Invalid(problems)) => problems[0].kind,
        other => panic!("not invalid: {other:?}"),
    }
}

#[test]
fn names_are_short_lines() {
    type Create = fn(&TestMarket, &str) -> &'static str;
    let operations: [Create; 5] = [
        |market, name| {
            let team =
                teams::TeamInput { name, is_vendor: true, is_buyer: false, tier: 1, has_accepted_nda: false };
            problem_kind(market.write(|writer| teams::create(writer, &team)))
        },
        |market, name| problem_kind(market.write(|writer| keys::create(writer, "Seller house", name, None))),
        |market, name| {
            problem_kind(market.write(|writer| {
                let seller = seller(writer)?;
                task_changes::create_taskset(writer, &seller, name, &[])
            }))
        },
        |market, name| {
            let label = Label { slug: "kelp".to_owned(), label: name.to_owned() };
            problem_kind(market.write(|writer| taxonomy::create_domain(writer, platform(), &label)))
        },
        |market, name| {
            let text = |text: &str| text.to_owned();
            let (slug, label, description) = (text("kelp"), text("Kelp"), text("About it."));
            let tag = InventoryTag { slug, label, description, category: text(name) };
            problem_kind(market.write(|writer| taxonomy::create_inventory_tag(writer, platform(), &tag)))
        },
    ];
    let market = small_market(&[]);
    for (index, kind_of) in operations.iter().enumerate() {
        for invisible in [" ", "\u{200b}", "\u{2800}\u{ad}"] {
            assert_eq!(kind_of(&market, invisible), "string_too_short", "{index}: {invisible:?}");
        }
        assert_eq!(kind_of(&market, &"x".repeat(201)), "string_too_long", "{index}");
        assert_eq!(kind_of(&market, "a\u{202e}b"), "string_pattern_mismatch", "{index}");
    }
}
