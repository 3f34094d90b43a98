//! A generated repository of texts that look like source code, identical in each run: files are added one
//! after another and then changed in places.

use std::{fmt::Write as _, io::Write as _, path::Path, process::Command, process::Stdio};

/// Maximum number of files.
const FILES: u64 = 1_600;

/// Number of lines per file.
const LINES: usize = 320;

/// Number of files that a commit changes, and of lines that it replaces in each.
const CHANGED_FILES: u64 = 3;
const CHANGED_LINES: usize = 24;

const EXTENSIONS: [&str; 7] = ["rs", "py", "ts", "c", "go", "java", "rb"];

const WORDS: [&str; 32] = [
    "account", "amount", "balance", "branch", "buffer", "cache", "client", "commit", "count", "entry",
    "error", "field", "filter", "group", "handle", "index", "item", "ledger", "limit", "market", "number",
    "offset", "order", "page", "parse", "price", "query", "reader", "result", "state", "token", "writer",
];

/// A pseudo-random number generator with a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn word(&mut self) -> &'static str {
        WORDS[self.below(WORDS.len() as u64) as usize]
    }

    /// Returns a line that looks like source code in a C-like language.
    fn line(&mut self) -> String {
        let indent = "    ".repeat(self.below(3) as usize);
        let (a, b, c, number) = (self.word(), self.word(), self.word(), self.below(10_000));
        match self.below(4) {
            0 => format!("{indent}{a}_{b} = {c}({number}, {b})\n"),
            1 => format!("{indent}if ({a} > {number}) {{ return {b}.{c}({a}) }}\n"),
            2 => format!("{indent}{a}.{b}_{c}({number});\n"),
            _ => format!("{indent}call_{a}({b}{number}, \"{c} {number}\");\n"),
        }
    }
}

/// Creates a bare repository with `commits` commits, packed as Git packs it by default.
pub fn create_repository(path: &Path, commits: u64) {
    std::fs::create_dir_all(path).expect("create a directory");
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(path).args(arguments);
        command
    };
    let run = |command: &mut Command| assert!(command.status().expect("run git").success());
    run(&mut git(&["init", "--quiet", "--bare", "--initial-branch=main"]));
    let mut import = git(&["fast-import", "--quiet"]).stdin(Stdio::piped()).spawn().expect("start git");
    let mut input = std::io::BufWriter::new(import.stdin.take().expect("stdin is piped"));
    let mut random = Random(11);
    let mut files: Vec<(String, Vec<String>)> = Vec::new();
    for number in 0..commits {
        let mut changed = Vec::new();
        if number < FILES {
            let extension = EXTENSIONS[random.below(EXTENSIONS.len() as u64) as usize];
            let (directory, name) = (random.word(), random.word());
            let lines = (0..LINES).map(|_| random.line()).collect();
            files.push((format!("src/{directory}/{name}{number}.{extension}"), lines));
            changed.push(files.len() - 1);
        }
        for _ in 0..CHANGED_FILES {
            let file = random.below(files.len() as u64) as usize;
            let at = random.below((LINES - CHANGED_LINES) as u64) as usize;
            for line in &mut files[file].1[at..at + CHANGED_LINES] {
                *line = random.line();
            }
            changed.push(file);
        }
        changed.sort_unstable();
        changed.dedup();
        let mut head = String::new();
        let (author, time) = (random.below(40), 1_500_000_000 + number * 3_600);
        let message = format!("Change {} (#{number})\n", random.word());
        for role in ["author", "committer"] {
            let _ = writeln!(head, "{role} Dev {author} <dev{author}@example.com> {time} +0000");
        }
        write!(input, "commit refs/heads/main\n{head}data {}\n{message}", message.len())
            .expect("write a commit");
        for file in changed {
            let (path, text) = (&files[file].0, files[file].1.concat());
            write!(input, "M 100644 inline {path}\ndata {}\n{text}\n", text.len()).expect("write a file");
        }
        writeln!(input).expect("end the commit");
    }
    input.flush().expect("flush the input");
    drop(input);
    assert!(import.wait().expect("wait for git").success());
    run(&mut git(&["repack", "-adfq"]));
}
