//! Every command has help, with examples that can be run.

use std::{path::Path, process::Command, sync::LazyLock};

use super::{Server, marketplace, run, stdout_of, temp_dir};

/// Returns the help of a command.
fn help_of(command: &[String], directory: &Path) -> String {
    let arguments: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
    stdout_of(&run(&arguments, directory))
}

/// Returns the names of the subcommands in a help text.
fn subcommands(help: &str) -> Vec<String> {
    let names = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = names.take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// Returns all commands that have no subcommands of their own that must be named, with their help.
fn commands() -> &'static [(Vec<String>, String)] {
    static COMMANDS: LazyLock<Vec<(Vec<String>, String)>> = LazyLock::new(|| {
        let (mut found, mut pending, directory) = (Vec::new(), vec![Vec::new()], temp_dir());
        while let Some(command) = pending.pop() {
            let help = help_of(&command, directory.path());
            let names = subcommands(&help);
            let below = names.iter().map(|name| [command.as_slice(), std::slice::from_ref(name)].concat());
            pending.extend(below);
            if names.is_empty() || help.contains("Example") {
                found.push((command, help));
            }
        }
        found
    });
    &COMMANDS
}

/// Returns the examples in a help text, each as one line.
fn examples(help: &str) -> Vec<String> {
    let text = help.split_once("\nExample").map_or("", |(_, text)| text);
    let joined = text.replace("\\\n", " ");
    let lines = joined.lines().map(str::trim).filter(|line| line.starts_with("marketplace "));
    lines.map(str::to_owned).collect()
}

#[test]
fn every_command_has_help_with_an_example() {
    let commands = commands();
    assert!(commands.len() > 80, "{} commands", commands.len());
    for (command, help) in commands {
        assert!(!examples(help).is_empty(), "{command:?}: {help}");
        assert!(!help.contains('\u{1b}'), "colors are only for terminals: {command:?}");
        let own = format!("marketplace {}", command.join(" "));
        assert!(examples(help).iter().any(|example| example.starts_with(&own)), "{command:?}: {help}");
    }
    for name in ["serve", "seed"] {
        assert!(stdout_of(&run(&["help", name], temp_dir().path())).contains("Example"));
    }
}

#[test]
fn examples_are_valid_commands_on_a_server() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    stdout_of(&run(&["team", "create", "Beta Labs", "--role", "buyer"], directory));
    let key = stdout_of(&run(&["operator", "key", "examples"], directory));
    let server = Server::start(&[], directory);
    let url = format!("http://{}", server.1);
    let mut count = 0;
    for (_, help) in commands().iter().filter(|(_, help)| help.contains("--url <URL>")) {
        // Following does not end, and the hosts of new webhooks are looked up.
        let is_run = |example: &&String| !example.contains("--follow") && !example.contains("webhook create");
        for example in examples(help).iter().filter(is_run) {
            // The shell splits the example into words. It runs in a directory without a market.
            let mut shell = Command::new("sh");
            shell.args(["-c", &example.replacen("marketplace", "\"$PROGRAM\"", 1)]);
            shell.current_dir("/").env_clear().env("PROGRAM", env!("CARGO_BIN_EXE_marketplace"));
            shell.env("MARKETPLACE_OPERATOR_URL", &url).env("MARKETPLACE_OPERATOR_KEY", key.trim());
            let output = shell.output().unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            // Most records in the examples do not exist, so the server may refuse the requests.
            assert!(matches!(output.status.code(), Some(0 | 1)), "{example}: {stderr}");
            for problem in ["cannot connect", "there is no market", "respond", "API key"] {
                assert!(!stderr.contains(problem), "{example}: {stderr}");
            }
            count += 1;
        }
    }
    assert!(count > 60, "{count} examples");
    // Commands that need the data directory do not take a URL.
    assert_eq!(marketplace(&["reindex", "--url", &url], directory).output().unwrap().status.code(), Some(2));
}
