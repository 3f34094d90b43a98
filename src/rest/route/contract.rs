//! Facts that the contract tests need to request a route: what its path identifies, and which queries it accepts. With these,
//! they check permissions, the order of errors, and that responses match their schemas.

/// What the IDs in a path identify, in the order of the path. Tests request the records that the caller may
/// see, and expect 404 for all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The path has no parameters.
    None,
    /// A listing that the catalog shows to the team.
    CatalogListing,
    /// A listing that the catalog shows to the team, and one of its tasksets.
    CatalogTaskset,
    /// A listing of the team.
    OwnListing,
    /// A listing of the team, and an asset of it.
    OwnListingAsset,
    /// An asset of the team.
    OwnAsset,
    /// A codebase of the team.
    OwnCodebase,
    /// A codebase of the team whose data is linked.
    OwnLinkedCodebase,
    /// Raw data of the team.
    OwnRawData,
    /// Raw data of the team whose data is linked.
    OwnLinkedRawData,
    /// A task of the team.
    OwnTask,
    /// A group of the team.
    OwnGroup,
    /// A group of the team, and an asset of the team.
    OwnGroupAndAsset,
    /// An estimation of the team.
    OwnEstimation,
    /// An opportunity that vendors may read.
    Opportunity,
    /// A project opportunity that vendors may read.
    ProjectOpportunity,
    /// An opportunity of the team.
    OwnOpportunity,
    /// A project opportunity of the team.
    OwnProjectOpportunity,
    /// The token of an upload grant. Any is unknown, since a token is secret.
    UploadGrant,
    /// A record of this collection of the demo market, of any team.
    RecordOf(&'static str),
    /// The record of a collection of the demo market that has this key.
    Record(&'static str, &'static str),
    /// A record of a collection of which the demo market has none. Tests create one.
    Created(&'static str),
    /// An entry of the ledger of the demo market with this type, which is that of a record.
    LedgerEntryOf(&'static str),
    /// A task of the demo market, of any team, or a version or a build of one, as this collection says.
    TaskPart(&'static str),
    /// A record that the demo market does not have. Holds an ID that nothing has.
    Absent(&'static str),
    /// A world, which tests create.
    World,
    /// A world, which tests create, and the owner and the name of a repository.
    WorldRepository,
    /// A world, which tests create, and a fault of it.
    WorldFault,
    /// A snapshot of a world, which tests create.
    Snapshot,
    /// The path has no parameters, but the example of the body contains the ID of a taskset.
    TasksetInBody,
}

/// What the contract tests must know of a route.
#[derive(Debug)]
pub struct Contract {
    /// What the path identifies.
    pub target: Target,
    /// Queries that are valid, besides none. `{listings}` is replaced with the IDs of all listings of the
    /// demo market, and `{assets}` for those of 150 assets.
    pub queries: &'static [&'static str],
    /// Whether a request without a query is invalid.
    pub requires_query: bool,
    /// A query with a misspelled parameter, and the name that the error suggests; empty if it suggests none.
    pub misspelled: (&'static str, &'static str),
    /// For a list: how many SQL statements a page costs.
    pub pages: Option<Pages>,
}

/// The cost of a page, which must not depend on its size.
#[derive(Clone, Copy, Debug)]
pub struct Pages {
    /// A query that requests a short page.
    pub short: &'static str,
    /// A query that requests a long page.
    pub long: &'static str,
    /// Maximum number of SQL statements.
    pub max_statements: u64,
}

impl Contract {
    /// The contract of a route without query parameters.
    pub const fn new(target: Target) -> Contract {
        Contract { target, queries: &[], requires_query: false, misspelled: ("limit=1", ""), pages: None }
    }

    /// Sets valid queries.
    #[must_use]
    pub const fn with_queries(self, queries: &'static [&'static str]) -> Contract {
        Contract { queries, ..self }
    }

    /// Sets valid queries of a route for which no query is invalid.
    #[must_use]
    pub const fn with_required_queries(self, queries: &'static [&'static str]) -> Contract {
        Contract { queries, requires_query: true, ..self }
    }

    /// Sets a query with a misspelled parameter, and the name that the error suggests.
    #[must_use]
    pub const fn with_misspelled(self, query: &'static str, suggestion: &'static str) -> Contract {
        Contract { misspelled: (query, suggestion), ..self }
    }

    /// Sets queries for a short page and a long page, and the maximum number of SQL statements of both.
    #[must_use]
    pub const fn with_pages(self, short: &'static str, long: &'static str, max_statements: u64) -> Contract {
        Contract { pages: Some(Pages { short, long, max_statements }), ..self }
    }

    /// States that the whole list costs at most one SQL statement.
    #[must_use]
    pub const fn with_one_statement(self) -> Contract {
        self.with_pages("", "", 1)
    }
}
