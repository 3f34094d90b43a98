//! The arguments of handlers, which are known by the names of their types.

use syn::{Attribute, Error, Expr, FnArg, Pat, Result, Type, parse_quote};

use crate::text::expand_docs;

/// An argument of a handler.
pub struct Argument<'f> {
    attributes: &'f mut Vec<Attribute>,
    /// Its type.
    pub ty: &'f Type,
    pattern: &'f Pat,
}

impl<'f> Argument<'f> {
    /// Reads an argument of a function. Fails if it is `self`.
    pub fn new(argument: &'f mut FnArg) -> Result<Argument<'f>> {
        match argument {
            FnArg::Typed(typed) => {
                expand_docs(&mut typed.attrs)?;
                Ok(Argument { attributes: &mut typed.attrs, ty: &typed.ty, pattern: &typed.pat })
            }
            FnArg::Receiver(receiver) => {
                Err(Error::new_spanned(receiver, "a handler takes no `self`, since an API has no state"))
            }
        }
    }

    /// Returns the name of the argument; empty for a pattern.
    pub fn name(&self) -> String {
        match self.pattern {
            Pat::Ident(pattern) => pattern.ident.to_string(),
            _ => String::new(),
        }
    }

    /// Whether the type has one of these names, whatever its module and its type arguments.
    pub fn is_any(&self, names: &[&str]) -> bool {
        let Type::Path(path) = self.ty else { return false };
        path.path.segments.last().is_some_and(|segment| names.iter().any(|name| segment.ident == name))
    }

    /// Describes a path parameter by its name unless it has a doc comment.
    pub fn describe(&mut self) -> Result<()> {
        if has_doc_comment(self.attributes) {
            return Ok(());
        }
        let name = self.name();
        let Some(record) = name.strip_suffix("_id") else {
            let message =
                "describe the path parameter in a doc comment, since its name does not end with `_id`";
            return Err(Error::new_spanned(self.pattern, message));
        };
        let description = format!(" ID of the {}.", record.replace('_', " "));
        self.attributes.push(parse_quote!(#[doc = #description]));
        Ok(())
    }

    /// Removes the example of the argument, which a body must have, and others must not.
    pub fn take_example(&mut self) -> Result<Option<Expr>> {
        let position = self.attributes.iter().position(|attribute| attribute.path().is_ident("example"));
        let example = position.map(|position| self.attributes.remove(position));
        match (example, self.is_any(&["Body"])) {
            (Some(example), true) => example.parse_args().map(Some),
            (None, false) => Ok(None),
            (Some(example), false) => Err(Error::new_spanned(example, "only a `Body` has an example")),
            (None, true) => {
                Err(Error::new_spanned(self.ty, "give the body an example: `#[example(json!({…}))]`"))
            }
        }
    }
}

/// Whether there is a doc comment among attributes.
pub fn has_doc_comment(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("doc"))
}
