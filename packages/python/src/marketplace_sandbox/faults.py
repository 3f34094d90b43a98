"""Failures on demand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Iterator

from .transport import segment

if TYPE_CHECKING:
    from .worlds import World


@dataclass(frozen=True)
class Fault:
    """A fault of a world."""

    id: str
    #: The requests that it applies to.
    match: dict[str, Any]
    #: What becomes of them.
    then: dict[str, Any]
    #: Everything that the server says about it, such as how often it has applied.
    details: dict[str, Any] = field(repr=False)

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Fault:
        """Reads a fault of a response."""
        return cls(body["id"], body["match"], body["then"], body)


class Faults:
    """The faults of a world. Of those that match a request, the first one applies."""

    def __init__(self, world: World) -> None:
        self._world = world
        #: Whether faults were added through this object.
        self.is_used = False

    def add(self, *, match: dict[str, Any] | None = None, force: bool = False, **parts: Any) -> Fault:
        """Adds a fault. Each keyword is a field of ``match`` or of ``then``, as the sandbox API documents them.

        ``world.faults.add(operation="get_wallet", next=1, status=503)``: the next call of the operation fails.
        ``force`` permits a status and code that the document of the operation does not name.
        """
        raise NotImplementedError

    def list(self) -> list[Fault]:
        """Returns all faults, in their order."""
        return [Fault.from_json(one) for one in self._world.sandbox_request("GET", "/faults").json()["items"]]

    def __iter__(self) -> Iterator[Fault]:
        return iter(self.list())

    def remove(self, fault: Fault | str) -> None:
        """Removes a fault."""
        fault_id = fault.id if isinstance(fault, Fault) else fault
        self._world.sandbox_request("DELETE", f"/faults/{segment(fault_id)}")

    def clear(self) -> None:
        """Removes all faults."""
        self._world.sandbox_request("DELETE", "/faults")
