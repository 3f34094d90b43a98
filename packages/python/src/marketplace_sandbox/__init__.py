"""A data marketplace for tests: an isolated world for every test, with a clock and failures on demand.

With pytest, use the fixture ``world``. Without it, ``Sandbox.start()`` starts a server, and ``create_world``
creates a world.
"""

from .clients_by_key import Client
from .clocks import Clock, ClockChange, DoneWork
from .errors import (
    ApiError,
    BinaryNotFoundError,
    ConnectionCutError,
    ExpectationError,
    SandboxError,
    ServerStartError,
    SignatureError,
    UnusedFaultWarning,
)
from .faults import Fault, Faults
from .inboxes import Inbox, Message
from .signatures import verify_webhook
from .snapshots import Snapshot
from .transport import Response
from .worlds import Sandbox, World, WorldKey

__all__ = [
    "ApiError",
    "BinaryNotFoundError",
    "Client",
    "Clock",
    "ClockChange",
    "ConnectionCutError",
    "DoneWork",
    "ExpectationError",
    "Fault",
    "Faults",
    "Inbox",
    "Message",
    "Response",
    "Sandbox",
    "SandboxError",
    "ServerStartError",
    "SignatureError",
    "Snapshot",
    "UnusedFaultWarning",
    "World",
    "WorldKey",
    "verify_webhook",
]
