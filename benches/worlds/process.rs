//! What a process occupies, according to the system.

use std::fs;

/// What a process occupies at one time.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// Resident memory in MB, with that of files.
    pub resident_mb: f64,
    /// Anonymous memory in MB.
    pub anonymous_mb: f64,
    /// Number of threads.
    pub threads: usize,
    /// Number of open files.
    pub files: usize,
    /// CPU milliseconds so far, in steps of 10.
    pub cpu_ms: f64,
}

impl Usage {
    /// Returns what this process occupies now.
    pub fn now() -> Usage {
        Usage::of_process("self")
    }

    /// Returns what the process with this ID occupies now.
    pub fn of_process(id: &str) -> Usage {
        let read = |file: &str| fs::read_to_string(format!("/proc/{id}/{file}"));
        let status = read("status").expect("read the status of the process");
        let value = |name: &str| -> f64 {
            let line =
                status.lines().find_map(|line| line.strip_prefix(name)).expect("the status has the field");
            line.trim_start_matches(':')
                .split_whitespace()
                .next()
                .expect("a value")
                .parse()
                .expect("a number")
        };
        let stat = read("stat").expect("read the times of the process");
        let fields = stat.rsplit(") ").next().expect("the times have fields").split(' ');
        let ticks = fields.skip(11).take(2).map(|ticks| ticks.parse::<f64>().expect("ticks are a number"));
        Usage {
            resident_mb: value("VmRSS") / 1024.0,
            anonymous_mb: value("RssAnon") / 1024.0,
            threads: value("Threads") as usize,
            files: fs::read_dir(format!("/proc/{id}/fd")).expect("list the open files").count(),
            cpu_ms: ticks.sum::<f64>() * 10.0,
        }
    }
}
