//! What visitors that only look at the structure of a JSON text have in common: they accept scalars without
//! keeping them.

/// Implements the methods of a serde visitor for null, booleans, and numbers, which it accepts and drops, and its
/// description. The visitor's value is `()`.
#[macro_export]
macro_rules! ignore_json_scalars {
    () => {
        fn expecting(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
            formatter.write_str("a JSON value")
        }

        fn visit_unit<E>(self) -> Result<(), E> {
            Ok(())
        }

        fn visit_bool<E>(self, _: bool) -> Result<(), E> {
            Ok(())
        }

        fn visit_i64<E>(self, _: i64) -> Result<(), E> {
            Ok(())
        }

        fn visit_u64<E>(self, _: u64) -> Result<(), E> {
            Ok(())
        }

        fn visit_f64<E>(self, _: f64) -> Result<(), E> {
            Ok(())
        }
    };
}

pub use ignore_json_scalars;
