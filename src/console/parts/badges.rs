//! Badges, and short messages above a page.

use maud::{Markup, Render, html};

use super::icons;
pub use crate::console::tone::Tone;
use crate::console::{forms::Inputs, notices::Notice};

/// Returns a state as icon, word, and color.
pub fn badge(tone: Tone, word: &str) -> Markup {
    badge_of(tone, &html! { (word) })
}

/// Like [`badge`], for a function that returns both.
pub fn of((tone, word): (Tone, &str)) -> Markup {
    badge(tone, word)
}

/// Like [`badge`], with more than a word, such as a day.
pub fn badge_of(tone: Tone, words: &Markup) -> Markup {
    let (name, color) = tone.icon_and_class();
    html! { span class={ "badge " (color) } { (icons::icon(name)) (words) } }
}

/// Returns a badge of what the market has certified.
pub fn certified(word: &str) -> Markup {
    html! { span.badge.ok { (icons::icon("seal")) (word) } }
}

/// Returns what a page says after a form was carried out.
pub fn notice(notice: Notice) -> Markup {
    message(notice.tone(), notice.text())
}

/// Like [`notice`], with the title of its listing as a link to the listing's page.
pub fn notice_about(notice: Notice, name: &str, address: &str) -> Markup {
    match notice.text().split_once("the listing") {
        Some((before, after)) => {
            success(html! { (before) a.long href=(address) { "“" bdi { (name) } "”" } (after) })
        }
        None => self::notice(notice),
    }
}

/// Returns a message above the content of a page.
pub fn message(tone: Tone, content: impl Render) -> Markup {
    flash(tone, false, &content.render())
}

/// Returns a message that something succeeded or is in order.
pub fn success(content: impl Render) -> Markup {
    message(Tone::Good, content)
}

/// Returns a message that something is pending.
pub fn pending(content: impl Render) -> Markup {
    message(Tone::Waiting, content)
}

/// Returns a message that needs attention, such as why a page has no form.
pub fn warning(content: impl Render) -> Markup {
    message(Tone::Warning, content)
}

/// Returns a message that something failed or was refused.
pub fn failure(content: impl Render) -> Markup {
    message(Tone::Bad, content)
}

/// Returns a message that something has ended or no longer matters.
pub fn neutral(content: impl Render) -> Markup {
    message(Tone::Neutral, content)
}

fn flash(tone: Tone, takes_focus: bool, content: &Markup) -> Markup {
    let (name, color) = tone.icon_and_class();
    let role = if tone == Tone::Bad { "alert" } else { "status" };
    html! {
        div class={ "flash " (color) } role=(role) tabindex=[takes_focus.then_some("-1")] autofocus[takes_focus] {
            (icons::icon(name)) div { (content) }
        }
    }
}

/// Returns why a form was refused, with links to its fields by their labels; nothing if none was. The fields must have been
/// shown before. It gets the focus, so that screen readers read it first.
pub fn refusal(inputs: &Inputs) -> Markup {
    if !inputs.is_refused() {
        return Markup::default();
    }
    let problems = inputs.problems();
    flash(
        Tone::Bad,
        true,
        &html! {
            @if let Some(reason) = inputs.message() { (reason) }
            @if !problems.is_empty() {
                b { "Nothing was changed. " @if problems.len() == 1 { "One thing has to be corrected:" } @else { "These things have to be corrected:" } }
                ul { @for (field, problem) in &problems { li { (problem_of(inputs, field, problem)) } } }
            }
        },
    )
}

fn problem_of(inputs: &Inputs, field: &str, problem: &str) -> Markup {
    let Some(label) = inputs.label(field) else { return html! { (problem) } };
    // A problem in a row of a table names its place itself.
    if problem.starts_with("Row ") {
        return html! { a href={ "#" (field) } { (problem) } };
    }
    let link = html! { a href={ "#" (field) } { (label) } };
    match problem.strip_prefix(&format!("{label} ")) {
        Some(rest) => html! { (link) " " (rest) },
        None => html! { (link) ": " (problem) },
    }
}
