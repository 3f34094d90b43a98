//! Parses a JSON body by a [`Rule`]: checks each value when it arrives, and keeps only what the rule allows.
//!
//! The valid parts of an invalid body are kept, so that operations can check these, too. An invalid body of any
//! shape takes no more memory than a valid one: invalid parts are not built, and nothing is built after the last
//! reported problem. Nesting is limited by the JSON parser (128 levels).

use std::mem;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess};
use serde_json::{Map, Value};

use crate::{
    error::{Error, Problem, Result},
    json_values::{Name, Next, ReadJson, SKIP, skip_elements, skip_entries},
    rest::arguments::{
        request_body::{
            free_form::FreeForm,
            path::Path,
            rules::{Fault, Field, Rule},
            state::{State, duplicate_fault},
        },
        unknown_names,
    },
};

/// A body that is valid JSON, as far as it satisfies its rule.
#[derive(Debug)]
pub struct Parsed {
    /// The body without its invalid parts: a field is absent, and an element of an array is null. `None` if
    /// no part can be kept.
    pub value: Option<Value>,
    /// All problems, or more than are reported.
    pub problems: Vec<Problem>,
    /// Bytes of memory that values of any shape take.
    pub free_form_bytes: usize,
}

/// Parses a body by a rule. Fails if it is not valid JSON.
pub fn parse(bytes: &[u8], rule: &Rule) -> Result<Parsed> {
    let max_bytes = FreeForm::max_bytes(bytes.len());
    let mut state = State::new(max_bytes);
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let seed = RuleSeed { rule, is_nullable: false, path: &Path::Root, state: &mut state };
    let parsed = seed.deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    let State { problems, free_form_bytes } = state;
    match parsed {
        Ok(value) => Ok(Parsed { value, problems, free_form_bytes: max_bytes - free_form_bytes }),
        Err(error) => {
            Err(Error::Malformed(format!("The body is not valid JSON: {error}. Fix it and send it again.")))
        }
    }
}

/// Deserializes a value by a rule. The result is `None` if no part of the value can be kept.
struct RuleSeed<'a> {
    rule: &'a Rule,
    is_nullable: bool,
    path: &'a Path<'a>,
    state: &'a mut State,
}

impl RuleSeed<'_> {
    /// Reports the faults of the value. Returns whether there are none.
    fn valid(self, faults: Vec<Fault>) -> bool {
        let is_valid = faults.is_empty();
        for fault in faults {
            self.state.report(self.path, fault);
        }
        is_valid
    }

    fn elements<'de, A: SeqAccess<'de>>(
        self,
        (rule, min, max): (&Rule, usize, usize),
        mut items: A,
    ) -> std::result::Result<Option<Value>, A::Error> {
        let RuleSeed { path, state, .. } = self;
        let (mut values, mut length) = (Vec::new(), 0);
        while length < max {
            // After the last problem that is reported, elements are only counted: the problem with their number
            // comes before the problems with the elements.
            if state.is_full() {
                if items.next_element_seed(SKIP)?.is_none() {
                    break;
                }
            } else {
                let path = Path::Index(path, length);
                let seed = RuleSeed { rule, is_nullable: false, path: &path, state: &mut *state };
                // An element that is invalid keeps its place.
                let Some(value) = items.next_element_seed(seed)? else { break };
                values.push(value.unwrap_or_default());
            }
            length += 1;
        }
        if length == max && items.next_element_seed(SKIP)?.is_some() {
            state.report(path, ("too_long", format!("must have at most {max} elements")));
            skip_elements(&mut items)?;
        }
        if length < min {
            state.report(path, ("too_short", format!("must have a length of at least {min}")));
            return Ok(None);
        }
        Ok(Some(Value::Array(values)))
    }

    fn map<'de, A: MapAccess<'de>>(
        self,
        rule: &Rule,
        max: usize,
        mut entries: A,
    ) -> std::result::Result<Option<Value>, A::Error> {
        let RuleSeed { path, state, .. } = self;
        let mut map = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            let is_repeated = map.contains_key(&name);
            if map.len() == max && !is_repeated {
                entries.next_value_seed(SKIP)?;
                state.report(path, ("too_long", format!("must have at most {max} entries")));
                skip_entries(&mut entries)?;
                break;
            }
            let path = Path::Name(path, &name);
            // After the last problem that is reported, entries are only counted, like elements of an array.
            if is_repeated || state.is_full() {
                entries.next_value_seed(SKIP)?;
                if !state.is_full() {
                    state.report(&path, duplicate_fault());
                }
                // Without a maximum, there is nothing to count.
                if max < usize::MAX {
                    map.entry(name).or_insert(Value::Null);
                }
                continue;
            }
            let seed = RuleSeed { rule, is_nullable: false, path: &path, state: &mut *state };
            let value = entries.next_value_seed(seed)?;
            // An invalid value keeps its place, too.
            map.insert(name, value.unwrap_or_default());
        }
        Ok(Some(Value::Object(map)))
    }

    fn fields<'de, A: MapAccess<'de>>(
        self,
        fields: &[Field],
        mut entries: A,
    ) -> std::result::Result<Option<Value>, A::Error> {
        let RuleSeed { path, state, .. } = self;
        let mut is_present = vec![false; fields.len()];
        let mut values = Map::new();
        while let Some(Name(name)) = entries.next_key()? {
            let Some(index) = fields.iter().position(|field| field.name == name) else {
                entries.next_value_seed(SKIP)?;
                if !state.is_full() {
                    state.problems.push(unknown_field(path, fields, &name));
                }
                continue;
            };
            let Field { name, rule, is_nullable, .. } = &fields[index];
            let (is_nullable, path) = (*is_nullable, &Path::Name(path, name));
            let is_repeated = mem::replace(&mut is_present[index], true);
            if is_repeated || state.is_full() {
                entries.next_value_seed(SKIP)?;
                if !state.is_full() {
                    state.report(path, duplicate_fault());
                }
                continue;
            }
            let seed = RuleSeed { rule, is_nullable, path, state: &mut *state };
            if let Some(value) = entries.next_value_seed(seed)? {
                values.insert((*name).to_owned(), value);
            }
        }
        for (field, is_present) in fields.iter().zip(is_present) {
            if field.is_required && !is_present {
                state.report(&Path::Name(path, field.name), ("missing", "is required".to_owned()));
            }
        }
        Ok(Some(Value::Object(values)))
    }
}

impl<'de> DeserializeSeed<'de> for RuleSeed<'_> {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> std::result::Result<Self::Value, D::Error> {
        match self.rule {
            Rule::Any => Next(FreeForm { path: self.path, state: self.state }).deserialize(deserializer),
            _ => Next(self).deserialize(deserializer),
        }
    }
}

impl ReadJson for RuleSeed<'_> {
    type Output = Option<Value>;

    fn scalar<E: de::Error>(self, mut value: Value) -> std::result::Result<Self::Output, E> {
        if self.is_nullable && value.is_null() {
            return Ok(Some(value));
        }
        let faults = self.rule.check_scalar(&mut value);
        Ok(self.valid(faults).then_some(value))
    }

    fn text<E: de::Error>(self, text: &str) -> std::result::Result<Self::Output, E> {
        let faults = self.rule.check_text(text);
        Ok(self.valid(faults).then(|| Value::from(text)))
    }

    fn array<'de, A: SeqAccess<'de>>(self, mut items: A) -> std::result::Result<Self::Output, A::Error> {
        if let Rule::Array(rule, min, max) = self.rule {
            return self.elements((rule, *min, *max), items);
        }
        self.state.report(self.path, self.rule.type_fault());
        skip_elements(&mut items)?;
        Ok(None)
    }

    fn object<'de, A: MapAccess<'de>>(self, mut entries: A) -> std::result::Result<Self::Output, A::Error> {
        match self.rule {
            Rule::Object(fields) => self.fields(fields, entries),
            Rule::Map(rule, max) => self.map(rule, *max, entries),
            _ => {
                self.state.report(self.path, self.rule.type_fault());
                skip_entries(&mut entries)?;
                Ok(None)
            }
        }
    }
}

/// Returns the problem with a name that an object must not have.
fn unknown_field(path: &Path, fields: &[Field], name: &str) -> Problem {
    let name = unknown_names::truncate_name(name);
    let msg = unknown_names::unknown_name_message("field", &name, fields.iter().map(|field| field.name));
    Problem { loc: Path::Name(path, &name).to_loc(), msg, kind: "extra_forbidden" }
}
