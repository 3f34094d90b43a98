"""The process of a server. It ends with this process, however this one ends."""

from __future__ import annotations

import os
import selectors
import subprocess
import tempfile
import time
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from .binary import find_binary
from .errors import ServerStartError

#: Seconds that a server may take until it accepts connections.
START_TIMEOUT = 60.0

#: Seconds that a server may take to end.
STOP_TIMEOUT = 20.0

# Prefix of the variables that are settings of the program.
_SETTINGS_PREFIX = "MARKETPLACE_"

# Beginning of the line with the address of the server.
_ADDRESS = "listening on "


class Server:
    """A server with the demo market, on a free port of this machine."""

    def __init__(self, binary: Path | None = None, settings: Mapping[str, object] | None = None) -> None:
        """Starts the server. ``settings`` are settings by key, such as ``{"sandbox.max_worlds": 50}``."""
        program = binary or find_binary()
        # Neither the variables nor the settings file of a real market apply.
        variables = {
            name: value for name, value in os.environ.items() if not name.startswith(_SETTINGS_PREFIX)
        }
        variables.update(_variables({"log.filter": "warn", **(settings or {})}))
        arguments = [
            "serve",
            "--demo",
            "--listen",
            "127.0.0.1:0",
            "--until-stdin-closes",
            "--config",
            os.devnull,
        ]
        self._log: IO[bytes] = tempfile.TemporaryFile()
        self._last_log = ""
        try:
            self._process = subprocess.Popen(
                [program, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                # Unbuffered: a buffer has a lock, which may be locked in a forked child.
                bufsize=0,
                env=variables,
                # Ctrl-C goes to the tests alone, which still need the server to clean up.
                start_new_session=True,
            )
        except BaseException as cause:
            self._log.close()
            if isinstance(cause, OSError):
                raise ServerStartError(f"{program} cannot be run: {cause}") from cause
            raise
        self._starter = os.getpid()
        _servers.add(self)
        try:
            self.url = self._read_address()
        except BaseException:
            self._wait_for_end()
            raise

    @property
    def pid(self) -> int:
        """ID of the process."""
        return self._process.pid

    def log(self) -> str:
        """Returns what the server has logged: warnings and errors, unless ``log.filter`` is set."""
        if self._log.closed:
            return self._last_log
        size = os.fstat(self._log.fileno()).st_size
        return os.pread(self._log.fileno(), size, 0).decode(errors="replace")

    def stop(self) -> None:
        """Ends the server, and waits until it has ended. Does nothing in a forked child."""
        if os.getpid() == self._starter:
            # The end of its input also ends it, unless another process has inherited the pipe.
            self._process.terminate()
            self._wait_for_end()

    def _wait_for_end(self) -> None:
        process = self._process
        self._close_pipes()
        try:
            process.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._last_log = self.log()
        self._log.close()

    def _close_pipes(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            if stream:
                stream.close()

    def _read_address(self) -> str:
        """Returns the address in the first line that the server prints."""
        output = self._process.stdout
        assert output is not None
        line, deadline = b"", time.monotonic() + START_TIMEOUT
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            while b"\n" not in line:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise ServerStartError(
                        f"The server has not started within {START_TIMEOUT:.0f} seconds.\n{self.log()}"
                    )
                received = os.read(output.fileno(), 4096)
                if not received:
                    code = self._process.wait(STOP_TIMEOUT)
                    raise ServerStartError(f"{self._process.args!r} ended with {code}.\n{self.log()}")
                line += received
        first = line.decode().splitlines()[0]
        if not first.startswith(_ADDRESS):
            raise ServerStartError(f"The server printed {first!r} instead of its address.")
        return first.removeprefix(_ADDRESS)


def _variables(settings: Mapping[str, object]) -> dict[str, str]:
    """Returns settings as the variables that set them."""
    variables = {}
    for key, value in settings.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        variables[_SETTINGS_PREFIX + key.replace(".", "_").upper()] = text
    return variables


# The servers of this process.
_servers: weakref.WeakSet[Server] = weakref.WeakSet()


def _close_pipes_of_parent() -> None:
    """Closes the pipes of servers in a forked child, which may outlive the process that started them."""
    for server in _servers:
        server._close_pipes()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_pipes_of_parent)
