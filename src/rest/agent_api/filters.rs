//! Filters that only agents have.

use marketplace_index::Filters;
use poem_openapi::Object;
use uuid::Uuid;

use crate::{
    domain::{
        asset_filters::FilterField,
        assets::Kind,
        purchases::{PaidStatus, PurchaseKind, PurchaseStatus},
        record_filters::{Period, RecordFilter},
    },
    error::{Error, Problem, Result},
    market::Reader,
    operations::vendors,
    rest::{
        catalog::browse_query::CatalogFilters,
        enum_value::EnumValue,
        filter_entries::{AssetFilterGrammar, FilterGrammar},
    },
    string_enum::StringEnum,
};

/// Filters of the catalog.
#[derive(Debug, Object)]
pub struct AgentCatalogFilters {
    /// The filters of the API.
    #[oai(flatten)]
    common: CatalogFilters,
    /// Name of the vendor team, in any case.
    #[oai(validator(max_length = 1000))]
    vendor: Option<String>,
    /// First day or time of publication, as in 2026-03-01.
    #[oai(validator(max_length = 64))]
    published_since: Option<String>,
    /// Last day or time of publication.
    #[oai(validator(max_length = 64))]
    published_until: Option<String>,
}

/// The filters of a request to the catalog.
#[derive(Debug)]
pub struct CatalogCondition {
    /// Search text.
    pub text: String,
    /// Filters of the index, without the vendor.
    pub filters: Filters,
    /// Whether only the team's own listings match.
    pub owned: bool,
    vendor: Option<String>,
}

impl AgentCatalogFilters {
    /// Converts the parameters. Fails if a time has another form.
    pub fn into_condition(self) -> Result<CatalogCondition> {
        let (text, mut filters, owned) = self.common.into_parts();
        let period = parse_period(
            ("published_since", self.published_since.as_deref()),
            ("published_until", self.published_until.as_deref()),
        )?;
        filters.published = (period.since.map(|at| at.0), period.end.map(|end| end.0 - 1));
        Ok(CatalogCondition { text, filters, owned, vendor: self.vendor })
    }
}

impl CatalogCondition {
    /// Adds the filter by vendor, whose name has to be looked up.
    pub fn resolve(&mut self, reader: &Reader) -> Result<()> {
        if let Some(vendor) = &self.vendor {
            let teams = vendors::find_by_name(reader, vendor)?;
            self.filters.teams = Some(teams.into_iter().map(|team| team.0 as u64).collect());
        }
        Ok(())
    }
}

/// Filters of purchases.
#[derive(Debug, Object)]
pub struct PurchaseFilters {
    /// States; completed unless stated.
    #[oai(default)]
    status: Vec<EnumValue<PurchaseStatus>>,
    /// Kinds of purchase.
    #[oai(default)]
    kind: Vec<EnumValue<PurchaseKind>>,
    /// Vendor, listing, and period.
    #[oai(flatten)]
    deal: DealFilters,
}

impl PurchaseFilters {
    /// Converts the parameters.
    pub fn into_filter(self) -> Result<RecordFilter> {
        let statuses = slugs(&self.status);
        Ok(RecordFilter { statuses, kinds: slugs(&self.kind), ..self.deal.into_filter()? })
    }
}

/// Filters of spending.
#[derive(Debug, Object)]
pub struct SpendingFilters {
    /// States; completed unless stated. Nothing was paid for purchases in other states.
    #[oai(default)]
    status: Vec<EnumValue<PaidStatus>>,
    /// Kinds of purchase.
    #[oai(default)]
    kind: Vec<EnumValue<PurchaseKind>>,
    /// Vendor, listing, and period.
    #[oai(flatten)]
    deal: DealFilters,
}

impl SpendingFilters {
    /// Converts the parameters.
    pub fn into_filter(self) -> Result<RecordFilter> {
        let statuses = slugs(&self.status);
        Ok(RecordFilter { statuses, kinds: slugs(&self.kind), ..self.deal.into_filter()? })
    }
}

/// Returns values as records have them.
fn slugs<E: StringEnum>(values: &[EnumValue<E>]) -> Vec<String> {
    values.iter().map(|value| value.0.as_str().to_owned()).collect()
}

/// Filters of what a team buys.
#[derive(Debug, Object)]
pub struct DealFilters {
    /// Name of the vendor team, in any case.
    #[oai(validator(max_length = 1000))]
    vendor: Option<String>,
    /// Listing and period.
    #[oai(flatten)]
    subject: SubjectFilters,
}

impl DealFilters {
    /// Converts the parameters.
    pub fn into_filter(self) -> Result<RecordFilter> {
        Ok(RecordFilter { vendor: self.vendor, ..self.subject.into_filter()? })
    }
}

/// Filters by listing and period.
#[derive(Debug, Object)]
pub struct SubjectFilters {
    /// ID of the listing.
    listing_id: Option<Uuid>,
    /// The period.
    #[oai(flatten)]
    period: PeriodFilters,
}

impl SubjectFilters {
    /// Converts the parameters.
    pub fn into_filter(self) -> Result<RecordFilter> {
        Ok(RecordFilter {
            listing: self.listing_id,
            period: self.period.into_period()?,
            ..RecordFilter::default()
        })
    }
}

/// A period.
#[derive(Debug, Object)]
pub struct PeriodFilters {
    /// First day or time, as in 2026-03-01.
    #[oai(validator(max_length = 64))]
    since: Option<String>,
    /// Last day or time.
    #[oai(validator(max_length = 64))]
    until: Option<String>,
}

impl PeriodFilters {
    /// Converts the parameters.
    pub fn into_period(self) -> Result<Period> {
        parse_period(("since", self.since.as_deref()), ("until", self.until.as_deref()))
    }
}

/// Parses a period from two parameters, given with their names.
fn parse_period(since: (&str, Option<&str>), until: (&str, Option<&str>)) -> Result<Period> {
    Period::parse(since.1, until.1).map_err(|end| {
        let name = if end == "since" { since.0 } else { until.0 };
        let message = format!("`{name}` must be a day or an RFC 3339 time, as in 2026-03-01.");
        Error::invalid(Problem::query(name, "value_error", message))
    })
}

/// Filters of the list of assets of all kinds, with the outcome of quality runs.
#[derive(Debug)]
pub enum QualityGrammar {}

impl FilterGrammar for QualityGrammar {
    const NAME: &'static str = "OfAgents";
    type Field = FilterField;

    fn fields() -> Vec<FilterField> {
        let mut fields = FilterField::for_kind(None);
        fields.push(FilterField::Qc);
        fields
    }
}

impl AssetFilterGrammar for QualityGrammar {
    const KIND: Option<Kind> = None;
}
