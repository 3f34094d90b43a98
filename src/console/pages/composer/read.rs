//! Reads the form of a listing, with all of its problems.

use std::collections::BTreeSet;

use super::field_names;
use crate::{
    console::prelude::*,
    domain::{
        listings::{DeliveryMethod, LifecycleStage},
        samples::{SampledAsset, Selection},
    },
    error::{LocSegment, Problem},
    operations::listing_edits::{self, EditedListing},
    store::listings::ListingFields,
};

/// Maximum number of days of a delivery.
const MAX_DAYS: u32 = 3_650;

/// Returns the listing that the form describes. Fields that the form does not show keep their values in `edited`, which is `None` for a new
/// listing.
pub(super) fn fields(
    fields: &Fields,
    edited: Option<&EditedListing>,
    stage: LifecycleStage,
) -> Result<ListingFields> {
    let mut problems = Vec::new();
    let blank = ListingFields::default();
    let before = edited.map_or(&blank, |edited| &edited.fields);
    let price = collect(fields.amount("price"), &mut problems)?.flatten();
    let sample_price = collect(fields.amount("sample_price"), &mut problems)?.flatten();
    let delivery = collect(delivery(fields), &mut problems)?.flatten();
    let available_from =
        collect(fields.start_of_day("available_from", before.available_from), &mut problems)?.flatten();
    let sample = sampled(fields, edited, &mut problems);
    let mut written = ListingFields {
        price,
        sample_price,
        sample,
        accepts_bids: fields.is_checked("accepts_bids"),
        terms: fields.text("terms", &before.terms),
        delivery,
        available_from,
        is_exclusive: fields.is_checked("exclusive"),
        ..before.clone()
    };
    if fields.is_checked(field_names::HAS_TEXTS) {
        written.title = fields.text("title", &before.title);
        written.description = fields.text("description", &before.description);
        written.domain_tags = chosen(fields, "domain_tags", &before.domain_tags);
        written.tag_slugs = chosen(fields, "tag_slugs", &before.tag_slugs);
    }
    for found in listing_edits::find_problems(&written, stage) {
        let found = at_field(found, &written.sample);
        if problems.iter().all(|known: &Problem| known.loc != found.loc) {
            problems.push(found);
        }
    }
    if problems.is_empty() { Ok(written) } else { Err(Error::Invalid(problems)) }
}

/// Returns the chosen values: first the earlier ones in their order, then the new ones.
fn chosen(fields: &Fields, name: &str, before: &[String]) -> Vec<String> {
    in_order(fields.all(name).map(str::to_owned).collect(), before)
}

/// Returns each chosen value once: first the earlier values in their order, then the new ones.
fn in_order(chosen: Vec<String>, before: &[String]) -> Vec<String> {
    let all: BTreeSet<&String> = chosen.iter().collect();
    let mut values: Vec<String> = before.iter().filter(|value| all.contains(value)).cloned().collect();
    let mut known: BTreeSet<String> = values.iter().cloned().collect();
    values.extend(chosen.into_iter().filter(|value| known.insert(value.clone())));
    values
}

fn delivery(fields: &Fields) -> Result<Option<(DeliveryMethod, u32)>> {
    let method = fields.parsed("delivery_method", "Choose one of these.", DeliveryMethod::parse)?;
    let parse = |text: &str| text.parse().ok().filter(|days| *days <= MAX_DAYS);
    let rule = "Enter a number of days from 0 to 3650.";
    let days = fields.parsed("delivery_days", rule, parse)?;
    match (method, days) {
        (Some(method), Some(days)) => Ok(Some((method, days))),
        // The form shows 0 at first.
        (None, None | Some(0)) => Ok(None),
        (Some(_), None) => Err(invalid("delivery_days", "Enter how many days the delivery takes.")),
        (None, Some(_)) => Err(invalid("delivery_method", "Choose how you deliver.")),
    }
}

/// Returns the chosen assets of the sample: first the earlier ones in their order, then the new ones.
fn sampled(
    fields: &Fields,
    edited: Option<&EditedListing>,
    problems: &mut Vec<Problem>,
) -> Vec<SampledAsset> {
    let Some(edited) = edited else { return Vec::new() };
    let before = edited.fields.sample.iter().map(|sampled| sampled.asset_id);
    let shown = edited.assets.iter().map(|asset| asset.id);
    let mut sampled: Vec<SampledAsset> = Vec::new();
    let all: Vec<Uuid> = before.chain(shown).collect();
    for asset_id in all {
        if sampled.iter().any(|known| known.asset_id == asset_id) {
            continue;
        }
        let stored = stored(&edited.fields.sample, asset_id);
        let selection = selection(fields, asset_id, stored, problems);
        if is_sampled(fields, asset_id, &selection, stored) {
            sampled.push(SampledAsset { asset_id, selection });
        }
    }
    sampled
}

/// Returns the parts of an asset that the sample had before the change; `None` if it had none.
fn stored(sample: &[SampledAsset], asset: Uuid) -> Option<&Selection> {
    sample.iter().find(|sampled| sampled.asset_id == asset).map(|sampled| &sampled.selection)
}

/// Whether a form chooses an asset for the sample: it is ticked, or parts of it are newly chosen.
fn is_sampled(fields: &Fields, asset: Uuid, selection: &Selection, stored: Option<&Selection>) -> bool {
    let has_parts = selection.paths.is_some() || selection.task_ids.is_some();
    let is_ticked = fields.all(field_names::SAMPLE).any(|id| Uuid::try_parse(id).is_ok_and(|id| id == asset));
    // If an asset of the sample is unticked, its parts remain in the form.
    is_ticked || (has_parts && stored != Some(selection))
}

/// Returns the parts of an asset that a form chooses for the sample: first the earlier parts in their order, then the
/// new ones.
fn selection(
    fields: &Fields,
    asset: Uuid,
    stored: Option<&Selection>,
    problems: &mut Vec<Problem>,
) -> Selection {
    let lines = fields.get(&field_names::paths_field(asset)).unwrap_or_default().lines();
    let typed = lines.map(str::trim).filter(|path| !path.is_empty()).map(str::to_owned);
    let ticked: Vec<String> = fields.all(&field_names::files_field(asset)).map(str::to_owned).collect();
    let chosen: Vec<String> = ticked.into_iter().chain(typed).collect();
    let before = stored.and_then(|stored| stored.paths.as_deref()).unwrap_or_default();
    let paths = in_order(chosen, before);
    let task_ids = tasks(fields, asset, problems);
    Selection {
        paths: (!paths.is_empty()).then_some(paths),
        task_ids: (!task_ids.is_empty()).then_some(task_ids),
    }
}

/// Returns all assets that the form offers for the sample, each with the parts that are chosen in the form, or else in the listing.
/// Assets of the sample come first.
pub(super) fn sample_choices(typed: Option<&Fields>, edited: &EditedListing) -> Vec<SampledAsset> {
    let stored = &edited.fields.sample;
    let ids: Vec<Uuid> = edited.assets.iter().chain(&edited.other_sampled).map(|asset| asset.id).collect();
    let mut choices: Vec<(bool, SampledAsset)> = ids
        .into_iter()
        .map(|asset_id| {
            let (is_chosen, selection) = choice(typed, asset_id, stored);
            (is_chosen, SampledAsset { asset_id, selection })
        })
        .collect();
    choices.sort_by_key(|(is_chosen, _)| !is_chosen);
    choices.into_iter().map(|(_, sampled)| sampled).collect()
}

/// Returns whether an asset is chosen for the sample, and which parts of it: in the form, or else in the listing.
pub(super) fn choice(typed: Option<&Fields>, asset: Uuid, sample: &[SampledAsset]) -> (bool, Selection) {
    let before = stored(sample, asset);
    match typed {
        Some(typed) => {
            let selection = selection(typed, asset, before, &mut Vec::new());
            (is_sampled(typed, asset, &selection, before), selection)
        }
        None => (before.is_some(), before.cloned().unwrap_or_default()),
    }
}

/// Returns the IDs of tasks in a field. Adds a problem for texts that are not IDs.
fn tasks(fields: &Fields, asset: Uuid, problems: &mut Vec<Problem>) -> Vec<Uuid> {
    let name = field_names::tasks_field(asset);
    let texts = fields.get(&name).unwrap_or_default();
    let texts =
        texts.split(|letter: char| letter.is_whitespace() || letter == ',').filter(|text| !text.is_empty());
    let (mut ids, mut others) = (Vec::new(), 0);
    for text in texts {
        match Uuid::try_parse(text) {
            Ok(id) if ids.contains(&id) => {}
            Ok(id) => ids.push(id),
            Err(_) => others += 1,
        }
    }
    if others > 0 {
        let rule = "Enter IDs of tasks, each on its own line, such as 4c1852a8-4f0e-4d6f-8a44-2a7f0a6ed1a4.";
        problems.push(Problem::body(&[&name], "value_error", rule));
    }
    ids
}

/// Moves the problems with parts of the sample to the fields of their assets.
pub(super) fn at_fields(error: Error, sample: &[SampledAsset]) -> Error {
    match error {
        Error::Invalid(problems) => {
            Error::Invalid(problems.into_iter().map(|found| at_field(found, sample)).collect())
        }
        other => other,
    }
}

/// Moves a problem with a part of the sample to the field of its asset.
fn at_field(found: Problem, sample: &[SampledAsset]) -> Problem {
    let [_, LocSegment::Name(name), LocSegment::Index(index), LocSegment::Name(part)] = found.loc.as_slice()
    else {
        return found;
    };
    let asset = sample.get(*index).filter(|_| name == field_names::SAMPLE).map(|sampled| sampled.asset_id);
    let field = match (asset, part.as_str()) {
        (Some(id), "paths") => field_names::paths_field(id),
        (Some(id), "task_ids") => field_names::tasks_field(id),
        _ => return found,
    };
    Problem::body(&[&field], found.kind, found.msg)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::domain::money::Cents;

    fn typed(text: &'static str) -> Fields {
        Fields::parse(&Bytes::from_static(text.as_bytes())).unwrap()
    }

    fn read(text: &'static str) -> Result<ListingFields> {
        fields(&typed(text), None, LifecycleStage::Draft)
    }

    #[test]
    fn all_problems_of_a_form_are_found() {
        let form = "texts=yes&title=&price=x&sample_price=-1&delivery_method=download&available_from=soon&terms=a%00b";
        let Err(Error::Invalid(problems)) = read(form) else { panic!("the form is invalid") };
        let paths: Vec<String> = problems.iter().map(Problem::body_path).collect();
        assert_eq!(paths, ["price", "sample_price", "delivery_days", "available_from", "title", "terms"]);
    }

    #[test]
    fn form_becomes_fields() {
        let form = "texts=yes&title=Maps&description=a%0D%0Ab&price=27,000&sample_price=0&delivery_method=download\
                    &delivery_days=3&domain_tags=travel&domain_tags=finance&accepts_bids=yes&available_from=2026-04-01";
        let read = read(form).unwrap();
        assert_eq!((read.title.as_str(), read.description.as_str()), ("Maps", "a\nb"));
        assert_eq!((read.price, read.sample_price), (Some(Cents(2_700_000)), Some(Cents(0))));
        assert_eq!(read.delivery, Some((DeliveryMethod::Download, 3)));
        assert_eq!(read.domain_tags, ["travel", "finance"]);
        assert!(read.accepts_bids && !read.is_exclusive);
        assert_eq!(read.available_from, Timestamp::parse("2026-04-01T00:00:00Z"));
    }

    #[test]
    fn order_of_chosen_values_stays() {
        let before = ["b".to_owned(), "a".to_owned(), "c".to_owned()];
        assert_eq!(chosen(&typed("x=a&x=b&x=d&x=d"), "x", &before), ["b", "a", "d"]);
    }

    #[test]
    fn problem_with_a_path_is_at_the_field_of_its_asset() {
        let id = Uuid::from_u128(7);
        let sample = [SampledAsset { asset_id: id, selection: Selection::default() }];
        let found = Problem::body(&["sample", "0", "paths"], "value_error", "x");
        assert_eq!(at_field(found, &sample).body_path(), format!("paths_{id}"));
    }
}
