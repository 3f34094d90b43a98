//! What a child process may use: resource limits, its own files (Landlock), and no network or other processes
//! (seccomp). All of it is set by the child itself, before it opens anything, and inherited by its threads.

use std::{collections::BTreeMap, fs, io};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, RestrictionStatus, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus, Scope,
};
use rustix::process::{Resource, Rlimit, Signal, setrlimit};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};
use serde::{Deserialize, Serialize};

use super::Task;

/// Limits on the resources of a child process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceLimits {
    /// Private memory in bytes (`RLIMIT_DATA`).
    pub memory_bytes: u64,
    /// Address space in bytes (`RLIMIT_AS`). More than the private memory, since packs are memory-mapped.
    pub address_space_bytes: u64,
    /// CPU time in seconds.
    pub cpu_seconds: u64,
    /// Number of open files.
    pub open_files: u64,
    /// Size in bytes of a file that the child writes.
    pub file_bytes: u64,
    /// Size of the reply in bytes.
    pub reply_bytes: u64,
}

impl ResourceLimits {
    /// Applies the limits to this process, for good.
    pub(super) fn apply(&self) -> io::Result<()> {
        let limits = [
            (Resource::Core, 0, 0),
            (Resource::Data, self.memory_bytes, self.memory_bytes),
            (Resource::As, self.address_space_bytes, self.address_space_bytes),
            // The signal at the first limit says why the process ends; at the second limit it is just killed.
            (Resource::Cpu, self.cpu_seconds, self.cpu_seconds + 1),
            (Resource::Nofile, self.open_files, self.open_files),
            (Resource::Fsize, self.file_bytes, self.file_bytes),
        ];
        for (resource, current, maximum) in limits {
            setrlimit(resource, Rlimit { current: Some(current), maximum: Some(maximum) })?;
        }
        Ok(())
    }
}

/// Ends this process when the thread that started it ends, and lets the kernel choose this process first when
/// memory runs out. Returns false if the parent has already ended.
pub(super) fn follow_parent(parent_pid: u32) -> io::Result<bool> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // Not available everywhere, and only a preference.
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
    let parent = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get());
    Ok(parent.is_some_and(|pid| i64::from(pid) == i64::from(parent_pid)))
}

/// Denies this process all files except its input, the network, and other processes. Returns what the kernel
/// does not enforce.
pub(super) fn restrict(task: &Task) -> Vec<String> {
    let mut unenforced = Vec::new();
    match restrict_files(task) {
        Ok(status) => match status.ruleset {
            RulesetStatus::FullyEnforced => {}
            RulesetStatus::PartiallyEnforced => {
                unenforced.push("some restrictions of Landlock (the kernel is older)".to_owned());
            }
            RulesetStatus::NotEnforced => {
                unenforced.push("restriction of files (the kernel has no Landlock)".to_owned());
            }
        },
        Err(error) => unenforced.push(format!("restriction of files (Landlock failed: {error})")),
    }
    if let Err(error) = restrict_system_calls() {
        unenforced.push(format!("denial of sockets and processes (seccomp failed: {error})"));
    }
    unenforced
}

/// Allows only the standard input and the current directory. The directory is writable for tasks that write
/// temporary files or a pack.
fn restrict_files(task: &Task) -> Result<RestrictionStatus, Box<dyn std::error::Error>> {
    let abi = ABI::V6;
    let read: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::ReadDir;
    let all = AccessFs::from_all(abi);
    let (directory, is_file_read) = match task {
        Task::AnalyzeArchive { .. } => (None, true),
        Task::CheckArchive { .. } | Task::IndexPack { .. } => (Some(all & !AccessFs::Execute), true),
        Task::AnalyzeRepository { .. } | Task::CheckRepository { .. } => (Some(read), false),
    };
    let mut ruleset = Ruleset::default()
        .handle_access(all)?
        .handle_access(AccessNet::from_all(abi))?
        .scope(Scope::from_all(abi))?
        .create()?;
    if is_file_read {
        ruleset = ruleset.add_rule(PathBeneath::new(io::stdin(), AccessFs::ReadFile))?;
    }
    if let Some(access) = directory {
        ruleset = ruleset.add_rule(PathBeneath::new(fs::File::open(".")?, access))?;
    }
    Ok(ruleset.restrict_self()?)
}

/// System calls that fail with `EPERM`: those that create sockets, start programs, or reach other processes or
/// the kernel's settings.
const DENIED_CALLS: [i64; 26] = [
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_io_uring_setup,
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_send_signal,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_keyctl,
    libc::SYS_add_key,
];

/// Flag of `clone` for a new thread, as opposed to a new process.
const CLONE_THREAD: u64 = libc::CLONE_THREAD as u64;

fn restrict_system_calls() -> Result<(), Box<dyn std::error::Error>> {
    let mut denied: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for call in DENIED_CALLS {
        denied.insert(call, Vec::new());
        // On this architecture the kernel may accept a second set of numbers.
        #[cfg(target_arch = "x86_64")]
        denied.insert(call | 0x4000_0000, Vec::new());
    }
    let is_process =
        |flag| SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(flag), 0);
    denied.insert(libc::SYS_clone, vec![SeccompRule::new(vec![is_process(CLONE_THREAD)?])?]);
    #[cfg(target_arch = "x86_64")]
    for call in [libc::SYS_fork, libc::SYS_vfork] {
        denied.insert(call, Vec::new());
    }
    let is_not = |pid| SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, pid);
    let own_pid = u64::from(std::process::id());
    // Aborting sends a signal to this process.
    denied.insert(libc::SYS_tgkill, vec![SeccompRule::new(vec![is_not(own_pid)?])?]);
    // 0 is this process.
    denied.insert(libc::SYS_prlimit64, vec![SeccompRule::new(vec![is_not(0)?])?]);
    apply(denied, libc::EPERM)?;
    // The flags of this call are in memory, where a filter cannot see them. The C library falls back to `clone`.
    apply(BTreeMap::from([(libc::SYS_clone3, Vec::new())]), libc::ENOSYS)
}

/// Makes the system calls that match `rules` fail with an error number.
fn apply(rules: BTreeMap<i64, Vec<SeccompRule>>, error: i32) -> Result<(), Box<dyn std::error::Error>> {
    let error = SeccompAction::Errno(error.cast_unsigned());
    let architecture = std::env::consts::ARCH.try_into()?;
    let program: BpfProgram =
        SeccompFilter::new(rules, SeccompAction::Allow, error, architecture)?.try_into()?;
    Ok(seccompiler::apply_filter(&program)?)
}
