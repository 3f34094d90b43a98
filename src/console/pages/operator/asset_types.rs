//! Kinds of assets, and their retirement.

use super::prelude::*;
use crate::{
    domain::{
        assets::Kind,
        state_machine::StateMachine,
        taxonomy::{AssetTypeOperation, AssetTypeStage, AssetTypeState, Deprecation, Retirement},
    },
    operations::{
        asset_types::{self, DeprecationInput},
        operator_views,
    },
    store::records::asset_types::ASSET_TYPES as ASSET_TYPE_RECORDS,
};

/// The resource.
pub struct AssetTypes;

impl Resource for AssetTypes {
    const LIST: &'static str = ASSET_TYPES;
    const TITLE: &'static str = "Kinds of assets";
    const RECORDS: &'static Records = &ASSET_TYPE_RECORDS;
    const NAVIGATION: Option<NavigationItem> = Some(Section::System.link("Kinds of assets"));
    const EMPTY: &'static str = "The kinds of assets that the market knows appear here.";
    const TABS: &'static [(&'static str, &'static str)] = TAXONOMY_TABS;

    const FIELDS: &'static [RecordField] = &[
        RecordField::listed("label", "Name", Plain),
        RecordField::listed("stage", "Status", Badge(stage_look)),
        RecordField::listed("is_enabled", "New assets", Flag),
        RecordField::listed("deprecated_at", "Retirement announced", Moment),
        RecordField::listed("retires_at", "Retires", Moment),
        RecordField::detail("accepts_new_listings", "Can be added to listings until then", Flag),
        RecordField::detail("message", "What vendors were told", Text),
        RecordField::detail("retired_at", "Retired", Moment),
        RecordField::detail("listing_kinds", "Former names of listings", Many),
        RecordField::detail("slug", "Name in filters", Plain),
    ];

    const FILTERS: &'static [ListFilter] = &[
        ListFilter::choice("enabled", "New assets", resources::yes_or_no),
        ListFilter::choice("deprecated", "Retirement announced", resources::yes_or_no),
    ];

    const KEY: Key = Key::Name("slug");

    const DERIVED_COLUMNS: DeriveColumns = |record, now| {
        let stage = state_of(record, now).stage.as_str();
        record.set("stage", Value::Text(stage.to_owned()));
        if let Some(kind) = Kind::parse(record.text("slug")) {
            record.set("label", Value::Text(kinds::plural(kind)));
        }
    };

    const LINKS: Links = |record| {
        let slug = record.text("slug");
        vec![("Assets of this kind", format!("{ASSETS}?kind={slug}"))]
    };

    const STEPS: &'static [Step] = STEPS;
}

/// Returns the state of a kind at this time.
fn state_of(record: &AnyRecord, now: Timestamp) -> AssetTypeState {
    let announced = record.time("deprecated_at").map(|deprecated_at| Deprecation {
        deprecated_at,
        retires_at: record.time("retires_at").unwrap_or_default(),
        accepts_new_listings: record.is_true("accepts_new_listings"),
        message: String::new(),
    });
    let retired_at = record.time("retired_at");
    let retirement = announced.map(|announced| Retirement { announced, retired_at });
    AssetTypeState::new(record.is_true("is_enabled"), retirement.as_ref(), now)
}

fn refused(record: &AnyRecord, operation: AssetTypeOperation, reason: &'static str) -> Option<&'static str> {
    let stage = AssetTypeStage::parse(record.text("stage"));
    let state = stage.map(|stage| AssetTypeState { is_enabled: record.is_true("is_enabled"), stage });
    (!state.is_some_and(|state| state.allows(operation))).then_some(reason)
}

/// Returns how the state of a kind is shown.
fn stage_look(stage: &str) -> (Tone, String) {
    match AssetTypeStage::parse(stage) {
        Some(AssetTypeStage::Deprecated) => (Tone::Warning, "Retirement announced".to_owned()),
        Some(AssetTypeStage::Current) => (Tone::Good, text::words(stage)),
        _ => (Tone::Neutral, text::words(stage)),
    }
}

fn kind_of(record: &AnyRecord) -> Result<Kind> {
    Kind::parse(record.text("slug")).ok_or_else(|| Error::not_found("asset type"))
}

/// Shows what the retirement of a kind concerns.
fn effects(reader: &Reader, platform: Platform, record: &AnyRecord) -> Result<Previewed> {
    let found = operator_views::retirement_effects(reader, platform, kind_of(record)?)?;
    let listings = text::counted(found.listings, "listing has", "listings have");
    let vendors = text::counted(found.vendors, "vendor has", "vendors have");
    let message = badges::warning(html! {
        (listings) " such assets, " (text::grouped(found.published)) " of them in the catalog. " (vendors)
        " such assets or listings. When the kind retires, nobody can make such assets or add them to listings any more, and the \
         listings that have them say so. They stay in the catalog until their vendors take them out."
    });
    let slug = record.text("slug").to_owned();
    Ok(Previewed::new(move |context| {
        let assets = context.links.to(&format!("{ASSETS}?kind={slug}"));
        html! { (message) p { a href=(assets) { "All assets of this kind" } } }
    }))
}

const STEPS: &[Step] = &[
    Step {
        name: "enable",
        label: "Allow new assets",
        question: "Vendors can make assets of this kind.",
        obstacle: |record| {
            let is_enabled =
                record.is_true("is_enabled").then_some("Vendors can make assets of this kind already.");
            is_enabled.or_else(|| refused(record, AssetTypeOperation::Enable, "The kind is retired."))
        },
        operation: "update_asset_type",
        perform: |writer, operator, record, _| {
            asset_types::set_enabled(writer, operator.platform(), kind_of(record)?, true).map(|_| None)
        },
        ..Step::DEFAULT
    },
    Step {
        name: "disable",
        label: "Stop new assets",
        question: "Vendors can no longer make assets of this kind. Those that exist stay.",
        obstacle: |record| {
            (!record.is_true("is_enabled")).then_some("Vendors cannot make assets of this kind already.")
        },
        operation: "update_asset_type",
        perform: |writer, operator, record, _| {
            asset_types::set_enabled(writer, operator.platform(), kind_of(record)?, false).map(|_| None)
        },
        ..Step::DEFAULT
    },
    Step {
        name: "deprecate",
        label: "Announce the retirement",
        label_override: |record| record.time("deprecated_at").map(|_| "Change what was announced"),
        question: "Vendors who have such assets or listings are notified. What was announced can be changed until the kind retires.",
        inputs: &[
            Input::Required(&Input::Day(
                "retires_at",
                "Retires on",
                "The kind retires when this day begins (UTC).",
            )),
            Input::Tick("accepts_new_listings", "Such assets can still be added to listings until then."),
            Input::Lines("message", "Note for vendors", "For example what to sell instead."),
        ],
        obstacle: |record| refused(record, AssetTypeOperation::Deprecate, "The kind is retired."),
        preview: Some(effects),
        operation: "deprecate_asset_type",
        perform: |writer, operator, record, fields| {
            fields.require("retires_at", "Enter a day, for example 2027-01-31.")?;
            let input = DeprecationInput {
                retires_at: fields.start_of_day("retires_at", record.time("retires_at"))?.unwrap_or_default(),
                accepts_new_listings: fields.is_checked("accepts_new_listings"),
                message: resources::typed(fields, "message"),
            };
            asset_types::deprecate(writer, operator.platform(), kind_of(record)?, &input).map(|_| None)
        },
        ..Step::DEFAULT
    },
    Step {
        name: "retire",
        label: "Retire now",
        question: "The kind retires now, earlier than announced. It cannot be brought back here.",
        obstacle: |record| {
            refused(
                record,
                AssetTypeOperation::Retire,
                "Only a kind whose retirement was announced can retire.",
            )
        },
        preview: Some(effects),
        is_final: true,
        operation: "retire_asset_type",
        perform: |writer, operator, record, _| {
            asset_types::retire(writer, operator.platform(), kind_of(record)?).map(|_| None)
        },
        ..Step::DEFAULT
    },
];
