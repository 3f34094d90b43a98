//! A handler: the declaration of its route, and what its arguments say about it.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{
    Error, Expr, Ident, ImplItemFn, LitStr, Result, Signature, Token, Type,
    parse::{Parse, ParseStream},
    parse_quote,
};

use crate::{
    argument::{Argument, has_doc_comment},
    text::{expand_docs, text_of},
};

/// The HTTP methods, each with how a request may be repeated: a variant of `Repeatability`.
const METHODS: [(&str, &str); 5] = [
    ("get", "Safe"),
    ("post", "OncePerKey"),
    ("put", "Idempotent"),
    ("patch", "Idempotent"),
    ("delete", "Idempotent"),
];

/// The types that carry an idempotency key.
const KEYED: [&str; 2] = ["Idempotent", "Change"];

/// A handler.
pub struct Handler {
    /// The function, as the web framework expects it.
    pub function: ImplItemFn,
    /// The expression of its route.
    pub route: TokenStream,
}

/// What the attribute of a handler states.
struct Declaration {
    path: LitStr,
    attributes: Expr,
}

impl Parse for Declaration {
    fn parse(input: ParseStream<'_>) -> Result<Declaration> {
        let path = text_of(&input.parse()?)?;
        input.parse::<Token![,]>()?;
        let attributes = input.parse()?;
        input.parse::<Option<Token![,]>>()?;
        Ok(Declaration { path, attributes })
    }
}

impl Handler {
    /// Reads a handler. Fails at what is missing or contradicts its declaration.
    pub fn new(mut function: ImplItemFn) -> Result<Handler> {
        let (method, repeatability, Declaration { path, attributes }) = take_declaration(&mut function)?;
        expand_docs(&mut function.attrs)?;
        if !has_doc_comment(&function.attrs) {
            return Err(Error::new_spanned(
                &function.sig.ident,
                "begin with a doc comment, which is the summary",
            ));
        }
        let operation = function.sig.ident.to_string();
        let (access, example) = read_arguments(&mut function.sig, &method, &path)?;
        let example = example.map_or_else(|| quote!(None), |example| quote!(Some(|| #example)));
        let route = quote! {
            ::marketplace::rest::route::DeclaredRoute::new(
                #operation,
                <#access as ::marketplace::rest::route::ProvesAccess>::REQUIRED,
                ::marketplace::rest::route::Repeatability::#repeatability,
                #example,
                {
                    const ATTRIBUTES: ::marketplace::rest::route::RouteAttributes = #attributes;
                    &ATTRIBUTES
                },
            )
        };
        let path = LitStr::new(&path.value().replace('{', ":").replace('}', ""), path.span());
        let method = LitStr::new(&method.to_string(), method.span());
        function.attrs.push(parse_quote!(#[oai(path = #path, method = #method, operation_id = #operation)]));
        function.sig.inputs.insert(0, parse_quote!(&self));
        Ok(Handler { function, route })
    }
}

/// Removes the declaration of the route from a function. Returns the method, how a request may be repeated, and the rest.
fn take_declaration(function: &mut ImplItemFn) -> Result<(Ident, Ident, Declaration)> {
    for (position, attribute) in function.attrs.iter().enumerate() {
        let Some(method) = attribute.path().get_ident() else { continue };
        if let Some((_, repeatability)) = METHODS.iter().find(|(name, _)| method == name) {
            let (method, declaration) = (method.clone(), attribute.parse_args()?);
            function.attrs.remove(position);
            return Ok((method, format_ident!("{repeatability}"), declaration));
        }
    }
    let message = "state the method, the path, and the attributes of the route, as in `#[get(\"/listings\", …)]`; \
                   other functions belong outside of the block";
    Err(Error::new_spanned(&function.sig.ident, message))
}

/// Checks and describes the arguments of a handler. Returns the type of the first one, which proves the access of the caller, and
/// the example of the body if there is one.
fn read_arguments(signature: &mut Signature, method: &Ident, path: &LitStr) -> Result<(Type, Option<Expr>)> {
    let name = signature.ident.clone();
    let mut arguments = signature.inputs.iter_mut().map(Argument::new).collect::<Result<Vec<_>>>()?;
    let Some(access) = arguments.first().map(|argument| argument.ty.clone()) else {
        return Err(Error::new_spanned(name, "the first argument of a handler is its `Call`"));
    };
    check_path(&arguments, path)?;
    if let Some(query) = arguments.iter().find(|argument| argument.is_any(&["Query"])) {
        return Err(Error::new_spanned(
            query.ty,
            "take the query by `Params`, which rejects unknown parameters",
        ));
    }
    if let Some(second) = arguments.iter().filter(|argument| argument.is_any(&["Params"])).nth(1) {
        return Err(Error::new_spanned(second.ty, "take all query parameters by one `Params`"));
    }
    let has_key = arguments.iter().any(|argument| argument.is_any(&KEYED));
    if has_key != (method == "post") {
        let message = "a POST operation takes `Idempotent`, and no other one does";
        return Err(Error::new_spanned(name, message));
    }
    let mut example = None;
    for argument in &mut arguments {
        if argument.is_any(&["Path"]) {
            argument.describe()?;
        }
        example = argument.take_example()?.or(example);
    }
    Ok((access, example))
}

/// Checks that the `Path` arguments are the parameters in the path, in its order: they are bound by position.
fn check_path(arguments: &[Argument<'_>], path: &LitStr) -> Result<()> {
    let text = path.value();
    let in_path = text.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
    let taken = arguments.iter().filter(|argument| argument.is_any(&["Path"])).map(Argument::name);
    if in_path.eq(taken) {
        return Ok(());
    }
    let message = "the `Path` arguments must have the names and the order of the parameters in the path";
    Err(Error::new_spanned(path, message))
}
