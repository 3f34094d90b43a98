//! Background jobs that copy linked repositories and analyze the copies. The results become properties of the
//! codebase.

use std::collections::BTreeMap;

use super::{
    archives::settle,
    assets,
    jobs::{self, Done, Task},
};
use crate::{
    artifacts::{
        Unread,
        git::{self, Limits},
        hosts::{self, About, Host},
        readings::{self, OfRepository},
    },
    config::RepositorySettings,
    domain::{assets::RepositoryChannel, field_locks, jobs::JobKind, time::Timestamp},
    error::{Error, Result},
    market::Writer,
    store::{
        self,
        assets::{Linked, Progress},
    },
};

/// Message for the vendor while a repository cannot be fetched and another attempt is pending.
const WAITING: &str = "The host of the repository cannot be reached. The server will try again shortly.";

/// Message for the vendor after the last attempt.
const OUT_OF_REACH: &str =
    "The host could not be reached after several attempts. Detach the repository, then link it again later.";

/// Message for the vendor if a copy could not be analyzed on any attempt.
const UNREADABLE: &str =
    "The copy of the repository could not be read. Detach the repository, then link it again.";

/// Copies the repository that is linked to an asset, and enqueues the analysis of the copy.
pub fn copy(task: &Task) -> Done {
    let Some(linked) = find(task)? else { return task.finish(|_| Ok(())) };
    let (market, number) = (task.market(), task.subject());
    let settings = &market.settings().repositories;
    task.report(|writer| store::assets::note_progress(writer.rows, number, &Progress::copying()))?;
    let workshop = market.blobs().workshop().map_err(Error::internal)?;
    let to = workshop.path().join("copy");
    let source = host(settings, linked.channel).source(&linked.full_name);
    match task.within(settings.max_seconds, "The repository", |go_on| {
        git::copy(&source, &to, limits(settings), go_on)
    }) {
        Ok(copied) => {
            let about = hosts::ask(&host(settings, linked.channel), &linked.full_name);
            let about = serde_json::to_string(&about).map_err(Error::internal)?;
            market.blobs().keep_repository(&to, linked.asset, linked.attached_at).map_err(Error::internal)?;
            task.finish(|writer| {
                store::assets::note_copy(writer.rows, number, copied.bytes, copied.is_private, &about)?;
                store::assets::note_progress(writer.rows, number, &Progress::copied())?;
                writer.enqueue(JobKind::ReadRepository, number)
            })
        }
        Err(Unread::Broken(cause)) => {
            task.report(|writer| {
                store::assets::note_progress(writer.rows, number, &Progress::waiting(WAITING))
            })?;
            Err(Error::internal(cause).into())
        }
        Err(unread) => end(task, &Progress::lost(&jobs::refusal(unread)?.0)),
    }
}

/// Analyzes the copy of the repository that is linked to an asset.
pub fn read(task: &Task) -> Done {
    let Some(linked) = find(task)? else { return task.finish(|_| Ok(())) };
    let (market, number) = (task.market(), task.subject());
    let settings = &market.settings().repositories;
    let folder = market.blobs().repository(linked.asset, linked.attached_at);
    if !folder.is_dir() {
        // The copy was lost with a disk or is not part of a restored backup, but it can be fetched again.
        return task.finish(|writer| {
            store::assets::note_progress(writer.rows, number, &Progress::waiting(WAITING))?;
            writer.enqueue(JobKind::CopyRepository, number)
        });
    }
    task.report(|writer| store::assets::note_progress(writer.rows, number, &Progress::reading()))?;
    let now = market.clock().now().seconds();
    let read = task.within(settings.max_seconds, "The repository", |go_on| {
        readings::repository(&folder, limits(settings), now, go_on)
    });
    match read {
        Ok(found) => {
            let about = linked.about.as_deref().and_then(|about| serde_json::from_str(about).ok());
            let about = about.unwrap_or_default();
            task.finish(|writer| keep(writer, number, linked.channel, found, about, writer.now))
        }
        Err(unread) => end(task, &Progress::failed(&jobs::refusal(unread)?.0)),
    }
}

/// Records that the repository of an asset could not be copied, after the last attempt failed.
pub fn give_up_copying(task: &Task) -> Done {
    end(task, &Progress::lost(OUT_OF_REACH))
}

/// Records that the repository of an asset could not be analyzed, after the last attempt failed.
pub fn give_up_reading(task: &Task) -> Done {
    end(task, &Progress::failed(UNREADABLE))
}

fn find(task: &Task) -> Result<Option<Linked>> {
    // The repository may have been detached.
    task.market().read_blocking(|reader| store::assets::repository_of(reader.rows, task.subject()))
}

fn end(task: &Task, progress: &Progress) -> Done {
    task.finish(|writer| settle(writer, task.subject(), progress))
}

/// Returns the limits for copying and analyzing repositories.
pub fn limits(settings: &RepositorySettings) -> Limits {
    Limits {
        bytes: settings.max_bytes,
        files: settings.max_files,
        file_bytes: settings.max_file_bytes,
        idle_seconds: settings.idle_seconds,
    }
}

fn host(settings: &RepositorySettings, channel: RepositoryChannel) -> Host {
    let (url, api_url, token) = match channel {
        RepositoryChannel::Github => (&settings.github_url, &settings.github_api_url, &settings.github_token),
        RepositoryChannel::Gitlab => (&settings.gitlab_url, &settings.gitlab_api_url, &settings.gitlab_token),
        RepositoryChannel::Bitbucket => {
            (&settings.bitbucket_url, &settings.bitbucket_api_url, &settings.bitbucket_token)
        }
    };
    Host {
        channel,
        url: url.clone(),
        api_url: api_url.clone(),
        token: token.reveal().map(str::to_owned),
        may_be_private: settings.private_hosts,
        idle_seconds: settings.idle_seconds,
    }
}

/// Stores the result of an analysis, and locks the fields that it sets. A description that the vendor wrote
/// is kept.
pub fn keep(
    writer: &Writer,
    number: i64,
    channel: RepositoryChannel,
    found: OfRepository,
    about: About,
    at: Timestamp,
) -> Result<()> {
    let Some(mut asset) = store::assets::numbered(writer.rows, number)? else { return Ok(()) };
    let OfRepository { commit_sha, files: reading, history } = found;
    let roots = serde_json::to_string(&reading.structure.roots).map_err(Error::internal)?;
    store::structures::put(writer.rows, number, reading.structure.max_depth, &roots)?;
    let known = &mut asset.history;
    known.lines_of_code = Some(reading.mix.lines as i64);
    known.commits = Some(history.commits as i64);
    known.contributors = Some(history.contributors as i64);
    // The count of the host is more reliable than one derived from commit messages.
    known.merged_prs = Some(about.merged_prs.unwrap_or(history.merged_prs) as i64);
    known.ci_on_prs = Some(reading.ci_on_prs);
    let mut fields = vec!["lines_of_code", "commits", "contributors", "merged_prs", "ci_on_prs"];
    if let Some((first, last)) = history.span {
        let day = |seconds: i64| Timestamp(seconds.saturating_mul(1_000_000)).day();
        (known.start, known.end) = (Some(day(first)), Some(day(last)));
        fields.extend(["history_start", "history_end"]);
    }
    field_locks::read(&mut asset.locks, channel.into(), fields);
    assets::describe(&mut asset, channel.into(), reading.readme.or(about.description).or(reading.manifest));
    let languages = by_slug(writer, reading.mix.bytes)?;
    store::assets::note_commit(writer.rows, number, &commit_sha, &languages)?;
    settle(writer, number, &Progress::read(at))?;
    store::assets::update(writer.rows, &asset)
}

/// Converts language names to slugs. A language that is not in the taxonomy gets its name in lower case as
/// its slug.
pub fn by_slug(writer: &Writer, bytes: BTreeMap<String, u64>) -> Result<BTreeMap<String, u64>> {
    let known = store::taxonomy::languages(writer.rows)?;
    let mut slugs = BTreeMap::new();
    for (name, count) in bytes {
        let is_it = |language: &&crate::domain::taxonomy::Language| {
            language.name.eq_ignore_ascii_case(&name)
                || language.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(&name))
        };
        let slug = known.iter().find(is_it).map(|language| language.slug.clone());
        let slug = slug.unwrap_or_else(|| name.to_lowercase().replace([' ', '/'], "-"));
        *slugs.entry(slug).or_default() += count;
    }
    Ok(slugs)
}
