//! Runs the commands that pages print, each in one shell in the order of the page, and compares what they print.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

use regex::Regex;
use serde_json::{Value, json};

use super::{START, code_blocks, read};
use crate::harness::archives::zip_of;

const REPOSITORIES: &str = "docs/sell.md";

/// The setup before the commands: a server listens on a free port, and the shell waits for it.
const PREAMBLE: &str = r#"
set -euo pipefail
start_server() {
    mkfifo address
    marketplace serve "$@" --listen 127.0.0.1:0 >address 2>server.log &
    trap "kill $!; wait $! || true" EXIT
    exec {output}<address
    read -r _ _ MARKET <&"$output"
}
"#;

/// A program in place of curl, for the options that pages use. It fails if the server responds with an error.
const CURL: &str = r#"#!/usr/bin/env bash
set -euo pipefail
LC_ALL=C method=GET headers='' body='' url=''
while [ $# -gt 0 ]; do
    case $1 in
        -s) ;;
        -X) method=$2 && shift ;;
        -H) headers+=$2$'\r\n' && shift ;;
        -d) method=POST body=$2 && shift ;;
        http://*) url=${1#http://} ;;
        *) echo "unknown argument $1" >&2 && exit 2 ;;
    esac
    shift
done
host=${url%%/*}
exec {server}<>"/dev/tcp/${host%:*}/${host##*:}"
printf '%s /%s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nContent-Length: %s\r\n%s\r\n%s' \
    "$method" "${url#*/}" "$host" "${#body}" "$headers" "$body" >&"$server"
read -r _ status _ <&"$server"
while read -r header <&"$server" && [ "$header" != $'\r' ]; do :; done
cat <&"$server"
echo
[ "$status" -lt 400 ]
"#;

/// A program in place of zip, which writes the same archive each time.
const ZIP: &str = "#!/bin/sh\ncp \"${0%/*}/archive.zip\" \"$2\"\n";

/// A command of a page, or a block of commands, with the output that the page prints.
struct Step<'p> {
    commands: &'p str,
    printed: Option<&'p str>,
}

/// Returns the commands of a section of a page: those of a block with outputs one by one.
fn steps<'p>(page: &'p str, heading: &str) -> Vec<Step<'p>> {
    let (_, part) = page.split_once(heading).unwrap();
    let part = part.split("\n## ").next().unwrap_or(part);
    let mut steps = Vec::new();
    for (language, block) in code_blocks(part) {
        match language {
            "sh" => steps.push(Step { commands: block, printed: None }),
            "console" => steps.extend(block.split("$ ").skip(1).map(|step| {
                let (commands, printed) = step.split_once('\n').unwrap();
                Step { commands, printed: Some(printed) }
            })),
            _ => {}
        }
    }
    steps
}

/// Returns commands with a server that `start_server` starts, whose address is not the printed one.
fn with_free_port(commands: &str) -> String {
    let served = commands.replace("marketplace serve", "start_server");
    let served = Regex::new(r" --listen \S+").unwrap().replace_all(&served, "").into_owned();
    Regex::new("(?m)^export MARKET=.*$").unwrap().replace_all(&served, ":").into_owned()
}

fn write_program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
}

/// Runs the commands in a new directory, followed by `more`. Returns what each step printed.
fn run(steps: &[Step], more: &str) -> Vec<String> {
    const MARK: char = '\u{1e}';
    let directory = tempfile::tempdir().unwrap();
    let programs = directory.path().join("programs");
    fs::create_dir(&programs).unwrap();
    write_program(&programs.join("curl"), CURL);
    write_program(&programs.join("zip"), ZIP);
    fs::write(programs.join("archive.zip"), zip_of(&[("contents.txt", "Scans of the north pier\n")]))
        .unwrap();
    let commands = steps.iter().map(|step| step.commands).chain([more]);
    let commands = commands.map(|commands| format!("printf '{MARK}'\n{}\n", with_free_port(commands)));
    let commands = commands.collect::<Vec<_>>().concat();
    let program = Path::new(env!("CARGO_BIN_EXE_marketplace")).parent().unwrap();
    let path = format!("{}:{}:{}", programs.display(), program.display(), std::env::var("PATH").unwrap());
    let work = directory.path().join("work");
    fs::create_dir(&work).unwrap();
    let mut shell = Command::new("bash");
    shell.args(["-c", &format!("{PREAMBLE}{commands}")]).current_dir(&work).env("PATH", path);
    let output = shell.output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let log = fs::read_to_string(work.join("server.log")).unwrap_or_default();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}\n{printed}\n{log}");
    printed.split(MARK).skip(1).map(str::to_owned).collect()
}

/// Replaces what differs between runs in the output of a command: IDs, times, keys, tokens, and addresses.
fn mask_random_parts(output: &str) -> String {
    let masks = [
        (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "ID"),
        (r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z", "TIME"),
        (r"mkt_([\w-]{40}|…)", "KEY"),
        (r"(?m)^[\w-]{32}$", "TOKEN"),
        (r"http://127\.0\.0\.1:[0-9]+", "URL"),
    ];
    masks.iter().fold(output.trim_end().to_owned(), |text, (pattern, mask)| {
        Regex::new(pattern).unwrap().replace_all(&text, *mask).into_owned()
    })
}

/// A team of a new market adds data, and publishes it.
#[test]
fn commands_of_the_tour_print_what_it_shows() {
    let tour = read(START);
    let steps = steps(&tour, "## Your own market\n");
    let outputs = run(&steps, "curl -s -H \"Authorization: Bearer $KEY\" \"$MARKET/v2/listings\"");
    assert_eq!((steps.len(), outputs.len()), (18, 19));
    for (step, real) in steps.iter().zip(&outputs) {
        if let Some(printed) = step.printed {
            assert_eq!(mask_random_parts(printed), mask_random_parts(real), "{}", step.commands);
        }
    }
    let created = steps.iter().zip(&outputs).find(|(step, _)| step.commands.contains("/v2/raw-data"));
    let created: Value = serde_json::from_str(created.unwrap().1).unwrap();
    assert_eq!((&created["stage"], &created["missing"]), (&json!("complete"), &json!([])));
    let listings: Value = serde_json::from_str(outputs.last().unwrap()).unwrap();
    let listing = &listings["items"][0];
    assert_eq!((&listing["title"], &listings["summary"]["active"]), (&json!("Pier scans 2026"), &json!(1)));
}

/// A local repository is linked, and read.
#[test]
fn commands_of_the_page_about_repositories_work() {
    let page = read(REPOSITORIES);
    let steps = steps(&page, "### Local repositories\n");
    let is_read = "
        for attempt in {1..5000}; do
            found=$(curl -s -H 'Authorization: Bearer mkt_demo_vendor' \"$MARKET/v2/codebases?filter=name:is:Billing\")
            [[ $found != *'\"commits\":1'* ]] || break
        done
        echo \"$found\"";
    let outputs = run(&steps, is_read);
    assert_eq!((steps.len(), outputs.len()), (3, 4));
    let found: Value = serde_json::from_str(outputs.last().unwrap()).unwrap();
    let codebase = &found["items"][0];
    assert_eq!((&codebase["title"], &codebase["commits"]), (&json!("Billing"), &json!(1)), "{found:#}");
}
