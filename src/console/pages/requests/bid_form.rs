//! The page on which a vendor bids on a project.

use crate::{
    console::prelude::*,
    domain::{
        collections::Collection,
        opportunities::{Attachment, Opportunity, OpportunityKind},
        project_bids::{BidFields, MAX_ATTACHMENTS, MAX_TASKS, MAX_TIMELINE_DAYS},
        typed_numbers::parse_whole_number,
    },
    error::{LocSegment, Problem},
    operations::{opportunities, project_bids},
};

const TASKS: &str = "num_tasks";

const DAYS: &str = "expected_timeline_days";

const FILES: &str = "attachments";

/// Returns the path of the page for a project.
pub fn path(opportunity: Uuid) -> String {
    format!("{}/bid", paths::data_request(opportunity))
}

/// The page.
pub struct BidOnProject;

/// Returns the project of the page, and why the vendor cannot bid on it.
async fn find(visit: &Visit<Vendor>) -> Result<(Opportunity, Option<String>)> {
    let id = visit.id(0)?;
    let read = move |reader: &Reader, vendor: &Vendor| {
        let project = opportunities::find(reader.rows, vendor, id, OpportunityKind::Project)?;
        let standing = project_bids::find_in_effect(reader, vendor, &project)?;
        let reason = project_bids::why_not_open(reader, vendor, &project).map(str::to_owned);
        let standing = standing.map(|_| {
            "Your team has a bid on this project. Withdraw it before you make another one.".to_owned()
        });
        Ok((project, standing.or(reason)))
    };
    visit.read(read).await
}

impl Page<Vendor> for BidOnProject {
    const PATH: &'static str = "/requests/{id}/bid";
    const TITLE: &'static str = "Bid on a project";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let (project, refusal) = find(visit).await?;
        let back = paths::data_request(project.id);
        let inputs = &visit.inputs;
        let hint = html! { "One file a line: its name, a comma, and its size, such as " span.mono { "proposal.pdf, 1.2 MB" } ". The \
        market stores names and sizes only; send the files to the buyer when it asks for them." };
        let form = html! {
            (Field::integer(TASKS, "Number of tasks that you offer").required().show(inputs))
            (Field::integer(DAYS, "Days that you expect to need").hint(html! { "You can leave this empty." }).show(inputs))
            (Field::lines(FILES, "Attached files").hint(hint).show(inputs))
            p.note { "The buyer sees the name of your team, and these numbers. You can withdraw the bid until the buyer accepts it." }
            p.note { "The market moves no money for projects. You and the buyer agree about the payment outside it." }
            (fields::buttons(&visit.context, "Make the bid", ("Back to the request", &back)))
        };
        let body = html! {
            @match refusal.filter(|_| !inputs.is_refused()) {
                Some(reason) => {
                    (badges::warning(reason))
                    div.row { a.button.quiet href=(visit.links.to(&back)) { "Back to the request" } }
                },
                None => {
                    @if let Some(deadline) = project.deadline { p { "Bids are taken until " (text::deadline(deadline)) "." } }
                    (fields::form(&visit.context, &visit.path, &form))
                },
            }
        };
        let content = Content::new(format!("Bid on {}", project.title), body)
            .with_parent("Requests", paths::DATA_REQUESTS)
            .with_parent(&project.title, back);
        Ok(content.narrow().into())
    }
}

impl FormPage<Vendor> for BidOnProject {
    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        let id = visit.id(0)?;
        let bid = read(fields)?;
        let change = Change::new("submit_project_bid", "opportunity", id);
        let made = changes::perform(visit, fields, change, move |writer, vendor| {
            let bid_id = writer.new_id(Collection::ProjectBids);
            project_bids::submit(writer, vendor, Actor::Team, bid_id, id, &bid).map(|bid| bid.id)
        });
        let made = made.await.map_err(at_fields)?;
        Ok(Answer::done(&paths::project_bid(made), Notice::ProjectBidMade))
    }
}

/// Reads the form. Fails with everything that is wrong with it.
fn read(fields: &Fields) -> Result<BidFields> {
    let mut problems: Vec<Problem> = Vec::new();
    let mut number = |name: &'static str, max: u32, message: &str| {
        let text = fields.get(name)?;
        let number = parse_whole_number(text)
            .and_then(|number| u32::try_from(number).ok())
            .filter(|number| (1..=max).contains(number));
        if number.is_none() {
            problems.push(problem(name, message));
        }
        number
    };
    let tasks = number(TASKS, MAX_TASKS, "Enter a whole number from 1 to 1,000,000.");
    let days = number(DAYS, MAX_TIMELINE_DAYS, "Enter a whole number of days from 1 to 3,650, or nothing.");
    if fields.get(TASKS).is_none() {
        problems.push(problem(TASKS, "Enter how many tasks you offer."));
    }
    let lines = fields.get(FILES).unwrap_or_default().lines().map(str::trim).filter(|line| !line.is_empty());
    let attachments: Vec<Option<Attachment>> = lines.map(attachment).collect();
    if attachments.len() > MAX_ATTACHMENTS {
        problems.push(problem(FILES, "Name at most 20 files."));
    } else if attachments.iter().any(Option::is_none) {
        problems.push(problem(
            FILES,
            "Enter a name, a comma, and a size in each line, for example: proposal.pdf, 1.2 MB",
        ));
    }
    if !problems.is_empty() {
        return Err(Error::Invalid(problems));
    }
    Ok(BidFields {
        num_tasks: tasks.unwrap_or_default(),
        expected_timeline_days: days,
        attachments: attachments.into_iter().flatten().collect(),
    })
}

/// Reads a line that names a file.
fn attachment(line: &str) -> Option<Attachment> {
    let (name, size) = line.rsplit_once(',')?;
    let (size_bytes, name) = (size_of(size)?, name.trim());
    (!name.is_empty()).then(|| Attachment { file_name: name.to_owned(), size_bytes })
}

/// Reads a size in decimal units, such as `1.2 MB`.
fn size_of(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let units = [("kb", 1e3), ("mb", 1e6), ("gb", 1e9), ("tb", 1e12), ("bytes", 1.0), ("b", 1.0)];
    let unit = units.into_iter().find_map(|(name, factor)| Some((text.strip_suffix(name)?, factor)));
    let (number, factor) = unit.unwrap_or((&text, 1.0));
    let number: f64 = number.trim().parse().ok()?;
    let bytes = (number * factor).round();
    // The market states the maximum itself.
    (bytes.is_finite() && (0.0..1e15).contains(&bytes)).then_some(bytes as u64)
}

/// Moves problems with parts of an attached file to the field with all of them.
fn at_fields(error: Error) -> Error {
    let Error::Invalid(problems) = error else { return error };
    let is_of_file = |problem: &Problem| {
        problem.loc.iter().any(|part| matches!(part, LocSegment::Name(name) if name == FILES))
    };
    let moved =
        problems.into_iter().map(|found| if is_of_file(&found) { problem(FILES, &found.msg) } else { found });
    Error::Invalid(moved.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_from_lines() {
        let file = |line| attachment(line).map(|file| (file.file_name, file.size_bytes));
        for (line, expected) in [
            ("a, b.pdf, 1.2 MB", Some(("a, b.pdf".to_owned(), 1_200_000))),
            ("notes.txt,900", Some(("notes.txt".to_owned(), 900))),
            ("notes.txt, 900 bytes", Some(("notes.txt".to_owned(), 900))),
            ("notes.txt", None),
            (", 3 KB", None),
            ("notes.txt, large", None),
            ("notes.txt, -1", None),
        ] {
            assert_eq!(file(line), expected, "{line}");
        }
    }
}
