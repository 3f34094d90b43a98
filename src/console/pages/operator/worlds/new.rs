//! The form that creates a world.

use toml::{Table, Value};

use super::place::{WORLDS, path};
use crate::{
    console::pages::operator::prelude::*,
    domain::{clock_modes::ClockMode, row_ids::KeyRowId, typed_numbers::parse_whole_number},
    operations::access::ActingProof as _,
    worlds::{self, JobTiming, NewWorld, WebhookMode},
};

/// The page.
pub struct NewWorldPage;

/// The sources that are no worlds and no snapshots.
const SOURCES: [&str; 3] = ["demo", "empty", "market"];

/// Maximum number of hours that a world exists, if it ends by itself.
const MAX_HOURS: i64 = 720;

impl Page<ActingOperator> for NewWorldPage {
    const PATH: &'static str = "/operator/worlds/new";
    const TITLE: &'static str = "Create a world";
    const OPERATIONS: &'static [&'static str] = &["create_world"];

    async fn show(visit: &Visit<ActingOperator>) -> Result<Answer> {
        visit.served.sandbox().ok_or_else(|| Error::not_found("page"))?;
        let form = html! {
            (input_fields(&visit.inputs))
            (fields::buttons(&visit.context, "Create the world", ("Leave", WORLDS)))
        };
        let body = fields::form(&visit.context, Self::PATH, &form);
        Ok(Content::new(Self::TITLE, body).narrow().with_parent("Worlds", WORLDS).into())
    }
}

fn input_fields(inputs: &Inputs) -> Markup {
    let choice = |value: &'static str, words: &str| (value, words.to_owned());
    let clocks = [choice("frozen", "Stands still until it is moved"), choice("running", "Runs")];
    let jobs = [
        choice("before_requests", "Before each request"),
        choice("on_advance", "Only when the clock is moved"),
    ];
    let webhooks = [choice("inbox", "Only kept in the inbox of the world"), choice("send", "Also sent")];
    let name_hint = html! { "Lowercase letters, digits, and hyphens. Leave it empty for a made-up one." };
    let from_hint = html! { "demo, empty, market for this market as it is now, or the name of a world or of a snapshot." };
    let now_hint =
        html! { "In UTC, for example 2026-04-01 09:00. Leave it empty for the time of what is copied." };
    let settings_hint = html! { "One in each line, for example fees.buyer_percent = 4.0. Only rules of the market can be set." };
    html! {
        (Field::text("name", "Name").hint(name_hint).at_most(worlds::MAX_NAME_LENGTH).show(inputs))
        (Field::text("from", "Copy of").hint(from_hint).value("demo").required().at_most(100).show(inputs))
        (Field::moment("now", "Time at which it begins").hint(now_hint).show(inputs))
        (fields::select(inputs, "clock", "Clock", clocks, "frozen"))
        (fields::select(inputs, "jobs", "Jobs run", jobs, "before_requests"))
        (fields::select(inputs, "webhooks", "Messages to webhooks are", webhooks, "inbox"))
        (Field::integer("seed", "Seed").hint(html! { "Worlds with the same seed that get the same requests answer alike." }).show(inputs))
        (Field::integer("hours", "Ends after, hours").hint(html! { "Leave it empty to keep it until it is deleted." }).show(inputs))
        (Field::lines("settings", "Settings").hint(settings_hint).show(inputs))
        label.tick {
            input type="checkbox" name="port" value="yes" checked[inputs.is_chosen("port", "yes", false)];
            span { "Give it a port of its own, for clients that drop the path of an address" }
        }
    }
}

/// Reads the form. Its name is generated if none was typed.
fn read(fields: &Fields, creator: Option<KeyRowId>) -> Result<NewWorld> {
    let defaults = NewWorld::default();
    let name = match fields.get("name") {
        Some(name) if worlds::is_name(name) => name.to_owned(),
        Some(_) => {
            let message = "Use lowercase letters, digits, and hyphens.";
            return Err(invalid("name", message));
        }
        None => format!("world-{}", &Uuid::new_v4().simple().to_string()[..8]),
    };
    let now = fields.moment("now")?;
    let seed = fields.parsed("seed", "Enter a whole number, which is not negative.", |text| {
        parse_whole_number(text).and_then(|seed| u64::try_from(seed).ok())
    })?;
    let hours = fields.parsed("hours", "Enter a number of hours from 1 to 720.", |text| {
        parse_whole_number(text).filter(|hours| (1..=MAX_HOURS).contains(hours))
    })?;
    Ok(NewWorld {
        name: Some(name),
        source: fields.get("from").map_or(defaults.source, str::to_owned),
        now,
        is_running: fields.get("clock").and_then(ClockMode::parse) == Some(ClockMode::Running),
        seed,
        time_to_live: hours.map(|hours| hours * 3_600),
        settings: settings(fields)?,
        has_port: fields.is_checked("port"),
        job_timing: fields.get("jobs").and_then(JobTiming::parse).unwrap_or(defaults.job_timing),
        webhooks: fields.get("webhooks").and_then(WebhookMode::parse).unwrap_or(defaults.webhooks),
        creator,
    })
}

/// Reads the settings: one in each line, as in a settings file.
fn settings(fields: &Fields) -> Result<Vec<(String, Value)>> {
    let parse = |line: &str| {
        let (key, value) = line.split_once('=')?;
        let mut table = toml::from_str::<Table>(&format!("value = {}", value.trim())).ok()?;
        Some((key.trim().to_owned(), table.remove("value")?))
    };
    let lines = fields.get("settings").unwrap_or_default().lines().map(str::trim);
    let settings = lines.filter(|line| !line.is_empty()).map(|line| {
        parse(line).ok_or_else(|| {
            let excerpt: String = line.chars().take(60).collect();
            let message = format!("“{excerpt}” is no setting. Write it like fees.buyer_percent = 4.0.");
            invalid("settings", &message)
        })
    });
    settings.collect()
}

impl FormPage<ActingOperator> for NewWorldPage {
    async fn submit(visit: &Visit<ActingOperator>, fields: &Fields) -> Result<Answer> {
        let sandbox = visit.served.sandbox().cloned().ok_or_else(|| Error::not_found("page"))?;
        let mut new = read(fields, visit.access.used_key().0)?;
        // `perform` returns this value unless the form was already sent before.
        let (name, sent) = (new.name.clone().unwrap_or_default(), Uuid::new_v4());
        let (worlds, source) = (std::sync::Arc::clone(sandbox.worlds()), new.source.clone());
        let change = Change::new(Self::OPERATIONS[0], "world", &name);
        let made = changes::perform(visit, fields, change, move |_, _| {
            if worlds.find(&name).is_some() {
                return Err(invalid("name", "There is a world with this name. Choose another one."));
            }
            let is_known = SOURCES.contains(&source.as_str())
                || worlds.find(&source).is_some()
                || worlds.snapshots().iter().any(|snapshot| snapshot.name == source);
            if !is_known {
                return Err(invalid("from", "There is no such world, and no such snapshot."));
            }
            Ok((name, sent))
        });
        let (name, first) = made.await?;
        if first != sent && sandbox.worlds().find(&name).is_some() {
            return Ok(Answer::done(&path(&name, ""), Notice::Done));
        }
        new.name = Some(name.clone());
        // Nothing changes the world that is copied meanwhile.
        let turn = match sandbox.worlds().find(&new.source) {
            Some(world) => Some(world.admit().await?),
            None => None,
        };
        let create = move |_: &crate::market::Market| {
            let _turn = turn;
            sandbox.create(&new).map(drop)
        };
        visit.market().spawn_blocking(create).await?;
        Ok(Answer::done(&path(&name, ""), Notice::Done))
    }
}
