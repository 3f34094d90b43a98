//! CPU time of reading an archive: a zip of many files, whose file list is read without unpacking.
//!
//! `FILES=100000 cargo bench --bench archives`

#![allow(clippy::print_stdout)] // The benchmark prints its result.

use std::io::{BufWriter, Write};

use marketplace::artifacts::{Limits, archive};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

/// Number of measurements. The median counts.
const ROUNDS: usize = 5;

fn main() {
    let files: u64 = std::env::var("FILES").ok().and_then(|text| text.parse().ok()).unwrap_or(100_000);
    let file = tempfile::NamedTempFile::new().expect("create a temporary file");
    let mut writer = ZipWriter::new(BufWriter::new(file.reopen().expect("open the temporary file")));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for number in 0..files {
        let name = format!("scans/box-{:03}/folder-{:02}/{number:07}.tiff", number % 300, number % 17);
        writer.start_file(name, options).expect("add a file");
        writer.write_all(b"II*\0").expect("write the file");
    }
    writer.finish().expect("finish the zip").flush().expect("flush the zip");
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = cpu_seconds();
            let limits = Limits { max_files: files + 1, max_ratio: 200 };
            let analysis = archive::read_summary(file.path(), limits, &|| true).expect("read the zip");
            assert_eq!(analysis.files, files);
            (cpu_seconds() - start) * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("{files} files: {:.0} ms of CPU time", times[ROUNDS / 2]);
}

/// Returns the CPU seconds of this process so far, from system ticks of 1/100 s.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("read the process status");
    let fields: Vec<&str> = stat.rsplit(") ").next().expect("the status has fields").split(' ').collect();
    let ticks: u64 =
        fields[11..13].iter().map(|field| field.parse::<u64>().expect("ticks are a number")).sum();
    ticks as f64 / 100.0
}
