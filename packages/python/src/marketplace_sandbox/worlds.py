"""A sandbox: a server that has worlds, which are private copies of a market."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from .clients_by_key import Client
from .clocks import Clock, ClockChange, ClockMode
from .errors import ApiError, ExpectationError, SandboxError, is_unmet_expectation
from .faults import Faults
from .inboxes import Inbox
from .server import Server
from .snapshots import Snapshot
from .times import format_time, parse_time
from .transport import LONG_TIMEOUT, Response, given, query_of, segment, send

#: Variables with the address and an operator key of a running server that is used instead of a new one.
URL_VARIABLE, KEY_VARIABLE = "MARKETPLACE_OPERATOR_URL", "MARKETPLACE_OPERATOR_KEY"

# Operator key of the demo market.
_DEMO_OPERATOR = "mkt_demo_operator"

# Seconds after which a world on a server that outlives this process ends by itself.
_SHARED_TTL = 3600

# Keys of the demo market, by the name of the client.
_DEMO_KEYS = {"vendor": "mkt_demo_vendor", "buyer": "mkt_demo_buyer"}

_OPERATOR = "an operator of the marketplace"


@dataclass(frozen=True)
class WorldKey:
    """An API key that is valid when a world begins."""

    key: str
    #: Who it acts for.
    description: str


class World:
    """A private copy of a market, with a clock of its own."""

    def __init__(self, sandbox: Sandbox, details: dict[str, Any]) -> None:
        self.sandbox = sandbox
        #: The world as the server described it when it was created, or when its state was last replaced.
        self.details = details
        self.id: str = details["id"]
        self.name: str = details["name"]
        #: What the server has at ``/X``, the world has at this address with ``/X`` at the end.
        self.base_url: str = details["base_url"]
        #: Address of the port that only this world has, if it was created with ``port=True``.
        self.port_url: str | None = details["port_url"]
        #: Time at which the world began.
        self.started_at: datetime = parse_time(details["now"])
        # The part of the sandbox API that belongs to this world.
        self._api = Client(f"{sandbox.api_url}/worlds/{segment(self.name)}", sandbox.key)
        self.clock = Clock(self._api)
        self.faults = Faults(self._api)
        self.inbox = Inbox(self._api)

    def __repr__(self) -> str:
        return f"<World {self.name} at {self.base_url}>"

    def __enter__(self) -> World:
        return self

    def __exit__(self, *_: object) -> None:
        self.delete()

    @property
    def keys(self) -> tuple[WorldKey, ...]:
        """The API keys that are valid when the world begins."""
        return tuple(WorldKey(key["key"], key["description"]) for key in self.details["keys"])

    @property
    def now(self) -> datetime:
        """Time of the world."""
        return self.clock.now

    def advance(self, duration: timedelta | str) -> ClockChange:
        """Advances the clock by a ``timedelta`` or a text such as ``30d``, and carries out what is due."""
        return self.clock.advance(duration)

    def client(self, key: str | None) -> Client:
        """Returns a client with an API key. Without a key, requests are anonymous."""
        return Client(self.base_url, key)

    @property
    def vendor(self) -> Client:
        """A client for the vendor of the demo market."""
        return self.client(self._demo_key("vendor"))

    @property
    def buyer(self) -> Client:
        """A client for the buyer of the demo market."""
        return self.client(self._demo_key("buyer"))

    @property
    def operator(self) -> Client:
        """A client for an operator of the market."""
        for key in self.keys:
            if key.description == _OPERATOR:
                return self.client(key.key)
        raise SandboxError(f"{self!r} began without an operator key.")

    def reset(self) -> None:
        """Returns the world to where it was forked: data, clock, and settings."""
        self.details = self.sandbox_request("POST", "/reset", timeout=LONG_TIMEOUT).json()

    def snapshot(self, name: str) -> Snapshot:
        """Keeps the state under a name, for ``create_world(from_=name)``, also after this world has ended."""
        made = self.sandbox_request("POST", "/snapshots", json_body={"name": name}, timeout=LONG_TIMEOUT)
        return Snapshot.from_json(made.json())

    def export(self) -> bytes:
        """Returns the state as a ZIP archive, which ``import_state`` accepts."""
        return self.sandbox_request("GET", "/export", timeout=LONG_TIMEOUT).body

    def import_state(self, archive: bytes) -> None:
        """Replaces the state by that of an exported world."""
        headers = {"Content-Type": "application/zip"}
        imported = self.sandbox_request(
            "POST", "/import", body=archive, headers=headers, timeout=LONG_TIMEOUT
        )
        self.details = imported.json()

    def add_repository(self, full_name: str, content: bytes) -> dict[str, Any]:
        """Adds a repository such as ``acme/billing``, from a Git bundle or a zip of a bare repository."""
        owner, _, name = full_name.partition("/")
        path = f"/repositories/{segment(owner)}/{segment(name)}"
        headers = {"Content-Type": "application/octet-stream"}
        result: dict[str, Any] = self.sandbox_request("PUT", path, body=content, headers=headers).json()
        return result

    def journal(self, **query: Any) -> list[dict[str, Any]]:
        """Returns the requests to the world with their answers, the oldest first.

        Without ``limit``, returns all. Keywords are the query parameters of the sandbox API, such as
        ``operation`` and ``status``; ``from_`` is its ``from``.
        """
        parameters = query_of(query)
        entries: list[dict[str, Any]] = []
        end: int | None = None
        while True:
            page = self.sandbox_request("GET", "/journal", query=parameters).json()
            # Requests that arrive meanwhile do not count.
            end = page["last"] if end is None else end
            entries += page["items"]
            after = page["items"][-1]["number"] if page["items"] else end
            if parameters.get("limit") is not None or after >= end:
                return entries
            parameters["after"] = after

    def expect(
        self,
        *,
        times: int | None = None,
        at_least: int | None = None,
        at_most: int | None = None,
        operation: str | None = None,
        api: Literal["vendor", "buyer", "operator"] | None = None,
        method: str | None = None,
        path: str | None = None,
        team: str | None = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        status: int | None = None,
        code: str | None = None,
        body: Any = None,
    ) -> int:
        """Checks how often the world was called: ``world.expect(operation="create_codebase", times=1)``.

        Returns the number of calls that match, or raises an ``ExpectationError``, which is an
        ``AssertionError``, with the nearest calls. Without ``times``, ``at_least``, and ``at_most``,
        one call is enough. In ``path``, ``*`` matches any text. ``body`` is a part of the request's body.
        """
        match = {
            "operation": operation,
            "api": api,
            "method": method,
            "path": path,
            "team": team,
            "query": None if query is None else dict(query),
            "headers": None if headers is None else dict(headers),
            "status": status,
            "code": code,
            "body": body,
        }
        counts = {"times": times, "at_least": at_least, "at_most": at_most}
        expectation = {"match": given(match), **given(counts)}
        try:
            met = self.sandbox_request("POST", "/expectations", json_body=expectation)
        except ApiError as error:
            if not is_unmet_expectation(error.body):
                raise
            raise ExpectationError(error.method, error.url, error.status, error.headers, error.body) from None
        called: int = met.json()["called"]
        return called

    def delete(self) -> None:
        """Ends the world. Does nothing if it has ended."""
        try:
            self.sandbox_request("DELETE", "")
        except ApiError as error:
            if error.code != "world_not_found":
                raise

    def sandbox_request(self, method: str, path: str, **options: Any) -> Response:
        """Sends a request to the sandbox API of this world, such as ``GET`` and ``/coverage``."""
        return self._api.request(method, path, **options)

    def _demo_key(self, name: str) -> str:
        key = _DEMO_KEYS[name]
        if all(known.key != key for known in self.keys):
            raise SandboxError(
                f"{self!r} has no {name} of the demo market. Create a key, and use `world.client(key)`."
            )
        return key


class Sandbox:
    """A server that has worlds."""

    def __init__(self, url: str, key: str, server: Server | None = None) -> None:
        self.url = url.rstrip("/")
        #: Address of the sandbox API.
        self.api_url = f"{self.url}/sandbox/v1"
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
        options = {
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
        # All work that is due until `now` is carried out.
        made = self.request("POST", "/worlds", json_body=given(options), timeout=LONG_TIMEOUT)
        return World(self, made.json())

    def world(self, name: str) -> World:
        """Returns a world that exists."""
        return World(self, self.request("GET", f"/worlds/{segment(name)}").json())

    def worlds(self) -> list[World]:
        """Returns all worlds."""
        return [World(self, details) for details in self.request("GET", "/worlds").json()["items"]]

    def snapshots(self) -> list[Snapshot]:
        """Returns the snapshots of all worlds."""
        return [Snapshot.from_json(one) for one in self.request("GET", "/snapshots").json()["items"]]

    def delete_snapshot(self, name: str) -> None:
        """Deletes a snapshot. Worlds that were forked from it stay."""
        self.request("DELETE", f"/snapshots/{segment(name)}")

    def request(self, method: str, path: str, **options: Any) -> Response:
        """Sends a request to the sandbox API. Raises an ``ApiError`` if the response reports an error."""
        return send(method, self.api_url + path, key=self.key, **options).require_success()
