//! The newest requests of buyers on the start page of a vendor, with the vendor's assets and listings that fit.

use crate::{console::prelude::*, domain::time::MICROS_PER_DAY, operations::opportunities::AskedFor};

/// Number of requests that are shown.
pub const LIMIT: u32 = 3;

/// Returns the section with the requests; nothing if there are none.
pub fn section(context: &Context, requests: &[AskedFor]) -> Markup {
    let now = context.now();
    html! { @if !requests.is_empty() {
        section.stack aria-labelledby="asked" {
            div.row.apart {
                h2 #asked { "Asked for" }
                a href=(context.links.to(paths::DATA_REQUESTS)) { "All requests" }
            }
            ul.checks { @for asked in requests { li {
                (icons::icon("search"))
                div {
                    a.long href=(context.links.to(&paths::data_request(asked.request.id))) { bdi { (asked.request.title) } }
                    span.note.long { bdi { (asked.request.owner_name) } " · " (fitting(asked)) }
                }
                span.note { @if let Some(deadline) = asked.request.deadline { (time_left(now, deadline)) } }
            } } }
        }
    } }
}

/// Says how much of the vendor fits a request.
fn fitting(asked: &AskedFor) -> Markup {
    let listings = || text::counted(asked.listings as u64, "listing", "listings");
    let assets = || text::counted(asked.assets as u64, "asset", "assets");
    html! {
        @match (asked.listings, asked.assets, asked.first.as_deref().filter(|title| !is_blank(title))) {
            (0, 0, _) => "you have nothing that fits yet",
            (1, 0, Some(title)) | (0, 1, Some(title)) => { bdi { (title) } " fits" },
            (1, 0, None) => "one of your listings fits",
            (0, 1, None) => "one of your assets fits",
            (_, 0, _) => { (listings()) " of yours fit" },
            (0, _, _) => { (assets()) " of yours fit" },
            _ => { (listings()) " and " (assets()) " of yours fit" },
        }
    }
}

/// Returns how long a request still takes answers.
fn time_left(now: Timestamp, deadline: Timestamp) -> String {
    match (deadline.0 - now.0).div_euclid(MICROS_PER_DAY) {
        days if days >= 1 => format!("{} left", text::counted(days.unsigned_abs(), "day", "days")),
        _ => "less than a day left".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_left_are_whole() {
        let left = |microseconds| time_left(Timestamp(7), Timestamp(7 + microseconds));
        assert_eq!(left(17 * MICROS_PER_DAY + 5), "17 days left");
        assert_eq!(left(MICROS_PER_DAY), "1 day left");
        assert_eq!(left(MICROS_PER_DAY - 1), "less than a day left");
    }
}
