//! The notifications of a team, with links to their subjects.

use crate::{
    console::{
        lists::{self, ShowActions},
        prelude::*,
    },
    domain::notifications::NotificationType,
    operations::notifications::{MAX_READ_AT_ONCE, MarkedRead},
    store::notifications::Notification,
};

/// Field with the ID of the newest unread notification when the list was shown: what was written later, nobody has seen.
const NEWEST: &str = "newest";

/// Field with the filters of the list, which shows them again after notifications were marked as read.
const LIST: &str = "list";

/// The filter by whether notifications were read.
const STATE: &str = "state";

/// The value of this filter for notifications that were read.
const READ: &str = "read";

/// The filter by what notifications are about.
const KIND: &str = "type";

/// The list.
pub struct Notifications;

impl List<Member> for Notifications {
    const PATH: &'static str = paths::NOTIFICATIONS;
    const TITLE: &'static str = "Notifications";
    const NAVIGATION: Option<NavigationItem> = Some(Section::Team.link("Notifications"));

    type Row = Notification;

    fn columns() -> Vec<Column<Notification>> {
        vec![
            Column::new(Head::text("Notification"), title, |row| row.title.clone()),
            Column::new(
                Head::text("Message"),
                |_, row| html! { span.long { bdi { (row.message) } } },
                |row| row.message.clone(),
            ),
            Column::day("Received", |row| row.created_at),
            Column::new(Head::text("Status"), state, |row| {
                if row.is_read { "Read".to_owned() } else { "Unread".to_owned() }
            }),
            Column::ids_in_file(|row| row.id),
        ]
    }

    const FILTERS: &'static [ListFilter] =
        &[ListFilter::choice(STATE, "Status", states), ListFilter::choice(KIND, "About", kinds)];

    fn load(reader: &Reader, member: &Member, request: &ListRequest) -> Result<TeamPage<Notification>> {
        let mut filters = request.record_filters_of(&[KIND]);
        if let Some(state) = request.filters.get(STATE) {
            filters = filters.with("unread", state != READ);
        }
        team_records::page(reader, member, &filters, request.page)
    }

    fn empty(_: &Context) -> Markup {
        let advice = "The market writes to you here when something happens that concerns your team, such as the answer to a bid.";
        tables::empty("There are no notifications", advice, None)
    }

    fn actions(reader: &Reader, member: &Member) -> Result<Option<ShowActions>> {
        let newest = notifications::newest_unread(reader, member)?;
        Ok(newest
            .map(|newest| -> ShowActions { Box::new(move |context: &Context| mark_all(context, newest)) }))
    }

    fn finish(_: &Context, content: Content) -> Content {
        content.with_request("/v2/vendor/notifications")
    }
}

/// Returns the button that marks all notifications as read that were written before the newest one, and this one. It says so if the
/// list leaves some of them out. A list of those that were read already has no button.
fn mark_all(context: &Context, newest: Uuid) -> Markup {
    if context.query.get(STATE) == Some(READ) {
        return Markup::default();
    }
    let form = html! {
        input type="hidden" name=(NEWEST) value=(newest);
        (list_field(context))
        button { "Mark all as read" @if context.query.get(KIND).is_some() { ", not only these" } }
    };
    fields::form_with_class(context, MarkAllRead::PATH, "row", &form)
}

fn states() -> Vec<(&'static str, String)> {
    vec![("unread", "Unread".to_owned()), (READ, "Read".to_owned())]
}

/// Returns what notifications are about. Their titles call an opportunity a request, for its buyer, too.
fn kinds() -> Vec<(&'static str, String)> {
    text::choices(|kind: NotificationType| text::words(kind.as_str()).replace("Opportunity ", "Request "))
}

/// Shows the title. The title of an unread notification is a button: opening its subject marks it as read, and a link must not
/// change anything.
fn title(context: &Context, row: &Notification) -> Markup {
    let title = html! { bdi { @if row.is_read { (row.title) } @else { b { (row.title) } } } };
    let open = || path_of(row.id, "open");
    html! {
        @match target(context, row) {
            Some(path) if row.is_read => { a.long href=(context.links.to(&path)) { (title) } }
            Some(_) => (fields::form_with_class(context, &open(), "row", &html! { button.link.long { (title) } })),
            None => { span.long { (title) } }
        }
    }
}

/// Returns the path of a button of a notification.
fn path_of(id: Uuid, verb: &str) -> String {
    format!("{}/{id}/{verb}", paths::NOTIFICATIONS)
}

fn list_field(context: &Context) -> Markup {
    let list = lists::shown_part::<_, Notifications>(&context.query).at("");
    html! { input type="hidden" name=(LIST) value=(list); }
}

/// Returns the path of the list from which a form was sent, with its filters.
fn list_of(fields: &Fields) -> String {
    let list = Query::parse(fields.get(LIST).unwrap_or_default().trim_start_matches('?'));
    lists::shown_part::<_, Notifications>(&list).at(paths::NOTIFICATIONS)
}

fn state(context: &Context, row: &Notification) -> Markup {
    let path = path_of(row.id, "read");
    let form = html! {
        (list_field(context))
        button.little.quiet { "Mark as read" span.out { ": " bdi { (row.title) } } }
    };
    html! {
        @if row.is_read { (badges::badge(Tone::Neutral, "Read")) }
        @else {
            div.row {
                (badges::badge(Tone::Waiting, "Unread"))
                (fields::form_with_class(context, &path, "row", &form))
            }
        }
    }
}

/// Returns the page of the subject of a notification, if there is one that the team can open.
fn target(context: &Context, row: &Notification) -> Option<String> {
    // Links, which the API sends, are paths of the web app, but not only of pages that exist.
    let stated = || [&row.page, &row.link].into_iter().flatten().find(|path| is_page(context, path)).cloned();
    about(context, row).or_else(stated).or_else(|| fallback(row.kind)).filter(|path| is_page(context, path))
}

/// Returns the page of the bid or the opportunity that a notification refers to. A team that only sells reads opportunities as
/// requests; the page of an opportunity leads a team with both roles to the request, if the opportunity is not its own.
fn about(context: &Context, row: &Notification) -> Option<String> {
    use NotificationType as T;
    if let (T::ProjectBidAccepted | T::ProjectBidDeclined, Some(bid)) = (row.kind, row.project_bid) {
        return Some(paths::project_bid(bid));
    }
    let opportunity = row.project_opportunity.or(row.opportunity)?;
    let only_sells = context.team().is_some_and(|team| team.is_vendor && !team.is_buyer);
    Some(if only_sells { paths::data_request(opportunity) } else { paths::opportunity(opportunity) })
}

/// Returns the list that contains the subject of a notification that names no record.
fn fallback(kind: NotificationType) -> Option<String> {
    use NotificationType as T;
    let path = match kind {
        T::OfferAccepted | T::OfferDeclined | T::OfferExpired => paths::BIDS,
        T::OfferReceived => paths::OFFERS,
        T::ListingApproved | T::ListingChangesRequested | T::ListingRejected => paths::OWN_LISTINGS,
        T::SaleCompleted => paths::SALES,
        T::QualityCheckCompleted => paths::QUALITY,
        T::EstimationCompleted => paths::ESTIMATIONS,
        T::ProjectBidAccepted | T::ProjectBidDeclined => paths::PROJECT_BIDS,
        T::AssetTypeDeprecated => paths::INVENTORY,
        T::PayoutSetupChanged => paths::PAYOUT_SETUP,
        T::OpportunityPublished | T::OpportunityClosed | T::OpportunityCancelled => return None,
    };
    Some(path.to_owned())
}

/// Whether there is a page with this path, which can have a query, for the team.
fn is_page(context: &Context, path: &str) -> bool {
    let path = path.split('?').next().unwrap_or_default();
    path.starts_with('/') && context.pages.of(context.team()).any(|page| matches(page.path, path))
}

/// Whether a path is the path of a page. All parameters in paths of notifications are IDs.
fn matches(page: &str, path: &str) -> bool {
    let (mut expected, mut found) = (page.split('/'), path.split('/'));
    loop {
        match (expected.next(), found.next()) {
            (None, None) => return true,
            (Some(name), Some(value)) if name.starts_with('{') => {
                if Uuid::try_parse(value).is_err() {
                    return false;
                }
            }
            (Some(name), Some(value)) if name == value => {}
            _ => return false,
        }
    }
}

/// The button that marks all notifications as read.
pub struct MarkAllRead;

impl Action<Member> for MarkAllRead {
    const PATH: &'static str = "/notifications/read";
    const TITLE: &'static str = "Mark all notifications as read";

    async fn submit(visit: &Visit<Member>, fields: &Fields) -> Result<Answer> {
        let incomplete = "The form does not say what was shown. Press the button on the list again.";
        let newest = fields.parsed(NEWEST, incomplete, |id| Uuid::try_parse(id).ok())?;
        let newest = newest.ok_or_else(|| invalid(NEWEST, incomplete))?;
        let change = Change::new("read_notifications", "team", visit.access.team().id);
        let mark = changes::perform(visit, fields, change, move |writer, member| {
            notifications::mark_read_by_team(writer, member, Actor::Team, MarkedRead::Until(newest))
        });
        let is_limited = mark.await? >= u64::from(MAX_READ_AT_ONCE);
        let notice = if is_limited { Notice::MarkedOldest } else { Notice::MarkedRead };
        Ok(Answer::done(&list_of(fields), notice))
    }
}

/// The button that marks a notification as read.
pub struct MarkRead;

impl Action<Member> for MarkRead {
    const PATH: &'static str = "/notifications/{id}/read";
    const TITLE: &'static str = "Mark a notification as read";

    async fn submit(visit: &Visit<Member>, fields: &Fields) -> Result<Answer> {
        mark(visit, fields, visit.id(0)?).await?;
        Ok(Answer::done(&list_of(fields), Notice::MarkedRead))
    }
}

/// The button that opens the subject of a notification, and marks the notification as read.
pub struct OpenNotification;

impl Action<Member> for OpenNotification {
    const PATH: &'static str = "/notifications/{id}/open";
    const TITLE: &'static str = "Open a notification";

    async fn submit(visit: &Visit<Member>, fields: &Fields) -> Result<Answer> {
        let id = visit.id(0)?;
        let read = move |reader: &Reader, member: &Member| team_records::find(reader.rows, member, id);
        let notification: Notification = visit.read(read).await?;
        mark(visit, fields, id).await?;
        let page = target(&visit.context, &notification);
        Ok(Answer::Redirect(page.unwrap_or_else(|| paths::NOTIFICATIONS.to_owned())))
    }
}

/// Marks a notification as read.
async fn mark(visit: &Visit<Member>, fields: &Fields, id: Uuid) -> Result<()> {
    let change = Change::new("read_notification", "notification", id);
    let mark = changes::perform(visit, fields, change, move |writer, member| {
        notifications::mark_read_by_team(writer, member, Actor::Team, MarkedRead::These(&[id]))
    });
    mark.await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_matched_by_their_segments() {
        let id = "4c1852a8-6f3e-4cbb-9d3e-111111111111";
        assert!(matches("/listings/{id}", &format!("/listings/{id}")));
        assert!(!matches("/listings/{id}", "/listings/boreal-retina"));
        assert!(!matches("/listings/{id}", &format!("/listings/{id}/buy")));
        assert!(matches("/wallet", "/wallet") && !matches("/wallet", "/wallets"));
    }
}
