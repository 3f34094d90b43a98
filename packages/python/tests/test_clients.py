"""The generated clients, which need the extra. CI runs this file without the extra and with it."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from marketplace_sandbox import World

HAS_EXTRA = find_spec("httpx") is not None


@pytest.mark.skipif(HAS_EXTRA, reason="the extra is installed")
def test_missing_extra_is_explained() -> None:
    with pytest.raises(ImportError, match=r"pip install 'marketplace-sandbox\[client\]'"):
        import marketplace_sandbox.clients  # noqa: F401


@pytest.mark.skipif(not HAS_EXTRA, reason="the extra is not installed")
def test_clients_use_the_world(world: World) -> None:
    from marketplace_sandbox.clients import buyer_client, operator_client, sandbox_client, vendor_client
    from marketplace_sandbox.clients.buyer.api.account import get_wallet
    from marketplace_sandbox.clients.buyer.models import Wallet
    from marketplace_sandbox.clients.operator.api.teams import list_teams
    from marketplace_sandbox.clients.operator.models import TeamPage
    from marketplace_sandbox.clients.sandbox.api.worlds import get_world
    from marketplace_sandbox.clients.sandbox.models import World as SandboxWorld
    from marketplace_sandbox.clients.vendor.api.codebases import create_codebase
    from marketplace_sandbox.clients.vendor.models import Codebase, CodebaseIn, Exclusivity

    body = CodebaseIn(title="Harbour ledger", exclusivity=Exclusivity.AVAILABLE)
    made = create_codebase.sync(client=vendor_client(world), body=body)
    assert isinstance(made, Codebase) and made.title == "Harbour ledger"
    assert world.vendor.get(f"/v2/codebases/{made.id}")["title"] == made.title
    wallet = get_wallet.sync(client=buyer_client(world))
    assert isinstance(wallet, Wallet) and wallet.currency == "USD"
    teams = list_teams.sync(client=operator_client(world))
    assert isinstance(teams, TeamPage) and teams.items
    details = get_world.sync(world.name, client=sandbox_client(world))
    assert isinstance(details, SandboxWorld) and details.now == world.now
