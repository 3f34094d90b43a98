//! The walk of one key: every GET operation that it may use, with IDs from the responses to others.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    rc::Rc,
};

use super::{
    client::{Caller, Exchange, Request, Stop},
    documents::{Document, Link, Operation, Source},
    rows, rules,
    session::{Access, Session, target},
};

/// Maximum number of requested records among those that the responses of one operation name.
const MAX_SAMPLES: usize = 3;

/// The values of path parameters, by name.
pub type PathValues = Vec<(String, String)>;

/// A request for an operation that succeeded.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The values of its path parameters.
    pub values: PathValues,
    /// Its path and query.
    pub target: String,
}

/// The findings of the walk with a key.
#[derive(Debug, Default)]
pub struct Found {
    /// A request that succeeded for each operation, by path.
    pub samples: BTreeMap<String, Sample>,
    /// The records that responses named, by the name of the path parameter.
    pub ids: BTreeMap<String, Vec<String>>,
}

/// A record that a response names.
struct Candidate {
    operation: Rc<Operation>,
    document: Rc<Document>,
    values: PathValues,
    /// The operation that named it, and the request.
    source: (Rc<Operation>, Request),
}

struct Walk<'a> {
    session: &'a mut Session,
    caller: Caller,
    found: Found,
    pending: VecDeque<Candidate>,
    requested: BTreeSet<String>,
    /// How many records were taken from the responses of one operation, for another one.
    taken: HashMap<(String, String), usize>,
}

/// Whether an operation is refused while the catalog is locked for a team.
pub fn is_behind_gate(operation: &Operation) -> bool {
    let path = &operation.path;
    path.starts_with("/v2/listings/browse/by-ids") || path.starts_with("/v2/listings/browse/{")
}

/// Requests everything that a key may read, and checks each response.
pub fn run(session: &mut Session, access: &Access) -> Result<Found, Stop> {
    let caller = Caller::Key(access.key);
    let mut walk = Walk {
        session,
        caller,
        found: Found::default(),
        pending: VecDeque::new(),
        requested: BTreeSet::new(),
        taken: HashMap::new(),
    };
    for (document, operation) in operations(access).filter(|(_, operation)| !operation.path.contains('{')) {
        let is_refused = access.is_locked && is_behind_gate(&operation);
        if !is_refused && operation.parameters.iter().all(|parameter| !parameter.is_required) {
            walk.read(&document, &operation, Vec::new(), &[])?;
        }
    }
    while let Some(candidate) = walk.pending.pop_front() {
        if !(access.is_locked && is_behind_gate(&candidate.operation)) {
            walk.read_record(candidate)?;
        }
    }
    for (document, operation) in operations(access).filter(|(_, operation)| !operation.path.contains('{')) {
        walk.read_with_ids(&document, &operation)?;
    }
    Ok(walk.found)
}

/// Returns the GET operations that a key may use, each once.
pub fn operations(access: &Access) -> impl Iterator<Item = (Rc<Document>, Rc<Operation>)> {
    let mut seen = BTreeSet::new();
    let all = access.documents.iter().flat_map(|document| {
        let of_document = document.operations.iter().filter(|operation| operation.method == "GET");
        of_document.map(|operation| (Rc::clone(document), Rc::clone(operation)))
    });
    let all: Vec<_> = all.filter(|(_, operation)| seen.insert(operation.path.clone())).collect();
    all.into_iter()
}

impl Walk<'_> {
    /// Requests an operation, and collects the records that its response names.
    fn read(
        &mut self,
        document: &Rc<Document>,
        operation: &Rc<Operation>,
        values: PathValues,
        query: &[(&str, &str)],
    ) -> Result<(), Stop> {
        let path = operation.path_with(&values);
        let response = self.session.call_ok(&rules::SUCCESS, operation, &path, query, self.caller)?;
        if let Some(exchange) = response {
            self.add_sample(document, operation, values, target(&path, query), &exchange);
        }
        Ok(())
    }

    fn add_sample(
        &mut self,
        document: &Rc<Document>,
        operation: &Rc<Operation>,
        values: PathValues,
        target: String,
        exchange: &Exchange,
    ) {
        self.session.report.add_operation(&format!("{} {}", operation.method, operation.path));
        self.collect(document, operation, &values, exchange);
        self.found.samples.entry(operation.path.clone()).or_insert(Sample { values, target });
    }

    /// Collects the records that a response names.
    fn collect(
        &mut self,
        document: &Rc<Document>,
        operation: &Rc<Operation>,
        values: &PathValues,
        exchange: &Exchange,
    ) {
        for link in &operation.links {
            let found = document.operations.iter().find(|other| other.id == link.operation);
            let Some(linked) = found.filter(|linked| linked.method == "GET") else { continue };
            let all = values_of(link, values, exchange);
            for (name, value) in all.iter().flatten() {
                let known = self.found.ids.entry(name.clone()).or_default();
                if known.len() < 100 && !known.contains(value) {
                    known.push(value.clone());
                }
            }
            let taken = self.taken.entry((operation.path.clone(), linked.path.clone())).or_default();
            let chosen = rows::spread(&all, MAX_SAMPLES.saturating_sub(*taken).max(1));
            for values in chosen.into_iter().take(MAX_SAMPLES.saturating_sub(*taken)) {
                *taken += 1;
                self.pending.push_back(Candidate {
                    operation: Rc::clone(linked),
                    document: Rc::clone(document),
                    values,
                    source: (Rc::clone(operation), exchange.request.clone()),
                });
            }
        }
    }

    /// Requests a record that a response named.
    fn read_record(&mut self, candidate: Candidate) -> Result<(), Stop> {
        let Candidate { operation, document, values, source } = candidate;
        let path = operation.path_with(&values);
        if !self.requested.insert(path.clone()) {
            return Ok(());
        }
        let Some(exchange) = self.session.call(&operation, &path, &[], self.caller)? else { return Ok(()) };
        self.session.report.count(&rules::READABLE);
        if exchange.status == 200 {
            self.check_id(&operation, &values, &exchange);
            self.add_sample(&document, &operation, values, path, &exchange);
            return Ok(());
        }
        // A record may have been removed in the meantime, or there may be no part of it yet.
        let may_be_absent = matches!(exchange.status, 404 | 409) && !operation.is_of_record();
        if may_be_absent || exchange.status == 404 && !self.is_still_named(&operation, &values, source)? {
            return Ok(());
        }
        self.session.expect(&rules::READABLE, &operation.id, &exchange, 200, "");
        Ok(())
    }

    /// Whether the response that named a record still does, and the record still cannot be read.
    fn is_still_named(
        &mut self,
        operation: &Operation,
        values: &PathValues,
        (source, request): (Rc<Operation>, Request),
    ) -> Result<bool, Stop> {
        let Some(exchange) = self.session.send(Some(&source), request)? else { return Ok(false) };
        let mut links = source.links.iter().filter(|link| link.operation == operation.id);
        let is_named = links.any(|link| values_of(link, values, &exchange).contains(values));
        let path = operation.path_with(values);
        let again = self.session.call(operation, &path, &[], self.caller)?;
        Ok(is_named && again.is_some_and(|exchange| exchange.status == 404))
    }

    /// Checks that a record has the ID that it was requested by.
    fn check_id(&mut self, operation: &Operation, values: &PathValues, exchange: &Exchange) {
        let (Some((name, value)), Some(id)) = (values.last(), exchange.json()["id"].as_str()) else { return };
        let is_last = operation.path_parameters().last() == Some(name);
        if operation.is_of_record() && is_last && id.len() == 36 && value.len() == 36 {
            self.session.report.count(&rules::SAME_ID);
            if id != value {
                self.session.report.add(&rules::SAME_ID, &operation.id, exchange, value, id);
            }
        }
    }

    /// Requests an operation that needs IDs in its query.
    fn read_with_ids(&mut self, document: &Rc<Document>, operation: &Rc<Operation>) -> Result<(), Stop> {
        let required: Vec<&str> = operation
            .query()
            .filter(|parameter| parameter.is_required)
            .map(|parameter| parameter.name.as_str())
            .collect();
        if required.is_empty() {
            return Ok(());
        }
        let ids = self.found.ids.clone();
        let known: Option<Vec<(&str, &str)>> =
            required.iter().map(|name| Some((*name, ids.get(*name)?.first()?.as_str()))).collect();
        match known {
            Some(query) => self.read(document, operation, Vec::new(), &query),
            None => Ok(()),
        }
    }
}

/// Returns the values of the path parameters that a response names by a link: a list for each record.
fn values_of(link: &Link, requested: &PathValues, exchange: &Exchange) -> Vec<PathValues> {
    let mut fixed = Vec::new();
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for (name, source) in &link.parameters {
        match source {
            Source::Request(of) => {
                let value = requested.iter().find(|(known, _)| known == of);
                fixed.extend(value.map(|(_, value)| (name.clone(), value.clone())));
            }
            body @ Source::Body(_) => found.push((name.clone(), rows::values_at(exchange.json(), body))),
        }
    }
    // Links of these documents have one parameter from the body; of several, only the first values belong together.
    match found.as_slice() {
        [(name, values)] => {
            let with = |value: &String| [fixed.as_slice(), &[(name.clone(), value.clone())]].concat();
            values.iter().map(with).collect()
        }
        several => {
            let firsts: Option<PathValues> =
                several.iter().map(|(name, values)| Some((name.clone(), values.first()?.clone()))).collect();
            firsts.map(|firsts| [fixed, firsts].concat()).into_iter().collect()
        }
    }
}
