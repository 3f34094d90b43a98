"""States of worlds that other worlds can be forked from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from .times import parse_time


@dataclass(frozen=True)
class Snapshot:
    """A state of a world that other worlds can be forked from."""

    name: str
    #: Name of the world that it was made from.
    world: str
    now: datetime

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Snapshot:
        """Reads a snapshot of a response."""
        return cls(body["name"], body["world"], parse_time(body["now"]))
