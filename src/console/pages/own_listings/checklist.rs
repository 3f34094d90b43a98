//! The checklist of what submitting a listing needs.

use crate::{
    console::{pages::deals, prelude::*},
    error::{LocSegment, Problem},
    operations::own_listings::OwnListingPage,
};

/// A line of the checklist: the name of the field in problems, what it needs, and the last segment of the page where one sets it.
const LINES: [(&str, &str, &str); 5] = [
    ("title", "A title", "edit"),
    ("description", "A description", "edit"),
    ("price", "A price", "edit"),
    ("assets", "At least one asset", "assets"),
    ("sample", "A sample that says what it has, if one is offered", "edit#sample"),
];

/// Shows what submitting needs, and what is there.
pub(super) fn checklist(context: &Context, page: &OwnListingPage) -> Markup {
    let listing = paths::own_listing(page.listing.id);
    let link = |segment: &str| context.links.to(&format!("{listing}/{segment}"));
    let problems = |name: &str| -> Vec<String> {
        let of_field = page.obstacles.fields.iter().filter(|problem| is_about(problem, name));
        of_field.map(|problem| problem_text(name, problem)).collect()
    };
    html! {
        ul.checks {
            @for (name, what, segment) in LINES {
                @let missing = problems(name);
                li {
                    (mark(missing.is_empty()))
                    div {
                        span.out { @if missing.is_empty() { "Done: " } @else { "Missing: " } } (what)
                        // The line itself says that a field is missing.
                        @if name == "sample" { @for problem in &missing { span.note.long { (problem) } } }
                    }
                    span.note { @if !missing.is_empty() { a href=(link(segment)) { @if name == "assets" { "Attach assets" } @else { "Edit" } } } }
                }
            }
            @if let Some(reason) = &page.obstacles.assets { li {
                (mark(false))
                div { span.out { "Missing: " } "Assets that can be offered" span.note.long { (deals::for_team(reason)) } }
                span.note { a href=(link("assets")) { "See the assets" } }
            } }
        }
    }
}

/// Returns the text of a problem. The content of a sample is chosen on the page that the line links to.
fn problem_text(name: &str, problem: &Problem) -> String {
    if name == "sample" && problem.kind == "missing" {
        return "Choose what the sample has.".to_owned();
    }
    deals::for_team(&problem.msg)
}

fn mark(is_done: bool) -> Markup {
    let (icon, color) = if is_done { Tone::Good.icon_and_class() } else { Tone::Warning.icon_and_class() };
    icons::colored(icon, color)
}

/// Whether a problem is about a field.
fn is_about(problem: &Problem, name: &str) -> bool {
    problem.loc.iter().any(|segment| matches!(segment, LocSegment::Name(known) if known == name))
}
