//! IDs that are derived from names.

use uuid::Uuid;

/// UUID namespace for IDs derived from names. Documented in `fixtures/schema.json`.
pub const NAMESPACE: Uuid = Uuid::from_u128(0x6d61_726b_6574_706c_6163_6500_0000_0001);

/// Returns the ID of a fixture record: the UUIDv5 of `collection/key` in [`NAMESPACE`].
pub fn fixture_record_id(collection: &str, key: &str) -> Uuid {
    Uuid::new_v5(&NAMESPACE, format!("{collection}/{key}").as_bytes())
}
