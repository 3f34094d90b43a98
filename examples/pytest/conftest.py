"""Fixtures of all tests: the report of the vendor in the test's world."""

from __future__ import annotations

import pytest
from marketplace_sandbox import World
from sales_report import SalesReport


@pytest.fixture
def pauses() -> list[float]:
    """The pauses that the report has made, in seconds. Nothing waits for them."""
    return []


@pytest.fixture
def report(world: World, pauses: list[float]) -> SalesReport:
    return SalesReport(world.base_url, "mkt_demo_vendor", pause=pauses.append)
