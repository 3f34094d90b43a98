//! What a child process can reach: its own files (Landlock), and no network or other processes (seccomp). The
//! child restricts itself before it opens anything, and its threads inherit the restrictions.

use std::{collections::BTreeMap, fs, io, net::UdpSocket, os::unix::net::UnixDatagram, process::Command};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, RestrictionStatus, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus, Scope,
};
use rustix::process::{Pid, Signal, test_kill_process};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};
use serde::{Deserialize, Serialize};

use super::task::Task;

/// Ends this process when the thread that started it ends, and lets the kernel choose this process first when
/// memory runs out. Returns false if the parent has already ended.
pub(super) fn follow_parent(parent_pid: u32) -> io::Result<bool> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // Not available everywhere, and only a preference.
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
    let parent = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get());
    Ok(parent.is_some_and(|pid| i64::from(pid) == i64::from(parent_pid)))
}

/// Denies this process all files except its input, the network, and other processes. Returns the restrictions
/// that the kernel does not enforce.
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
    // No links, devices, or named pipes, which the server could follow or wait for.
    let write = read
        | AccessFs::WriteFile
        | AccessFs::Truncate
        | AccessFs::MakeReg
        | AccessFs::RemoveFile
        | AccessFs::Refer;
    let all = AccessFs::from_all(abi);
    let (directory, is_file_read) = match task {
        Task::TestConfinement => (None, false),
        Task::AnalyzeArchive { .. } => (None, true),
        Task::CheckArchive { .. }
        | Task::IndexPack { .. }
        | Task::PackArchive { .. }
        | Task::RepackZip { .. } => (Some(write), true),
        // The archive of a repository is written to a descriptor that is open already.
        Task::AnalyzeRepository { .. } | Task::CheckRepository { .. } | Task::PackRepository { .. } => {
            (Some(read), false)
        }
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

/// System calls that fail with `EPERM`: those that create sockets or shared memory, start programs, reach other
/// processes, or change the system.
const DENIED_CALLS: [i64; 70] = [
    // Network, and what can do the same.
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_io_uring_setup,
    // Programs and other processes.
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_kcmp,
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_send_signal,
    libc::SYS_setpriority,
    libc::SYS_ioprio_set,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setaffinity,
    libc::SYS_setpgid,
    libc::SYS_setsid,
    // Memory that the limits do not count, or that outlives the process.
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    libc::SYS_shmget,
    libc::SYS_semget,
    libc::SYS_msgget,
    libc::SYS_mq_open,
    libc::SYS_userfaultfd,
    // Files outside of the restricted directory.
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_inotify_init1,
    libc::SYS_fanotify_init,
    // The system.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_quotactl,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
];

/// Commands of `fcntl` that make the kernel send signals to another process.
const DENIED_FCNTL: [i32; 3] = [libc::F_SETOWN, F_SETSIG, F_SETOWN_EX];
const F_SETSIG: i32 = 10;
const F_SETOWN_EX: i32 = 15;

/// Flag of `clone` for a new thread, as opposed to a new process.
const CLONE_THREAD: u64 = libc::CLONE_THREAD as u64;

/// Bit of the numbers of system calls with 32-bit pointers, which some kernels accept on this architecture, and
/// the numbers that only these have.
#[cfg(target_arch = "x86_64")]
const X32_BIT: i64 = 0x4000_0000;
#[cfg(target_arch = "x86_64")]
const X32_ONLY: std::ops::RangeInclusive<i64> = 512..=547;

fn restrict_system_calls() -> Result<(), Box<dyn std::error::Error>> {
    let mut denied: BTreeMap<i64, Vec<SeccompRule>> =
        DENIED_CALLS.into_iter().map(|call| (call, Vec::new())).collect();
    let argument = |index, operator, value| {
        let condition = SeccompCondition::new(index, SeccompCmpArgLen::Dword, operator, value)?;
        SeccompRule::new(vec![condition])
    };
    let new_process = argument(0, SeccompCmpOp::MaskedEq(CLONE_THREAD), 0)?;
    denied.insert(libc::SYS_clone, vec![new_process]);
    let own_pid = u64::from(std::process::id());
    // Aborting sends a signal to this process.
    denied.insert(libc::SYS_tgkill, vec![argument(0, SeccompCmpOp::Ne, own_pid)?]);
    // 0 is this process.
    denied.insert(libc::SYS_prlimit64, vec![argument(0, SeccompCmpOp::Ne, 0)?]);
    let fcntl: Result<Vec<_>, _> = DENIED_FCNTL
        .into_iter()
        .map(|command| argument(1, SeccompCmpOp::Eq, u64::from(command.cast_unsigned())))
        .collect();
    denied.insert(libc::SYS_fcntl, fcntl?);
    // The process must end with its parent.
    let death_signal = u64::from(libc::PR_SET_PDEATHSIG.cast_unsigned());
    denied.insert(libc::SYS_prctl, vec![argument(0, SeccompCmpOp::Eq, death_signal)?]);
    #[cfg(target_arch = "x86_64")]
    {
        denied.extend([libc::SYS_fork, libc::SYS_vfork].map(|call| (call, Vec::new())));
        let calls: Vec<i64> = denied.keys().copied().chain([libc::SYS_clone3]).chain(X32_ONLY).collect();
        denied.extend(calls.into_iter().map(|call| (call | X32_BIT, Vec::new())));
    }
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

/// Forbidden operations that a confined child could carry out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelfTest {
    /// Descriptions of the attempts that succeeded.
    pub succeeded: Vec<String>,
}

/// Tries to read and write files, to use the network, and to start and signal processes.
pub(super) fn test(parent_pid: u32) -> SelfTest {
    let parent = i32::try_from(parent_pid).ok().and_then(Pid::from_raw);
    let attempts: [(&str, bool); 9] = [
        ("read a file", fs::read("/etc/passwd").is_ok()),
        ("list a directory", fs::read_dir("/").is_ok()),
        ("write a file", tempfile::tempfile_in("/tmp").is_ok()),
        ("open a socket", UdpSocket::bind("127.0.0.1:0").is_ok()),
        ("open a local socket", UnixDatagram::unbound().is_ok()),
        ("start a program", Command::new("/proc/self/exe").arg("--version").output().is_ok()),
        ("create a directory", fs::create_dir("/tmp/marketplace-child").is_ok()),
        ("change the server's priority", change_priority(parent_pid)),
        // Signal 0 does nothing; the kernel only checks whether it could be sent.
        ("signal the server", parent.is_some_and(|pid| test_kill_process(pid).is_ok())),
    ];
    let succeeded = attempts.into_iter().filter(|(_, is_possible)| *is_possible);
    SelfTest { succeeded: succeeded.map(|(attempt, _)| attempt.to_owned()).collect() }
}

/// Sets the priority of a process to the default, which it has anyway.
fn change_priority(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::setpriority_process(Some(pid), 0).is_ok())
}
