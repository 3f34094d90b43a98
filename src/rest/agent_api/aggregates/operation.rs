//! The operation that aggregates a list, for any list.

use std::{collections::HashMap, marker::PhantomData};

use poem::{endpoint::BoxEndpoint, http::Method};
use poem_openapi::{
    Object, OpenApi,
    registry::{MetaApi, Registry},
    types::{ParseFromJSON, ToJSON, Type},
};

use super::{
    list::List,
    lists::{self, Visitor},
    output::AggregatesOut,
    tool::AGGREGATE_TOOL,
};
use crate::{
    operations::aggregates::Request,
    rest::{
        arguments::params::Params,
        json::{Json, JsonResult},
        route::{
            Call, Contract, DeclaredRoute, ProvesAccess, Repeatability, RouteAttributes, Routes, Target, Tool,
        },
    },
};

/// The operation for each list of the table.
#[derive(Clone, Copy, Debug, Default)]
pub struct AggregatesApi;

impl Routes for AggregatesApi {
    fn routes() -> Vec<DeclaredRoute> {
        let mut routes = Vec::new();
        lists::visit_all(&mut routes);
        routes
    }
}

impl OpenApi for AggregatesApi {
    fn meta() -> Vec<MetaApi> {
        let mut apis = Vec::new();
        lists::visit_all(&mut apis);
        apis
    }

    fn register(registry: &mut Registry) {
        lists::visit_all(registry);
    }

    fn add_routes(self, endpoints: &mut Endpoints) {
        lists::visit_all(endpoints);
    }
}

/// The endpoints of paths, by path and method.
type Endpoints = HashMap<String, HashMap<Method, BoxEndpoint<'static>>>;

impl Visitor for Endpoints {
    fn visit<L: List>(&mut self) {
        ListApi::<L>(PhantomData).add_routes(self);
    }
}

impl Visitor for Registry {
    fn visit<L: List>(&mut self) {
        ListApi::<L>::register(self);
    }
}

impl Visitor for Vec<MetaApi> {
    /// Adds the framework's declaration of the operation. The framework takes the ID of an operation from a literal only,
    /// which lists cannot share.
    fn visit<L: List>(&mut self) {
        for mut api in ListApi::<L>::meta() {
            for operation in api.paths.iter_mut().flat_map(|path| &mut path.operations) {
                operation.operation_id = Some(L::OPERATION);
            }
            self.push(api);
        }
    }
}

impl Visitor for Vec<DeclaredRoute> {
    fn visit<L: List>(&mut self) {
        self.push(ListApi::<L>::ROUTE);
    }
}

/// What to aggregate, and the filters of a list.
#[derive(Debug, Object)]
struct AggregateQuery<F: Type + ParseFromJSON + ToJSON> {
    /// At most 2, of those of the list. A record with several values of a property is in several groups.
    #[oai(default, validator(max_items = 2))]
    group_by: Vec<String>,
    /// Number; omit it to count records.
    #[oai(validator(max_length = 100))]
    measure: Option<String>,
    /// Conditions that records meet.
    #[oai(flatten)]
    filters: F,
}

struct ListApi<L>(PhantomData<fn() -> L>);

impl<L: List> ListApi<L> {
    const ATTRIBUTES: RouteAttributes = RouteAttributes::read(
        Tool::Choice { tool: &AGGREGATE_TOOL, value: L::TOOL, list: Some("groups") },
        Contract::new(Target::None),
    )
    .with_budget(L::BUDGET);

    const ROUTE: DeclaredRoute = DeclaredRoute::new(
        L::OPERATION,
        <Call<L::Access> as ProvesAccess>::REQUIRED,
        Repeatability::Safe,
        None,
        &Self::ATTRIBUTES,
    );
}

#[OpenApi(prefix_path = &format!("/agents/v1/aggregates/{}", L::TOOL), tag = "crate::rest::tags::Tag::Catalog")]
impl<L: List> ListApi<L> {
    /// Aggregate a list
    ///
    /// Returns statistics of the records of a list that the filters allow.
    #[oai(path = "/", method = "get")]
    async fn aggregate(
        &self,
        call: Call<L::Access>,
        query: Params<AggregateQuery<L::Filters>>,
    ) -> JsonResult<AggregatesOut> {
        let AggregateQuery { group_by, measure, filters } = query.0;
        let request = Request { group_by, measure };
        Json::read(&call.served, L::requester(&call.access), move |reader| {
            let aggregates = L::SOURCE.aggregate(reader, &call.access, filters, &request)?;
            Ok(AggregatesOut::new(aggregates, reader.now))
        })
        .await
    }
}
