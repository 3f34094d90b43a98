//! The declaration of several routes at once.

/// Declares routes: the type of each, the proof of access that it requires, and its attributes; and the list of them.
macro_rules! routes {
    ($($(#[$meta:meta])* $name:ident: $access:ty = $attributes:expr;)+) => {
        $(
            $(#[$meta])*
            pub struct $name;

            impl $crate::rest::route::Route for $name {
                type Access = $access;

                const ATTRIBUTES: $crate::rest::route::RouteAttributes = $attributes;
            }
        )+

        /// The routes of this file.
        pub const ROUTES: &[$crate::rest::route::DeclaredRoute] =
            &[$($crate::rest::route::DeclaredRoute::of::<$name>()),+];
    };
}

pub(crate) use routes;
