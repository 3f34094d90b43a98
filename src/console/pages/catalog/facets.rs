//! The filters beside the results, in groups.

use marketplace_index::Facet;
use std::collections::BTreeMap;

use super::{
    found::Found,
    names,
    state::{self, State},
};
use crate::{
    console::{answer::FILTERS_FORM, parts::cards::CHOSEN_FIELD, prelude::*},
    operations::browse_filters::{self as filters, BrowseFilter, Flag, Range, Unit, VENDOR_TIERS},
};

/// Number of values of a facet that are shown initially.
const FIRST_VALUES: usize = 6;

/// Maximum number of values that are shown for a facet. Others are chosen from a list.
const MAX_VALUES: usize = 48;

/// Maximum number of values in the list of others: those with the most listings.
const MAX_OTHERS: usize = 1_000;

/// Filters that stand together.
struct Group {
    title: &'static str,
    is_open: bool,
    filters: &'static [BrowseFilter],
}

const GROUPS: [Group; 9] = [
    Group { title: "Kind", is_open: true, filters: &[BrowseFilter::Labels(Facet::AssetTypes)] },
    Group {
        title: "Price",
        is_open: true,
        filters: &[
            BrowseFilter::Range(filters::PRICE),
            BrowseFilter::Range(filters::PRICE_PER_TASK),
            BrowseFilter::Range(filters::SAMPLE_PRICE),
        ],
    },
    Group {
        title: "Evidence and offer",
        is_open: true,
        filters: &[
            BrowseFilter::Flag(Flag::Certified),
            BrowseFilter::Flag(Flag::ActiveBids),
            BrowseFilter::Flag(Flag::Owned),
            BrowseFilter::Sample,
        ],
    },
    Group {
        title: "Language",
        is_open: true,
        filters: &[BrowseFilter::Labels(Facet::Languages), BrowseFilter::Flag(Flag::RareLanguages)],
    },
    Group { title: "Domain", is_open: false, filters: &[BrowseFilter::Labels(Facet::Tags)] },
    Group { title: "Content", is_open: false, filters: &[BrowseFilter::Labels(Facet::TagSlugs)] },
    Group {
        title: "Size",
        is_open: false,
        filters: &[
            BrowseFilter::Range(filters::LOC),
            BrowseFilter::Range(filters::TASKS),
            BrowseFilter::Range(filters::ZIP_FILES),
            BrowseFilter::Range(filters::ZIP_SIZE),
            BrowseFilter::Range(filters::CODEBASES),
            BrowseFilter::Range(filters::TASKSETS),
            BrowseFilter::Range(filters::ENVIRONMENTS),
            BrowseFilter::Range(filters::ROBOTICS_DATASETS),
            BrowseFilter::Range(filters::RAW_DATA),
        ],
    },
    Group {
        title: "Formats and capabilities",
        is_open: false,
        filters: &[
            BrowseFilter::Labels(Facet::FileExtensions),
            BrowseFilter::Labels(Facet::RoboticsFormats),
            BrowseFilter::Labels(Facet::Capabilities),
        ],
    },
    Group {
        title: "Vendor tier",
        is_open: false,
        filters: &[BrowseFilter::VendorTiers, BrowseFilter::Range(filters::VENDOR_TIER)],
    },
];

/// Returns the form with all filters. The search field of the frame belongs to it.
pub fn form(context: &Context, state: &State, found: &Found) -> Markup {
    let address = context.links.to(paths::CATALOG);
    html! {
        div.sheet #facets popover {
            form.stack id=(FILTERS_FORM) action=(address) aria-label="Filters" autocomplete="off" hx-get=(address) hx-trigger="typed delay:250ms, submit"
                hx-target="#results" hx-select="#results" hx-swap="outerHTML" hx-select-oob="[data-count]" hx-push-url="true"
                hx-sync="this:replace" {
                @for id in &state.compared { input type="hidden" name=(CHOSEN_FIELD) value=(id); }
                div { @for (index, group) in GROUPS.iter().enumerate() { (group_of(index, group, state, found)) } }
                button.full { "Apply the filters" }
                button.full.quiet.small-only type="button" popovertarget="facets" popovertargetaction="hide" { "Close" }
            }
        }
    }
}

/// Returns the filters that also apply to a team's own listings: all except those by vendor.
pub fn groups_of_own(state: &State, found: &Found) -> Markup {
    let is_of_vendor = |group: &Group| group.filters.contains(&BrowseFilter::VendorTiers);
    html! {
        @for (index, group) in GROUPS.iter().enumerate().filter(|(_, group)| !is_of_vendor(group)) {
            (group_of(index, group, state, found))
        }
    }
}

fn group_of(index: usize, group: &Group, state: &State, found: &Found) -> Markup {
    let chosen: usize = group.filters.iter().map(|filter| chosen_count(state, *filter)).sum();
    let is_titled = group.filters.len() > 1;
    html! {
        details.facet open[group.is_open || chosen > 0] {
            summary {
                (group.title)
                span id={ "chosen-" (index) } data-count { @if chosen > 0 { (chosen) " chosen" } }
            }
            @for filter in group.filters { (filter_of(*filter, is_titled, state, found)) }
        }
    }
}

/// Returns the number of values that are chosen of a filter.
fn chosen_count(state: &State, filter: BrowseFilter) -> usize {
    let (first, second) = filter.parameters();
    state.query.all(first).count() + second.map_or(0, |second| state.query.all(second).count())
}

fn filter_of(filter: BrowseFilter, is_titled: bool, state: &State, found: &Found) -> Markup {
    let name = names::filter(filter);
    match filter {
        BrowseFilter::Labels(facet) => {
            let (values, left_out) = values_of(facet, state, found);
            html! { @if !values.is_empty() {
                @if is_titled && facet != Facet::Languages { p.note { (name) } }
                (labels(facet, &values, &left_out))
            } }
        }
        BrowseFilter::Flag(flag) => {
            let is_shown = flag != Flag::Owned || found.owned > 0 || state.selection.owned;
            let count = (flag == Flag::Owned).then_some(found.owned);
            html! { @if is_shown {
                ul { (checkbox(filter.parameters().0, "true", name, chosen_count(state, filter) > 0, count)) }
            } }
        }
        BrowseFilter::Sample => sample(filter.parameters().0, state),
        BrowseFilter::VendorTiers => {
            let parameter = filter.parameters().0;
            html! {
                ul { @for tier in VENDOR_TIERS {
                    @let value = tier.to_string();
                    @let is_checked = state.query.all(parameter).any(|chosen| chosen == value);
                    (checkbox(parameter, &value, &tier_words(tier), is_checked, None))
                } }
            }
        }
        BrowseFilter::Range(range) if range == filters::VENDOR_TIER => lowest_tier(range, state),
        BrowseFilter::Range(range) => bounds(range, is_titled, state),
    }
}

/// A value of a facet.
struct Value {
    slug: String,
    name: String,
    count: u64,
    is_chosen: bool,
}

/// Returns the values to show for a facet: first the chosen values, then those with the most listings. Also returns the values
/// that are left out, by their names.
fn values_of(facet: Facet, state: &State, found: &Found) -> (Vec<Value>, Vec<Value>) {
    let chosen = state::chosen(state, facet);
    let mut counts: BTreeMap<&str, u64> =
        found.market_facets.values(facet).keys().map(|slug| (slug.as_str(), 0)).collect();
    counts.extend(found.facets.values(facet).iter().map(|(slug, count)| (slug.as_str(), *count)));
    for slug in &chosen {
        counts.entry(slug).or_default();
    }
    let mut values: Vec<Value> = counts
        .into_iter()
        .map(|(slug, count)| Value {
            slug: slug.to_owned(),
            name: found.names.label(facet, slug),
            count,
            is_chosen: chosen.contains(&slug),
        })
        .collect();
    values.sort_by(|a, b| (b.is_chosen, b.count, &a.name).cmp(&(a.is_chosen, a.count, &b.name)));
    let mut left_out = values.split_off(MAX_VALUES.max(chosen.len()).min(values.len()));
    left_out.truncate(MAX_OTHERS);
    left_out.sort_by(|a, b| a.name.cmp(&b.name));
    (values, left_out)
}

fn labels(facet: Facet, values: &[Value], left_out: &[Value]) -> Markup {
    let is_chosen = |value: &&Value| value.is_chosen;
    let (first, others) =
        values.split_at(values.iter().filter(is_chosen).count().max(FIRST_VALUES).min(values.len()));
    let items = |values: &[Value]| {
        html! { ul { @for value in values {
            (counted_checkbox(facet, value))
        } } }
    };
    html! {
        (items(first))
        @if others.len() + left_out.len() > 0 {
            details {
                summary.note { (text::grouped((others.len() + left_out.len()) as u64)) " more" }
                (items(others))
                @if !left_out.is_empty() { (other_value(facet, left_out)) }
            }
        }
    }
}

/// Returns the list to choose a value that has no checkbox.
fn other_value(facet: Facet, left_out: &[Value]) -> Markup {
    let id = format!("other-{}", facet.name());
    html! {
        label.note for=(id) { "Another value of “" (names::filter(BrowseFilter::Labels(facet))) "”" }
        select id=(id) name=(facet.name()) data-apply {
            option value="" { "None" }
            @for value in left_out { option value=(value.slug) { (value.name) " (" (text::grouped(value.count)) ")" } }
        }
    }
}

/// Returns the checkbox of a value. A script replaces the count, which has an ID for that, while the search text is typed.
fn counted_checkbox(facet: Facet, value: &Value) -> Markup {
    html! { li { label {
        input type="checkbox" name=(facet.name()) value=(value.slug) checked[value.is_chosen] data-apply;
        bdi.long { (value.name) }
        span id={ "n-" (facet.name()) "-" (id_of(&value.slug)) } data-count { (text::grouped(value.count)) }
    } } }
}

fn checkbox(parameter: &str, value: &str, label: &str, is_checked: bool, count: Option<u64>) -> Markup {
    html! { li { label {
        input type="checkbox" name=(parameter) value=(value) checked[is_checked] data-apply;
        (label)
        @if let Some(count) = count { span { (text::grouped(count)) } }
    } } }
}

/// Returns a value in the form of an ID.
fn id_of(slug: &str) -> String {
    let letter = |letter: char| {
        if letter.is_ascii_alphanumeric() { letter.to_string() } else { format!("_{:x}", u32::from(letter)) }
    };
    slug.chars().map(letter).collect()
}

fn sample(parameter: &str, state: &State) -> Markup {
    let chosen = state.query.get(parameter).unwrap_or_default();
    html! {
        div.row {
            label for=(parameter) { "Sample" }
            select id=(parameter) name=(parameter) data-apply {
                @for (value, text) in [("", "Any"), ("true", "Offered"), ("false", "Not offered")] {
                    option value=(value) selected[value == chosen] { (text) }
                }
            }
        }
    }
}

fn tier_words(tier: u64) -> String {
    let [lowest, .., highest] = VENDOR_TIERS;
    let rank = if tier == lowest {
        ", the lowest"
    } else if tier == highest {
        ", the highest"
    } else {
        ""
    };
    format!("Tier {tier}{rank}")
}

fn lowest_tier(range: Range, state: &State) -> Markup {
    let chosen = state.query.get(range.min).unwrap_or_default();
    html! {
        div.row {
            label for=(range.min) { "At least" }
            select id=(range.min) name=(range.min) data-apply {
                option value="" { "Any tier" }
                @for tier in VENDOR_TIERS {
                    @let value = tier.to_string();
                    option value=(value) selected[value == chosen] { (tier_words(tier)) }
                }
            }
        }
    }
}

/// Returns the warning above results that a filter was left out, if one was. The field of the filter refers to it.
pub fn unreadable(state: &State) -> Markup {
    html! { @if !state.unreadable.is_empty() {
        div #unreadable { (badges::warning(html! {
            "A filter was left out, because its value cannot be read. Numbers look like 27000."
        })) }
    } }
}

fn bounds(range: Range, is_titled: bool, state: &State) -> Markup {
    let name = names::filter(BrowseFilter::Range(range));
    let (unit, mode) = match range.unit {
        Unit::Dollars => (", USD", "decimal"),
        Unit::Gigabytes => (", GB", "decimal"),
        Unit::Count => ("", "numeric"),
    };
    let bound = |parameter: &'static str, end: &str, placeholder: &str| {
        let is_unreadable = state.unreadable.contains(&parameter);
        html! {
            label.out for=(parameter) { (end) " of " (name) (unit) }
            input id=(parameter) name=(parameter) inputmode=(mode) placeholder=(placeholder) maxlength="20"
                value=(state.query.get(parameter).unwrap_or_default()) aria-invalid=[is_unreadable.then_some("true")]
                aria-describedby=[is_unreadable.then_some("unreadable")];
        }
    };
    html! {
        @if is_titled { p.note { (name) (unit) } }
        div.row {
            (bound(range.min, "Lower end", "from"))
            @if let Some(max) = range.max { (bound(max, "Upper end", "to")) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_filter_is_in_one_group() {
        let grouped: Vec<_> = GROUPS.iter().flat_map(|group| group.filters).collect();
        assert_eq!(grouped.len(), BrowseFilter::ALL.len());
        for filter in &BrowseFilter::ALL {
            assert!(grouped.contains(&filter), "{filter:?}");
        }
    }

    #[test]
    fn values_without_a_checkbox_are_chosen_by_their_names() {
        let value =
            Value { slug: "mumps_m".to_owned(), name: "MUMPS".to_owned(), count: 1_200, is_chosen: false };
        let list = other_value(Facet::Languages, &[value]).0;
        assert!(list.contains("<option value=\"mumps_m\">MUMPS (1,200)</option>"), "{list}");
    }

    #[test]
    fn values_become_ids() {
        assert_eq!(id_of("c++"), "c_2b_2b");
        assert_eq!(id_of("a b"), "a_20b");
    }
}
