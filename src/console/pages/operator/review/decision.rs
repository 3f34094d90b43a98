//! The form for the decision of a reviewer, and its submission.

use super::{
    facts,
    filters::{filters_of, path_of, query_of},
};
use crate::{
    console::pages::{operator::prelude::*, own_listings::title_of},
    operations::{
        listings,
        review_cases::{self, Case},
        review_decisions::{self, Decision, Revision},
        review_queue::{self, Filters},
    },
};

/// Field with the revision that the reviewer sees.
pub const REVISION: &str = "revision";

/// Field that says what is decided.
const DECISION: &str = "decision";

/// Field with the number of the template that the note begins with.
const TEMPLATE: &str = "template";

/// Field with the note.
const NOTE: &str = "note";

/// Maximum number of characters of a template in the list of templates.
const MAX_LABEL: usize = 70;

/// Shows what a reviewer can decide now.
pub fn panel(context: &Context, filters: &Filters, case: &Case) -> Markup {
    let is_in_review = facts::is_in_review(case);
    let is_certified = case.listing.certified_at.is_some();
    let asks = case.required_checks.approval_warning().is_some();
    let content = html! {
        (hidden(filters, &case.revision.to_string()))
        h2 #decide { @if is_in_review { "Decide" } @else { "Certification" } }
        @if is_in_review {
            (templates(context))
            (Field::lines(NOTE, "Note to the vendor")
                .hint(html! { "Needed to request changes and to reject. The vendor reads it in the notification, and with the listing." })
                .show(&context.inputs))
            div.stack.tight {
                button.primary.full name=(DECISION) value="approve" data-key="a" { @if asks { "Approve…" } @else { "Approve" } }
                button.full name=(DECISION) value="request_changes" data-key="r" { "Request changes" }
                button.danger.full name=(DECISION) value="reject" { "Reject…" }
            }
        }
        div.stack.tight {
            @if is_certified { button.full name=(DECISION) value="revoke" { "Revoke the certification" } }
            @else { button.full name=(DECISION) value="certify" { "Certify" } }
            p.note {
                @if is_certified { "It is certified. Revoking decides nothing else." }
                @else { "Certifies it as it is now, whatever its checks found. It decides nothing else." }
            }
        }
        @if is_in_review {
            p.note data-keys hidden { kbd { "a" } " approves, " kbd { "r" } " requests changes, " kbd { "n" } " opens the next listing. \
                The keys do nothing while you write; " kbd { "Esc" } " leaves the note. “Keys” at the end of the page switches them off." }
        }
    };
    html! {
        form.panel method="post" action=(context.links.to(&context.path)) aria-labelledby="decide" data-review {
            (fields::form_key(context))
            (content)
        }
    }
}

/// Returns the hidden fields: the revision, and the filters of the queue.
fn hidden(filters: &Filters, revision: &str) -> Markup {
    html! {
        input type="hidden" name=(REVISION) value=(revision);
        @for (name, value) in query_of(filters).pairs() { input type="hidden" name=(name) value=(value); }
    }
}

/// Returns the list of templates. Without scripts, the chosen one is put before the note when the form is sent.
fn templates(context: &Context) -> Markup {
    let templates = &context.market().settings().review.templates;
    html! { @if !templates.is_empty() {
        div.field {
            label for=(TEMPLATE) { "Begin the note with" }
            select id=(TEMPLATE) name=(TEMPLATE) {
                option value="" { "Nothing" }
                @for (number, template) in templates.iter().enumerate() {
                    @let value = number.to_string();
                    option value=(value) data-text=(template) selected[context.inputs.is_chosen(TEMPLATE, &value, false)] {
                        (label(template))
                    }
                }
            }
            details {
                summary.note { "Read them in full" }
                ol { @for template in templates { li.long { (template) } } }
            }
        }
    } }
}

/// Returns the beginning of a template.
fn label(template: &str) -> String {
    let line = template.trim().lines().next().unwrap_or_default();
    if line.chars().count() <= MAX_LABEL {
        return line.to_owned();
    }
    line.chars().take(MAX_LABEL).chain(['…']).collect()
}

/// Returns the note of a form: the chosen template, and what was typed.
fn note_of(fields: &Fields, templates: &[String]) -> Option<String> {
    let template = fields.get(TEMPLATE).and_then(|number| templates.get(number.parse::<usize>().ok()?));
    let parts: Vec<&str> = template.map(String::as_str).into_iter().chain(fields.get(NOTE)).collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// The button that was pressed.
enum FormAction {
    /// A decision, with the notice after it.
    Decision(Decision, Notice),
    /// A rejection, with the note. It needs a confirmation.
    Question(String),
    /// Back to the page from a question, with what was typed.
    Back,
}

/// Value of the button that approves a listing regardless of its checks.
const APPROVE_ANYWAY: &str = "approve_anyway";

fn pressed(fields: &Fields, templates: &[String]) -> Result<FormAction> {
    let note = note_of(fields, templates);
    let required = |message: &str| note.clone().ok_or_else(|| invalid(NOTE, message));
    let decided = |decision, notice| Ok(FormAction::Decision(decision, notice));
    match fields.get(DECISION) {
        Some("back") => Ok(FormAction::Back),
        Some("approve" | APPROVE_ANYWAY) if note.is_some() => {
            let message = "The vendor gets no note with an approval. Delete the note, or request changes.";
            Err(invalid(NOTE, message))
        }
        Some("approve" | APPROVE_ANYWAY) => decided(Decision::Approve, Notice::ReviewApproved),
        Some("request_changes") => {
            let note = required("Say what the vendor should change.")?;
            decided(Decision::RequestChanges(note), Notice::ReviewSentBack)
        }
        Some("reject") => Ok(FormAction::Question(required("Say why the listing is rejected.")?)),
        Some("reject_for_good") => {
            let note = required("Say why the listing is rejected.")?;
            decided(Decision::Reject(note), Notice::ReviewRejected)
        }
        Some("certify") => decided(Decision::Certify, Notice::ListingCertified),
        Some("revoke") => decided(Decision::Revoke, Notice::CertificationRevoked),
        _ => Err(Error::Malformed("Choose what to decide.".to_owned())),
    }
}

/// Carries out the action of the pressed button. After a decision, shows the next listing of the queue.
pub async fn submit(visit: &Visit<ActingOperator>, fields: &Fields) -> Result<Answer> {
    let (id, filters) = (visit.id(0)?, filters_of(fields.values()));
    let (decision, notice) = match pressed(fields, &visit.market().settings().review.templates)? {
        FormAction::Decision(decision, notice) => (decision, notice),
        FormAction::Question(note) => return ask_to_reject(visit, fields, &filters, &note).await,
        // The page is shown again with what was typed.
        FormAction::Back => return Err(Error::Invalid(Vec::new())),
    };
    let stays = matches!(decision, Decision::Certify | Decision::Revoke);
    let seen = fields.get(REVISION).and_then(Revision::parse);
    if decision == Decision::Approve && fields.get(DECISION) != Some(APPROVE_ANYWAY) {
        let seen = seen.clone();
        let read = visit.read(move |reader, operator| {
            review_cases::approval_warning(reader, operator.platform(), id, seen.as_ref())
        });
        if let Some(warning) = read.await? {
            return ask_to_approve(visit, fields, &filters, &warning).await;
        }
    }
    let change = Change::new(decision.operation(), "listing", id);
    changes::perform_on(visit, fields, change, move |writer, operator, change| {
        let vendor = review_decisions::decide(writer, operator.platform(), (id, seen.as_ref()), &decision)?;
        change.team = Some(vendor);
        Ok(())
    })
    .await?;
    if stays {
        return Ok(Answer::done(&path_of(id, &filters), notice));
    }
    let wanted = filters.clone();
    let place =
        visit.read(move |reader, operator| review_queue::place(reader, operator.platform(), &wanted, id));
    let path = match place.await?.next {
        Some(next) => path_of(next, &filters),
        None => query_of(&filters).at(REVIEW),
    };
    Ok(Answer::done_about(&path, notice, id))
}

/// Shows a page that asks whether to approve or to reject a listing. `body` returns the fields and buttons of its form, for the
/// address of the listing's page.
async fn ask(
    visit: &Visit<ActingOperator>,
    fields: &Fields,
    filters: &Filters,
    verb: &str,
    body: impl FnOnce(&str) -> Markup,
) -> Result<Answer> {
    let id = visit.id(0)?;
    let listing =
        visit.read(move |reader, operator| listings::find(reader.rows, operator.platform(), id)).await?;
    let (context, title) = (&visit.context, title_of(&listing.title));
    let own = path_of(id, filters);
    let form = html! {
        (hidden(filters, fields.get(REVISION).unwrap_or_default()))
        (body(&own))
    };
    let content = Content::new(format!("{verb} {title}?"), fields::form(context, &context.path, &form));
    Ok(content.narrow().with_parent("Review", query_of(filters).at(REVIEW)).with_parent(title, own).into())
}

/// Asks for a confirmation before a listing is approved whose required checks have not all passed.
async fn ask_to_approve(
    visit: &Visit<ActingOperator>,
    fields: &Fields,
    filters: &Filters,
    warning: &str,
) -> Result<Answer> {
    let body = |own: &str| {
        html! {
            (badges::warning(warning))
            p { "The vendor is notified, and can publish the listing at once, whatever the checks find later." }
            div.row {
                button.primary name=(DECISION) value=(APPROVE_ANYWAY) { "Approve anyway" }
                a.button.quiet href=(visit.context.links.to(own)) { "Leave it as it is" }
            }
        }
    };
    ask(visit, fields, filters, "Approve", body).await
}

/// Asks for a confirmation before a listing is rejected, and keeps the note.
async fn ask_to_reject(
    visit: &Visit<ActingOperator>,
    fields: &Fields,
    filters: &Filters,
    note: &str,
) -> Result<Answer> {
    let note = Field::lines(NOTE, "Note to the vendor").value(note).required();
    let body = |_: &str| {
        html! {
            p { "The vendor cannot submit it again, and would have to make a new listing. To let the vendor correct it, request changes instead." }
            (note.show(&visit.context.inputs))
            div.row {
                button.primary.danger name=(DECISION) value="reject_for_good" { "Reject" }
                button.quiet name=(DECISION) value="back" formnovalidate { "Leave it as it is" }
            }
        }
    };
    ask(visit, fields, filters, "Reject", body).await
}
