//! The settings in force, with where each value comes from.

use super::prelude::*;
use crate::config::ListedSetting;

/// The page.
pub struct Settings;

impl Page<Operator> for Settings {
    const PATH: &'static str = "/operator/settings";
    const TITLE: &'static str = "Settings";
    const OPERATIONS: &'static [&'static str] = &["get_settings"];
    const NAVIGATION: Option<NavigationItem> = Some(Section::System.link("Settings"));

    async fn show(visit: &Visit<Operator>) -> Result<Answer> {
        let text = visit.query.get("text").unwrap_or_default().to_lowercase();
        let which = visit.query.get("which").unwrap_or_default();
        let is_shown = |setting: &ListedSetting| {
            let is_of_kind = match which {
                "set" => setting.origin.is_some(),
                "changed" => setting.value != setting.default,
                _ => true,
            };
            is_of_kind && setting.key.contains(&text)
        };
        let settings: Vec<_> = visit.market().listed_settings().into_iter().filter(is_shown).collect();
        let body = html! {
            p { "The settings in effect. They are changed in the settings file, by environment variables, or by flags. \
                 Changes take effect with a reload (SIGHUP) where the table says so, and otherwise when the server is started again. \
                 Secrets are masked." }
            (filters(&visit.context, &text, which))
            (table(&visit.context, &settings))
        };
        Ok(Content::new(Self::TITLE, body).with_request("/operator/v1/settings").into())
    }
}

fn filters(context: &Context, text: &str, which: &str) -> Markup {
    let inputs = Inputs::default();
    let choices = [("", "All"), ("set", "Set somewhere"), ("changed", "Different from the default")];
    let choices = choices.map(|(value, words)| (value, words.to_owned()));
    html! {
        form.row action=(context.links.to(&context.path)) aria-label="Filters" {
            (fields::select(&inputs, "which", "Which", choices, which))
            (Field::text("text", "Name contains").value(text).at_most(100).show(&inputs))
            button { "Filter" }
        }
    }
}

fn table(context: &Context, settings: &[ListedSetting]) -> Markup {
    if settings.is_empty() {
        let all = context.here(&Query::default());
        return tables::empty(
            "Nothing matches",
            "No setting has all of these values.",
            Some(("Show all", &all)),
        );
    }
    let row = |setting: &ListedSetting| {
        let value = html! { @if setting.value == setting.default { (setting.value) } @else { b { (setting.value) } } };
        [
            Head::text("Setting").cell(html! { span.mono.long { (setting.key) } }),
            Head::text("Value").cell(html! { span.mono.long { (value) } }),
            Head::text("Default").cell(html! { span.mono.long { (setting.default) } }),
            Head::text("Comes from").cell(html! { span.long { (origin(setting)) } }),
            Head::text("Changes with").cell(if setting.is_reloadable { "a reload" } else { "a restart" }),
        ]
    };
    tables::of("Settings", settings, row)
}

/// Returns the source of a value. A setting of the world itself has its key as its origin.
fn origin(setting: &ListedSetting) -> &str {
    match setting.origin.as_deref() {
        None => "the program",
        Some(origin) if origin == setting.key => "this world",
        Some("worlds") => "all worlds",
        Some(origin) => origin,
    }
}
