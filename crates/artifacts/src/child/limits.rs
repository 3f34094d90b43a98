//! Limits on the resources of a child process.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

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
    /// Applies the limits to this process permanently. Lower existing limits stay.
    pub(super) fn apply(&self) -> io::Result<()> {
        let limits = [
            (Resource::Core, 0, 0),
            (Resource::Msgqueue, 0, 0),
            (Resource::Data, self.memory_bytes, self.memory_bytes),
            (Resource::As, self.address_space_bytes, self.address_space_bytes),
            // The signal at the first limit says why the process ends; at the second limit it is just killed.
            (Resource::Cpu, self.cpu_seconds, self.cpu_seconds + 1),
            (Resource::Nofile, self.open_files, self.open_files),
            (Resource::Fsize, self.file_bytes, self.file_bytes),
        ];
        for (resource, current, maximum) in limits {
            let lowest = |limit: u64| getrlimit(resource).maximum.map_or(limit, |highest| limit.min(highest));
            let limits = Rlimit { current: Some(lowest(current)), maximum: Some(lowest(maximum)) };
            setrlimit(resource, limits)?;
        }
        Ok(())
    }

    /// Limits the address space and the CPU time of this process, and of each program that it starts. Child processes that
    /// confine themselves are not affected: they set their own limits, which may be higher.
    pub fn apply_to_programs(&self) -> io::Result<()> {
        for (resource, limit) in [(Resource::As, self.address_space_bytes), (Resource::Cpu, self.cpu_seconds)]
        {
            let Rlimit { current, maximum } = getrlimit(resource);
            let current = Some(current.map_or(limit, |current| limit.min(current)));
            setrlimit(resource, Rlimit { current, maximum })?;
        }
        Ok(())
    }
}
