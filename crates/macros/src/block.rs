//! The block of handlers, and what it becomes.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Error, Ident, ImplItem, ItemImpl, LitStr, Result, Token,
    parse::{Parse, ParseStream},
};

use crate::handler::Handler;

mod keyword {
    syn::custom_keyword!(prefix);
    syn::custom_keyword!(tag);
}

/// The arguments of the attribute.
struct Arguments {
    prefix: LitStr,
    tag: Ident,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Arguments> {
        input.parse::<keyword::prefix>()?;
        input.parse::<Token![=]>()?;
        let prefix = input.parse()?;
        input.parse::<Token![,]>()?;
        input.parse::<keyword::tag>()?;
        input.parse::<Token![=]>()?;
        Ok(Arguments { prefix, tag: input.parse()? })
    }
}

/// Returns the type of an API, the framework's declaration of its handlers, and the list of its routes.
pub fn expand(arguments: TokenStream, block: TokenStream) -> Result<TokenStream> {
    let Arguments { prefix, tag } = syn::parse2(arguments)?;
    let ItemImpl { attrs, self_ty: api, items, .. } = syn::parse2(block)?;
    let handlers = handlers(items)?;
    let tag = LitStr::new(&format!("::marketplace::rest::tags::Tag::{tag}"), tag.span());
    let functions = handlers.iter().map(|handler| &handler.function);
    let routes = handlers.iter().map(|handler| &handler.route);
    Ok(quote! {
        /// The handlers of an API.
        #[derive(Clone, Copy, Debug, Default)]
        pub struct #api;

        #(#attrs)*
        #[::poem_openapi::OpenApi(prefix_path = #prefix, tag = #tag)]
        impl #api {
            #(#functions)*
        }

        impl ::marketplace::rest::route::Routes for #api {
            fn routes() -> ::std::vec::Vec<::marketplace::rest::route::DeclaredRoute> {
                const ROUTES: &[::marketplace::rest::route::DeclaredRoute] = &[#(#routes),*];
                ROUTES.to_vec()
            }
        }
    })
}

/// Returns the handlers of a block, or everything that is wrong with them.
fn handlers(items: Vec<ImplItem>) -> Result<Vec<Handler>> {
    let (mut handlers, mut errors): (Vec<Handler>, Vec<Error>) = (Vec::new(), Vec::new());
    for item in items {
        let handler = match item {
            ImplItem::Fn(function) => Handler::new(function),
            other => Err(Error::new_spanned(other, "only handlers belong into the block")),
        };
        match handler {
            Ok(handler) => handlers.push(handler),
            Err(error) => errors.push(error),
        }
    }
    let error = errors.into_iter().reduce(|mut all, error| {
        all.combine(error);
        all
    });
    error.map_or(Ok(handlers), Err)
}
