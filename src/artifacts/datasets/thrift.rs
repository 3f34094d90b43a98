//! The part of Thrift's compact protocol that is needed to validate Parquet metadata before the library reads
//! it: structs of integers, lists and structs; everything else is skipped. It allocates nothing, and takes at
//! most one step per byte.

/// Maximum nesting depth of structs and lists, as in the readers of the format itself.
const MAX_DEPTH: u32 = 32;

/// The header of a struct field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Field ID, unique within the struct.
    pub id: i16,
    /// Type of the value that follows.
    pub kind: Kind,
}

/// The next item of a struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A field header; its value comes next, unless it is a boolean.
    Field(Field),
    /// The end of the struct.
    End,
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
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
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Creates a cursor at the start of the bytes.
    pub const fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { bytes, at: 0 }
    }

    /// Returns the number of bytes read so far.
    pub const fn position(&self) -> usize {
        self.at
    }

    /// Reads the next field header of a struct. `last` is the ID of the previous field, or 0.
    pub fn field(&mut self, last: i16) -> Option<Step> {
        let head = self.byte()?;
        if head == 0 {
            return Some(Step::End);
        }
        let id = match head >> 4 {
            0 => i16::try_from(self.int()?).ok()?,
            by => last.checked_add(i16::from(by))?,
        };
        Some(Step::Field(Field { id, kind: kind(head & 0x0f)? }))
    }

    /// Reads a list header: the number of elements and their type.
    pub fn list(&mut self) -> Option<(usize, Kind)> {
        let head = self.byte()?;
        let length = match head >> 4 {
            15 => usize::try_from(self.varint()?).ok()?,
            length => usize::from(length),
        };
        if length == 0 {
            return Some((0, Kind::Byte));
        }
        // Each element takes at least one byte.
        (length <= self.bytes.len() - self.at).then_some((length, kind(head & 0x0f)?))
    }

    /// Reads an integer.
    pub fn int(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Skips a value of the given type.
    pub fn skip(&mut self, kind: Kind) -> Option<()> {
        self.skip_within(kind, false, MAX_DEPTH)
    }

    fn skip_within(&mut self, kind: Kind, is_element: bool, depth: u32) -> Option<()> {
        let below = depth.checked_sub(1)?;
        match kind {
            Kind::Bool(_) if is_element => self.pass(1),
            Kind::Bool(_) => Some(()),
            Kind::Byte => self.pass(1),
            Kind::Int => self.varint().map(|_| ()),
            Kind::Double => self.pass(8),
            Kind::Uuid => self.pass(16),
            Kind::Binary => {
                let length = usize::try_from(self.varint()?).ok()?;
                self.pass(length)
            }
            Kind::List => {
                let (length, kind) = self.list()?;
                (0..length).try_for_each(|_| self.skip_within(kind, true, below))
            }
            Kind::Map => {
                let length = usize::try_from(self.varint()?).ok()?;
                if length == 0 {
                    return Some(());
                }
                let kinds = self.byte()?;
                let (key, value) = (self::kind(kinds >> 4)?, self::kind(kinds & 0x0f)?);
                (0..length).try_for_each(|_| {
                    self.skip_within(key, true, below)?;
                    self.skip_within(value, true, below)
                })
            }
            Kind::Struct => {
                let mut last = 0;
                while let Step::Field(field) = self.field(last)? {
                    self.skip_within(field.kind, false, below)?;
                    last = field.id;
                }
                Some(())
            }
        }
    }

    fn pass(&mut self, length: usize) -> Option<()> {
        self.at = self.at.checked_add(length).filter(|at| *at <= self.bytes.len())?;
        Some(())
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}

fn kind(code: u8) -> Option<Kind> {
    Some(match code {
        1 => Kind::Bool(true),
        2 => Kind::Bool(false),
        3 => Kind::Byte,
        4..=6 => Kind::Int,
        7 => Kind::Double,
        8 => Kind::Binary,
        9 | 10 => Kind::List,
        11 => Kind::Map,
        12 => Kind::Struct,
        13 => Kind::Uuid,
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
        let mut cursor = Cursor::new(&bytes);
        assert_eq!(cursor.field(0), Some(Step::Field(Field { id: 1, kind: Kind::Int })));
        assert_eq!(cursor.int(), Some(-3));
        assert_eq!(cursor.field(1), Some(Step::Field(Field { id: 2, kind: Kind::List })));
        assert_eq!(cursor.skip(Kind::List), Some(()));
        assert_eq!(cursor.field(2), Some(Step::Field(Field { id: 20, kind: Kind::Bool(true) })));
        assert_eq!((cursor.field(20), cursor.position()), (Some(Step::End), 11));
        let mut whole = Cursor::new(&bytes);
        assert_eq!((whole.skip(Kind::Struct), whole.position()), (Some(()), 11));
    }

    #[test]
    fn what_is_deep_or_long_is_refused() {
        assert_eq!(Cursor::new(&vec![0x1c; 100_000]).skip(Kind::Struct), None);
        assert_eq!(Cursor::new(&[0xfc, 0xff, 0xff, 0xff, 0x7f]).list(), None);
        assert_eq!(Cursor::new(&[0x18, 0xff, 0xff, 0xff, 0xff, 0x7f]).skip(Kind::Struct), None);
        assert_eq!(Cursor::new(&[0x80; 20]).int(), None);
    }

    proptest::proptest! {
        /// Skipping arbitrary bytes terminates without a panic.
        #[test]
        fn any_bytes_are_skipped_or_refused(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300)) {
            let mut cursor = Cursor::new(&bytes);
            let _ = cursor.skip(Kind::Struct);
            proptest::prop_assert!(cursor.position() <= bytes.len());
        }
    }
}
