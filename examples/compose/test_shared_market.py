"""Tests that share the market of another container."""

from __future__ import annotations

import pytest
from marketplace_sandbox import World


@pytest.mark.parametrize("number", range(10))
def test_worlds_do_not_see_each_other(world: World, number: int) -> None:
    before = world.vendor.get("/v2/codebases")["total"]
    world.vendor.post("/v2/codebases", {"title": f"Codebase {number}", "exclusivity": "available"})
    assert world.vendor.get("/v2/codebases")["total"] == before + 1


def test_links_lead_to_the_market(world: World) -> None:
    assert world.base_url.startswith(world.sandbox.url)
    # The market is a process of another container, so a world has a time to live in case this one is killed.
    assert world.sandbox.server is None and world.details["expires_at"] is not None
