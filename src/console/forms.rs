//! Submitted forms, and the page of a refused form: the typed values, and the problems at their fields.

use std::sync::Mutex;

use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::{address::Query, text::size, wording};
use crate::error::{Error, LocSegment, Problem, Result};

/// The field with the key of a form: pressing a button twice sends the same key, so the form is carried out once.
pub const KEY_FIELD: &str = "form_key";

/// The field that identifies who opened the page of a form: somebody else can sign in with the same browser before the form is
/// sent.
pub const OPENED_BY_FIELD: &str = "opened_by";

/// Maximum size of a submitted form in bytes. A listing has two texts of at most 20,000 characters of up to four bytes, each of which
/// browsers send as three: 480,000 bytes. The checkboxes of its form fit besides.
pub const MAX_FORM_BYTES: u64 = 512 << 10;

/// Type of the problem with a key that another form had.
const KEY_REUSED: &str = "idempotency_key_reused";

/// Says what happened to a form that was sent before with other values.
const SENT_BEFORE: &str = "You have sent this form before, with other values, and it was carried out. If it should be carried out \
                           again, with these values, send it once more.";

/// Says what to do with a form whose record was changed after the form was opened.
pub const OUTDATED: &str = "This was changed after you opened the page, so nothing was saved. Look at what the page says now, then \
                            send it again if you still want to.";

/// Returns what a form returns of a stored text that nobody has changed in it: with line feeds as line ends, and without white
/// space at both ends.
pub fn as_typed(stored: &str) -> String {
    stored.replace("\r\n", "\n").trim().to_owned()
}

/// The fields of a submitted form.
#[derive(Clone, Debug, Default)]
pub struct Fields {
    values: Query,
    digest: [u8; 32],
}

impl Fields {
    /// Parses a form in the encoding of browsers.
    pub fn parse(bytes: &Bytes) -> Result<Fields> {
        let text = std::str::from_utf8(bytes).map_err(|_| {
            Error::Malformed("The form cannot be read. Send it from the page again.".to_owned())
        })?;
        Ok(Fields { values: Query::parse(text), digest: Sha256::digest(bytes).into() })
    }

    /// Returns the texts of a form with a file, by their names.
    pub fn of_pairs(pairs: Vec<(String, String)>) -> Result<Fields> {
        let text = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        Fields::parse(&Bytes::from(text))
    }

    /// Returns the fields of a form that was sent with a file, which has this digest.
    #[must_use]
    pub fn with_content(&self, digest: &str) -> Fields {
        let digest = Sha256::new().chain_update(self.digest).chain_update(digest).finalize().into();
        Fields { values: self.values.clone(), digest }
    }

    /// Reads the fields of a form that is sent by GET, from the query of its page.
    pub fn of_query(query: &Query) -> Fields {
        Fields { values: query.clone(), digest: [0; 32] }
    }

    /// Returns all names and values.
    pub const fn values(&self) -> &Query {
        &self.values
    }

    /// Returns the value of a field without surrounding white space; `None` if nothing was typed.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name)
    }

    /// Returns the text of a field. If it is [what a form returns](as_typed) of the text before, it is the text before: another text
    /// of a listing ends its approval.
    pub fn text(&self, name: &str, before: &str) -> String {
        let typed = self.get(name).unwrap_or_default();
        if as_typed(before) == typed { before.to_owned() } else { typed.to_owned() }
    }

    /// Returns the value of a field with its white space, which matters in a table.
    pub fn exact(&self, name: &str) -> Option<&str> {
        self.values.exact(name)
    }

    /// Returns the chosen values of a field.
    pub fn all<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f str> {
        self.values.all(name)
    }

    /// Whether the form has a field, also if nothing was typed.
    pub fn has(&self, name: &str) -> bool {
        self.values.has(name)
    }

    /// Whether a checkbox is checked.
    pub fn is_checked(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Returns the text of a field. Fails with a problem at the field if nothing was typed.
    pub fn require(&self, name: &'static str, message: &str) -> Result<&str> {
        self.get(name).ok_or_else(|| invalid(name, message))
    }

    /// Returns the value of a field that `parse` reads; `None` if nothing was typed. Fails with a problem at the field.
    pub fn parsed<T>(
        &self,
        name: &'static str,
        message: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>> {
        match self.get(name) {
            Some(text) => parse(text).map(Some).ok_or_else(|| invalid(name, message)),
            None => Ok(None),
        }
    }

    /// Returns the digest of the whole form.
    pub const fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// Returns the key of the form.
    pub fn key(&self) -> Option<&str> {
        let is_key = |key: &&str| key.len() <= 64 && key.bytes().all(|byte| byte.is_ascii_graphic());
        self.get(KEY_FIELD).filter(is_key)
    }
}

/// Returns a value, or collects its problems, so that a page shows all problems of a form at once. Fails for other errors.
pub fn collect<T>(value: Result<T>, problems: &mut Vec<Problem>) -> Result<Option<T>> {
    match value {
        Err(Error::Invalid(found)) => {
            problems.extend(found);
            Ok(None)
        }
        other => other.map(Some),
    }
}

/// Returns the error for a form with an invalid field.
pub fn invalid(name: &'static str, message: &str) -> Error {
    Error::invalid(problem(name, message))
}

/// Returns a problem with a field of a form.
pub fn problem(name: &'static str, message: &str) -> Problem {
    Problem::body(&[name], "value_error", message)
}

/// What the fields of a form show: nothing, or what was typed into a form that was refused, with the reasons.
#[derive(Debug, Default)]
pub struct Inputs {
    refusal: Option<Refusal>,
}

/// Why a form was refused.
#[derive(Debug)]
struct Refusal {
    typed: Fields,
    problems: Vec<(String, String)>,
    message: Option<String>,
    /// Whether the record was changed after the form was opened.
    is_outdated: bool,
    /// Whether a team reads it, and not an operator.
    is_for_team: bool,
    /// The labels of the fields that the page has shown.
    labels: Mutex<Vec<(String, String)>>,
}

impl Refusal {
    fn new(typed: Fields, problems: Vec<(String, String)>, message: Option<String>) -> Refusal {
        Refusal { typed, problems, message, is_outdated: false, is_for_team: false, labels: Mutex::default() }
    }

    /// Whether the form had this ID within a longer text, such as a list. Messages then keep the ID to identify the item.
    fn has_among_others(&self, id: &str) -> bool {
        self.typed.values.pairs().any(|(_, value)| value.len() > id.len() && value.contains(id))
    }
}

impl Inputs {
    /// Returns the fields of a form that was refused with an error. Problems with fields are shown there, others above the form.
    pub fn refused(mut typed: Fields, error: &Error) -> Inputs {
        let is_sent_again =
            |problems: &Vec<Problem>| problems.iter().any(|problem| problem.kind == KEY_REUSED);
        let (problems, message) = match error {
            Error::Invalid(problems) if is_sent_again(problems) => {
                // Somebody went back to a form that was carried out. It gets another key.
                typed.values = typed.values.without(KEY_FIELD, None);
                (Vec::new(), Some(SENT_BEFORE.to_owned()))
            }
            Error::Invalid(problems) => (problems.iter().map(field_problem).collect(), None),
            Error::PayloadTooLarge { max_bytes } => {
                let message =
                    format!("What you sent is too large. At most {} can be sent here.", size(*max_bytes));
                (Vec::new(), Some(message))
            }
            Error::PreconditionFailed => (Vec::new(), Some(OUTDATED.to_owned())),
            other => (Vec::new(), Some(other.message())),
        };
        let is_outdated = matches!(error, Error::PreconditionFailed);
        Inputs { refusal: Some(Refusal { is_outdated, ..Refusal::new(typed, problems, message) }) }
    }

    /// Returns the fields of a form that is shown again with the typed values, such as with a preview.
    pub fn kept(typed: Fields) -> Inputs {
        Inputs { refusal: Some(Refusal::new(typed, Vec::new(), None)) }
    }

    /// Sets whether a team reads why the form was refused, and not an operator.
    #[must_use]
    pub fn for_team(mut self, is_for_team: bool) -> Inputs {
        if let Some(refusal) = &mut self.refusal {
            refusal.is_for_team = is_for_team;
        }
        self
    }

    /// Returns what a field shows: what was typed into a refused form, or the given value.
    pub fn value<'i>(&'i self, name: &'i str, otherwise: &'i str) -> &'i str {
        match &self.refusal {
            Some(refusal) => refusal.typed.get(name).unwrap_or_default(),
            None => otherwise,
        }
    }

    /// Whether a choice of a field is chosen. `otherwise` says whether it is in a new form.
    pub fn is_chosen(&self, name: &str, value: &str, otherwise: bool) -> bool {
        match &self.refusal {
            Some(refusal) => refusal.typed.all(name).any(|chosen| chosen == value),
            None => otherwise,
        }
    }

    /// Whether a form was refused since its record was changed after it was opened.
    pub fn is_outdated(&self) -> bool {
        self.refusal.as_ref().is_some_and(|refusal| refusal.is_outdated)
    }

    /// Returns the stored value of a field that differs from what was typed, if somebody else can have changed it meanwhile.
    pub fn stored_now<'v>(&self, name: &str, stored: &'v str) -> Option<&'v str> {
        let refusal = self.refusal.as_ref().filter(|refusal| refusal.is_outdated)?;
        let typed = refusal.typed.get(name).unwrap_or_default();
        (typed != as_typed(stored)).then_some(stored)
    }

    /// Returns what was typed into a refused form.
    pub fn typed(&self) -> Option<&Fields> {
        self.refusal.as_ref().map(|refusal| &refusal.typed)
    }

    /// Remembers the label of a field that the page shows. Problems name the field by this label.
    pub fn add_label(&self, name: &str, label: &str) {
        if let Some(mut labels) = self.refusal.as_ref().and_then(|refusal| refusal.labels.lock().ok()) {
            labels.push((name.to_owned(), label.to_owned()));
        }
    }

    /// Returns the label of a field that the page has shown.
    pub fn label(&self, name: &str) -> Option<String> {
        let labels = self.refusal.as_ref()?.labels.lock().ok()?;
        labels.iter().find(|(field, _)| field == name).map(|(_, label)| label.clone())
    }

    /// Returns the problem with a field.
    pub fn problem(&self, name: &str) -> Option<String> {
        let problems = &self.refusal.as_ref()?.problems;
        problems.iter().find(|(field, _)| field == name).map(|(_, message)| self.humanize(message))
    }

    /// Returns all problems in the order in which the page has shown their fields: names of fields, and messages.
    pub fn problems(&self) -> Vec<(&str, String)> {
        let Some(refusal) = &self.refusal else { return Vec::new() };
        let labels = refusal.labels.lock().map(|labels| labels.clone()).unwrap_or_default();
        let place = |name: &str| labels.iter().position(|(field, _)| field == name).unwrap_or(labels.len());
        let mut problems: Vec<&(String, String)> = refusal.problems.iter().collect();
        problems.sort_by_key(|(field, _)| place(field));
        problems.into_iter().map(|(field, message)| (field.as_str(), self.humanize(message))).collect()
    }

    /// Returns why the form as a whole was refused.
    pub fn message(&self) -> Option<String> {
        self.refusal.as_ref()?.message.as_deref().map(|message| self.humanize(message))
    }

    /// Returns a message as people read it.
    fn humanize(&self, message: &str) -> String {
        let is_typed = |id: &str| self.refusal.as_ref().is_some_and(|refusal| refusal.has_among_others(id));
        let text = wording::humanize_with(message, |name| self.label(name), is_typed);
        let is_for_team = self.refusal.as_ref().is_some_and(|refusal| refusal.is_for_team);
        if is_for_team { wording::for_own_team(&text) } else { text }
    }

    /// Whether a form was refused.
    pub fn is_refused(&self) -> bool {
        self.refusal.as_ref().is_some_and(|refusal| refusal.message.is_some() || !refusal.problems.is_empty())
    }
}

/// Returns the field that a problem is about, and its message.
fn field_problem(problem: &Problem) -> (String, String) {
    (field_of(problem).unwrap_or_default().to_owned(), problem.msg.clone())
}

/// Returns the field that a problem is about.
pub fn field_of(problem: &Problem) -> Option<&str> {
    problem.loc.iter().rev().find_map(|segment| match segment {
        LocSegment::Name(name) => Some(name.as_str()),
        LocSegment::Index(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_differ_in_line_ends_stay_as_they_are() {
        let (before, typed) = ("a\r\nb\n", |body| Fields::parse(&Bytes::from_static(body)).unwrap());
        assert_eq!(typed(b"terms=a%0D%0Ab").text("terms", before), before);
        for body in [&b"terms=a%0D%0Ac"[..], b"terms=a%0d%0ac", b"terms=a\r\nc"] {
            assert_eq!(typed(body).text("terms", before), "a\nc");
        }
    }

    #[test]
    fn problems_are_in_the_order_of_the_fields() {
        let problems = ["price", "unknown", "title"].map(|name| problem(name, name));
        let inputs = Inputs::refused(Fields::default(), &Error::Invalid(problems.to_vec()));
        for name in ["title", "price"] {
            inputs.add_label(name, name);
        }
        let fields: Vec<&str> = inputs.problems().into_iter().map(|(field, _)| field).collect();
        assert_eq!(fields, ["title", "price", "unknown"]);
    }

    #[test]
    fn refused_form_keeps_what_was_typed() {
        let typed = Fields::parse(&Bytes::from_static(b"name=&price=12&kind=a&kind=b")).unwrap();
        let error = invalid("price", "Enter more.");
        let inputs = Inputs::refused(typed, &error);
        assert_eq!((inputs.value("price", "1"), inputs.value("name", "old")), ("12", ""));
        assert_eq!(inputs.problem("price").as_deref(), Some("Enter more."));
        assert!(inputs.is_chosen("kind", "b", false) && !inputs.is_chosen("kind", "c", true));
        let fresh = Inputs::default();
        assert_eq!(fresh.value("price", "1"), "1");
        assert!(fresh.is_chosen("kind", "c", true) && !fresh.is_refused());
    }
}
