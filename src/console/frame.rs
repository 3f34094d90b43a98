//! The frame around the content of each page: the header with the team and its credits, the navigation, and the footer.

use maud::{DOCTYPE, Markup, html};
use uuid::Uuid;

use super::{
    answer::{Content, FILTERS_FORM},
    assets,
    banners::Banners,
    navigation::{NavigationItem, PageRow, Section},
    notices::Notice,
    parts::{badges, fields, icons, text},
    paths,
    visit::Context,
};
use crate::{
    domain::{money::Cents, sessions::TeamSide, string_enum::StringEnum, teams::Team},
    error::{Error, Result},
    operations::{
        access::{AuthenticatedTeam, Member, Operator},
        listings, nda, notifications, wallet,
    },
    web::auth::required_access::{Audience, RequiredAccess},
};

/// What the frame shows of the visitor.
#[derive(Clone, Debug, Default)]
pub struct FrameFacts {
    /// Credits and earnings, if the team has a role.
    balances: Option<(Cents, Cents)>,
    unread_count: u64,
    /// Whether the text of the NDA has changed since the team accepted it.
    has_new_nda: bool,
    banners: Banners,
    /// Title and path of the listing that the notice is about, for operators.
    about: Option<(String, String)>,
}

impl FrameFacts {
    /// Reads the facts of a visitor.
    pub async fn read(context: &Context) -> Result<FrameFacts> {
        let signed_in = context.signed_in.as_ref();
        let team = signed_in
            .and_then(|signed_in| AuthenticatedTeam::authorize(signed_in.authenticated.clone()).ok());
        let member = team.and_then(|team| Member::authorize(team).ok());
        let about = context.query.get(Notice::ABOUT).and_then(|id| Uuid::try_parse(id).ok());
        let operator =
            signed_in.and_then(|signed_in| Operator::authorize(signed_in.authenticated.clone()).ok());
        let about = operator.zip(about);
        let read = move |reader: &crate::market::Reader| {
            let banners = Banners::find(reader)?;
            let about =
                about.map(|(operator, id)| about_listing(reader, &operator, id)).transpose()?.flatten();
            let Some(member) = member else {
                return Ok(FrameFacts { banners, about, ..FrameFacts::default() });
            };
            let balances = wallet::balances(reader, &member)?;
            Ok(FrameFacts {
                balances: Some((balances.credits, balances.available)),
                unread_count: notifications::unread_count(reader, &member)?,
                has_new_nda: nda::needs_acceptance(reader, member.team())?,
                banners,
                about: None,
            })
        };
        context.market().read_inline(context.requester.clone(), read).await
    }
}

/// Returns the title of a listing, and the path of its record; `None` if there is none with this ID.
fn about_listing(
    reader: &crate::market::Reader,
    operator: &Operator,
    id: Uuid,
) -> Result<Option<(String, String)>> {
    match listings::find(reader.rows, operator.platform(), id) {
        Ok(listing) => Ok(Some((listing.title, format!("{}/{id}", paths::OPERATOR_LISTINGS)))),
        Err(Error::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns a page.
pub fn page(
    context: &Context,
    facts: &FrameFacts,
    content: &Content,
    current: Option<NavigationItem>,
) -> Markup {
    let body = html! {
        a.skip href="#main" { "Skip to content" }
        div.frame {
            (top(context, facts, content))
            (side(context, facts, content, current))
            main #main tabindex="-1" class=[content.is_narrow.then_some("narrow")] { (main(context, facts, content)) }
            (foot(context))
        }
        (keys(content.script == Some("review.js")))
    };
    document(context, content, &body)
}

/// Returns a page without navigation, for somebody who has not signed in.
pub fn plain_page(context: &Context, banners: &Banners, content: &Content) -> Markup {
    let body = html! {
        div.door { main.wide #main tabindex="-1" {
            (banners.show(context))
            div.stack {
                (brand(context))
                @if let Some(notice) = notice(context) { (badges::notice(notice)) }
                (badges::refusal(&context.inputs))
                h1 { bdi { (content.title) } }
                @if let Some(note) = &content.note { p.note { (note) } }
            }
            (content.body)
        } }
    };
    document(context, content, &body)
}

fn document(context: &Context, content: &Content, body: &Markup) -> Markup {
    let is_refused = content.refusal.is_some() || context.inputs.is_refused();
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                meta name="color-scheme" content="light dark";
                title {
                    @if is_refused { "Error: " } (content.title)
                    // Tells the same form of two records apart.
                    @if let Some((name, _)) = content.crumbs.last() { " · " (name) }
                    " · marketplace"
                }
                link rel="icon" type="image/svg+xml" href=(assets::address(&context.links, "icon.svg"));
                link rel="stylesheet" href=(assets::address(&context.links, "style.css"));
                script src=(assets::address(&context.links, "htmx.js")) defer {}
                script src=(assets::address(&context.links, "page.js")) defer {}
                @if let Some(script) = content.script { script src=(assets::address(&context.links, script)) defer {} }
            }
            body { (icons::shapes_of(&body.0)) (body) }
        }
    }
}

fn brand(context: &Context) -> Markup {
    html! {
        a.brand href=(context.links.to("")) {
            svg aria-hidden="true" { use href="#mark" {} } span { "marketplace" } b.out { ", start" }
        }
    }
}

fn notice(context: &Context) -> Option<Notice> {
    context.query.get(Notice::FIELD).and_then(Notice::parse)
}

fn main(context: &Context, facts: &FrameFacts, content: &Content) -> Markup {
    html! {
        (facts.banners.show(context))
        @match (notice(context), &facts.about) {
            (Some(notice), Some((title, path))) => (badges::notice_about(notice, title, &context.links.to(path))),
            (Some(notice), None) => (badges::notice(notice)),
            (None, _) => {},
        }
        (content.refusal.clone().unwrap_or_else(|| badges::refusal(&context.inputs)))
        @if facts.has_new_nda && !context.path.starts_with(paths::NDA) {
            (badges::warning(html! {
                "The mutual NDA has a new text. " a href=(context.links.to(paths::NDA)) { "Read and accept it" } "."
            }))
        }
        div.head {
            div {
                @if !content.crumbs.is_empty() {
                    nav.crumbs aria-label="Breadcrumb" { ol { @for (name, path) in &content.crumbs {
                        li { a href=(context.links.to(path)) { bdi { (name) } } }
                    } } }
                }
                h1 { bdi { (content.title) } }
                @if let Some(note) = &content.note { p.note { (note) } }
            }
            @if let Some(actions) = &content.actions { div.row { (actions) } }
        }
        (content.body)
        @if let Some((method, path, body)) = &content.request { (as_request(context, method, path, body.as_deref())) }
    }
}

/// Returns the API request that corresponds to the page, as a command.
fn as_request(context: &Context, method: &str, path: &str, body: Option<&str>) -> Markup {
    let method = if method == "GET" { String::new() } else { format!("-X {method} ") };
    let mut command =
        format!("curl {method}-H \"Authorization: Bearer $KEY\" \\\n  '{}{path}'", context.base_url);
    if let Some(body) = body {
        command.push_str(" \\\n  -H 'Content-Type: application/json' -d '");
        command.push_str(body);
        command.push('\'');
    }
    html! { details #as-request.no-print { summary.note { "As a request" } pre { code { (command) } } } }
}

fn top(context: &Context, facts: &FrameFacts, content: &Content) -> Markup {
    let team = context.team();
    html! {
        header.top {
            button.icon.quiet.small-only popovertarget="nav" aria-label="Menu" { (icons::icon("menu")) }
            (brand(context))
            @if let Some(side) = context.side() { (sides(context, side)) }
            @if team.is_some_and(|team| team.is_buyer || team.is_vendor) {
                // On a page with search results, the field belongs to the form with their filters.
                (search(context, content, paths::CATALOG, "Search the catalog", content.search.as_ref().map(|_| FILTERS_FORM)))
            } @else if context.has_page(paths::OPERATOR_SEARCH) {
                (search(context, content, paths::OPERATOR_SEARCH, "Search by ID, name, or request", None))
            }
            div.row.end {
                @if let Some(team) = team { (account(context, facts, team)) } @else { (operator_account(context)) }
            }
        }
    }
}

/// Returns the search field, which belongs to a form of its own unless there is another one.
fn search(context: &Context, content: &Content, path: &str, label: &str, form: Option<&str>) -> Markup {
    let text = content.search.as_deref().unwrap_or_default();
    let follows = path == paths::CATALOG;
    html! {
        form.search role="search" action=(context.links.to(path)) {
            (icons::icon("search"))
            input #search type="search" name="query" value=(text) maxlength="1000" placeholder=(label) aria-label=(label)
                form=[form] data-search[follows];
            kbd aria-hidden="true" data-keys hidden { "/" }
            button.out tabindex="-1" form=[form] { "Search" }
        }
    }
}

/// Returns the switch between the sides of a team with both roles.
fn sides(context: &Context, chosen: TeamSide) -> Markup {
    let choices = [(TeamSide::Buyer, "Buying"), (TeamSide::Vendor, "Selling")];
    html! {
        form.sides method="post" action=(context.links.to("/side")) aria-label="Side of the team" {
            (fields::opened_by(context))
            @for (side, label) in choices {
                button name="side" value=(side.as_str()) aria-current=[(side == chosen).then_some("true")] { (label) }
            }
        }
    }
}

fn account(context: &Context, facts: &FrameFacts, team: &Team) -> Markup {
    let unread = facts.unread_count;
    html! {
        @if let Some((credits, earnings)) = facts.balances {
            @if team.is_buyer && context.side() != Some(TeamSide::Vendor) { a.wallet href=(context.links.to(paths::WALLET)) { (text::money(credits)) small { "credits" } } }
            @else { a.wallet href=(context.links.to(paths::EARNINGS)) { (text::money(earnings)) small { "available" } } }
        }
        // A team without a role has no page of notifications.
        @if team.is_buyer || team.is_vendor {
            a.button.icon.quiet.bell href=(context.links.to(paths::NOTIFICATIONS)) {
                (icons::icon("bell"))
                @if unread > 0 { b { (if unread > 99 { "99+".to_owned() } else { unread.to_string() }) } }
                span.out { " " (text::counted(unread, "unread notification", "unread notifications")) }
            }
        }
        button.icon.quiet popovertarget="account" {
            span.face { (text::initials(&team.name)) } span.out { ", menu of " bdi { (team.name) } }
        }
        div.menu #account popover {
            p { b { bdi { (team.name) } } br; span.note { (roles(team)) } }
            a href=(context.links.to(paths::KEYS)) { "Keys" }
            a href=(context.links.to(paths::SESSIONS)) { "Sessions" }
            a href=(context.links.to(paths::PROFILE)) { "Team settings" }
            a href=(context.links.to(paths::HELP)) { "Help" }
            (sign_out(context))
        }
    }
}

fn operator_account(context: &Context) -> Markup {
    html! {
        button.icon.quiet popovertarget="account" { span.face { "OP" } span.out { ", menu of the operator" } }
        div.menu #account popover {
            p { b { "Operator" } br; span.note { "runs the market" } }
            a href=(context.links.to(paths::SESSIONS)) { "Sessions" }
            a href=(context.links.to(paths::HELP)) { "Help" }
            (sign_out(context))
        }
    }
}

fn sign_out(context: &Context) -> Markup {
    html! { form method="post" action=(context.links.to("/sign-out")) { button { "Sign out" } } }
}

/// Returns the roles of a team in words.
pub fn roles(team: &Team) -> &'static str {
    match (team.is_vendor, team.is_buyer) {
        (true, true) => "vendor and buyer",
        (true, false) => "vendor",
        (false, true) => "buyer",
        (false, false) => "no role yet",
    }
}

fn side(context: &Context, facts: &FrameFacts, content: &Content, current: Option<NavigationItem>) -> Markup {
    let pages = context.pages.of(context.team());
    let is_of_side = |page: &&PageRow| {
        !matches!(
            (context.side(), page.access.map(RequiredAccess::audience)),
            (Some(TeamSide::Buyer), Some(Audience::Vendors))
                | (Some(TeamSide::Vendor), Some(Audience::Buyers))
        )
    };
    let shown = pages.filter(is_of_side);
    let rows: Vec<_> = shown.filter_map(|page| Some((page.path, page.navigation?))).collect();
    let is_current = |item: &NavigationItem| {
        current.is_some_and(|current| (current.section, current.label) == (item.section, item.label))
    };
    // A page that is not in the navigation itself stands below one that is.
    let above = content.crumbs.first().map(|(_, path)| path.as_str());
    let state = |path: &str, item: &NavigationItem| {
        if is_current(item) { Some("page") } else { (above == Some(path)).then_some("true") }
    };
    let items = |section: Section| rows.iter().filter(move |(_, item)| item.section == section);
    html! {
        nav.side.sheet #nav popover aria-label="Pages" {
            @for &(section, heading) in sections(context) { @if items(section).next().is_some() {
                @if let Some(heading) = heading { h2 { (heading) } }
                ul { @for (path, item) in items(section) { li {
                    a href=(context.links.to(path)) aria-current=[state(path, item)] {
                        (item.label)
                        @if *path == paths::NOTIFICATIONS && facts.unread_count > 0 { " " span { (facts.unread_count) } }
                    }
                } } }
            } }
            @if rows.is_empty() { ul { li { a href=(context.links.to(paths::SESSIONS)) { "Sessions" } } } }
        }
    }
}

/// Returns the sections of the navigation.
fn sections(context: &Context) -> &'static [(Section, Option<&'static str>)] {
    if context.team().is_none() { Section::OF_OPERATORS } else { Section::of_team(is_selling(context)) }
}

/// Whether the team sells, and does nothing else, or has chosen this side.
fn is_selling(context: &Context) -> bool {
    match context.side() {
        Some(side) => side == TeamSide::Vendor,
        None => context.team().is_some_and(|team| team.is_vendor),
    }
}

/// Returns the dialog that explains the keys, which the key `?` opens.
fn keys(is_review: bool) -> Markup {
    html! {
        dialog #keys aria-labelledby="keys-title" {
            h2 #keys-title { "Keys" }
            dl.facts {
                dt { kbd { "/" } } dd { "Go to the search field" }
                dt { kbd { "?" } } dd { "Show these keys" }
                dt { kbd { "Tab" } } dd { "Go to the next link, button, or field" }
                dt { kbd { "Esc" } } dd { "Close what was opened" }
                @if is_review {
                    dt { kbd { "a" } } dd { "Approve the listing" }
                    dt { kbd { "r" } } dd { "Request changes, or write the note first" }
                    dt { kbd { "n" } } dd { "Open the next listing of the queue" }
                }
            }
            label.tick {
                input type="checkbox" checked data-keys-switch;
                span { "Use single keys in this browser. " span.note { "Switch them off if you dictate, or press them by mistake." } }
            }
            form.row method="dialog" { button { "Close" } }
        }
    }
}

fn foot(context: &Context) -> Markup {
    let console = &context.market().settings().console;
    html! {
        footer.foot {
            span { "marketplace " (env!("CARGO_PKG_VERSION")) " · market clock " (text::moment(context.now())) }
            @if context.market().is_world() { a href=(context.links.to(paths::WORLD_CLOCK)) { "Clock of this world" } }
            @for (label, address) in [("Terms", &console.terms_url), ("Privacy", &console.privacy_url), ("Contact", &console.contact)] {
                @if !address.is_empty() { a href=(address) rel="noopener" { (label) } }
            }
            a href=(context.links.to(paths::HELP)) { "Help" }
            button.link type="button" aria-haspopup="dialog" data-keys-open hidden { "Keys" }
            a href=(context.links.outside("/")) { "API" }
        }
    }
}
