//! Query parameters as one struct: documented as real parameters, and read with every problem told at once.
//!
//! The struct's schema is the only statement of what a parameter takes: its type, bounds, words and default are read from
//! there, once a struct, and both the parser and the documents go by them.

mod parameter;

use std::{
    any::TypeId,
    collections::HashMap,
    sync::{Arc, OnceLock, PoisonError, RwLock},
};

use poem::{Request, RequestBody};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions, Object,
    registry::{MetaParamIn, MetaSchema, MetaSchemaRef, Registry},
    types::{ParseFromJSON, Type},
};
use serde_json::{Map, Value};

use self::parameter::Parameter;
use super::problem::Failure;
use crate::error::{Error, Problem, Step};

/// What marks the schema of a whole struct, for `documents` to take apart. Its `required` lists all parameters in their
/// order, which properties lose on the way.
pub const MARK: &str = "x-parameters";

/// Problems that one answer tells at most, so that a long query of nonsense costs little.
const MAX_PROBLEMS: usize = 50;

/// Characters of an unknown name that are told back.
const MAX_NAME: usize = 60;

/// Query parameters, read into a struct.
///
/// A field that is an `Option` or has a default may be left out, a `Vec` takes any number of values by repetition
/// (`tags=a&tags=b`), and any other field takes one value. Fields are `String`, `bool`, `f64`, `Uuid`, `Word` or integers
/// up to `i64`; not `u64`, which the framework never reads.
pub struct Params<T>(pub T);

/// No query parameters at all: any that is sent is refused.
#[derive(Debug, Object)]
pub struct NoParams {}

impl<'a, T: Type + ParseFromJSON + 'static> ApiExtractor<'a> for Params<T> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::Parameter];

    type ParamType = T;
    type ParamRawType = T;

    fn register(registry: &mut Registry) {
        T::register(registry);
    }

    fn param_in() -> Option<MetaParamIn> {
        Some(MetaParamIn::Query)
    }

    fn param_schema_ref() -> Option<MetaSchemaRef> {
        let marked = MetaSchema {
            title: Some(MARK.to_owned()),
            all_of: vec![T::schema_ref()],
            required: table::<T>().0.iter().map(|parameter| parameter.name).collect(),
            ..MetaSchema::ANY
        };
        Some(MetaSchemaRef::Inline(Box::new(marked)))
    }

    async fn from_request(
        request: &'a Request,
        _: &mut RequestBody,
        _: ExtractParamOptions<T>,
    ) -> poem::Result<Self> {
        let query = request.uri().query().unwrap_or_default();
        read(query)
            .map(Params)
            .map_err(|problems| Failure(Error::Invalid(problems)).into())
    }
}

/// Reads a query string.
fn read<T: Type + ParseFromJSON + 'static>(query: &str) -> Result<T, Vec<Problem>> {
    let values = table::<T>().read(query)?;
    T::parse_from_json(Some(Value::Object(values))).map_err(|error| {
        // A rule that the table does not know, such as a pattern; the framework checks it, but does not say where.
        let (loc, msg) = (vec![Step::Name("query".to_owned())], error.into_message());
        vec![Problem {
            loc,
            msg,
            kind: "value_error",
        }]
    })
}

/// The parameters of a struct, in the order of its fields.
#[derive(Debug)]
struct Table(Vec<Parameter>);

/// The table of a struct, made once.
fn table<T: Type + 'static>() -> Arc<Table> {
    static TABLES: OnceLock<RwLock<HashMap<TypeId, Arc<Table>>>> = OnceLock::new();
    let tables = TABLES.get_or_init(RwLock::default);
    if let Some(table) = tables
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .get(&TypeId::of::<T>())
    {
        return Arc::clone(table);
    }
    let made = Arc::new(Table::of::<T>());
    tables
        .write()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(TypeId::of::<T>(), Arc::clone(&made));
    made
}

impl Table {
    fn of<T: Type>() -> Table {
        let mut registry = Registry::new();
        T::register(&mut registry);
        let schema = parameter::resolve(&T::schema_ref(), &registry);
        let properties = schema.properties.iter();
        let is_required = |name| schema.required.contains(name);
        Table(
            properties
                .map(|(name, field)| Parameter::of(name, is_required(name), field, &registry))
                .collect(),
        )
    }

    /// The JSON object that the struct is made from, or everything that is wrong with the query.
    fn read(&self, query: &str) -> Result<Map<String, Value>, Vec<Problem>> {
        let mut reading = Reading {
            table: self,
            counts: vec![0; self.0.len()],
            values: Map::new(),
            problems: Vec::new(),
        };
        // Malformed escapes stay as they are, and bytes that are not UTF-8 become U+FFFD, which matches nothing.
        for (name, text) in form_urlencoded::parse(query.as_bytes()) {
            reading.take(&name, &text);
            if reading.problems.len() == MAX_PROBLEMS {
                return Err(reading.problems);
            }
        }
        reading.end()
    }
}

/// What has been read of a query.
struct Reading<'a> {
    table: &'a Table,
    /// How often each parameter was met.
    counts: Vec<usize>,
    values: Map<String, Value>,
    problems: Vec<Problem>,
}

impl Reading<'_> {
    fn take(&mut self, name: &str, text: &str) {
        let Some(place) = self.table.0.iter().position(|parameter| parameter.name == name) else {
            return self.refuse_unknown(name);
        };
        let (parameter, count) = (&self.table.0[place], self.counts[place]);
        self.counts[place] += 1;
        if !parameter.is_array && count > 0 {
            if count == 1 {
                let msg = format!("`{name}` takes one value and was sent more than once.");
                self.problems.push(Problem::query(name, "repeated", msg));
            }
            return;
        }
        match parameter.coerce(text) {
            Ok(value) if parameter.is_array => {
                if let Value::Array(items) = self
                    .values
                    .entry(name)
                    .or_insert_with(|| Value::Array(Vec::new()))
                {
                    items.push(value);
                }
            }
            Ok(value) => {
                self.values.insert(name.to_owned(), value);
            }
            Err((kind, msg)) => {
                let mut problem = Problem::query(name, kind, msg);
                if parameter.is_array {
                    problem.loc.push(Step::Index(count));
                }
                self.problems.push(problem);
            }
        }
    }

    fn refuse_unknown(&mut self, name: &str) {
        let is_long = name.chars().count() > MAX_NAME;
        let shown: String = name
            .chars()
            .take(MAX_NAME)
            .chain(is_long.then_some('…'))
            .collect();
        let likeness = |known: &&Parameter| strsim::jaro_winkler(&shown, known.name);
        let nearest = self
            .table
            .0
            .iter()
            .max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
        let msg = match nearest {
            Some(nearest) if likeness(&nearest) > 0.7 => {
                format!(
                    "There is no parameter `{shown}` here; did you mean `{}`?",
                    nearest.name
                )
            }
            Some(_) => {
                let names: Vec<&str> = self.table.0.iter().map(|parameter| parameter.name).collect();
                format!(
                    "There is no parameter `{shown}` here; there are {}.",
                    names.join(", ")
                )
            }
            None => format!("There is no parameter `{shown}` here; this operation takes none."),
        };
        let problem = Problem::query(&shown, "extra_forbidden", msg);
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    fn end(mut self) -> Result<Map<String, Value>, Vec<Problem>> {
        for (parameter, count) in self.table.0.iter().zip(self.counts) {
            if let Some((kind, msg)) = parameter.check_count(count) {
                self.problems.push(Problem::query(parameter.name, kind, msg));
            }
        }
        if self.problems.is_empty() {
            Ok(self.values)
        } else {
            Err(self.problems)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;
    use uuid::Uuid;

    use super::*;
    use crate::{domain::teams::Role, rest::vocabulary::Word};

    #[derive(Debug, Object)]
    struct Sample {
        #[oai(default, validator(max_length = 5))]
        tags: Vec<String>,
        #[oai(default, validator(max_items = 2))]
        ids: Vec<Uuid>,
        owned: Option<bool>,
        /// Listings on a page.
        #[oai(default = "usual", validator(minimum(value = "1"), maximum(value = "100")))]
        limit: u32,
        offset: Option<i32>,
        least: Option<i64>,
        #[oai(validator(minimum(value = "0")))]
        price: Option<f64>,
        #[oai(default = "buyer")]
        role: Word<Role>,
        #[oai(default)]
        roles: Vec<Word<Role>>,
        #[oai(validator(pattern = "^[a-z]+$", min_length = 2))]
        slug: Option<String>,
    }

    #[derive(Debug, Object)]
    struct Needy {
        asset_id: Vec<Uuid>,
        channel: String,
    }

    fn usual() -> u32 {
        24
    }

    fn buyer() -> Word<Role> {
        Word(Role::Buyer)
    }

    const ID: &str = "6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11";

    #[test]
    fn values_are_read_by_their_schema() {
        let query = format!(
            "tags=a&tags=b%20c&tags=&owned=1&limit=100&offset=-2147483648&least=9223372036854775807&price=0.5\
             &role=vendor&ids={ID}&roles=buyer&roles=vendor&slug=ab"
        );
        let sample: Sample = read(&query).unwrap();
        assert_eq!(sample.tags, ["a", "b c", ""]);
        assert_eq!((sample.owned, sample.limit), (Some(true), 100));
        assert_eq!((sample.offset, sample.least), (Some(i32::MIN), Some(i64::MAX)));
        assert_eq!(sample.price, Some(0.5));
        assert_eq!((sample.role, sample.roles.len()), (Word(Role::Vendor), 2));
        assert_eq!(sample.ids[0].to_string(), ID);
        let usual: Sample = read("").unwrap();
        assert_eq!((usual.limit, usual.role), (24, Word(Role::Buyer)));
        assert!(usual.tags.is_empty() && usual.owned.is_none() && usual.slug.is_none());
    }

    #[test]
    fn every_fault_has_its_type() {
        for (query, expected) in [
            ("limit=0", "greater_than_equal `limit` is at least 1."),
            ("limit=101", "less_than_equal `limit` is at most 100."),
            ("limit=-1", "greater_than_equal `limit` is at least 1."),
            (
                "limit=99999999999999999999999999999999999999999",
                "less_than_equal `limit` is at most 100.",
            ),
            ("limit=1.0", "int_parsing `limit` is a whole number."),
            ("limit=", "int_parsing `limit` is a whole number."),
            ("limit=-", "int_parsing `limit` is a whole number."),
            ("limit=%2B1", "int_parsing `limit` is a whole number."),
            ("limit=1e1", "int_parsing `limit` is a whole number."),
            ("limit=%D9%A1", "int_parsing `limit` is a whole number."),
            (
                "offset=2147483648",
                "less_than_equal `offset` is at most 2147483647.",
            ),
            (
                "least=9223372036854775808",
                "less_than_equal `least` is at most 9223372036854775807.",
            ),
            (
                "least=-9223372036854775809",
                "greater_than_equal `least` is at least -9223372036854775808.",
            ),
            ("price=NaN", "float_parsing `price` is a number."),
            ("price=inf", "float_parsing `price` is a number."),
            ("price=1e999", "float_parsing `price` is a number."),
            ("price=", "float_parsing `price` is a number."),
            ("price=-0.01", "greater_than_equal `price` is at least 0."),
            ("owned=yes", "bool_parsing `owned` is true or false."),
            ("owned=", "bool_parsing `owned` is true or false."),
            ("ids=12", "uuid_parsing `ids` is a UUID."),
            ("role=seller", "enum `role` is one of vendor, buyer."),
            ("role=", "enum `role` is one of vendor, buyer."),
            ("roles=Vendor", "enum `roles` is one of vendor, buyer."),
            (
                "limit=3&limit=4",
                "repeated `limit` takes one value and was sent more than once.",
            ),
            (
                "limit=3&limit=x&limit=5",
                "repeated `limit` takes one value and was sent more than once.",
            ),
            (
                "tags=abcdef",
                "string_too_long `tags` takes at most 5 characters.",
            ),
            ("slug=a", "string_too_short `slug` takes at least 2 characters."),
            (
                "limt=3&limt=4",
                "extra_forbidden There is no parameter `limt` here; did you mean `limit`?",
            ),
        ] {
            let problems = read::<Sample>(query).unwrap_err();
            let told: Vec<String> = problems
                .iter()
                .map(|problem| format!("{} {}", problem.kind, problem.msg))
                .collect();
            assert_eq!(told, [expected], "{query}");
        }
        assert_eq!(read::<Sample>("slug=A1").unwrap_err()[0].kind, "value_error");
        let ids = format!("ids={ID}&ids={ID}&ids={ID}");
        assert_eq!(read::<Sample>(&ids).unwrap_err()[0].kind, "too_long");
    }

    #[test]
    fn all_faults_are_told_where_they_are() {
        let problems = read::<Sample>(&format!("limit=0&ids={ID}&price=x&ids=1&zzz=1")).unwrap_err();
        let places: Vec<Value> = problems.iter().map(|problem| json!(problem.loc)).collect();
        let expected = [
            json!(["query", "limit"]),
            json!(["query", "price"]),
            json!(["query", "ids", 1]),
            json!(["query", "zzz"]),
        ];
        assert_eq!(places, expected);
        let missing = read::<Needy>("").unwrap_err();
        assert!(missing.len() == 2 && missing.iter().all(|problem| problem.kind == "missing"));
        assert!(read::<Needy>(&format!("asset_id={ID}&channel=")).is_ok());
    }

    #[test]
    fn a_long_query_of_nonsense_costs_little() {
        let nonsense: String = (0..10_000)
            .map(|number| format!("{number}{}=&", "x".repeat(1000)))
            .collect();
        let problems = read::<Sample>(&nonsense).unwrap_err();
        assert_eq!(problems.len(), MAX_PROBLEMS);
        assert!(problems[0].msg.len() < 300);
        let told = read::<NoParams>("a=1").unwrap_err();
        assert_eq!(
            told[0].msg,
            "There is no parameter `a` here; this operation takes none."
        );
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(query in "[ -~]{0,80}", value in "[%0-9a-fA-F+.-]{0,12}") {
            let _ = read::<Sample>(&query);
            for name in ["tags", "ids", "owned", "limit", "offset", "least", "price", "role", "slug"] {
                let _ = read::<Sample>(&format!("{name}={value}"));
            }
        }

        #[test]
        fn integers_are_read_as_rust_reads_them(number: i128) {
            for number in [number, number >> 64, number >> 96] {
                let read = read::<Sample>(&format!("least={number}&offset={number}"));
                let fits = i64::try_from(number).is_ok() && i32::try_from(number).is_ok();
                prop_assert_eq!(read.is_ok(), fits);
            }
        }
    }
}
