//! The change that the form of an asset requests: the fields that differ from the asset.

use super::columns;
use crate::{
    console::prelude::*,
    domain::{
        assets::{Exclusivity, Kind, TaskType},
        changes::Change,
        codebase_fields::CodebaseChange,
        inventory::{Asset, AssetChange, ChangeOrigin},
        time::Day,
        typed_numbers::parse_whole_number,
    },
    error::Problem,
};

/// Returns the change. Fails with the problems of fields that cannot be read; the operation validates their values.
pub fn read(fields: &Fields, asset: &Asset) -> Result<AssetChange> {
    let mut input = Input { fields, asset, problems: Vec::new() };
    let has_own_words = asset.kind != Kind::Codebase;
    let change = AssetChange {
        origin: ChangeOrigin::Inventory,
        title: if asset.kind == Kind::Task { None } else { input.title() },
        description: input.text("description", asset.description.as_deref()),
        domain_tags: input.domain_tags(),
        other_domain: if has_own_words {
            input.text("other_domain", asset.other_domain.as_deref())
        } else {
            Change::Unchanged
        },
        price_usd: input.price(),
        notes: if has_own_words { input.text("notes", asset.notes.as_deref()) } else { Change::Unchanged },
        extra_columns: if asset.kind == Kind::Task { None } else { input.columns() },
        task_type: input.task_type(),
        codebase: if asset.kind == Kind::Codebase { input.codebase() } else { CodebaseChange::default() },
        ..AssetChange::default()
    };
    if input.problems.is_empty() {
        return Ok(change);
    }
    // All problems are shown at once, including problems of fields that could be read.
    input.problems.extend(change.find_problems().into_vec());
    Err(Error::Invalid(input.problems))
}

struct Input<'i> {
    fields: &'i Fields,
    asset: &'i Asset,
    problems: Vec<Problem>,
}

impl Input<'_> {
    /// Returns what was typed into a field; `None` if the form did not show it, since it is locked.
    #[expect(clippy::option_option)] // A field that was shown can still have no value.
    fn typed(&self, name: &str) -> Option<Option<String>> {
        let typed = self.fields.get(name).map(str::to_owned);
        // A field that was locked after the form was shown is refused by the operation, and not ignored.
        (typed.is_some() || !self.asset.locks.contains_key(name)).then_some(typed)
    }

    fn text(&self, name: &str, before: Option<&str>) -> Change<String> {
        let before = before.map(as_typed);
        match self.typed(name) {
            Some(typed) => changed(before.filter(|text| !text.is_empty()).as_ref(), typed),
            None => Change::Unchanged,
        }
    }

    fn title(&mut self) -> Option<String> {
        let before = self.asset.title.trim();
        match self.typed("title")? {
            Some(title) => (title != before).then_some(title),
            None => {
                if !before.is_empty() {
                    self.problems.push(problem("title", "Enter a name."));
                }
                None
            }
        }
    }

    fn domain_tags(&self) -> Option<Vec<Option<String>>> {
        let chosen: Vec<String> = self.fields.all("domain_tags").map(str::to_owned).collect();
        let is_locked = self.asset.locks.contains_key("domain_tags") && chosen.is_empty();
        // The order of the tags does not matter, and the form has its own.
        let (mut sorted, mut before) = (chosen.clone(), self.asset.domain_tags.clone());
        sorted.sort();
        before.sort();
        (!is_locked && sorted != before).then(|| chosen.into_iter().map(Some).collect())
    }

    fn price(&mut self) -> Change<f64> {
        if self.typed("price_usd").is_none() {
            return Change::Unchanged;
        }
        let amount = self.fields.amount("price_usd");
        match self.taken(amount) {
            Some(amount) => changed(self.asset.price.as_ref(), amount).map(Cents::dollars),
            None => Change::Unchanged,
        }
    }

    fn columns(&mut self) -> Option<columns::Columns> {
        let before = &self.asset.extra_columns;
        // Columns that lines cannot express are not in the form.
        columns::to_lines(before)?;
        let typed = self.typed("extra_columns")?.unwrap_or_default();
        let Some(parsed) = columns::parse(&typed) else {
            let message = "Enter a name, a colon, and a value on each line, and each name once.";
            self.problems.push(problem("extra_columns", message));
            return None;
        };
        (parsed != *before).then_some(parsed)
    }

    fn task_type(&self) -> Option<TaskType> {
        let before = self.asset.task.as_ref()?.task_type;
        self.fields.get("task_type").and_then(TaskType::parse).filter(|chosen| *chosen != before)
    }

    fn codebase(&mut self) -> CodebaseChange {
        let before = &self.asset.codebase;
        CodebaseChange {
            exclusivity: self.exclusivity(),
            lines_of_code: self.number("lines_of_code", before.lines_of_code),
            commits: self.number("commits", before.commits),
            contributors: self.number("contributors", before.contributors),
            merged_prs: self.number("merged_prs", before.merged_prs),
            history_start: self.day("history_start", before.history_start),
            history_end: self.day("history_end", before.history_end),
            ci_on_prs: self.value(
                "ci_on_prs",
                before.ci_on_prs.as_ref(),
                "Choose yes, no, or not known.",
                |text| match text {
                    "yes" => Some(true),
                    "no" => Some(false),
                    _ => None,
                },
            ),
        }
    }

    /// Returns the change of the exclusivity. A codebase that was sold exclusively has no field for it.
    fn exclusivity(&mut self) -> Change<Exclusivity> {
        let before = self.asset.codebase.exclusivity;
        if !self.fields.has("exclusivity") {
            return Change::Unchanged;
        }
        self.value("exclusivity", before.as_ref(), "Choose one from the list.", Exclusivity::parse)
    }

    fn number(&mut self, name: &'static str, before: Option<i64>) -> Change<i64> {
        let message = "Enter a whole number, for example 12000.";
        self.value(name, before.as_ref(), message, |text| parse_whole_number(&text.replace(' ', "")))
    }

    fn day(&mut self, name: &'static str, before: Option<Day>) -> Change<Day> {
        self.value(name, before.as_ref(), "Enter a day, for example 2024-05-31.", Day::parse)
    }

    fn value<T: PartialEq>(
        &mut self,
        name: &'static str,
        before: Option<&T>,
        message: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Change<T> {
        if self.typed(name).is_none() {
            return Change::Unchanged;
        }
        let parsed = self.fields.parsed(name, message, parse);
        match self.taken(parsed) {
            Some(typed) => changed(before, typed),
            None => Change::Unchanged,
        }
    }

    /// Returns the value of a field, or adds its problems.
    fn taken<T>(&mut self, field: Result<T>) -> Option<T> {
        collect(field, &mut self.problems).unwrap_or_default()
    }
}

/// Returns the change from a value to another.
fn changed<T: PartialEq>(before: Option<&T>, after: Option<T>) -> Change<T> {
    match after {
        Some(after) if before == Some(&after) => Change::Unchanged,
        Some(after) => Change::Set(after),
        None if before.is_some() => Change::Clear,
        None => Change::Unchanged,
    }
}
