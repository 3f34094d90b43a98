//! Domains, content tags, and inventory tags: the words by which assets and listings are found.

use super::prelude::*;
use crate::{
    domain::taxonomy::{InventoryTag, Label},
    operations::taxonomy,
    store::records::labels::{
        CONTENT_TAGS as CONTENT_TAG_RECORDS, DOMAINS as DOMAIN_RECORDS,
        INVENTORY_TAGS as INVENTORY_TAG_RECORDS,
    },
};

/// Business domains.
pub struct Domains;

/// Tags of assets of the kind `other`.
pub struct ContentTags;

/// Tags that describe listings in more detail than a domain.
pub struct InventoryTags;

const SLUG: Input = Input::Required(&Input::Line(
    "slug",
    "Name in filters",
    "Lowercase letters, digits, hyphens, and underscores. It cannot be changed later.",
));

const LABEL: Input = Input::Required(&Input::Line("label", "Name", "What people read."));

const DESCRIPTION: Input =
    Input::Required(&Input::Line("description", "Description", "What it says about a listing."));

const CATEGORY: Input =
    Input::Required(&Input::Line("category", "Category", "Tags of a category are shown together."));

/// The change of a word. Its slug stays.
const RENAME: Step = Step {
    name: "rename",
    label: "Rename",
    question: "Listings and assets that have it show the new words from now on.",
    inputs: &[LABEL],
    ..Step::DEFAULT
};

/// A new word.
const CREATE: Step = Step {
    question: "It comes last where such words are listed. It cannot be deleted.",
    inputs: &[SLUG, LABEL],
    ..Step::DEFAULT
};

const LABELS: &[RecordField] =
    &[RecordField::listed("label", "Name", Plain), RecordField::listed("slug", "Name in filters", Plain)];

/// Returns the words that a form states for a slug.
fn label(slug: &str, fields: &Fields) -> Label {
    Label { slug: slug.to_owned(), label: resources::typed(fields, "label").to_owned() }
}

/// Returns the tag that a form states for a slug.
fn tag(slug: &str, fields: &Fields) -> InventoryTag {
    let Label { slug, label } = label(slug, fields);
    let (description, category) =
        (resources::typed(fields, "description"), resources::typed(fields, "category"));
    InventoryTag { slug, label, description: description.to_owned(), category: category.to_owned() }
}

/// Returns the path of the word that a form has made.
fn made<R: Resource>(fields: &Fields) -> String {
    resources::path_of::<R>(resources::typed(fields, "slug"))
}

impl Resource for Domains {
    const LIST: &'static str = DOMAINS;
    const TITLE: &'static str = "Domains";
    const RECORDS: &'static Records = &DOMAIN_RECORDS;
    const EMPTY: &'static str = "Create the first domain, such as Finance.";
    const TABS: &'static [(&'static str, &'static str)] = TAXONOMY_TABS;
    const FIELDS: &'static [RecordField] = LABELS;
    const KEY: Key = Key::Name("slug");

    const STEPS: &'static [Step] = &[Step {
        operation: "update_domain",
        perform: |writer, operator, record, fields| {
            let renamed = label(record.text("slug"), fields);
            taxonomy::update_domain(writer, operator.platform(), &renamed).map(|()| None)
        },
        ..RENAME
    }];

    const NEW: Option<&'static Step> = Some(&Step {
        label: "Create a domain",
        operation: "create_domain",
        perform: |writer, operator, _, fields| {
            let new = label(resources::typed(fields, "slug"), fields);
            taxonomy::create_domain(writer, operator.platform(), &new).map(|()| Some(made::<Domains>(fields)))
        },
        ..CREATE
    });
}

impl Resource for ContentTags {
    const LIST: &'static str = CONTENT_TAGS;
    const TITLE: &'static str = "Content tags";
    const RECORDS: &'static Records = &CONTENT_TAG_RECORDS;
    const EMPTY: &'static str =
        "Tags of other assets, which are no codebases, documents, or tasks, appear here.";
    const TABS: &'static [(&'static str, &'static str)] = TAXONOMY_TABS;
    const FIELDS: &'static [RecordField] = LABELS;
    const KEY: Key = Key::Name("slug");

    const STEPS: &'static [Step] = &[Step {
        operation: "update_content_tag",
        perform: |writer, operator, record, fields| {
            let renamed = label(record.text("slug"), fields);
            taxonomy::update_content_tag(writer, operator.platform(), &renamed).map(|()| None)
        },
        ..RENAME
    }];

    const NEW: Option<&'static Step> = Some(&Step {
        label: "Create a content tag",
        operation: "create_content_tag",
        perform: |writer, operator, _, fields| {
            let new = label(resources::typed(fields, "slug"), fields);
            let created = taxonomy::create_content_tag(writer, operator.platform(), &new);
            created.map(|()| Some(made::<ContentTags>(fields)))
        },
        ..CREATE
    });
}

impl Resource for InventoryTags {
    const LIST: &'static str = INVENTORY_TAGS;
    const TITLE: &'static str = "Inventory tags";
    const RECORDS: &'static Records = &INVENTORY_TAG_RECORDS;
    const EMPTY: &'static str = "Tags that describe listings in more detail than a domain appear here.";
    const TABS: &'static [(&'static str, &'static str)] = TAXONOMY_TABS;
    const KEY: Key = Key::Name("slug");

    const FIELDS: &'static [RecordField] = &[
        RecordField::listed("label", "Name", Plain),
        RecordField::listed("slug", "Name in filters", Plain),
        RecordField::listed("category", "Category", Plain),
        RecordField::listed("description", "Description", Plain),
    ];

    const FILTERS: &'static [ListFilter] = &[ListFilter::text("category", "Category, as it is")];

    const STEPS: &'static [Step] = &[Step {
        name: "change",
        label: "Change",
        inputs: &[LABEL, DESCRIPTION, CATEGORY],
        operation: "update_inventory_tag",
        perform: |writer, operator, record, fields| {
            let changed = tag(record.text("slug"), fields);
            taxonomy::update_inventory_tag(writer, operator.platform(), &changed).map(|()| None)
        },
        ..RENAME
    }];

    const NEW: Option<&'static Step> = Some(&Step {
        label: "Create an inventory tag",
        inputs: &[SLUG, LABEL, DESCRIPTION, CATEGORY],
        operation: "create_inventory_tag",
        perform: |writer, operator, _, fields| {
            let new = tag(resources::typed(fields, "slug"), fields);
            let created = taxonomy::create_inventory_tag(writer, operator.platform(), &new);
            created.map(|()| Some(made::<InventoryTags>(fields)))
        },
        ..CREATE
    });
}
