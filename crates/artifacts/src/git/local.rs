//! Repositories of this machine: whether a directory has one, and why Git does not read it.

use std::path::Path;

use gix::sec::identity::is_path_owned_by_current_user;

use super::{Limits, index_pack::open_options};
use crate::Rejection;

/// Whether there is a repository in a directory, bare or with a worktree.
pub fn is_repository(directory: &Path) -> bool {
    gix::discover::is_git(directory).is_ok() || gix::discover::is_git(&directory.join(".git")).is_ok()
}

/// Returns why Git did not read the repository in a directory; `None` if that is not known.
pub(super) fn find_fault(directory: &Path, limits: Limits) -> Option<Rejection> {
    let repository = open_options(limits).open(directory).ok()?.to_thread_local();
    let is_of_another = |path: &Path| is_path_owned_by_current_user(path).is_ok_and(|is_own| !is_own);
    let message = if is_of_another(directory) || is_of_another(repository.git_dir()) {
        "The repository belongs to another user, so Git does not read it. Scan it as that user, or allow it with `git config \
         --global --add safe.directory PATH`."
    } else if is_partial(&repository) {
        "The repository is a partial clone: some of its objects are missing. Clone it without `--filter`, or fetch all of them \
         with `git fetch --refetch --no-filter`."
    } else {
        return None;
    };
    Some(Rejection(message.to_owned()))
}

/// Whether a remote of a repository has promised to send objects when they are needed.
fn is_partial(repository: &gix::Repository) -> bool {
    let config = repository.config_snapshot();
    let mut remotes = config.plumbing().sections_by_name("remote").into_iter().flatten();
    remotes.any(|remote| remote.body().value("promisor").is_some_and(|value| value == "true"))
}
