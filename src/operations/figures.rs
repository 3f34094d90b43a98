//! Figures of the whole market, for operators.

use super::access::Platform;
use crate::{
    domain::figures::Range,
    error::Result,
    market::Reader,
    store::{
        self,
        figures::{Figure, FigureRow},
    },
};

/// Returns the figure with this name; `None` if there is none.
pub fn find(name: &str) -> Option<&'static Figure> {
    store::figures::ALL.into_iter().find(|figure| figure.name == name)
}

/// Computes a figure for a range of time. One statement.
pub fn read(reader: &Reader, _: Platform, figure: &Figure, range: &Range) -> Result<Vec<FigureRow>> {
    store::figures::read(reader.rows, figure, range)
}

/// Computes the numbers of the whole range of a figure. One statement.
pub fn read_whole(reader: &Reader, _: Platform, figure: &Figure, range: &Range) -> Result<Vec<Option<i64>>> {
    store::figures::read_whole(reader.rows, figure, range)
}
