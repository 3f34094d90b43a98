"""500 tests, each with a world of its own."""

from __future__ import annotations

import pytest
from marketplace_sandbox import World


@pytest.mark.parametrize("number", range(500))
def test_world(world: World, number: int) -> None:
    title = f"Codebase {number}"
    before = world.vendor.get("/v2/codebases")["total"]
    made = world.vendor.post("/v2/codebases", {"title": title, "exclusivity": "available"})
    assert world.advance("1h").now > world.started_at
    assert world.vendor.get(f"/v2/codebases/{made['id']}")["title"] == title
    assert world.vendor.get("/v2/codebases")["total"] == before + 1
