//! Texts of declarations. A macro that declares several APIs builds its texts with `concat!`, which the compiler expands only after
//! the attribute.

use syn::{
    Attribute, Error, Expr, ExprLit, Lit, LitStr, Meta, Result, Token, parse_quote, punctuated::Punctuated,
    spanned::Spanned,
};

/// Returns the text of a string literal, or of `concat!` of string literals.
pub fn text_of(expression: &Expr) -> Result<LitStr> {
    match expression {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Ok(text.clone()),
        // An argument of a macro is an invisible group.
        Expr::Group(group) => text_of(&group.expr),
        Expr::Macro(call) if call.mac.path.is_ident("concat") => {
            let parts = call.mac.parse_body_with(Punctuated::<LitStr, Token![,]>::parse_terminated)?;
            let text: String = parts.iter().map(LitStr::value).collect();
            Ok(LitStr::new(&text, call.span()))
        }
        other => Err(Error::new_spanned(other, "expected a text, or `concat!` of texts")),
    }
}

/// Replaces the texts of doc comments with string literals, which the web framework can read.
pub fn expand_docs(attributes: &mut [Attribute]) -> Result<()> {
    for attribute in attributes {
        if let Meta::NameValue(doc) = &mut attribute.meta
            && doc.path.is_ident("doc")
        {
            let text = text_of(&doc.value)?;
            doc.value = parse_quote!(#text);
        }
    }
    Ok(())
}
