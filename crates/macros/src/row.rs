//! Structs that are read from rows: each field is a column.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Attribute, Data, DeriveInput, Error, Field, LitStr, Member, Path, Result, Token, meta::ParseNestedMeta,
    parse::Parse,
};

/// What the attributes of a field state.
#[derive(Default)]
struct Attributes {
    names: Vec<LitStr>,
    is_pair: bool,
    is_json: bool,
    is_flat: bool,
    function: Option<Path>,
    has_default: bool,
}

/// Returns the implementation of `FromRow` for a struct.
pub fn expand(input: TokenStream) -> Result<TokenStream> {
    let DeriveInput { attrs, ident, data, .. } = syn::parse2(input)?;
    let Data::Struct(data) = data else {
        return Err(Error::new_spanned(ident, "only a struct can be read from a row"));
    };
    let mut by_position = false;
    parse(&attrs, |meta| {
        by_position = meta.path.is_ident("by_position");
        if by_position { Ok(()) } else { Err(meta.error("a struct has no such attribute")) }
    })?;
    let members: Vec<Member> = data.fields.members().collect();
    let values = members.iter().zip(&data.fields);
    let values =
        values.map(|(member, field)| value(member, field, by_position)).collect::<Result<Vec<_>>>()?;
    Ok(if by_position {
        quote! {
            impl ::marketplace::store::row::FromRow for #ident {
                fn from_row(row: &::rusqlite::Row) -> ::rusqlite::Result<Self> {
                    ::marketplace::store::row::FromColumns::from_columns(row, &mut ::std::default::Default::default())
                }
            }

            impl ::marketplace::store::row::FromColumns for #ident {
                fn from_columns(
                    row: &::rusqlite::Row,
                    columns: &mut ::marketplace::store::row::ColumnIndexes,
                ) -> ::rusqlite::Result<Self> {
                    // Fields are evaluated in this order.
                    Ok(Self { #(#members: #values),* })
                }
            }
        }
    } else {
        quote! {
            impl ::marketplace::store::row::FromRow for #ident {
                fn from_row(row: &::rusqlite::Row) -> ::rusqlite::Result<Self> {
                    Ok(Self { #(#members: #values),* })
                }
            }
        }
    })
}

/// Returns the expression that reads a field.
fn value(member: &Member, field: &Field, by_position: bool) -> Result<TokenStream> {
    let Attributes { names, is_pair, is_json, is_flat, function, has_default } = attributes(field)?;
    if by_position && (!names.is_empty() || function.is_some()) {
        return Err(Error::new_spanned(field, "a column that is read by its position has no name"));
    }
    if let Some(function) = function {
        return Ok(quote!(#function(row)?));
    }
    let mut names = names.iter().map(|name| quote!(#name));
    let mut column = || match (by_position, names.next(), member) {
        (true, _, _) => Ok(quote!(columns.next())),
        (false, Some(name), _) => Ok(name),
        (false, None, Member::Named(field)) if !is_pair => {
            let name = field.to_string();
            Ok(quote!(#name))
        }
        _ => Err(Error::new_spanned(field, "state the name of the column, or read it by its position")),
    };
    Ok(match (is_flat, is_pair, is_json, has_default) {
        (true, ..) if by_position => {
            quote!(::marketplace::store::row::FromColumns::from_columns(row, columns)?)
        }
        (true, ..) => quote!(::marketplace::store::row::FromRow::from_row(row)?),
        (_, true, ..) => {
            let (first, second) = (column()?, column()?);
            quote!({
                let (first, second): (Option<_>, Option<_>) = (row.get(#first)?, row.get(#second)?);
                first.zip(second)
            })
        }
        (.., is_json, has_default) => {
            let column = column()?;
            let read = if is_json {
                quote!(::marketplace::store::row::json(row, #column)?)
            } else {
                quote!(row.get(#column)?)
            };
            if has_default { quote!(Option::unwrap_or_default(#read)) } else { read }
        }
    })
}

/// Reads the attributes of a field.
fn attributes(field: &Field) -> Result<Attributes> {
    let mut found = Attributes::default();
    parse(&field.attrs, |meta| {
        let name = meta.path.get_ident().map(ToString::to_string);
        match name.as_deref() {
            Some("name") => found.names.push(meta.value()?.parse()?),
            Some("json") => found.is_json = true,
            Some("with") => found.function = Some(meta.value()?.parse()?),
            Some("default") => found.has_default = true,
            Some("flatten") => found.is_flat = true,
            Some("pair") => {
                found.is_pair = true;
                if !meta.input.is_empty() {
                    let names;
                    syn::parenthesized!(names in meta.input);
                    found.names.extend(names.parse_terminated(<LitStr as Parse>::parse, Token![,])?);
                }
            }
            _ => return Err(meta.error("a field has no such attribute")),
        }
        Ok(())
    })?;
    Ok(found)
}

/// Calls a function for each part of the attributes `#[row(…)]`.
fn parse(attributes: &[Attribute], mut read: impl FnMut(ParseNestedMeta<'_>) -> Result<()>) -> Result<()> {
    let mut rows = attributes.iter().filter(|attribute| attribute.path().is_ident("row"));
    rows.try_for_each(|attribute| attribute.parse_nested_meta(&mut read))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what a struct becomes, without spaces, or the error.
    fn expanded(input: &str) -> String {
        let output = expand(input.parse().unwrap());
        output.map_or_else(|error| error.to_string(), |tokens| tokens.to_string().replace(' ', ""))
    }

    #[test]
    fn fields_are_read_from_columns() {
        for (input, expected) in [
            ("struct Sale { id: Uuid, }", "FromRowforSale"),
            ("struct Sale { id: Uuid, }", r#"Self{id:row.get("id")?}"#),
            (r#"struct Sale { #[row(name = "type")] kind: Kind }"#, r#"kind:row.get("type")?"#),
            (
                "struct Sale { #[row(json)] tags: Tags }",
                r#"tags:::marketplace::store::row::json(row,"tags")?"#,
            ),
            (r#"struct Sale { #[row(name = "t", json)] tags: Tags }"#, r#"json(row,"t")?"#),
            (
                r#"struct Sale { #[row(pair("a", "b"))] ab: Option<(A, B)> }"#,
                r#"(row.get("a")?,row.get("b")?)"#,
            ),
            ("struct Sale { #[row(with = sales::state)] state: State }", "state:sales::state(row)?"),
            (
                "struct Sale { #[row(default)] text: String }",
                r#"Option::unwrap_or_default(row.get("text")?)"#,
            ),
            (
                "struct Own(#[row(flatten)] Sale);",
                "Self{0:::marketplace::store::row::FromRow::from_row(row)?}",
            ),
            ("#[row(by_position)] struct A { a: A, #[row(json)] b: B }", "a:row.get(columns.next())?"),
            ("#[row(by_position)] struct A { #[row(json)] b: B }", "row::json(row,columns.next())?"),
            (
                "#[row(by_position)] struct A { #[row(flatten)] b: B }",
                "FromColumns::from_columns(row,columns)?",
            ),
            (
                "#[row(by_position)] struct A { #[row(pair)] ab: Option<(A, B)> }",
                "(row.get(columns.next())?,row.get(columns.next())?)",
            ),
        ] {
            let output = expanded(input);
            assert!(output.contains(expected), "{expected} is not in\n{output}");
        }
    }

    #[test]
    fn contradictions_are_errors() {
        for (input, expected) in [
            ("enum Sale {}", "only a struct"),
            ("#[row(x)] struct Sale { id: Uuid }", "a struct has no such attribute"),
            ("struct Sale { #[row(x)] id: Uuid }", "a field has no such attribute"),
            ("struct Sale(Uuid);", "state the name of the column"),
            (r#"#[row(by_position)] struct Sale { #[row(name = "uuid")] id: Id }"#, "has no name"),
            (r#"struct Sale { #[row(pair("a"))] ab: Option<(A, B)> }"#, "state the name of the column"),
        ] {
            let output = expanded(input);
            assert!(output.contains(expected), "{expected} is not in\n{output}");
        }
    }
}
