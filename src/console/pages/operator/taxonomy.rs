//! Domains, content tags, and inventory tags: the words by which assets and listings are found.

use super::{CONTENT_TAGS, DOMAINS, INVENTORY_TAGS, TAXONOMY_TABS};
use crate::{
    console::{
        forms::Fields,
        lists::ListFilter,
        resources::{self, Input, Resource, Shown, Shows::Plain, Step},
    },
    domain::taxonomy::{InventoryTag, Label},
    error::Result,
    operations::taxonomy,
    store::records::{
        Records,
        any_record::{AnyRecord, RecordKey},
        labels::{
            CONTENT_TAGS as CONTENT_TAG_RECORDS, DOMAINS as DOMAIN_RECORDS,
            INVENTORY_TAGS as INVENTORY_TAG_RECORDS,
        },
    },
};

/// Business domains.
pub struct Domains;

/// Tags of assets of the kind `other`.
pub struct ContentTags;

/// Tags that describe listings in more detail than a domain.
pub struct InventoryTags;

const SLUG: Input = Input::Line(
    "slug",
    "Name in filters",
    "Lowercase letters, digits, hyphens, and underscores. It cannot be changed later.",
);

const LABEL: Input = Input::Line("label", "Name", "What people read.");

const DESCRIPTION: Input = Input::Line("description", "Description", "What it says about a listing.");

const CATEGORY: Input = Input::Line("category", "Category", "Tags of a category stand together.");

const RENAMED: &str = "Listings and assets that have it show the new words from now on.";

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

impl Resource for Domains {
    const LIST: &'static str = DOMAINS;
    const NEW_PATH: &'static str = "/operator/domains/new";
    const RECORD: &'static str = "/operator/domains/{slug}";
    const STEP: &'static str = "/operator/domains/{slug}/{step}";
    const TITLE: &'static str = "Domains";
    const FILE_NAME: &'static str = "domains";
    const RECORDS: &'static Records = &DOMAIN_RECORDS;
    const API: &'static str = "/operator/v1/domains";
    const EMPTY: &'static str = "Create the first domain, such as Finance.";
    const TABS: &'static [(&'static str, &'static str)] = TAXONOMY_TABS;
    const SHOWN: &'static [Shown] =
        &[Shown::listed("label", "Name", Plain), Shown::listed("slug", "Name in filters", Plain)];

    fn identify(text: &str) -> Result<RecordKey> {
        Ok(RecordKey::Name(text.to_owned()))
    }

    fn key_of(record: &AnyRecord) -> String {
        record.text("slug").to_owned()
    }

    fn title_of(record: &AnyRecord) -> String {
        record.text("label").to_owned()
    }

    const STEPS: &'static [Step] = &[Step {
        name: "rename",
        label: "Rename",
        question: RENAMED,
        inputs: &[LABEL],
        operation: "update_domain",
        perform: |writer, operator, record, fields| {
            let renamed = label(record.text("slug"), fields);
            taxonomy::update_domain(writer, operator.platform(), &renamed).map(|()| None)
        },
        ..Step::PLAIN
    }];

    const NEW: Option<&'static Step> = Some(&Step {
        label: "Create a domain",
        question: "It comes last where domains are listed. It cannot be deleted.",
        inputs: &[SLUG, LABEL],
        operation: "create_domain",
        perform: |writer, operator, _, fields| {
            let new = label(resources::typed(fields, "slug"), fields);
            taxonomy::create_domain(writer, operator.platform(), &new)?;
            Ok(Some(resources::path_of::<Domains>(&new.slug)))
        },
        ..Step::PLAIN
    });
}

impl Resource for ContentTags {
    const LIST: &'static str = CONTENT_TAGS;
    const NEW_PATH: &'static str = "/operator/content-tags/new";
    const RECORD: &'static str = "/operator/content-tags/{slug}";
    const STEP: &'static str = "/operator/content-tags/{slug}/{step}";
    const TITLE: &'static str = "Content tags";
    const FILE_NAME: &'static str = "content-tags";
    const RECORDS: &'static Records = &CONTENT_TAG_RECORDS;
    const SUBJECT: &'static str = "content_tag";
    const API: &'static str = "/operator/v1/content-tags";
    const EMPTY: &'static str =
        "Tags of other assets, which are no codebases, documents, or tasks, appear here.";
    const TABS: &'static [(&'static str, &'static str)] = TAXONOMY_TABS;
    const SHOWN: &'static [Shown] =
        &[Shown::listed("label", "Name", Plain), Shown::listed("slug", "Name in filters", Plain)];

    fn identify(text: &str) -> Result<RecordKey> {
        Ok(RecordKey::Name(text.to_owned()))
    }

    fn key_of(record: &AnyRecord) -> String {
        record.text("slug").to_owned()
    }

    fn title_of(record: &AnyRecord) -> String {
        record.text("label").to_owned()
    }

    const STEPS: &'static [Step] = &[Step {
        name: "rename",
        label: "Rename",
        question: RENAMED,
        inputs: &[LABEL],
        operation: "update_content_tag",
        perform: |writer, operator, record, fields| {
            let renamed = label(record.text("slug"), fields);
            taxonomy::update_content_tag(writer, operator.platform(), &renamed).map(|()| None)
        },
        ..Step::PLAIN
    }];

    const NEW: Option<&'static Step> = Some(&Step {
        label: "Create a content tag",
        question: "It comes last where content tags are listed. It cannot be deleted.",
        inputs: &[SLUG, LABEL],
        operation: "create_content_tag",
        perform: |writer, operator, _, fields| {
            let new = label(resources::typed(fields, "slug"), fields);
            taxonomy::create_content_tag(writer, operator.platform(), &new)?;
            Ok(Some(resources::path_of::<ContentTags>(&new.slug)))
        },
        ..Step::PLAIN
    });
}

impl Resource for InventoryTags {
    const LIST: &'static str = INVENTORY_TAGS;
    const NEW_PATH: &'static str = "/operator/inventory-tags/new";
    const RECORD: &'static str = "/operator/inventory-tags/{slug}";
    const STEP: &'static str = "/operator/inventory-tags/{slug}/{step}";
    const TITLE: &'static str = "Inventory tags";
    const FILE_NAME: &'static str = "inventory-tags";
    const RECORDS: &'static Records = &INVENTORY_TAG_RECORDS;
    const SUBJECT: &'static str = "inventory_tag";
    const API: &'static str = "/operator/v1/inventory-tags";
    const EMPTY: &'static str = "Tags that describe listings in more detail than a domain appear here.";
    const TABS: &'static [(&'static str, &'static str)] = TAXONOMY_TABS;

    const SHOWN: &'static [Shown] = &[
        Shown::listed("label", "Name", Plain),
        Shown::listed("slug", "Name in filters", Plain),
        Shown::listed("category", "Category", Plain),
        Shown::listed("description", "Description", Plain),
    ];

    fn filters() -> Vec<ListFilter> {
        vec![ListFilter { name: "category", label: "Category, as it is", values: Vec::new }]
    }

    fn identify(text: &str) -> Result<RecordKey> {
        Ok(RecordKey::Name(text.to_owned()))
    }

    fn key_of(record: &AnyRecord) -> String {
        record.text("slug").to_owned()
    }

    fn title_of(record: &AnyRecord) -> String {
        record.text("label").to_owned()
    }

    const STEPS: &'static [Step] = &[Step {
        name: "change",
        label: "Change",
        question: RENAMED,
        inputs: &[LABEL, DESCRIPTION, CATEGORY],
        operation: "update_inventory_tag",
        perform: |writer, operator, record, fields| {
            let changed = tag(record.text("slug"), fields);
            taxonomy::update_inventory_tag(writer, operator.platform(), &changed).map(|()| None)
        },
        ..Step::PLAIN
    }];

    const NEW: Option<&'static Step> = Some(&Step {
        label: "Create an inventory tag",
        question: "It comes last where inventory tags are listed. It cannot be deleted.",
        inputs: &[SLUG, LABEL, DESCRIPTION, CATEGORY],
        operation: "create_inventory_tag",
        perform: |writer, operator, _, fields| {
            let new = tag(resources::typed(fields, "slug"), fields);
            taxonomy::create_inventory_tag(writer, operator.platform(), &new)?;
            Ok(Some(resources::path_of::<InventoryTags>(&new.slug)))
        },
        ..Step::PLAIN
    });
}
