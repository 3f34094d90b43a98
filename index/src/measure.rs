//! The numeric properties of listings that filters can bound, and a map with a value for each.

use std::ops::{Index, IndexMut};

/// A numeric property of a listing, which filters can bound.
///
/// The columns, digests, and cursors follow the order of the variants: a new variant or another order needs a
/// new [`SCHEMA_VERSION`](crate::SCHEMA_VERSION).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Buy-now price in cents.
    Price,
    /// Price of the sample in cents; present only if a sample is offered.
    SamplePrice,
    /// Buy-now price divided by the number of tasks, in cents, rounded half up; absent without tasks or
    /// price.
    PricePerTask,
    /// Tier of the vendor team, 1 to 3.
    VendorTier,
    /// Number of tasks in tasksets and bundles.
    Tasks,
    /// Lines of code.
    Loc,
    /// Number of files in the attached zips.
    ZipFiles,
    /// Total size of the attached zips, in bytes.
    ZipBytes,
    /// Number of attached codebases.
    Codebases,
    /// Number of attached tasksets and bundles.
    Tasksets,
    /// Number of attached environments.
    Environments,
    /// Number of attached robotics datasets.
    RoboticsDatasets,
    /// Number of attached raw data zips.
    RawData,
    /// Number of attached assets of any kind.
    Assets,
}

impl Measure {
    /// Number of measures.
    pub const COUNT: usize = Measure::Assets as usize + 1;

    /// All measures, in the order of the variants.
    pub const ALL: [Measure; Measure::COUNT] = [
        Measure::Price,
        Measure::SamplePrice,
        Measure::PricePerTask,
        Measure::VendorTier,
        Measure::Tasks,
        Measure::Loc,
        Measure::ZipFiles,
        Measure::ZipBytes,
        Measure::Codebases,
        Measure::Tasksets,
        Measure::Environments,
        Measure::RoboticsDatasets,
        Measure::RawData,
        Measure::Assets,
    ];

    /// Returns whether a missing value differs from 0. If so, bounds exclude listings without the value.
    pub const fn is_optional(self) -> bool {
        matches!(self, Measure::Price | Measure::SamplePrice | Measure::PricePerTask)
    }
}

/// A value for each measure, which may be the default value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerMeasure<T>([T; Measure::COUNT]);

impl<T> PerMeasure<T> {
    /// Computes the value of each measure.
    pub fn from_fn(value: impl FnMut(Measure) -> T) -> PerMeasure<T> {
        PerMeasure(Measure::ALL.map(value))
    }

    /// Iterates over the measures with their values, in the order of [`Measure::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (Measure, &T)> {
        Measure::ALL.into_iter().zip(&self.0)
    }
}

impl<T> Index<Measure> for PerMeasure<T> {
    type Output = T;

    fn index(&self, measure: Measure) -> &T {
        &self.0[measure as usize]
    }
}

impl<T> IndexMut<Measure> for PerMeasure<T> {
    fn index_mut(&mut self, measure: Measure) -> &mut T {
        &mut self.0[measure as usize]
    }
}

/// Replaces the values of some measures.
impl<T> Extend<(Measure, T)> for PerMeasure<T> {
    fn extend<I: IntoIterator<Item = (Measure, T)>>(&mut self, values: I) {
        for (measure, value) in values {
            self[measure] = value;
        }
    }
}

/// Sets the values of some measures; the others have the default value.
impl<T: Default, const N: usize> From<[(Measure, T); N]> for PerMeasure<T> {
    fn from(values: [(Measure, T); N]) -> PerMeasure<T> {
        let mut all = PerMeasure(Default::default());
        all.extend(values);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::{Measure, PerMeasure};

    #[test]
    fn every_measure_has_its_own_value() {
        let measures = PerMeasure::from_fn(|measure| measure);
        assert!(Measure::ALL.into_iter().all(|measure| measures[measure] == measure));
        assert!(measures.iter().all(|(measure, value)| measure == *value));
        let loc = PerMeasure::from([(Measure::Loc, 1)]);
        assert!(loc.iter().all(|(measure, value)| *value == i32::from(measure == Measure::Loc)));
    }
}
