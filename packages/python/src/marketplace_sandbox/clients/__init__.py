"""Typed clients, generated from the documents of the APIs: vendor, buyer, operator, and sandbox.

They need the extra: ``pip install 'marketplace-sandbox[client]'``.
"""

from __future__ import annotations

from importlib.util import find_spec

_missing = [name for name in ("attrs", "dateutil", "httpx") if find_spec(name) is None]
if _missing:
    raise ImportError(
        f"The generated clients need {', '.join(_missing)}: pip install 'marketplace-sandbox[client]'"
    )

from .. import World  # noqa: E402
from . import buyer, operator, sandbox, vendor  # noqa: E402

__all__ = [
    "buyer",
    "buyer_client",
    "operator",
    "operator_client",
    "sandbox",
    "sandbox_client",
    "vendor",
    "vendor_client",
]


def vendor_client(world: World, key: str | None = None) -> vendor.AuthenticatedClient:
    """Returns a client of the vendor API. Without a key, it is for the vendor of the demo market."""
    return vendor.AuthenticatedClient(base_url=world.base_url, token=key or world.vendor.key or "")


def buyer_client(world: World, key: str | None = None) -> buyer.AuthenticatedClient:
    """Returns a client of the buyer API. Without a key, it is for the buyer of the demo market."""
    return buyer.AuthenticatedClient(base_url=world.base_url, token=key or world.buyer.key or "")


def operator_client(world: World, key: str | None = None) -> operator.AuthenticatedClient:
    """Returns a client of the operator API. Without a key, it has the one with which the world began."""
    return operator.AuthenticatedClient(base_url=world.base_url, token=key or world.operator.key or "")


def sandbox_client(world: World) -> sandbox.AuthenticatedClient:
    """Returns a client of the sandbox API of the server that a world belongs to."""
    return sandbox.AuthenticatedClient(base_url=world.sandbox.url, token=world.sandbox.key)
