"""The clock of a world."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from .clients_by_key import Client
from .times import format_duration, format_time, parse_time
from .transport import LONG_TIMEOUT

ClockMode = Literal["frozen", "running"]


@dataclass(frozen=True)
class DoneWork:
    """Something that was due, and was carried out."""

    #: ``step`` for a change that time alone makes, ``job`` for background work, or ``delivery`` to a webhook.
    group: str
    kind: str
    subject_id: str | None
    due_at: datetime
    outcome: str


@dataclass(frozen=True)
class ClockChange:
    """The clock after a change, with what was carried out."""

    now: datetime
    mode: ClockMode
    #: In the order in which it was due, up to 1,000 pieces of work.
    done: tuple[DoneWork, ...]
    #: Number of pieces of work that were carried out.
    done_total: int


class Clock:
    """The clock of a world. It never goes back; reset the world, or create another one."""

    def __init__(self, api: Client) -> None:
        self._api = api

    @property
    def now(self) -> datetime:
        """Time of the world."""
        return parse_time(self._api.request("GET", "/clock").json()["now"])

    @property
    def mode(self) -> ClockMode:
        """Whether the clock runs."""
        mode: ClockMode = self._api.request("GET", "/clock").json()["mode"]
        return mode

    def advance(self, duration: timedelta | str) -> ClockChange:
        """Advances the clock, and first carries out what is due until then.

        The duration is a ``timedelta``, or a text such as ``30d`` or ``1h30m``.
        """
        return self._change({"advance": format_duration(duration)})

    def set(self, time: datetime | str) -> ClockChange:
        """Sets the clock to a time that is not before its time now. First carries out what is due."""
        return self._change({"set": format_time(time)})

    def run(self) -> None:
        """Lets the clock run as fast as that of the machine."""
        self._change({"mode": "running"})

    def freeze(self) -> None:
        """Stops the clock. From then on, only a write moves it, by a millisecond."""
        self._change({"mode": "frozen"})

    def _change(self, change: dict[str, Any]) -> ClockChange:
        body = self._api.request("POST", "/clock", json_body=change, timeout=LONG_TIMEOUT).json()
        done = tuple(
            DoneWork(
                work["group"], work["kind"], work["subject_id"], parse_time(work["due_at"]), work["outcome"]
            )
            for work in body["done"]
        )
        return ClockChange(parse_time(body["now"]), body["mode"], done, body["done_total"])
