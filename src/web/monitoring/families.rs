//! Families of metrics in OpenMetrics: the name, the unit, the type, and the help of each, and its samples.

use std::fmt;

use prometheus_client::{
    encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet},
    metrics::{MetricType, exemplar::Exemplar},
    registry::Unit,
};

/// What all samples of a family have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Family {
    /// The name without the unit.
    pub(super) name: &'static str,
    /// The unit, which the full name ends in; empty for what has none.
    pub(super) unit: &'static str,
    /// What it says, in one sentence.
    pub(super) help: &'static str,
}

/// Labels of a sample.
pub(super) type Labels<'l, const N: usize> = [(&'static str, &'l str); N];

/// Numbers of values by upper bound, and the sum of the values.
#[derive(Debug)]
pub(super) struct Distribution {
    pub(super) buckets: Vec<(f64, u64)>,
    pub(super) sum: f64,
}

/// Writes families.
pub(super) struct Families<'e>(pub(super) DescriptorEncoder<'e>);

impl Families<'_> {
    /// Writes a family of values that go up and down.
    pub(super) fn gauges<'l, const N: usize>(
        &mut self,
        family: Family,
        samples: impl IntoIterator<Item = (Labels<'l, N>, f64)>,
    ) -> fmt::Result {
        self.write(family, MetricType::Gauge, samples, |encoder, value| encoder.encode_gauge(&value))
    }

    /// Writes a family with one value that goes up and down; without the value if it is not known.
    pub(super) fn gauge(&mut self, family: Family, value: Option<f64>) -> fmt::Result {
        self.gauges(family, value.map(|value| ([], value)))
    }

    /// Writes a family of values that only go up.
    pub(super) fn counters<'l, const N: usize>(
        &mut self,
        family: Family,
        samples: impl IntoIterator<Item = (Labels<'l, N>, f64)>,
    ) -> fmt::Result {
        self.write(family, MetricType::Counter, samples, |encoder, value| {
            encoder.encode_counter(&value, None::<&Exemplar<NoLabelSet, f64>>)
        })
    }

    /// Writes a family of distributions.
    pub(super) fn histograms<'l, const N: usize>(
        &mut self,
        family: Family,
        samples: impl IntoIterator<Item = (Labels<'l, N>, Distribution)>,
    ) -> fmt::Result {
        self.write(family, MetricType::Histogram, samples, |encoder, Distribution { buckets, sum }| {
            let count = buckets.iter().map(|(_, count)| count).sum();
            encoder.encode_histogram::<NoLabelSet>(sum, count, &buckets, None)
        })
    }

    /// Writes a family that only has labels.
    pub(super) fn info<const N: usize>(&mut self, family: Family, labels: Labels<N>) -> fmt::Result {
        self.0.encode_descriptor(family.name, family.help, None, MetricType::Info)?.encode_info(&labels)
    }

    fn write<'l, V, const N: usize>(
        &mut self,
        family: Family,
        kind: MetricType,
        samples: impl IntoIterator<Item = (Labels<'l, N>, V)>,
        write: impl Fn(&mut MetricEncoder, V) -> fmt::Result,
    ) -> fmt::Result {
        let unit = (!family.unit.is_empty()).then(|| Unit::Other(family.unit.to_owned()));
        let mut encoder = self.0.encode_descriptor(family.name, family.help, unit.as_ref(), kind)?;
        for (labels, value) in samples {
            write(&mut encoder.encode_family(&labels)?, value)?;
        }
        Ok(())
    }
}
