//! The page on which tasksets are delivered for an accepted bid. A delivery cannot be changed later.

use crate::{
    console::prelude::*,
    domain::{
        opportunities::{Bid, BidStatus, Opportunity},
        project_bids::MAX_DELIVERY_TASKSETS,
    },
    operations::{project_bids, tasks},
    store::tasksets::TasksetSummary,
};

/// Field with the IDs of the chosen tasksets.
const TASKSETS: &str = "delivery_taskset_ids";

/// Field of the query with a part of the names of the tasksets to choose from.
const TEXT: &str = "text";

/// The page.
pub struct Deliver;

impl Page<Vendor> for Deliver {
    const PATH: &'static str = "/requests/bids/{id}/deliver";
    const TITLE: &'static str = "Deliver tasksets";

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let id = visit.id(0)?;
        let text = visit.query.get(TEXT).unwrap_or_default().to_owned();
        let read = move |reader: &Reader, vendor: &Vendor| {
            let (bid, project) = project_bids::find_made(reader.rows, vendor, id)?;
            // One more than can be delivered says whether there are others.
            let limit = MAX_DELIVERY_TASKSETS + 1;
            let tasksets = tasks::list_tasksets(reader, vendor, &text, limit)?;
            Ok((bid, project, tasksets))
        };
        let (bid, project, tasksets) = visit.read(read).await?;
        Ok(content(visit, &bid, &project, &tasksets).into())
    }
}

impl FormPage<Vendor> for Deliver {
    async fn submit(visit: &Visit<Vendor>, fields: &Fields) -> Result<Answer> {
        let id = visit.id(0)?;
        let ids: Vec<Uuid> = fields.all(TASKSETS).filter_map(|id| Uuid::try_parse(id).ok()).collect();
        if ids.is_empty() {
            return Err(invalid(TASKSETS, "Choose the tasksets to deliver."));
        }
        let change = Change::new("deliver_project_bid", "project_bid", id);
        let deliver = changes::perform(visit, fields, change, move |writer, vendor| {
            project_bids::deliver(writer, vendor, Actor::Team, id, &ids).map(drop)
        });
        deliver.await?;
        Ok(Answer::done(&paths::project_bid(id), Notice::TasksetsDelivered))
    }
}

fn content(visit: &Visit<Vendor>, bid: &Bid, project: &Opportunity, tasksets: &[TasksetSummary]) -> Content {
    let path = paths::project_bid(bid.id);
    let body = if bid.status == BidStatus::Accepted {
        html! {
            p { "You offered " (text::counted(bid.num_tasks.into(), "task", "tasks")) ". Choose the tasksets with them." }
            (search(visit))
            (choice(visit, tasksets, &path))
        }
    } else {
        let reason = match bid.status {
            BidStatus::Submitted => "The buyer has not accepted the bid yet.",
            BidStatus::Delivered | BidStatus::Completed => {
                "You have delivered already. A delivery cannot be changed."
            }
            _ => "This bid has ended.",
        };
        html! {
            (badges::warning(html! { (reason) " " a href=(visit.links.to(&path)) { "Back to the bid" } }))
        }
    };
    Content::new(format!("Deliver for {}", project.title), body)
        .with_parent("Requests", paths::DATA_REQUESTS)
        .with_parent("Your bids", paths::PROJECT_BIDS)
        .with_parent(&project.title, path)
        .narrow()
}

/// Returns the form that restricts the tasksets by their names. It is not sent with the choice.
fn search(visit: &Visit<Vendor>) -> Markup {
    let value = visit.query.get(TEXT).unwrap_or_default();
    html! {
        form.row action=(visit.links.to(&visit.path)) aria-label="Tasksets to choose from" {
            (Field::text(TEXT, "Name contains").value(value).at_most(200).show(&Inputs::default()))
            button { "Show" }
        }
    }
}

fn choice(visit: &Visit<Vendor>, tasksets: &[TasksetSummary], back: &str) -> Markup {
    let has_more = tasksets.len() > MAX_DELIVERY_TASKSETS;
    let shown = &tasksets[..tasksets.len().min(MAX_DELIVERY_TASKSETS)];
    let values = shown.iter().map(|taskset| {
        let tasks = text::counted(taskset.tasks, "task", "tasks");
        (taskset.id, format!("{}: {tasks}, made {}", taskset.name, text::day_text(taskset.created_at)))
    });
    let content = html! {
        (fields::required_checkboxes(&visit.inputs, TASKSETS, "Tasksets of your team", values, |_| false))
        @if has_more { p.note { "These are your newest tasksets. Restrict them by name to see others." } }
        p.note { "The buyer gets these tasksets. A delivery cannot be changed or taken back." }
        (fields::buttons(&visit.context, "Deliver", ("Back to the bid", back)))
    };
    html! {
        @if shown.is_empty() {
            p.note { "Your team has no such taskset. Tasksets are made with the task tools of the market." }
            div.row { a.button.quiet href=(visit.links.to(back)) { "Back to the bid" } }
        } @else { (fields::form(&visit.context, &visit.path, &content)) }
    }
}
