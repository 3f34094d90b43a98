//! The commands for the labels of the taxonomy: `marketplace domain`, `content-tag`, and `inventory-tag`.

use super::prelude::*;

/// Manage domains: business domains of listings, assets, and opportunities.
#[derive(Debug, Subcommand)]
pub enum DomainCommand {
    /// List domains, the last one in display order first.
    #[command(after_help = "Example:\n  marketplace domain list")]
    List(ListLimit),
    /// Show a domain.
    #[command(after_help = "Example:\n  marketplace domain show finance")]
    Show(OneLabel),
    /// Create a domain, which comes last in display order.
    #[command(after_help = "Example:\n  marketplace domain create weather \"Weather records\"")]
    Create(NewLabel),
    /// Change the display name of a domain.
    #[command(after_help = "Example:\n  marketplace domain edit weather --label Weather")]
    Edit(Relabeled),
}

/// Manage content tags: what the data of a listing is about.
#[derive(Debug, Subcommand)]
pub enum ContentTagCommand {
    /// List content tags, the last one in display order first.
    #[command(after_help = "Example:\n  marketplace content-tag list")]
    List(ListLimit),
    /// Show a content tag.
    #[command(after_help = "Example:\n  marketplace content-tag show invoices")]
    Show(OneLabel),
    /// Create a content tag, which comes last in display order.
    #[command(after_help = "Example:\n  marketplace content-tag create tides \"Tide tables\"")]
    Create(NewLabel),
    /// Change the display name of a content tag.
    #[command(after_help = "Example:\n  marketplace content-tag edit tides --label Tides")]
    Edit(Relabeled),
}

/// Manage inventory tags: what a listing has, in categories.
#[derive(Debug, Subcommand)]
pub enum InventoryTagCommand {
    /// List inventory tags, the last one in display order first.
    #[command(after_help = "Example:\n  marketplace inventory-tag list --category Resolution")]
    List {
        /// Category of the tags.
        #[arg(long)]
        category: Option<String>,
        #[command(flatten)]
        limit: ListLimit,
    },
    /// Show an inventory tag.
    #[command(after_help = "Example:\n  marketplace inventory-tag show hourly")]
    Show(OneLabel),
    /// Create an inventory tag, which comes last in display order.
    #[command(
        after_help = "Example:\n  marketplace inventory-tag create hourly Hourly --category Resolution \\\n    --description \"Has a value for each hour.\""
    )]
    Create {
        #[command(flatten)]
        new: NewLabel,
        /// What the tag says about a listing, in one or more sentences.
        #[arg(long)]
        description: String,
        /// Category of the tag.
        #[arg(long)]
        category: String,
    },
    /// Change the display name, the description, or the category of an inventory tag.
    #[command(after_help = "Example:\n  marketplace inventory-tag edit hourly --label \"Every hour\"")]
    Edit(TagChanges),
}

/// A label.
#[derive(Debug, Args)]
pub struct OneLabel {
    /// Slug of the label, as printed by the list.
    slug: String,
}

/// A label to create.
#[derive(Debug, Args)]
pub struct NewLabel {
    /// Identifier, as used in filters: lowercase letters, digits, hyphens, and underscores. It stays the same.
    slug: String,
    /// Display name.
    label: String,
}

/// A new name of a label.
#[derive(Debug, Args)]
pub struct Relabeled {
    /// Slug of the label.
    slug: String,
    /// New display name.
    #[arg(long)]
    label: String,
}

/// What to change about an inventory tag.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new(CHANGE_GROUP).required(true).multiple(true))]
pub struct TagChanges {
    /// Slug of the tag.
    slug: String,
    /// New display name.
    #[arg(long, group = CHANGE_GROUP)]
    label: Option<String>,
    /// New description of what the tag says about a listing.
    #[arg(long, group = CHANGE_GROUP)]
    description: Option<String>,
    /// New category.
    #[arg(long, group = CHANGE_GROUP)]
    category: Option<String>,
}

const DOMAINS: Records = Records::new("/domains", "slug label", "slug label");

const CONTENT_TAGS: Records = Records { path: "/content-tags", ..DOMAINS };

const INVENTORY_TAGS: Records =
    Records::new("/inventory-tags", "slug label category description", "slug label category description");

/// Creates a label, and prints it.
fn create(client: &Client, labels: &Records, body: &Value) -> Result<(), CommandError> {
    client.print_record(labels.all_columns, client.post(labels.path, body)?)
}

impl ApiCommand for DomainCommand {
    fn run(&self, client: &Client) -> CommandResult {
        match self {
            DomainCommand::List(limit) => DOMAINS.list(client, &[], *limit),
            DomainCommand::Show(one) => DOMAINS.show(client, &one.slug),
            DomainCommand::Create(new) => create(client, &DOMAINS, &new.body()),
            DomainCommand::Edit(changed) => changed.edit(client, &DOMAINS),
        }
    }
}

impl ApiCommand for ContentTagCommand {
    fn run(&self, client: &Client) -> CommandResult {
        match self {
            ContentTagCommand::List(limit) => CONTENT_TAGS.list(client, &[], *limit),
            ContentTagCommand::Show(one) => CONTENT_TAGS.show(client, &one.slug),
            ContentTagCommand::Create(new) => create(client, &CONTENT_TAGS, &new.body()),
            ContentTagCommand::Edit(changed) => changed.edit(client, &CONTENT_TAGS),
        }
    }
}

impl ApiCommand for InventoryTagCommand {
    fn run(&self, client: &Client) -> CommandResult {
        match self {
            InventoryTagCommand::List { category, limit } => {
                INVENTORY_TAGS.list(client, &[("category", json!(category))], *limit)
            }
            InventoryTagCommand::Show(one) => INVENTORY_TAGS.show(client, &one.slug),
            InventoryTagCommand::Create { new, description, category } => {
                let mut body = new.body();
                body["description"] = json!(description);
                body["category"] = json!(category);
                create(client, &INVENTORY_TAGS, &body)
            }
            InventoryTagCommand::Edit(TagChanges { slug, label, description, category }) => {
                let body = body_of([
                    ("label", json!(label)),
                    ("description", json!(description)),
                    ("category", json!(category)),
                ]);
                INVENTORY_TAGS.edit(client, slug, &body)
            }
        }
    }
}

impl NewLabel {
    fn body(&self) -> Value {
        json!({"slug": self.slug, "label": self.label})
    }
}

impl Relabeled {
    fn edit(&self, client: &Client, labels: &Records) -> CommandResult {
        labels.edit(client, &self.slug, &json!({"label": self.label}))
    }
}
