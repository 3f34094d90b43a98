"""A world: a private copy of a market."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from .clients_by_key import Client
from .clocks import Clock, ClockChange
from .errors import ApiError, ExpectationError, SandboxError, is_unmet_expectation
from .faults import Faults
from .inboxes import Inbox
from .times import parse_time
from .transport import Response, given, segment

if TYPE_CHECKING:
    from .sandbox import Sandbox, Snapshot

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
        #: Everything that the server said about the world when it was created.
        self.details = details
        self.id: str = details["id"]
        self.name: str = details["name"]
        #: What the server has at ``/X``, the world has at this address with ``/X`` at the end.
        self.base_url: str = details["base_url"]
        #: Address of the port that only this world has, if it was created with ``port=True``.
        self.port_url: str | None = details["port_url"]
        self.keys = tuple(WorldKey(**key) for key in details["keys"])
        #: Time at which the world began.
        self.started_at: datetime = parse_time(details["now"])
        self.clock = Clock(self)
        self.faults = Faults(self)
        self.inbox = Inbox(self)

    def __repr__(self) -> str:
        return f"<World {self.name} at {self.base_url}>"

    def __enter__(self) -> World:
        return self

    def __exit__(self, *_: object) -> None:
        self.delete()

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
        self.sandbox_request("POST", "/reset")

    def snapshot(self, name: str) -> Snapshot:
        """Keeps the state under a name, for ``create_world(from_=name)``, also after this world has ended."""
        return self.sandbox.snapshot_of(
            self.sandbox_request("POST", "/snapshots", json_body={"name": name}).json()
        )

    def export(self) -> bytes:
        """Returns the state as a ZIP archive, which ``import_state`` accepts."""
        return self.sandbox_request("GET", "/export").body

    def import_state(self, archive: bytes) -> None:
        """Replaces the state by that of an exported world."""
        self.sandbox_request("POST", "/import", body=archive, headers={"Content-Type": "application/zip"})

    def add_repository(self, full_name: str, content: bytes) -> dict[str, Any]:
        """Adds a repository such as ``acme/billing``, from a Git bundle or a zip of a bare repository."""
        owner, _, name = full_name.partition("/")
        path = f"/repositories/{segment(owner)}/{segment(name)}"
        headers = {"Content-Type": "application/octet-stream"}
        result: dict[str, Any] = self.sandbox_request("PUT", path, body=content, headers=headers).json()
        return result

    def journal(self, **query: Any) -> list[dict[str, Any]]:
        """Returns the requests to the world with their answers, the oldest first.

        Keywords are the query parameters of the sandbox API, such as ``operation`` and ``status``.
        """
        entries: list[dict[str, Any]] = self.sandbox_request("GET", "/journal", query=query).json()["items"]
        return entries

    def expect(
        self,
        *,
        times: int | None = None,
        at_least: int | None = None,
        at_most: int | None = None,
        operation: str | None = None,
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
        return self.sandbox.request(method, f"/worlds/{segment(self.name)}{path}", **options)

    def _demo_key(self, name: str) -> str:
        key = _DEMO_KEYS[name]
        if all(known.key != key for known in self.keys):
            raise SandboxError(
                f"{self!r} has no {name} of the demo market. Create a key, and use `world.client(key)`."
            )
        return key
