//! Schemas without references and `allOf`, as far as parameters and bodies need them.

use poem_openapi::registry::{MetaSchema, MetaSchemaRef, Registry};

/// Returns the range of an integer format. All ranges are within `i64`, which is what the database stores.
pub fn integer_range(format: &str) -> (i64, i64) {
    match format {
        "int8" => (i8::MIN.into(), i8::MAX.into()),
        "int16" => (i16::MIN.into(), i16::MAX.into()),
        "int32" => (i32::MIN.into(), i32::MAX.into()),
        "uint8" => (0, u8::MAX.into()),
        "uint16" => (0, u16::MAX.into()),
        "uint32" => (0, u32::MAX.into()),
        "uint64" => (0, i64::MAX),
        _ => (i64::MIN, i64::MAX),
    }
}

/// Resolves the references of a schema and merges its `allOf` parts, to the extent that parameters and bodies
/// need.
pub fn resolve_schema(schema: &MetaSchemaRef, registry: &Registry) -> MetaSchema {
    let schema = match schema {
        MetaSchemaRef::Inline(schema) => schema.as_ref().clone(),
        MetaSchemaRef::Reference(name) => registry.schemas.get(name).cloned().unwrap_or(MetaSchema::ANY),
    };
    let parts: Vec<MetaSchema> = schema.all_of.iter().map(|part| resolve_schema(part, registry)).collect();
    parts.iter().fold(schema, merge_schemas)
}

/// Fills what `schema` leaves open from `other`, which applies to the same value. This is also used to move
/// bounds from an array to its items, because the framework puts the bounds of the items on the array.
pub fn merge_schemas(schema: MetaSchema, other: &MetaSchema) -> MetaSchema {
    MetaSchema {
        ty: if schema.ty.is_empty() { other.ty } else { schema.ty },
        format: schema.format.or(other.format),
        enum_items: if schema.enum_items.is_empty() { other.enum_items.clone() } else { schema.enum_items },
        minimum: schema.minimum.or(other.minimum),
        maximum: schema.maximum.or(other.maximum),
        min_length: schema.min_length.or(other.min_length),
        max_length: schema.max_length.or(other.max_length),
        pattern: schema.pattern.or_else(|| other.pattern.clone()),
        multiple_of: schema.multiple_of.or(other.multiple_of),
        items: schema.items.or_else(|| other.items.clone()),
        min_items: schema.min_items.or(other.min_items),
        max_items: schema.max_items.or(other.max_items),
        // Parts that result from flattened structs add fields.
        properties: [schema.properties, other.properties.clone()].concat(),
        required: [schema.required, other.required.clone()].concat(),
        additional_properties: schema.additional_properties.or_else(|| other.additional_properties.clone()),
        max_properties: schema.max_properties.or(other.max_properties),
        ..schema
    }
}
