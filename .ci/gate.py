"""Runs the steps of the gate, and prints how long each took. `run` starts it.

Steps that use the compiler run one after the other, and what they print is shown. Steps that use the program and the tests that
these have built run side by side; each has a log, which is shown if the step fails.
"""

import contextlib
import json
import os
import pathlib
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOGS = ROOT / ".work/logs"

# Number of steps that run side by side. Each uses about one core.
LANES = 2

# How the gate compiles the crates of the workspace. Clippy is a compiler that also reports lints: `cargo clippy` lets it check
# crates, and here it compiles them. So the tests run what was linted, and nothing is compiled for lints alone. Every crate is
# compiled once, so what incremental builds and debuggers need would only take time.
COMPILER = {
    "RUSTC_WORKSPACE_WRAPPER": "clippy-driver",
    "CLIPPY_ARGS": "-Dwarnings__CLIPPY_HACKERY__",
    "CARGO_INCREMENTAL": "0",
    "CARGO_PROFILE_DEV_DEBUG": "0",
}

# A file system in memory, and the least room, in bytes, to use it for temporary files.
MEMORY = pathlib.Path("/dev/shm")
MEMORY_ROOM = 8 << 30

# For steps that do as much as the storage lets them, and need it to be no faster than that of a server.
ON_DISK = {"TMPDIR": tempfile.gettempdir()}

# The status of a step that checked nothing, since the machine lacks what it needs.
SKIPPED = 77

# Lets tests with random input do more rounds.
THOROUGH = {"THOROUGH": "1"}

# Steps by name, in groups. Each is a command, and variables of its environment.
COMPILING = {
    "format": (["cargo", "fmt", "--all", "--", "--check"], {}),
    "features": ([".ci/features"], {}),
    "lints": (["cargo", "test", "--workspace", "--tests", "--benches", "--no-run"], COMPILER),
    "tests": (["cargo", "test", "--workspace"], COMPILER),
}
TOOLS = {"tools": ([".ci/tools/install"], {})}
# The longest first.
SIDE_BY_SIDE = {
    "packages-python": ([".ci/packages-python"], {}),
    "fuzz-operator": ([".ci/fuzz", "operator"], {}),
    "kills": (
        [
            ".ci/run-tests",
            "--test-threads=1",
            "contract::kill::acknowledged_writes_survive_a_kill",
            "market_operations::kills::money_survives_a_kill_during_any_operation",
        ],
        THOROUGH | ON_DISK,
    ),
    "random-tests": (
        [
            ".ci/run-tests",
            "--test-threads=1",
            "market_operations::random_operations_of_many_teams_keep_the_market_consistent",
            "untrusted_files::random_files::random_archives_are_read_within_limits",
            "untrusted_files::random_files::random_repositories_are_read_within_limits",
            "worlds::isolation::scripts_in_many_worlds_at_once_give_what_each_gives_alone",
            "worlds::one_advance::one_advance_equals_many",
        ],
        THOROUGH,
    ),
    "fuzz-vendor": ([".ci/fuzz", "vendor"], {}),
    "fuzz-buyer": ([".ci/fuzz", "buyer"], {}),
    "fuzz-sandbox": ([".ci/fuzz", "sandbox"], {}),
    "generated-clients": ([".ci/generated-clients"], {}),
    "packages-node": ([".ci/packages-node"], {}),
    "repository-analysis": ([".ci/repository-analysis"], {}),
    "console": ([".ci/console"], {}),
    "mcp": ([".ci/mcp"], {}),
    "documents": ([".ci/documents"], {}),
    "early-answers": ([".ci/early-answers"], {}),
    "webhooks": ([".ci/webhooks"], {}),
    "monitoring": ([".ci/monitoring"], {}),
    "passport": ([".ci/passport"], {}),
    "proxies": ([".ci/proxies"], {}),
    "replicas": ([".ci/replicas"], {}),
    "scans": ([".ci/scans"], {}),
}
# What measures times, and so needs the machine for itself.
ALONE = {"attacks": ([".ci/attacks"], {})}

STEPS = COMPILING | TOOLS | SIDE_BY_SIDE | ALONE


class Gate:
    """Runs steps, and keeps the seconds of each and the names of those that failed."""

    def __init__(self):
        self.environment = dict(os.environ)
        self.seconds, self.failed, self.skipped = {}, [], []
        self.running = set()

    def run(self, name, is_shown):
        """Runs a step. Returns whether it passed."""
        command, variables = STEPS[name]
        log = LOGS / name
        print(f"== {name}", flush=True)
        began = time.monotonic()
        with log.open("wb") as file:
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=self.environment | variables | {"STEP": name},
                stdin=subprocess.DEVNULL,
                stdout=None if is_shown else file,
                stderr=None if is_shown else subprocess.STDOUT,
                start_new_session=True,
            )
            self.running.add(process)
            status = process.wait()
            self.running.discard(process)
        self.seconds[name] = time.monotonic() - began
        if status == SKIPPED:
            self.skipped.append(name)
        elif status != 0:
            self.failed.append(name)
            if not is_shown:
                print(f"\n== log of {name}\n{log.read_text(errors='replace')}")
            print(f"== {name} failed with status {status}. `.ci/run {name}` runs it alone.", flush=True)
        return name not in self.failed

    def run_side_by_side(self, names):
        """Runs steps in the lanes, and waits for all of them."""
        waiting = queue.SimpleQueue()
        for name in names:
            waiting.put(name)

        def work():
            with contextlib.suppress(queue.Empty):
                while True:
                    self.run(waiting.get_nowait(), is_shown=False)

        lanes = [threading.Thread(target=work) for _ in range(LANES)]
        for lane in lanes:
            lane.start()
        for lane in lanes:
            lane.join()

    def stop(self):
        """Ends the steps that run, with all their processes."""
        for process in list(self.running):
            os.killpg(process.pid, signal.SIGTERM)

    def print_table(self, total):
        print("\n| step | seconds |\n| - | -: |")
        for name, seconds in self.seconds.items():
            outcome = " (failed)" if name in self.failed else " (skipped)" if name in self.skipped else ""
            print(f"| {name}{outcome} | {seconds:.0f} |")
        print(f"| sum of the steps | {sum(self.seconds.values()):.0f} |\n| **elapsed** | **{total:.0f}** |")


@contextlib.contextmanager
def files_in_memory():
    """Yields the variable that lets steps have their temporary files in memory while the context lasts.

    Tests write thousands of small databases, and would wait for a disk with each transaction. Yields nothing if the machine has no
    such file system, or if no program can be started from it.
    """
    stats = os.statvfs(MEMORY) if MEMORY.is_dir() else None
    if not stats or stats.f_bavail * stats.f_frsize < MEMORY_ROOM or stats.f_flag & os.ST_NOEXEC:
        yield {}
        return
    with tempfile.TemporaryDirectory(dir=MEMORY, prefix="gate-", ignore_cleanup_errors=True) as directory:
        # Programs of other users, which some tests start, find their files in it.
        os.chmod(directory, 0o755)
        yield {"TMPDIR": directory}


def built_programs():
    """Returns the variables that name the program and the suite, as the step `lints` has built them."""
    command = ["cargo", "test", "--workspace", "--no-run", "--quiet", "--message-format=json"]
    output = subprocess.run(command, cwd=ROOT, env=os.environ | COMPILER, check=True, stdout=subprocess.PIPE).stdout
    sources = {"MARKETPLACE": ROOT / "src/main.rs", "SUITE": ROOT / "tests/suite/main.rs"}
    messages = [json.loads(line) for line in output.splitlines()]
    built = [message for message in messages if message.get("executable")]
    programs = {pathlib.Path(message["target"]["src_path"]): message["executable"] for message in built}
    return {variable: programs[source] for variable, source in sources.items()}


def run_steps(gate, names):
    """Runs the named steps. If one that compiles fails, those that use what it compiles are not run."""
    # Installing waits for the network while the compiler works.
    tools = threading.Thread(target=gate.run, args=("tools", False), daemon=True)
    if set(names) & (SIDE_BY_SIDE.keys() | TOOLS.keys()):
        tools.start()
    if not all(gate.run(name, is_shown=True) for name in COMPILING if name in names):
        return
    if tools.ident:
        tools.join()
    if set(names) & (SIDE_BY_SIDE.keys() | ALONE.keys()) and "tools" not in gate.failed:
        gate.environment |= built_programs()
        gate.run_side_by_side(name for name in SIDE_BY_SIDE if name in names)
        for name in ALONE:
            if name in names:
                gate.run(name, is_shown=False)


def main():
    names = sys.argv[1:] or list(STEPS)
    if names == ["--list"]:
        print("\n".join(STEPS))
        return
    if unknown := [name for name in names if name not in STEPS]:
        sys.exit(f"There is no step {unknown[0]!r}. The steps are: {', '.join(STEPS)}.")
    LOGS.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    gate = Gate()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        with files_in_memory() as variables:
            gate.environment |= variables
            run_steps(gate, names)
    finally:
        gate.stop()
        gate.print_table(time.monotonic() - began)
    passed = len(gate.seconds) - len(gate.failed) - len(gate.skipped)
    print(f"steps: {passed} passed, {len(gate.failed)} failed, {len(gate.skipped)} skipped")
    if gate.failed:
        sys.exit(f"These steps failed: {', '.join(gate.failed)}.")


if __name__ == "__main__":
    main()
