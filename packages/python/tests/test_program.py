"""Where the program is found, and how long it runs."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest
from marketplace_sandbox import BinaryNotFoundError, Sandbox, ServerStartError
from marketplace_sandbox.binary import find_binary

PACKAGED = Path(sysconfig.get_path("scripts")) / "marketplace"


def is_running(pid: int) -> bool:
    """Whether a process exists, apart from one that has ended and that nobody has waited for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def open_files() -> int:
    """Returns the number of files that this process has open."""
    return len(os.listdir("/proc/self/fd"))


def wait_for_end(pid: int) -> None:
    deadline = time.monotonic() + 30
    while is_running(pid):
        assert time.monotonic() < deadline, f"process {pid} is still running"
        time.sleep(0.01)


def executable(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_program_of_the_package_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MARKETPLACE_BIN", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    assert find_binary() == PACKAGED


def test_variable_takes_precedence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = executable(tmp_path / "other", "")
    monkeypatch.setenv("MARKETPLACE_BIN", str(other))
    assert find_binary() == other
    monkeypatch.setenv("MARKETPLACE_BIN", str(tmp_path / "missing"))
    with pytest.raises(
        BinaryNotFoundError, match="MARKETPLACE_BIN is .*missing, which is no executable file"
    ):
        find_binary()


def test_without_the_packages_program_path_is_searched(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("MARKETPLACE_BIN", raising=False)
    empty, directory = tmp_path / "empty", tmp_path / "bin"
    directory.mkdir()
    monkeypatch.setattr(sysconfig, "get_path", lambda *_: str(empty))
    monkeypatch.setenv("PATH", str(directory))
    with pytest.raises(
        BinaryNotFoundError, match=f"neither in {empty} nor in .* nor in PATH.*\n?.*set MARKETPLACE_BIN"
    ):
        find_binary()
    other = executable(directory / "marketplace", "")
    assert find_binary() == other


def test_server_that_does_not_start_shows_its_output(tmp_path: Path) -> None:
    with pytest.raises(ServerStartError, match="data.readers must be between 0 and 64"):
        Sandbox.start(settings={"data.readers": 65})
    program = executable(tmp_path / "program", "#!/bin/sh\necho hello\n")
    with pytest.raises(ServerStartError, match="printed 'hello' instead of its address"):
        Sandbox.start(program)
    with pytest.raises(ServerStartError, match="cannot be run"):
        Sandbox.start(executable(tmp_path / "text", "no program"))


def test_variables_of_a_real_market_do_not_apply(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MARKETPLACE_DATA_FOLDER", str(tmp_path / "real"))
    monkeypatch.setenv("MARKETPLACE_SERVER_LISTEN", "192.0.2.1:1")
    with Sandbox.start(settings={"sandbox.max_worlds": 1}) as sandbox:
        sandbox.create_world()
        with pytest.raises(Exception, match="too_many_worlds"):
            sandbox.create_world()
        assert sandbox.server is not None and sandbox.server.log() == ""
    assert not (tmp_path / "real").exists()


@pytest.mark.filterwarnings("error")
def test_closed_sandbox_leaves_no_server_and_no_open_file() -> None:
    files = open_files()
    sandbox = Sandbox.start(settings={"log.filter": "info"})
    assert sandbox.server is not None and is_running(sandbox.server.pid)
    assert open_files() > files
    sandbox.close()
    assert not is_running(sandbox.server.pid)
    log = sandbox.server.log()
    assert log != ""
    sandbox.close()
    assert sandbox.server.log() == log
    assert open_files() == files


def targets_of_open_files(pid: int) -> list[str]:
    """Returns what the open files of a process are. The process may close some of them meanwhile."""
    targets = []
    for file in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            targets.append(os.readlink(file))
    return targets


def close_and_wait(sandbox: Sandbox) -> None:
    """Runs in a forked child: closes the inherited pipes, and waits."""
    sandbox.close()
    signal.pause()


def test_forked_child_neither_ends_a_server_nor_keeps_it() -> None:
    sandbox = Sandbox.start()
    assert sandbox.server is not None
    child = multiprocessing.get_context("fork").Process(target=close_and_wait, args=[sandbox], daemon=True)
    child.start()
    assert child.pid is not None
    try:
        # The child has closed the pipes.
        process = sandbox.server._process
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            pipe, deadline = os.readlink(f"/proc/self/fd/{stream.fileno()}"), time.monotonic() + 30
            while pipe in targets_of_open_files(child.pid):
                assert time.monotonic() < deadline
                time.sleep(0.01)
        sandbox.create_world().delete()
        sandbox.close()
        assert process.returncode == 0 and child.is_alive()
    finally:
        child.kill()
        child.join()


def test_server_ends_although_another_process_has_its_input() -> None:
    sandbox = Sandbox.start()
    assert sandbox.server is not None and sandbox.server._process.stdin is not None
    inherited = os.dup(sandbox.server._process.stdin.fileno())
    try:
        sandbox.close()
        assert sandbox.server._process.returncode == 0
    finally:
        os.close(inherited)


@pytest.mark.parametrize("program", ["/nowhere/program", "no\0program"])
def test_server_that_cannot_be_run_leaves_no_open_file(program: str) -> None:
    files = open_files()
    with pytest.raises((ServerStartError, ValueError)) as error:
        Sandbox.start(Path(program))
    # The traceback keeps the server, and what it has.
    assert error.tb is not None and open_files() == files


@pytest.mark.parametrize("options", [[], ["-n", "2"]], ids=["one process", "two workers"])
def test_killed_tests_leave_no_server(tmp_path: Path, options: list[str]) -> None:
    """Kills a pytest run in the middle of its tests."""
    processes, data = tmp_path / "processes", tmp_path / "tmp"
    processes.mkdir()
    data.mkdir()
    test = tmp_path / "test_that_hangs.py"
    test.write_text(
        "import pathlib, pytest, time\n"
        "@pytest.mark.parametrize('number', [1, 2])\n"
        "def test_that_hangs(world, number):\n"
        f"    (pathlib.Path({str(processes)!r}) / str(world.sandbox.server.pid)).touch()\n"
        "    time.sleep(600)\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options, str(test)]
    run = subprocess.Popen(command, env={**os.environ, "TMPDIR": str(data)}, stdout=subprocess.DEVNULL)
    try:
        while len(list(processes.iterdir())) < (2 if options else 1):
            assert run.poll() is None, "the run ended"
            time.sleep(0.01)
        servers = [int(path.name) for path in processes.iterdir()]
        assert all(is_running(server) for server in servers)
        assert len(list(data.glob("marketplace-work-*"))) == len(servers)
    finally:
        run.send_signal(signal.SIGKILL)
        run.wait()
    for server in servers:
        wait_for_end(server)
    assert list(data.glob("marketplace-work-*")) == []
