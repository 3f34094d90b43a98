"""A sandbox: a server that has worlds."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from .clocks import ClockMode
from .errors import SandboxError
from .server import Server
from .times import format_time, parse_time
from .transport import Response, segment, send
from .worlds import World

#: Variables with the address and an operator key of a running server that is used instead of a new one.
URL_VARIABLE, KEY_VARIABLE = "MARKETPLACE_OPERATOR_URL", "MARKETPLACE_OPERATOR_KEY"

# Operator key of the demo market.
_DEMO_OPERATOR = "mkt_demo_operator"

# Seconds after which a world on a server that outlives this process ends by itself.
_SHARED_TTL = 3600


@dataclass(frozen=True)
class Snapshot:
    """A state of a world that other worlds can be forked from."""

    name: str
    #: Name of the world that it was made from.
    world: str
    now: datetime


class Sandbox:
    """A server that has worlds."""

    def __init__(self, url: str, key: str, server: Server | None = None) -> None:
        self.url = url.rstrip("/")
        self.key = key
        #: The process, if this object has started it.
        self.server = server

    @classmethod
    def start(cls, binary: Path | None = None, settings: Mapping[str, object] | None = None) -> Sandbox:
        """Starts a server on a free port. It ends with this process at the latest, even if this is killed.

        ``settings`` are settings of the program by key, such as ``{"sandbox.max_worlds": 50}``.
        """
        server = Server(binary, settings)
        return cls(server.url, _DEMO_OPERATOR, server)

    @classmethod
    def connect(cls, url: str, key: str) -> Sandbox:
        """Uses a running server that has a sandbox, with an operator key of it."""
        return cls(url, key)

    @classmethod
    def from_environment(cls) -> Sandbox:
        """Uses the server of ``MARKETPLACE_OPERATOR_URL``, with its key, or else starts one."""
        url = os.environ.get(URL_VARIABLE)
        if not url:
            return cls.start()
        key = os.environ.get(KEY_VARIABLE)
        if not key:
            raise SandboxError(
                f"{URL_VARIABLE} is set. Set {KEY_VARIABLE} to an operator key of that server, too."
            )
        return cls.connect(url, key)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the server, if this object has started it."""
        if self.server:
            self.server.stop()

    def create_world(
        self,
        name: str | None = None,
        *,
        from_: str | None = None,
        now: datetime | str | None = None,
        clock: ClockMode | None = None,
        seed: int | None = None,
        ttl_seconds: int | None = None,
        settings: Mapping[str, object] | None = None,
        jobs: Literal["before_requests", "on_advance"] | None = None,
        webhooks: Literal["inbox", "send"] | None = None,
        port: bool | None = None,
    ) -> World:
        """Creates a world. What is not given is as in the sandbox API: a frozen copy of the demo market."""
        if ttl_seconds is None and self.server is None:
            ttl_seconds = _SHARED_TTL
        given = {
            "name": name,
            "from": from_,
            "now": None if now is None else format_time(now),
            "clock": clock,
            "seed": seed,
            "ttl_seconds": ttl_seconds,
            "settings": None if settings is None else dict(settings),
            "jobs": jobs,
            "webhooks": webhooks,
            "port": port,
        }
        body = {field: value for field, value in given.items() if value is not None}
        return World(self, self.request("POST", "/worlds", json_body=body).json())

    def world(self, name: str) -> World:
        """Returns a world that exists."""
        return World(self, self.request("GET", f"/worlds/{segment(name)}").json())

    def worlds(self) -> list[World]:
        """Returns all worlds."""
        return [World(self, details) for details in self.request("GET", "/worlds").json()["items"]]

    def snapshots(self) -> list[Snapshot]:
        """Returns the snapshots of all worlds."""
        return [self.snapshot_of(one) for one in self.request("GET", "/snapshots").json()["items"]]

    def delete_snapshot(self, name: str) -> None:
        """Deletes a snapshot. Worlds that were forked from it stay."""
        self.request("DELETE", f"/snapshots/{segment(name)}")

    @staticmethod
    def snapshot_of(body: dict[str, Any]) -> Snapshot:
        """Reads a snapshot of a response."""
        return Snapshot(body["name"], body["world"], parse_time(body["now"]))

    def request(self, method: str, path: str, **options: Any) -> Response:
        """Sends a request to the sandbox API. Raises an ``ApiError`` if the response reports an error."""
        return send(method, f"{self.url}/sandbox/v1{path}", key=self.key, **options).require_success()
