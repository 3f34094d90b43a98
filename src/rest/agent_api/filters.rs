//! Filters that only agents have.

use poem_openapi::types::{ParseFromJSON, ToJSON, Type};

use crate::{
    domain::{
        asset_filters::FilterField,
        assets::Kind,
        browse::SortOrder,
        ledger::EntryType,
        notifications::NotificationType,
        offers::OfferStatus,
        opportunities::{BidStatus, OpportunityKind, OpportunityStatus},
        purchases::{PaidStatus, PurchaseKind, PurchaseStatus},
        quality_checks::CheckScope,
        quality_runs::RunStatus,
        record_filters::{Period, RecordFilter},
    },
    error::{Problem, Result},
    operations::{
        browse::{CursorForm, PageRequest},
        vendors,
    },
    rest::{
        arguments::filter_entries::{AssetFilterGrammar, FilterGrammar},
        catalog::browse_query::CatalogFilters,
        prelude::*,
    },
};

/// Filters of the catalog.
#[derive(Debug, Object)]
pub struct AgentCatalogFilters {
    /// The filters of the API.
    #[oai(flatten)]
    common: CatalogFilters,
    /// Name of the vendor team.
    #[oai(validator(max_length = 1000))]
    vendor: Option<String>,
    /// First day of publication, as in 2026-03-01.
    #[oai(validator(max_length = 64))]
    published_since: Option<String>,
    /// Last day of publication.
    #[oai(validator(max_length = 64))]
    published_until: Option<String>,
}

impl AgentCatalogFilters {
    /// Converts the parameters into a request for the first match, newest first. Fails if a time has another form.
    pub fn into_request(self, reader: &Reader) -> Result<PageRequest> {
        let (text, mut filters, owned) = self.common.into_parts();
        let period = parse_period(
            ("published_since", self.published_since.as_deref()),
            ("published_until", self.published_until.as_deref()),
        )?;
        filters.published = (period.since.map(|at| at.0), period.end.map(|end| end.0 - 1));
        if let Some(vendor) = &self.vendor {
            let teams = vendors::find_by_name(reader, vendor)?;
            filters.teams = Some(teams.into_iter().map(|team| team.0 as u64).collect());
        }
        Ok(PageRequest {
            text,
            filters,
            owned,
            sort: SortOrder::Recent,
            limit: 1,
            cursor: None,
            cursor_form: CursorForm::Short,
            skip: 0,
        })
    }
}

/// Conditions on the records of a list.
pub trait RecordConditions: Type + ParseFromJSON + ToJSON {
    /// Converts the parameters.
    fn into_filter(self) -> Result<RecordFilter>;
}

/// Filters of purchases. Only completed ones match unless states are given.
pub type PurchaseFilters = WithStatus<EnumValue<PurchaseStatus>, KindOfDeal>;

/// Filters of spending. Only completed purchases match unless states are given. Nothing was paid for purchases in states
/// other than these.
pub type SpendingFilters = WithStatus<EnumValue<PaidStatus>, KindOfDeal>;

type KindOfDeal = WithKind<EnumValue<PurchaseKind>, DealFilters>;

/// Filters of offers.
pub type OfferFilters = WithStatus<EnumValue<OfferStatus>, DealFilters>;

/// Filters of a buyer's requests for data.
pub type OwnOpportunityFilters =
    WithStatus<EnumValue<OpportunityStatus>, WithKind<EnumValue<OpportunityKind>, PeriodFilters>>;

/// Filters of a vendor's bids on custom task work.
pub type BidFilters = WithStatus<EnumValue<BidStatus>, PeriodFilters>;

/// Filters of a vendor's sales.
pub type SaleFilters = WithKind<EnumValue<PurchaseKind>, SubjectFilters>;

/// Filters of the entries of a vendor's earnings.
pub type EarningFilters = WithKind<EnumValue<EntryType>, SubjectFilters>;

/// Filters of a vendor's quality runs.
pub type RunFilters = WithStatus<EnumValue<RunStatus>, WithKind<EnumValue<CheckScope>, SubjectFilters>>;

/// Filters of a team's notifications.
pub type NotificationFilters = WithKind<EnumValue<NotificationType>, PeriodFilters>;

/// Filters with states of type `S`.
#[derive(Debug, Object)]
pub struct WithStatus<S: Type + ParseFromJSON + ToJSON, C: RecordConditions> {
    /// States; any may match.
    #[oai(default)]
    status: Vec<S>,
    /// The other conditions.
    #[oai(flatten)]
    others: C,
}

impl<S: Type + ParseFromJSON + ToJSON, C: RecordConditions> RecordConditions for WithStatus<S, C> {
    fn into_filter(self) -> Result<RecordFilter> {
        Ok(RecordFilter { statuses: texts(&self.status), ..self.others.into_filter()? })
    }
}

/// Filters with kinds of type `K`.
#[derive(Debug, Object)]
pub struct WithKind<K: Type + ParseFromJSON + ToJSON, C: RecordConditions> {
    /// Kinds; any may match.
    #[oai(default)]
    kind: Vec<K>,
    /// The other conditions.
    #[oai(flatten)]
    others: C,
}

impl<K: Type + ParseFromJSON + ToJSON, C: RecordConditions> RecordConditions for WithKind<K, C> {
    fn into_filter(self) -> Result<RecordFilter> {
        Ok(RecordFilter { kinds: texts(&self.kind), ..self.others.into_filter()? })
    }
}

/// Returns the texts of values of a string enum.
fn texts<T: ToJSON>(values: &[T]) -> Vec<String> {
    let text = |value: &T| value.to_json()?.as_str().map(str::to_owned);
    values.iter().filter_map(text).collect()
}

/// Filters of vendors' bids on a buyer's requests for custom task work.
#[derive(Debug, Object)]
pub struct ReceivedBidFilters {
    /// Only bids on this request.
    opportunity_id: Option<Uuid>,
    /// The other conditions.
    #[oai(flatten)]
    others: BidFilters,
}

impl RecordConditions for ReceivedBidFilters {
    fn into_filter(self) -> Result<RecordFilter> {
        Ok(RecordFilter { opportunity: self.opportunity_id, ..self.others.into_filter()? })
    }
}

/// Filters of what a team buys.
#[derive(Debug, Object)]
pub struct DealFilters {
    /// Name of the vendor team.
    #[oai(validator(max_length = 1000))]
    vendor: Option<String>,
    /// Listing and period.
    #[oai(flatten)]
    subject: SubjectFilters,
}

impl RecordConditions for DealFilters {
    fn into_filter(self) -> Result<RecordFilter> {
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

impl RecordConditions for SubjectFilters {
    fn into_filter(self) -> Result<RecordFilter> {
        Ok(RecordFilter { listing: self.listing_id, ..self.period.into_filter()? })
    }
}

/// A period.
#[derive(Debug, Object)]
pub struct PeriodFilters {
    /// First day, as in 2026-03-01.
    #[oai(validator(max_length = 64))]
    since: Option<String>,
    /// Last day.
    #[oai(validator(max_length = 64))]
    until: Option<String>,
}

impl PeriodFilters {
    /// Converts the parameters.
    pub fn into_period(self) -> Result<Period> {
        parse_period(("since", self.since.as_deref()), ("until", self.until.as_deref()))
    }
}

impl RecordConditions for PeriodFilters {
    fn into_filter(self) -> Result<RecordFilter> {
        Ok(RecordFilter { period: self.into_period()?, ..RecordFilter::default() })
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
