//! Tests of all commands: their help texts, and the names of their arguments.

use super::*;

/// Returns all commands, each with its name as it is typed.
fn commands() -> Vec<(String, clap::Command)> {
    let mut root = parser().term_width(HELP_COLUMNS);
    root.build();
    let (mut found, mut pending) = (Vec::new(), vec![("marketplace".to_owned(), root)]);
    while let Some((name, command)) = pending.pop() {
        let below = command.get_subcommands().filter(|below| below.get_name() != "help");
        pending.extend(below.map(|below| (format!("{name} {}", below.get_name()), below.clone())));
        found.push((name, command));
    }
    found
}

/// Whether the lines of a text are examples, which are shown as they are: a heading, and indented commands.
fn is_examples(paragraph: &str) -> bool {
    let mut lines = paragraph.lines();
    lines.next().is_some_and(|heading| heading.ends_with(':')) && lines.all(|line| line.starts_with("  "))
}

/// A description at the variant of a command would replace all paragraphs of the one at its type.
#[test]
fn help_has_all_paragraphs_of_a_description() {
    let commands = commands();
    for (name, part) in [
        ("serve", "On SIGHUP, it reads its settings again"),
        ("init", "The key is printed once"),
        ("upload", "the same command continues it within a day"),
        ("health", "Exits with 1 if it is not"),
        ("verify", "Reads everything"),
        ("verify-bundle", "Needs no market"),
        ("replay", "Nothing is sent over the network"),
        ("promote", "whether or not it can be reached"),
        ("upgrade", "No server may use it meanwhile"),
        ("gym", "a private copy of the market"),
        ("gym run", "answers are read from standard input"),
    ] {
        let command = commands.iter().find(|(found, _)| *found == format!("marketplace {name}"));
        let description = command.unwrap().1.get_long_about().map(ToString::to_string).unwrap_or_default();
        assert!(description.contains(part), "{name}: {description}");
    }
}

/// Help is wrapped when it is shown, so a line break within a paragraph would wrap it a second time.
#[test]
fn paragraphs_of_help_have_no_line_breaks() {
    let commands = commands();
    assert!(commands.len() > 150, "{} commands", commands.len());
    for (name, command) in &commands {
        let mut texts = vec![
            command.get_about(),
            command.get_long_about(),
            command.get_before_help(),
            command.get_after_help(),
            command.get_after_long_help(),
        ];
        for argument in command.get_arguments() {
            texts.extend([argument.get_help(), argument.get_long_help()]);
        }
        for text in texts.into_iter().flatten().map(ToString::to_string) {
            for paragraph in text.split("\n\n") {
                assert!(!paragraph.contains('\n') || is_examples(paragraph), "{name}:\n{paragraph}");
            }
        }
    }
}

#[test]
fn help_fits_100_columns() {
    for (name, mut command) in commands() {
        for help in [command.render_help(), command.render_long_help()] {
            let help = help.to_string();
            for line in help.lines() {
                assert!(line.chars().count() <= HELP_COLUMNS, "{name}: {line}");
            }
            // An example that is too long would be wrapped, too, so that it could not be pasted.
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for example in after.lines().filter(|line| line.starts_with("  ")) {
                assert!(help.lines().any(|line| line == example), "{name}: {example}");
            }
        }
    }
}

/// Clap would take an argument with the ID of a global option for that option: the URL of a new webhook for that of the
/// server, for instance.
#[test]
fn no_argument_has_the_name_of_an_option() {
    parser().debug_assert();
    for (name, command) in commands() {
        let options: Vec<&str> = command
            .get_arguments()
            .flat_map(|argument| argument.get_long_and_visible_aliases().unwrap_or_default())
            .collect();
        let is_option = |word: &str| options.contains(&word.to_lowercase().replace('_', "-").as_str());
        for argument in command.get_arguments() {
            let id = argument.get_id().as_str();
            let is_free = argument.is_global_set() || !["config", "data", "url", "json"].contains(&id);
            assert!(is_free, "{name} has an argument {id}");
            // `webhook create <URL>` would be read as the value of `--url`.
            for shown in argument.get_value_names().into_iter().flatten().filter(|_| argument.is_positional())
            {
                assert!(!is_option(shown.as_str()), "{name}: <{shown}> has the name of an option");
            }
        }
    }
}

/// Whether a command has the options of the commands that use the operator API.
fn takes_operator_options(command: &clap::Command) -> bool {
    command.get_arguments().any(|argument| argument.get_id() == "url" && argument.is_global_set())
}

/// Lists are the commands whose description begins with this word.
#[test]
fn every_list_has_a_limit() {
    let mut count = 0;
    for (name, command) in commands() {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let is_leaf = command.get_subcommands().next().is_none();
        if !is_leaf || !takes_operator_options(&command) || !about.starts_with("List ") {
            continue;
        }
        count += 1;
        let limit = command.get_arguments().find(|argument| argument.get_long() == Some("limit"));
        let limit = limit.unwrap_or_else(|| panic!("{name} has no --limit"));
        assert!(matches!(limit.get_action(), ArgAction::Set) && limit.get_num_args().unwrap().takes_values());
        let refused = command.try_get_matches_from(["list", "--limit", "0"]).unwrap_err().to_string();
        assert!(refused.contains("invalid value '0' for '--limit"), "{name}: {refused}");
    }
    assert!(count >= 30, "{count} lists");
}
