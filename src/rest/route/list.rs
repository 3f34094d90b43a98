//! Lists of routes.

use poem_openapi::OpenApi;

use super::attributes::DeclaredRoute;

/// Handlers with their routes: those of one file, or of several as a tuple.
pub trait Routes: OpenApi + Default {
    /// Returns the routes, in the order in which agents see their tools.
    fn routes() -> Vec<DeclaredRoute>;
}

/// Implements [`Routes`] for tuples of two or more.
macro_rules! routes_of_tuples {
    ($last:ident) => {};
    ($first:ident $($other:ident)+) => {
        impl<$first: Routes, $($other: Routes),+> Routes for ($first, $($other),+) {
            fn routes() -> Vec<DeclaredRoute> {
                [$first::routes(), $($other::routes()),+].concat()
            }
        }

        routes_of_tuples!($($other)+);
    };
}

routes_of_tuples!(A B C D E F G H I J K L);
