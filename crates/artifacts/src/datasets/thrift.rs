//! The part of Thrift's compact protocol that validates Parquet metadata before the library reads it: structs of
//! integers, lists, and structs. Everything else is skipped. It allocates nothing, and takes at most one step per
//! byte.

/// Maximum nesting depth of structs and lists, as in the readers of the format itself.
const MAX_NESTING: u32 = 32;

/// The header of a struct field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Field ID, unique within the struct.
    pub id: i16,
    /// Type of the value that follows.
    pub value_type: ValueType,
}

/// The next item of a struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StructItem {
    /// A field header; its value comes next, unless it is a boolean.
    Field(Field),
    /// The end of the struct.
    End,
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// A boolean, which the field header itself contains.
    Bool(bool),
    /// An 8-bit integer.
    Byte,
    /// An integer of 16, 32 or 64 bits.
    Int,
    /// A 64-bit floating-point number.
    Double,
    /// A byte string or text.
    Binary,
    /// A list or a set.
    List,
    /// A map.
    Map,
    /// A struct.
    Struct,
    /// A 16-byte UUID.
    Uuid,
}

/// A reader of encoded bytes. All methods return `None` if the bytes end early or are invalid.
#[derive(Clone, Debug)]
pub struct CompactReader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Maximum number of elements of the lists that are skipped.
    max_list: usize,
}

impl<'a> CompactReader<'a> {
    /// Creates a reader at the start of the bytes.
    pub const fn new(bytes: &'a [u8]) -> CompactReader<'a> {
        CompactReader { bytes, at: 0, max_list: usize::MAX }
    }

    /// Returns the number of bytes read so far.
    pub const fn position(&self) -> usize {
        self.at
    }

    /// Reads the next field header of a struct. `last` is the ID of the previous field, or 0.
    pub fn read_field(&mut self, last: i16) -> Option<StructItem> {
        let head = self.read_byte()?;
        if head == 0 {
            return Some(StructItem::End);
        }
        let id = match head >> 4 {
            0 => i16::try_from(self.read_int()?).ok()?,
            delta => last.checked_add(i16::from(delta))?,
        };
        Some(StructItem::Field(Field { id, value_type: parse_type(head & 0x0f)? }))
    }

    /// Reads a list header: the number of elements and their type.
    pub fn read_list_header(&mut self) -> Option<(usize, ValueType)> {
        let head = self.read_byte()?;
        let length = match head >> 4 {
            15 => usize::try_from(self.read_varint()?).ok()?,
            length => usize::from(length),
        };
        if length == 0 {
            return Some((0, ValueType::Byte));
        }
        // Each element takes at least one byte.
        (length <= self.bytes.len() - self.at).then_some((length, parse_type(head & 0x0f)?))
    }

    /// Reads an integer.
    pub fn read_int(&mut self) -> Option<i64> {
        let value = self.read_varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Skips a value of the given type.
    pub fn skip(&mut self, kind: ValueType) -> Option<()> {
        self.skip_nested(kind, false, MAX_NESTING)
    }

    /// Skips a value of the given type. Returns `None` if a list in it has more elements than `max_list`.
    pub fn skip_limited(&mut self, kind: ValueType, max_list: usize) -> Option<()> {
        self.max_list = max_list;
        let skipped = self.skip(kind);
        self.max_list = usize::MAX;
        skipped
    }

    fn skip_nested(&mut self, kind: ValueType, is_element: bool, depth: u32) -> Option<()> {
        let remaining_depth = depth.checked_sub(1)?;
        match kind {
            ValueType::Bool(_) if is_element => self.advance(1),
            ValueType::Bool(_) => Some(()),
            ValueType::Byte => self.advance(1),
            ValueType::Int => self.read_varint().map(|_| ()),
            ValueType::Double => self.advance(8),
            ValueType::Uuid => self.advance(16),
            ValueType::Binary => {
                let length = usize::try_from(self.read_varint()?).ok()?;
                self.advance(length)
            }
            ValueType::List => {
                let (length, kind) = self.read_list_header()?;
                if length > self.max_list {
                    return None;
                }
                (0..length).try_for_each(|_| self.skip_nested(kind, true, remaining_depth))
            }
            ValueType::Map => {
                let length = usize::try_from(self.read_varint()?).ok()?;
                if length == 0 {
                    return Some(());
                }
                let kinds = self.read_byte()?;
                let (key, value) = (self::parse_type(kinds >> 4)?, self::parse_type(kinds & 0x0f)?);
                (0..length).try_for_each(|_| {
                    self.skip_nested(key, true, remaining_depth)?;
                    self.skip_nested(value, true, remaining_depth)
                })
            }
            ValueType::Struct => {
                let mut last = 0;
                while let StructItem::Field(field) = self.read_field(last)? {
                    self.skip_nested(field.value_type, false, remaining_depth)?;
                    last = field.id;
                }
                Some(())
            }
        }
    }

    fn advance(&mut self, length: usize) -> Option<()> {
        self.at = self.at.checked_add(length).filter(|at| *at <= self.bytes.len())?;
        Some(())
    }

    fn read_byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn read_varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.read_byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}

fn parse_type(code: u8) -> Option<ValueType> {
    Some(match code {
        1 => ValueType::Bool(true),
        2 => ValueType::Bool(false),
        3 => ValueType::Byte,
        4..=6 => ValueType::Int,
        7 => ValueType::Double,
        8 => ValueType::Binary,
        9 | 10 => ValueType::List,
        11 => ValueType::Map,
        12 => ValueType::Struct,
        13 => ValueType::Uuid,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structs_are_read_and_skipped() {
        // Field 1: -3; field 2: a list of two one-byte strings; field 20: true; end of struct; one extra
        // byte.
        let bytes = [0x15, 5, 0x19, 0x28, 1, b'a', 1, b'b', 0x01, 40, 0, 9];
        let mut cursor = CompactReader::new(&bytes);
        assert_eq!(
            cursor.read_field(0),
            Some(StructItem::Field(Field { id: 1, value_type: ValueType::Int }))
        );
        assert_eq!(cursor.read_int(), Some(-3));
        assert_eq!(
            cursor.read_field(1),
            Some(StructItem::Field(Field { id: 2, value_type: ValueType::List }))
        );
        assert_eq!(cursor.skip(ValueType::List), Some(()));
        assert_eq!(
            cursor.read_field(2),
            Some(StructItem::Field(Field { id: 20, value_type: ValueType::Bool(true) }))
        );
        assert_eq!((cursor.read_field(20), cursor.position()), (Some(StructItem::End), 11));
        let mut reader = CompactReader::new(&bytes);
        assert_eq!((reader.skip(ValueType::Struct), reader.position()), (Some(()), 11));
    }

    #[test]
    fn deep_or_long_values_are_rejected() {
        assert_eq!(CompactReader::new(&vec![0x1c; 100_000]).skip(ValueType::Struct), None);
        assert_eq!(CompactReader::new(&[0xfc, 0xff, 0xff, 0xff, 0x7f]).read_list_header(), None);
        assert_eq!(CompactReader::new(&[0x18, 0xff, 0xff, 0xff, 0xff, 0x7f]).skip(ValueType::Struct), None);
        assert_eq!(CompactReader::new(&[0x80; 20]).read_int(), None);
    }

    proptest::proptest! {
        /// Skipping arbitrary bytes terminates without a panic.
        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300)) {
            let mut cursor = CompactReader::new(&bytes);
            let _ = cursor.skip(ValueType::Struct);
            proptest::prop_assert!(cursor.position() <= bytes.len());
        }
    }
}
