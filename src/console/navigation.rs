//! The table of pages, and the navigation beside each page.

use std::{collections::BTreeSet, sync::Arc};

use poem::{Response, endpoint::BoxEndpoint};

use super::described::{RecordField, ResourceInfo};
use crate::{
    domain::teams::Team,
    web::auth::required_access::{Audience, RequiredAccess},
};

/// A group of pages in the navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Finding and buying.
    Buying,
    /// The inventory and the sales of a vendor.
    Selling,
    /// What belongs to the team.
    Team,
    /// Data and decisions of operators.
    Market,
    /// The money of the market.
    Money,
    /// What runs the market.
    System,
}

impl Section {
    /// Returns the navigation item of a page in this section.
    pub const fn link(self, label: &'static str) -> NavigationItem {
        NavigationItem { section: self, label }
    }

    /// Returns the sections of an operator, with their headings. The first one needs none.
    pub const OF_OPERATORS: &'static [(Section, Option<&'static str>)] =
        &[(Section::Market, None), (Section::Money, Some("Money")), (Section::System, Some("System"))];

    /// Returns the sections of a team in their order, with their headings. The first one needs none. For a team that sells, the
    /// section for buying comes last: it still has the catalog, and the wallet that pays quality runs.
    pub const fn of_team(is_selling: bool) -> &'static [(Section, Option<&'static str>)] {
        if is_selling {
            &[(Section::Selling, None), (Section::Team, Some("Team")), (Section::Buying, Some("Market"))]
        } else {
            &[(Section::Buying, None), (Section::Selling, None), (Section::Team, Some("Team"))]
        }
    }
}

/// The link of a page in the navigation.
#[derive(Clone, Copy, Debug)]
pub struct NavigationItem {
    /// The group.
    pub section: Section,
    /// The text of the link.
    pub label: &'static str,
}

/// A row of the table of pages.
#[derive(Clone, Copy, Debug)]
pub struct PageRow {
    /// Path below [`PREFIX`](super::address::PREFIX), with names of parameters in braces.
    pub path: &'static str,
    /// Title.
    pub title: &'static str,
    /// Section and label of its link in the navigation; `None` without a link.
    pub navigation: Option<NavigationItem>,
    /// The access that it needs; `None` if everybody may see it.
    pub access: Option<RequiredAccess>,
    /// Whether it can be opened, and is not only a form of another page.
    pub is_shown: bool,
    /// Whether it has a form.
    pub has_form: bool,
    /// Names of the operations of the operators' APIs that it shows or carries out, besides those of its resource.
    pub operations: &'static [&'static str],
    /// The kind of the records that it lists, as in the audit; `None` if it is not a list.
    pub kind: Option<&'static str>,
    /// Describes the resource that it lists; `None` if it does not list a resource.
    pub resource: Option<fn() -> ResourceInfo>,
    pub(super) endpoint: fn() -> BoxEndpoint<'static, Response>,
}

impl PageRow {
    /// Returns the row of a page that everybody may see.
    pub const fn public(
        path: &'static str,
        title: &'static str,
        has_form: bool,
        endpoint: fn() -> BoxEndpoint<'static, Response>,
    ) -> PageRow {
        PageRow {
            path,
            title,
            navigation: None,
            access: None,
            is_shown: true,
            has_form,
            operations: &[],
            kind: None,
            resource: None,
            endpoint,
        }
    }

    /// Returns the row of an endpoint that only receives data and shows no page.
    pub const fn receive_only(
        path: &'static str,
        title: &'static str,
        access: RequiredAccess,
        has_form: bool,
        endpoint: fn() -> BoxEndpoint<'static, Response>,
    ) -> PageRow {
        PageRow { access: Some(access), ..PageRow::public(path, title, has_form, endpoint).without_page() }
    }

    /// Removes the page: the row only receives a form of another page.
    #[must_use]
    pub const fn without_page(self) -> PageRow {
        PageRow { is_shown: false, ..self }
    }

    /// Returns the row of the list of the records of a kind.
    #[must_use]
    pub const fn of_kind(self, kind: &'static str) -> PageRow {
        PageRow { kind: Some(kind), ..self }
    }

    /// Returns the row of the list of a resource.
    #[must_use]
    pub const fn of_resource(self, describe: fn() -> ResourceInfo) -> PageRow {
        PageRow { resource: Some(describe), ..self }
    }
}

/// The prefixes of the names of operations that only read.
const READS: [&str; 4] = ["get_", "list_", "aggregate_", "export_"];

/// All pages, in the order of the navigation.
#[derive(Clone, Debug, Default)]
pub struct PageTable {
    pages: Arc<[PageRow]>,
    /// The pages that are not for operators, filtered once: every request to a market without operators needs them.
    of_others: Arc<[PageRow]>,
}

impl PageTable {
    /// Creates the table.
    pub fn new(pages: impl Iterator<Item = PageRow>) -> PageTable {
        let pages: Arc<[PageRow]> = pages.collect();
        let is_of_others =
            |page: &&PageRow| page.access.is_none_or(|access| access.audience() != Audience::Operators);
        let of_others = pages.iter().filter(is_of_others).copied().collect();
        PageTable { pages, of_others }
    }

    /// Returns the table without the pages of operators, for a market that serves none.
    #[must_use]
    pub fn without_operators(&self) -> PageTable {
        PageTable { pages: Arc::clone(&self.of_others), of_others: Arc::clone(&self.of_others) }
    }

    /// Returns the lists of records with their kinds.
    pub fn lists(&self) -> impl Iterator<Item = (&'static str, &PageRow)> {
        self.pages.iter().filter_map(|page| Some((page.kind?, page)))
    }

    /// Returns the path of the page of a record, whose last segment is an ID, a slug, or a number; `None` if records of the kind
    /// have no pages.
    pub fn page_of(&self, kind: &str, key: &str) -> Option<String> {
        self.lists().find(|(listed, _)| *listed == kind).map(|(_, page)| format!("{}/{key}", page.path))
    }

    /// Whether there is a page at a path below [`PREFIX`](super::address::PREFIX), which may have a query. A path that only
    /// receives forms is not a page, even if it also matches the pattern of a page with a parameter.
    pub fn shows(&self, path: &str) -> bool {
        let path = path.split('?').next().unwrap_or_default();
        let segments: Vec<&str> = path.split('/').collect();
        let is_of = |page: &PageRow| {
            let names: Vec<&str> = page.path.split('/').collect();
            let mut pairs = names.iter().zip(&segments);
            names.len() == segments.len()
                && pairs.all(|(name, segment)| name.starts_with('{') || name == segment)
        };
        let parameters =
            |page: &&PageRow| page.path.split('/').map(|name| name.starts_with('{')).collect::<Vec<_>>();
        // Requests are routed by names first, too.
        let named = self.pages.iter().filter(|page| is_of(page)).min_by_key(parameters);
        named.is_some_and(|page| page.is_shown)
    }

    /// Returns the fields that pages show of records of this kind; none if there is no such resource.
    pub fn fields_of(&self, kind: &str) -> &'static [RecordField] {
        let mut resources = self.pages.iter().filter_map(|page| page.resource).map(|describe| describe());
        resources.find(|resource| resource.subject == kind).map_or(&[], |resource| resource.fields)
    }

    /// Returns the names of the operations with which pages change something, each once.
    pub fn changes(&self) -> BTreeSet<&'static str> {
        let infos = self.pages.iter().filter_map(|page| page.resource).map(|describe| describe());
        let of_steps = infos.flat_map(|info| info.all_steps().map(|step| step.operation).collect::<Vec<_>>());
        let of_pages = self.pages.iter().flat_map(|page| page.operations.iter().copied());
        let is_read = |name: &str| READS.iter().any(|read| name.starts_with(read));
        of_steps.chain(of_pages).filter(|name| !name.is_empty() && !is_read(name)).collect()
    }

    /// Returns the pages that a team can have access to, or an operator if there is none.
    pub fn of<'t>(&'t self, team: Option<&'t Team>) -> impl Iterator<Item = &'t PageRow> {
        let may_open = move |page: &&PageRow| page.access.is_some_and(|access| can_have(access, team));
        self.pages.iter().filter(|page| page.is_shown).filter(may_open)
    }
}

/// Whether a team can have an access, or an operator if the team is `None`. Ignores the NDA and the browse gate: pages behind
/// them say what to do.
fn can_have(access: RequiredAccess, team: Option<&Team>) -> bool {
    match (access.audience(), team) {
        (Audience::Operators, team) => team.is_none(),
        (Audience::Everyone, _) | (Audience::AllTeams, Some(_)) => true,
        (_, None) => false,
        (Audience::TeamsWithRole, Some(team)) => team.is_vendor || team.is_buyer,
        (Audience::Vendors, Some(team)) => team.is_vendor,
        (Audience::Buyers, Some(team)) => team.is_buyer,
    }
}
