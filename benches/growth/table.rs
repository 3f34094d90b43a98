//! Figures at several numbers of things, and how they grow.

use std::{fmt, fs, path::Path, time::Duration};

/// CPU time for which a request is repeated, and the minimum number of repetitions.
const MEASURED_TIME: Duration = Duration::from_millis(300);
const MIN_REPETITIONS: u32 = 3;

/// A table with a row for each figure, and a column for each number of things.
pub struct Table {
    name: &'static str,
    sizes: Vec<usize>,
    rows: Vec<(String, &'static str, Vec<f64>)>,
}

impl Table {
    pub fn new(name: &'static str, sizes: &[usize]) -> Table {
        Table { name, sizes: sizes.to_vec(), rows: Vec::new() }
    }

    /// Adds a figure at the next number to the row of this name.
    pub fn add(&mut self, row: &str, unit: &'static str, figure: f64) {
        match self.rows.iter_mut().find(|(name, _, _)| name == row) {
            Some((_, _, figures)) => figures.push(figure),
            None => self.rows.push((row.to_owned(), unit, vec![figure])),
        }
    }

    /// Measures a request at the next number.
    pub fn add_request(&mut self, row: &str, mut request: impl FnMut()) {
        request();
        let (start, mut count) = (cpu_seconds(), 0);
        while count < MIN_REPETITIONS || cpu_seconds() - start < MEASURED_TIME.as_secs_f64() {
            request();
            count += 1;
        }
        self.add(row, "ms", (cpu_seconds() - start) * 1e3 / f64::from(count));
    }

    /// Returns the slope of the logarithm of the figures over that of the sizes, by least squares.
    fn exponent(&self, figures: &[f64]) -> f64 {
        let points: Vec<(f64, f64)> = self
            .sizes
            .iter()
            .zip(figures)
            .map(|(size, figure)| ((*size as f64).ln(), figure.max(1e-6).ln()))
            .collect();
        let count = points.len() as f64;
        let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / count;
        let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / count;
        let covariance: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
        covariance / points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum::<f64>()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "| {} |", self.name)?;
        self.sizes.iter().try_for_each(|size| write!(f, " {size} |"))?;
        writeln!(f, " exponent |\n| - |{} - |", " - |".repeat(self.sizes.len()))?;
        for (name, unit, figures) in &self.rows {
            write!(f, "| {name}, {unit} |")?;
            for figure in figures {
                let decimals = if *figure < 10.0 { 2 } else { 0 };
                write!(f, " {figure:.decimals$} |")?;
            }
            // There is none of a single number.
            let exponent = Some(self.exponent(figures)).filter(|exponent| exponent.is_finite());
            writeln!(f, " {} |", exponent.map_or(String::new(), |exponent| format!("{exponent:.2}")))?;
        }
        Ok(())
    }
}

/// Returns the CPU seconds of the process so far, over all threads.
pub fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32).as_secs_f64()
}

/// Returns the bytes of the files in a directory and its subdirectories.
pub fn directory_bytes(path: &Path) -> u64 {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let bytes = entries.map(|entry| {
        let path = entry.path();
        if path.is_dir() { directory_bytes(&path) } else { entry.metadata().map_or(0, |meta| meta.len()) }
    });
    bytes.sum()
}
