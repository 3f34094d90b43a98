//! Figures about the process, from `/proc`. Figures that cannot be read are left out.

use std::fs;

use crate::domain::time::Timestamp;

/// Ticks per second in which the kernel states CPU time, on every architecture of Linux.
const TICKS_PER_SECOND: f64 = 100.0;

/// Figures about the process.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProcessFigures {
    pub(super) cpu_seconds: Option<f64>,
    pub(super) resident_bytes: Option<f64>,
    pub(super) threads: Option<f64>,
    pub(super) open_files: Option<f64>,
    pub(super) max_files: Option<f64>,
    pub(super) started_at: f64,
}

impl ProcessFigures {
    /// Reads the figures of a process that was started at this time.
    pub(super) fn read(started_at: Timestamp) -> ProcessFigures {
        let text = |name: &str| fs::read_to_string(format!("/proc/self/{name}")).unwrap_or_default();
        let (stat, status, limits) = (text("stat"), text("status"), text("limits"));
        let kilobytes = number_after(&status, "VmRSS:");
        ProcessFigures {
            cpu_seconds: cpu_seconds(&stat),
            resident_bytes: kilobytes.map(|kilobytes| kilobytes * 1024.0),
            threads: number_after(&status, "Threads:"),
            open_files: fs::read_dir("/proc/self/fd").ok().map(|files| files.count() as f64),
            max_files: number_after(&limits, "Max open files"),
            started_at: started_at.0 as f64 / 1e6,
        }
    }
}

/// Returns the first number in the line of a text that begins with a name.
fn number_after(text: &str, name: &str) -> Option<f64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// Returns the CPU time in the state of a process. The name of the program before it can contain anything.
fn cpu_seconds(stat: &str) -> Option<f64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / TICKS_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_this_process_are_found() {
        let figures = ProcessFigures::read(Timestamp(1_700_000_000_000_000));
        assert!(figures.resident_bytes.is_some_and(|bytes| bytes > 1e5), "{figures:?}");
        assert!(figures.threads.is_some_and(|threads| threads >= 1.0), "{figures:?}");
        assert!(figures.open_files.is_some_and(|files| files >= 1.0), "{figures:?}");
        assert!(figures.max_files.is_some_and(|files| files >= 1.0), "{figures:?}");
        assert!(figures.cpu_seconds.is_some(), "{figures:?}");
        assert!(figures.started_at > 1e9, "{figures:?}");
    }

    #[test]
    fn cpu_time_follows_the_name_of_the_program() {
        let stat = "7 (a) b) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0 4 0 100";
        assert_eq!(cpu_seconds(stat), Some(3.0));
        assert_eq!(cpu_seconds(""), None);
    }
}
