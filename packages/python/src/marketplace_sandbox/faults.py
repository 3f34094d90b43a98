"""Failures on demand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from .clients_by_key import Client
from .times import format_time
from .transport import given, segment


@dataclass(frozen=True)
class Fault:
    """A fault of a world."""

    id: str
    #: What it is for, and when.
    match: dict[str, Any]
    #: What it does.
    then: dict[str, Any]
    #: Number of cases in which its conditions were met.
    matched: int
    #: Number of these in which it took effect, since no earlier fault did.
    used: int
    #: Everything that the server says about it.
    details: dict[str, Any] = field(repr=False)

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Fault:
        """Reads a fault of a response."""
        return cls(
            body["id"],
            _without_defaults(body["match"]),
            _without_defaults(body["then"]),
            body["matched"],
            body["used"],
            body,
        )


class Faults:
    """The faults of a world. Of those that match, the first one that was added applies."""

    def __init__(self, api: Client) -> None:
        self._api = api
        #: Whether faults were added through this object.
        self.is_used = False

    def add(
        self,
        *,
        operation: str | None = None,
        api: Literal["vendor", "buyer", "operator"] | None = None,
        path: str | None = None,
        team: str | None = None,
        job: str | None = None,
        host: str | None = None,
        webhook: str | None = None,
        event_type: str | None = None,
        nth: int | None = None,
        next: int | None = None,
        share: float | None = None,
        from_: datetime | str | None = None,
        until: datetime | str | None = None,
        status: int | None = None,
        code: str | None = None,
        delay_ms: int | tuple[int, int] | None = None,
        body_bytes_per_second: int | None = None,
        cut: Literal["before", "headers", "body", "after_write"] | None = None,
        stall: bool | None = None,
        fail: bool | None = None,
        unreachable: bool | None = None,
        lost: bool | None = None,
        duplicate: bool | None = None,
        force: bool | None = None,
    ) -> Fault:
        """Adds a fault: ``world.faults.add(operation="get_wallet", next=1, status=503, code="at_capacity")``.

        The parameters up to ``until`` are ``match`` of the sandbox API: what the fault is for, and when.
        Without ``job``, ``host``, ``webhook``, and ``event_type``, it is for requests. The others are
        ``then``: what it does. ``force`` permits a status and a code that the document of the operation does
        not name.
        """
        match = {
            "operation": operation,
            "api": api,
            "path": path,
            "team": team,
            "job": job,
            "host": host,
            "webhook": webhook,
            "event_type": event_type,
            "nth": nth,
            "next": next,
            "share": share,
            "from": None if from_ is None else format_time(from_),
            "until": None if until is None else format_time(until),
        }
        then = {
            "status": status,
            "code": code,
            "delay_ms": delay_ms,
            "body_bytes_per_second": body_bytes_per_second,
            "cut": cut,
            "stall": stall,
            "fail": fail,
            "unreachable": unreachable,
            "lost": lost,
            "duplicate": duplicate,
        }
        body = {"match": given(match), "then": _without_defaults(then), **given({"force": force})}
        added = Fault.from_json(self._api.request("POST", "/faults", json_body=body).json())
        self.is_used = True
        return added

    def remove(self, fault: Fault | str) -> None:
        """Removes a fault."""
        fault_id = fault.id if isinstance(fault, Fault) else fault
        self._api.request("DELETE", f"/faults/{segment(fault_id)}")

    def clear(self) -> None:
        """Removes all faults."""
        self._api.request("DELETE", "/faults")

    def list(self, *, unmatched: bool = False) -> list[Fault]:
        """Returns the faults in their order, optionally only those that matched nothing."""
        query = {"unmatched": "true"} if unmatched else {}
        body = self._api.request("GET", "/faults", query=query).json()
        return [Fault.from_json(fault) for fault in body["items"]]

    def __iter__(self) -> Iterator[Fault]:
        return iter(self.list())


def _without_defaults(fields: dict[str, Any]) -> dict[str, Any]:
    """Leaves out the fields that are ``None`` or ``False``."""
    return {name: value for name, value in fields.items() if value is not None and value is not False}
