//! Values of any shape in a JSON body, such as vendor-defined columns. Their memory is limited, since a value
//! of two bytes, such as an element of `[0,0]`, takes many times that in memory.

use serde::de::{Error, MapAccess, SeqAccess};
use serde_json::{Map, Value};

use crate::{
    json_values::{Next, ReadJson, SKIP, skip_elements, skip_entries},
    rest::arguments::request_body::{
        path::Path,
        state::{State, duplicate_fault},
    },
};

/// Estimated bytes of memory of a value, without what it contains.
const VALUE_BYTES: usize = size_of::<Value>() + 8;

/// Estimated bytes of memory of an array, without its elements. The first allocation has space for several.
const ARRAY_BYTES: usize = VALUE_BYTES + 4 * size_of::<Value>();

/// Estimated bytes of memory of an object, whose entries are allocated in groups.
const OBJECT_BYTES: usize = 640;

/// Estimated bytes of memory of an entry of an object, without the bytes of its name.
const ENTRY_BYTES: usize = 96;

/// Bytes of memory for values of any shape in a body, in addition to a multiple of the bytes of the body.
const BASE_BYTES: usize = 2 << 20;

/// Bytes of memory for values of any shape per byte of a body.
const BYTES_PER_BODY_BYTE: usize = 6;

/// Reads a value of any shape. The result is `None` if the body exceeds the memory for such values.
pub struct FreeForm<'a> {
    /// Path to the value.
    pub path: &'a Path<'a>,
    /// What parsing has found so far.
    pub state: &'a mut State,
}

impl FreeForm<'_> {
    /// Returns the memory in bytes for values of any shape in a body of this size.
    pub const fn max_bytes(body_bytes: usize) -> usize {
        BASE_BYTES + BYTES_PER_BODY_BYTE * body_bytes
    }

    /// Counts memory. Returns whether it may be used. The first time that it may not, this is reported.
    fn charge(&mut self, bytes: usize) -> bool {
        let available = self.state.free_form_bytes;
        self.state.free_form_bytes = available.saturating_sub(bytes);
        if available > bytes {
            return true;
        }
        if available > 0 {
            self.state.report(
                self.path,
                ("too_long", "and the values before it take too much memory; send fewer values".to_owned()),
            );
        }
        false
    }
}

impl ReadJson for FreeForm<'_> {
    type Output = Option<Value>;

    fn scalar<E: Error>(mut self, value: Value) -> Result<Option<Value>, E> {
        Ok(self.charge(VALUE_BYTES).then_some(value))
    }

    fn text<E: Error>(mut self, text: &str) -> Result<Option<Value>, E> {
        Ok(self.charge(VALUE_BYTES + text.len()).then(|| text.into()))
    }

    fn array<'de, A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Option<Value>, A::Error> {
        let mut values = Vec::new();
        if self.charge(ARRAY_BYTES) {
            loop {
                let path = Path::Index(self.path, values.len());
                match items.next_element_seed(Next(FreeForm { path: &path, state: &mut *self.state }))? {
                    Some(Some(value)) => values.push(value),
                    Some(None) => break,
                    None => return Ok(Some(Value::Array(values))),
                }
            }
        }
        drop(values);
        skip_elements(&mut items)?;
        Ok(None)
    }

    fn object<'de, A: MapAccess<'de>>(mut self, mut entries: A) -> Result<Option<Value>, A::Error> {
        let mut map = Map::new();
        let mut fits = self.charge(OBJECT_BYTES);
        while fits && !self.state.is_full() {
            let Some(name) = entries.next_key::<String>()? else { return Ok(Some(Value::Object(map))) };
            let path = Path::Name(self.path, &name);
            if map.contains_key(&name) {
                entries.next_value_seed(SKIP)?;
                self.state.report(&path, duplicate_fault());
                continue;
            }
            fits = self.charge(ENTRY_BYTES + name.len());
            if !fits {
                entries.next_value_seed(SKIP)?;
                break;
            }
            match entries.next_value_seed(Next(FreeForm { path: &path, state: &mut *self.state }))? {
                Some(value) => {
                    map.insert(name, value);
                }
                None => fits = false,
            }
        }
        drop(map);
        skip_entries(&mut entries)?;
        Ok(None)
    }
}
