//! What reading archives costs: CPU milliseconds for a zip of so many files, which is listed and not unpacked.
//!
//! `FILES=100000 cargo bench --bench archives`

#![allow(clippy::print_stdout)] // A table is what it is for.

use std::io::{BufWriter, Write};

use marketplace::artifacts::{Limits, archive};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

/// Readings, of which the middle one counts.
const ROUNDS: usize = 5;

fn main() {
    let files: u64 = std::env::var("FILES").ok().and_then(|text| text.parse().ok()).unwrap_or(100_000);
    let file = tempfile::NamedTempFile::new().expect("a file can be made");
    let mut writer = ZipWriter::new(BufWriter::new(file.reopen().expect("it can be opened")));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for number in 0..files {
        let name = format!("scans/box-{:03}/folder-{:02}/{number:07}.tiff", number % 300, number % 17);
        writer.start_file(name, options).expect("a file can be added");
        writer.write_all(b"II*\0").expect("bytes can be added");
    }
    writer.finish().expect("the zip can be ended").flush().expect("it is written");
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let begun = cpu_seconds();
            let limits = Limits { files: files + 1, ratio: 200 };
            let reading = archive::read(file.path(), limits, &|| true).expect("the zip can be read");
            assert_eq!(reading.files, files);
            (cpu_seconds() - begun) * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("{files} files: {:.0} ms of CPU time", times[ROUNDS / 2]);
}

/// CPU seconds that this process has used, in the system's ticks of a hundredth.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("a process");
    let fields: Vec<&str> = stat.rsplit(") ").next().expect("fields").split(' ').collect();
    let ticks: u64 = fields[11..13].iter().map(|field| field.parse::<u64>().expect("ticks")).sum();
    ticks as f64 / 100.0
}
