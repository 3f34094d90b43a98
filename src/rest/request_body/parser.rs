//! Parses a JSON body by a [`Rule`]: checks each value when it arrives, and keeps only what the rule allows.
//!
//! A body that is invalid therefore costs little more than its bytes, whatever its shape. Nesting is limited
//! by the JSON parser (128 levels).

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::{
    free_form::FreeForm,
    path::Path,
    rules::{Field, Rule},
    skip::{Skip, skip_entries},
    state::{MAX_PROBLEMS, State, duplicate_fault},
};
use crate::{
    error::{Error, Problem, Result},
    rest::unknown_names,
};

/// Parses a body by a rule, or returns all problems with it. Also returns the bytes of memory that values of
/// any shape take.
pub fn parse(bytes: &[u8], rule: &Rule) -> Result<(Value, usize)> {
    let max_bytes = FreeForm::max_bytes(bytes.len());
    let mut state = State::new(max_bytes);
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let seed = RuleSeed { rule, is_nullable: false, path: &Path::Root, state: &mut state };
    let parsed = seed.deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    let State { problems, free_form_bytes } = state;
    match parsed {
        Err(error) if problems.len() < MAX_PROBLEMS => {
            Err(Error::Malformed(format!("The body is not valid JSON: {error}. Fix it and send it again.")))
        }
        Ok(Some(value)) if problems.is_empty() => Ok((value, max_bytes - free_form_bytes)),
        _ => Err(Error::Invalid(problems)),
    }
}

/// Deserializes a value by a rule. The result is `None` if the value, or anything before it, is invalid.
struct RuleSeed<'a> {
    rule: &'a Rule,
    is_nullable: bool,
    path: &'a Path<'a>,
    state: &'a mut State,
}

impl RuleSeed<'_> {
    fn scalar<E: serde::de::Error>(self, mut value: Value) -> std::result::Result<Option<Value>, E> {
        match self.rule.check_scalar(&mut value) {
            Ok(()) => Ok(Some(value)),
            Err(fault) => self.state.report(self.path, fault).map(|()| None),
        }
    }

    fn array<'de, A: SeqAccess<'de>>(
        self,
        (rule, min, max): (&Rule, usize, usize),
        mut items: A,
    ) -> std::result::Result<Option<Value>, A::Error> {
        let RuleSeed { path, state, .. } = self;
        let first_problem = state.problems.len();
        let mut values = Vec::new();
        let mut length = 0;
        while length < max {
            let path = Path::Index(path, length);
            let seed = RuleSeed { rule, is_nullable: false, path: &path, state: &mut *state };
            let Some(value) = items.next_element_seed(seed)? else { break };
            length += 1;
            if state.problems.is_empty() {
                values.extend(value);
            }
        }
        let is_too_long = length == max && items.next_element_seed(Skip)?.is_some();
        if is_too_long || length < min {
            // The length is reported instead of the elements.
            state.problems.truncate(first_problem);
            let fault = if is_too_long {
                ("too_long", format!("must have at most {max} elements"))
            } else {
                ("too_short", format!("must have a length of at least {min}"))
            };
            state.report(path, fault)?;
            while items.next_element_seed(Skip)?.is_some() {}
        }
        Ok(state.problems.is_empty().then_some(Value::Array(values)))
    }

    fn map<'de, A: MapAccess<'de>>(
        self,
        rule: &Rule,
        max: usize,
        mut entries: A,
    ) -> std::result::Result<Option<Value>, A::Error> {
        let RuleSeed { path, state, .. } = self;
        let first_problem = state.problems.len();
        let mut map = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            if map.len() == max && !map.contains_key(&name) {
                // The number of entries is reported instead of the entries.
                state.problems.truncate(first_problem);
                entries.next_value_seed(Skip)?;
                state.report(path, ("too_long", format!("must have at most {max} entries")))?;
                skip_entries(&mut entries)?;
                return Ok(None);
            }
            let path = Path::Name(path, &name);
            if map.contains_key(&name) {
                entries.next_value_seed(Skip)?;
                state.report(&path, duplicate_fault())?;
                continue;
            }
            let seed = RuleSeed { rule, is_nullable: false, path: &path, state: &mut *state };
            let value = entries.next_value_seed(seed)?;
            map.insert(name, value.unwrap_or_default());
        }
        Ok(state.problems.is_empty().then_some(Value::Object(map)))
    }

    fn object<'de, A: MapAccess<'de>>(
        self,
        fields: &[Field],
        mut entries: A,
    ) -> std::result::Result<Option<Value>, A::Error> {
        let mut object = ObjectState {
            fields,
            path: self.path,
            first_problem: self.state.problems.len(),
            state: self.state,
            is_present: vec![false; fields.len()],
            places: Vec::new(),
            values: Map::new(),
        };
        let result = object.read(&mut entries);
        // The problems found so far are in the documented order even if they are too many.
        object.sort_problems();
        result?;
        Ok(object.state.problems.is_empty().then_some(Value::Object(object.values)))
    }
}

impl<'de> DeserializeSeed<'de> for RuleSeed<'_> {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> std::result::Result<Self::Value, D::Error> {
        match self.rule {
            Rule::Any => FreeForm { path: self.path, state: self.state }.deserialize(deserializer),
            _ => deserializer.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for RuleSeed<'_> {
    type Value = Option<Value>;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E: serde::de::Error>(self) -> std::result::Result<Self::Value, E> {
        if self.is_nullable { Ok(Some(Value::Null)) } else { self.scalar(Value::Null) }
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> std::result::Result<Self::Value, E> {
        self.scalar(value.into())
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> std::result::Result<Self::Value, E> {
        self.scalar(value.into())
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> std::result::Result<Self::Value, E> {
        self.scalar(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> std::result::Result<Self::Value, E> {
        self.scalar(value.into())
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> std::result::Result<Self::Value, E> {
        match self.rule.check_text(text) {
            Ok(()) => Ok(self.state.problems.is_empty().then(|| Value::from(text))),
            Err(fault) => self.state.report(self.path, fault).map(|()| None),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> std::result::Result<Self::Value, A::Error> {
        if let Rule::Array(rule, min, max) = self.rule {
            return self.array((rule, *min, *max), items);
        }
        self.state.report(self.path, self.rule.type_fault())?;
        while items.next_element_seed(Skip)?.is_some() {}
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> std::result::Result<Self::Value, A::Error> {
        match self.rule {
            Rule::Object(fields) => self.object(fields, entries),
            Rule::Map(rule, max) => self.map(rule, *max, entries),
            _ => {
                self.state.report(self.path, self.rule.type_fault())?;
                skip_entries(&mut entries)?;
                Ok(None)
            }
        }
    }
}

/// An object with known fields that is being read.
struct ObjectState<'a> {
    fields: &'a [Field],
    path: &'a Path<'a>,
    state: &'a mut State,
    /// Number of problems before this object.
    first_problem: usize,
    /// Which fields the object has.
    is_present: Vec<bool>,
    /// The place of each problem of this object in the response: 0 for unknown names, then by field.
    places: Vec<usize>,
    values: Map<String, Value>,
}

impl ObjectState<'_> {
    fn read<'de, A: MapAccess<'de>>(&mut self, entries: &mut A) -> std::result::Result<(), A::Error> {
        while let Some(key) = entries.next_key_seed(KeySeed(self.fields))? {
            match key {
                Key::Field(index) => self.read_field(index, entries)?,
                Key::Unknown(name) => {
                    entries.next_value_seed(Skip)?;
                    let known = self.fields.iter().map(|field| field.name);
                    let msg = unknown_names::unknown_name_message("field", &name, known);
                    let loc = Path::Name(self.path, &name).to_loc();
                    self.state.push(Problem { loc, msg, kind: "extra_forbidden" })?;
                }
            }
        }
        for (index, field) in self.fields.iter().enumerate() {
            if field.is_required && !self.is_present[index] {
                self.mark_problems(0);
                let fault = ("missing", "is required".to_owned());
                let result = self.state.report(&Path::Name(self.path, field.name), fault);
                self.mark_problems(index + 1);
                result?;
            }
        }
        Ok(())
    }

    fn read_field<'de, A: MapAccess<'de>>(
        &mut self,
        index: usize,
        entries: &mut A,
    ) -> std::result::Result<(), A::Error> {
        self.mark_problems(0);
        let field = &self.fields[index];
        let path = Path::Name(self.path, field.name);
        let result = if self.is_present[index] {
            entries.next_value_seed(Skip)?;
            self.state.report(&path, duplicate_fault()).map(|()| None)
        } else {
            self.is_present[index] = true;
            let (rule, is_nullable) = (&field.rule, field.is_nullable);
            entries.next_value_seed(RuleSeed { rule, is_nullable, path: &path, state: &mut *self.state })
        };
        self.mark_problems(index + 1);
        if let Some(value) = result? {
            self.values.insert(field.name.to_owned(), value);
        }
        Ok(())
    }

    /// Records the place of all problems that have none.
    fn mark_problems(&mut self, place: usize) {
        self.places.resize(self.state.problems.len() - self.first_problem, place);
    }

    /// Orders the problems of this object: unknown names first, then by field.
    fn sort_problems(&mut self) {
        self.mark_problems(0);
        if self.places.is_sorted() {
            return;
        }
        let problems = self.state.problems.split_off(self.first_problem);
        let mut placed: Vec<(usize, Problem)> = self.places.drain(..).zip(problems).collect();
        placed.sort_by_key(|(place, _)| *place);
        self.state.problems.extend(placed.into_iter().map(|(_, problem)| problem));
    }
}

/// The name of an entry of an object with known fields.
enum Key {
    /// A field, by index.
    Field(usize),
    /// A name that is not a field, truncated.
    Unknown(String),
}

/// Deserializes a [`Key`] without copying the name.
struct KeySeed<'a>(&'a [Field]);

impl<'de> DeserializeSeed<'de> for KeySeed<'_> {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Key, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed<'_> {
    type Value = Key;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> std::result::Result<Key, E> {
        let found = self.0.iter().position(|field| field.name == name);
        Ok(found.map_or_else(|| Key::Unknown(unknown_names::truncate_name(name)), Key::Field))
    }
}
