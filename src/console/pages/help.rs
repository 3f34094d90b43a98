//! The guide of the web app, for people, with its contents at the top.

use crate::{
    console::{parts::markdown, prelude::*},
    operations::access::Authenticated,
};

/// The guide, whose first line is its title.
const GUIDE: &str = include_str!("../../../docs/console.md");

/// What begins a section of the guide.
const SECTION: &str = "\n## ";

/// The page.
pub struct Help;

/// A section of the guide: its heading, and its text.
struct Section<'g> {
    heading: &'g str,
    text: &'g str,
}

impl Section<'_> {
    /// Returns the ID that links lead to.
    fn id(&self) -> String {
        let words = self.heading.split(|letter: char| !letter.is_ascii_alphanumeric());
        let words: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
        format!("help-{}", words.join("-"))
    }
}

impl Page for Help {
    const PATH: &'static str = paths::HELP;
    const TITLE: &'static str = "Help";

    type Access = Authenticated;

    async fn show(_: &Visit<Authenticated>) -> Result<Answer> {
        let (introduction, sections) = parts(GUIDE);
        let body = html! {
            div.prose { (document(introduction)) }
            nav aria-labelledby="contents" {
                h2 #contents { "Contents" }
                ul.columns { @for section in &sections { li { a href={ "#" (section.id()) } { (section.heading) } } } }
            }
            @for section in &sections {
                (tables::section(&section.id(), section.heading, &html! { div.prose { (document(section.text)) } }))
            }
        };
        Ok(Content::new(Self::TITLE, body).narrow().into())
    }
}

/// Returns what precedes the first section of a guide, and its sections.
fn parts(guide: &str) -> (&str, Vec<Section<'_>>) {
    let (_, text) = guide.split_once('\n').unwrap_or_default();
    let mut parts = text.split(SECTION);
    let introduction = parts.next().unwrap_or_default();
    let mut sections = Vec::new();
    for part in parts {
        let (heading, text) = part.split_once('\n').unwrap_or((part, ""));
        sections.push(Section { heading, text });
    }
    (introduction, sections)
}

/// Renders a part of the guide without its screenshots: readers are in the web app already.
fn document(text: &str) -> Markup {
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("![")).collect();
    markdown::render_document(&lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guide_has_sections_with_different_ids() {
        let (introduction, sections) = parts(GUIDE);
        assert!(introduction.contains("/console") && sections.len() > 8, "{} sections", sections.len());
        let mut ids: Vec<String> = sections.iter().map(Section::id).collect();
        assert!(ids.contains(&"help-who-can-do-what".to_owned()), "{ids:?}");
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), sections.len());
    }
}
