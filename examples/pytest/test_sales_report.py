"""Each test has a world of its own, so all of them can run at once: ``pytest -n auto``."""

from __future__ import annotations

import urllib.error

import pytest
from marketplace_sandbox import World
from sales_report import SalesReport

LISTING = "ec363ec8-bc2c-5fba-adf4-afed3dea02b0"
BUYER_TEAM = "57d9aaca-90f7-528c-aff6-0b974cabd171"


def sell_listing(world: World) -> None:
    """Publishes a listing that waits for a review, and sells it to the buyer of the demo market."""
    world.operator.post(f"/operator/v1/listings/{LISTING}/approve")
    world.operator.post(f"/operator/v1/listings/{LISTING}/publish")
    purchase = {"team_id": BUYER_TEAM, "listing_id": LISTING, "kind": "full", "pay_with": "credits"}
    world.operator.post("/operator/v1/purchases", purchase)


def test_sale_is_reported(world: World, report: SalesReport) -> None:
    before = report.sold_titles()
    sell_listing(world)
    assert report.sold_titles() == [
        "Stave: music notation editor in Objective-C, 17 years by one small team",
        *before,
    ]


def test_earnings_are_available_after_the_hold(world: World, report: SalesReport) -> None:
    world.advance("30d")
    before = report.available_earnings()
    sell_listing(world)
    assert report.available_earnings() == before
    world.advance("7d")
    assert report.available_earnings() == before + 13_410


def test_report_waits_while_the_market_is_unavailable(
    world: World, report: SalesReport, pauses: list[float]
) -> None:
    world.faults.add(operation="get_wallet", next=2, status=503, code="at_capacity")
    assert report.available_earnings() > 0
    assert len(pauses) == 2
    world.expect(operation="get_wallet", times=3)


def test_report_gives_up(world: World, report: SalesReport) -> None:
    world.faults.add(operation="get_wallet", status=503, code="at_capacity")
    with pytest.raises(urllib.error.HTTPError, match="503"):
        report.available_earnings()


def test_webhook_announces_a_sale(world: World) -> None:
    webhook = {"url": "https://reports.example.com/sales", "event_types": ["purchase.completed"]}
    secret = world.operator.post("/operator/v1/webhooks", webhook)["secret"]
    sell_listing(world)
    event = world.inbox.wait("purchase.completed").verify(secret)
    assert event["data"]["listing_id"] == LISTING
